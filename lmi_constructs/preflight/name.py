"""Whether the endpoint's name is free, or its own already."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lmi_constructs.operations.aws import AwsError, NotThereError, asking

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from lmi_constructs.checks.resources import Endpoint
    from lmi_constructs.preflight.outcome import Outcome
    from lmi_constructs.preflight.place import Place

_FIX = "leave endpoint_name out, choose another, or delete that endpoint"


def name_is_free(
    place: Place,
    endpoint: Endpoint,
    stack: str | None,
    nested: Sequence[str] = (),
    beside: Sequence[tuple[str, str | None]] = (),
) -> Iterator[Outcome]:
    """Yield whether no other stack has the endpoint's name.

    Args:
        place: Where to ask.
        endpoint: The endpoint.
        stack: Name of the stack that it goes to, if known.
        nested: Logical ids of the nested stacks that it stands in, from the outside in.
        beside: Paths and names of the other endpoints that go to the same account and region.

    Raises:
        AwsError: If SageMaker or CloudFormation do not tell.
    """
    if endpoint.name is None:
        yield place.outcome("name", "pass", "CloudFormation makes a name up")
        return
    name = place.known(endpoint.name)
    if name is None:
        yield place.outcome("name", "unknown", "the name is known only when it is deployed")
        return
    if twin := next((path for path, other in beside if other == name), None):
        detail = f"{twin} takes the name {name} as well, in the same account and region"
        yield place.outcome("name", "fail", detail, "leave endpoint_name out, or choose two names")
        return
    try:
        with asking(f"endpoint {name}", "sagemaker:DescribeEndpoint"):
            arn = place.client("sagemaker").describe_endpoint(EndpointName=name)["EndpointArn"]
    except NotThereError:
        yield place.outcome("name", "pass", f"{name} is free")
        return
    if stack is not None and _is_of(place, endpoint, (arn, name), stack, nested):
        detail = f"{name} is this endpoint already, in the stack {stack}, and will be updated"
        yield place.outcome("name", "pass", detail)
        return
    try:
        owner, logical_id = _owner(place, (arn, name))
    except AwsError:
        if stack is None:
            raise
        owner, logical_id = "another one, or none,", None
    if stack is None and logical_id == endpoint.logical_id:
        detail = f"{name} is there already, made by the stack {owner}"
        fix = f"if that is the stack you deploy, it is updated; if not: {_FIX}"
        yield place.outcome("name", "unknown", detail, fix)
        return
    by = f"the stack {owner} has made it" if owner else "no stack has made it"
    yield place.outcome("name", "fail", f"another endpoint {name} exists: {by}", _FIX)


def _is_of(
    place: Place, endpoint: Endpoint, ids: Sequence[str], stack: str, nested: Sequence[str]
) -> bool:
    """Tell whether a stack, or a nested one in it, has made an endpoint."""
    client = place.client("cloudformation")
    inside = stack
    try:
        for logical_id in (*nested, endpoint.logical_id):
            with asking(f"stack {inside}", "cloudformation:DescribeStackResource"):
                answer = client.describe_stack_resource(
                    StackName=inside, LogicalResourceId=logical_id
                )
            inside = answer["StackResourceDetail"].get("PhysicalResourceId", "")
    except NotThereError:
        return False
    return inside in ids


def _owner(place: Place, ids: Sequence[str]) -> tuple[str | None, str | None]:
    """Return the stack that has made an endpoint, and its logical id there; nothing if none has."""
    client = place.client("cloudformation")
    for physical_id in ids:
        try:
            with asking(f"the stack of {physical_id}", "cloudformation:DescribeStackResources"):
                rows = client.describe_stack_resources(PhysicalResourceId=physical_id)
        except NotThereError:
            continue
        for row in rows["StackResources"]:
            if row.get("PhysicalResourceId") in ids:
                return row["StackName"], row["LogicalResourceId"]
    return None, None

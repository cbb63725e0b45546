"""Whether the region has the instances, and the account may run as many."""

from __future__ import annotations

from collections import Counter
from functools import partial
from typing import TYPE_CHECKING, Final

from lmi_constructs.checks.queries.instance_types import instance
from lmi_constructs.checks.values import count_of, literal
from lmi_constructs.operations.aws import NotThereError, asking
from lmi_constructs.readable import readable

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from lmi_constructs.checks.resources import EndpointConfig, Variant
    from lmi_constructs.preflight.outcome import Outcome
    from lmi_constructs.preflight.place import Place

_MOST_REGIONS: Final = 4


def offered(place: Place, config: EndpointConfig) -> Iterator[Outcome]:
    """Yield whether each instance type is offered in the region, by the shipped facts."""
    names = (literal(name) for one in _variants(config) for _, name in one.instance_types)
    for name in dict.fromkeys(filter(None, names)):
        kind = instance(name)
        if kind is None or not kind.regions or place.region is None:
            yield place.outcome("region", "unknown", f"it is not known where {name} is offered")
        elif place.region in kind.regions:
            detail = f"{name} is offered in {place.region} (prices of {kind.as_of})"
            yield place.outcome("region", "pass", detail)
        else:
            detail = f"{name} is not offered in {place.region} (prices of {kind.as_of})"
            fix = "deploy to one of " + ", ".join(sorted(kind.regions)[:_MOST_REGIONS])
            yield place.outcome("region", "fail", detail, fix, "LMI041")


def wanted(configs: Iterable[EndpointConfig]) -> Counter[str]:
    """Return how many instances of each type endpoints begin with."""
    counts: Counter[str] = Counter()
    for config in configs:
        for variant in _variants(config):
            name = literal(variant.instance_type)
            if name and not variant.reserved and not variant.serverless:
                counts[name] += int(count_of(variant.initial_instance_count, 1))
    return counts


def quota(place: Place, config: EndpointConfig, together: Mapping[str, int]) -> Iterator[Outcome]:
    """Yield whether the account may run as many instances as endpoints begin with.

    Endpoints that run already use up the same quota, and are not counted.

    Args:
        place: Where to ask.
        config: Configuration of the endpoint.
        together: What all endpoints of these templates in the same place begin with.
    """
    for name, count in wanted([config]).items():
        yield _judged(place, name, count, together.get(name, count), _allowed(place, name))


def _judged(place: Place, name: str, own: int, together: int, allowed: float | None) -> Outcome:
    if allowed is None:
        detail = f"Service Quotas does not list {_title(name)!r}"
        return place.outcome("quota", "unknown", detail, "look into Service Quotas (SageMaker)")
    more = f" ({together} with the other endpoints here)" if together > own else ""
    detail = f"{own} x {name} at first{more}, and the account may have {readable(allowed)}"
    if max(own, together) > allowed:
        fix = f"ask for more of {_title(name)!r} in Service Quotas; it can take days"
        return place.outcome("quota", "fail", detail, fix)
    return place.outcome("quota", "pass", f"{detail}; endpoints that run count as well")


def _allowed(place: Place, name: str) -> float | None:
    """Return the account's quota of an instance type, or AWS's default where it has none of its own.

    Raises:
        AwsError: If Service Quotas does not tell.
    """
    for operation, action in (
        ("list_service_quotas", "ListServiceQuotas"),
        ("list_aws_default_service_quotas", "ListAWSDefaultServiceQuotas"),
    ):
        ask = partial(_rows, place, operation, action)
        rows = place.account.once(("quotas", operation, place.region), ask)
        if _title(name) in rows:
            return rows[_title(name)]
    return None


def _rows(place: Place, operation: str, action: str) -> dict[str, float]:
    try:
        with asking("the quotas of SageMaker", f"servicequotas:{action}"):
            client = place.client("service-quotas")
            return {
                row["QuotaName"]: float(row["Value"])
                for page in client.get_paginator(operation).paginate(ServiceCode="sagemaker")
                for row in page["Quotas"]
                if "QuotaName" in row and "Value" in row
            }
    except NotThereError:
        return {}  # none are listed here, which forbids nothing


def _title(instance_type: str) -> str:
    return f"{instance_type} for endpoint usage"


def _variants(config: EndpointConfig) -> tuple[Variant, ...]:
    return (*config.variants, *config.shadow_variants)

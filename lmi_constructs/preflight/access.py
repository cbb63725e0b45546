"""Whether the role may read the model, decrypt it and pull the image."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final

from lmi_constructs.checks.queries.resource_arns import addresses, arns, is_open, repository_arn
from lmi_constructs.checks.queries.role_permissions import allows
from lmi_constructs.checks.values import UNKNOWN, Unknown, literal, shown, split
from lmi_constructs.operations.aws import NoAnswerError, asking
from lmi_constructs.preflight.place import path_of
from lmi_constructs.preflight.resource_policies import allowed_by_resource, refused_by_resource

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from lmi_constructs.checks.deployment import Deployment
    from lmi_constructs.checks.resources import Container, Role
    from lmi_constructs.checks.values import String
    from lmi_constructs.preflight.outcome import Outcome
    from lmi_constructs.preflight.place import Place

_ROLE: Final = re.compile(r"arn:[a-z-]+:iam::(\d{12}):role/(?:.*/)?([^/]+)")
_ALLOW: Final = "allow it to the role, or leave role out so that one is made"
_ALLOW_KEY: Final = "give ModelData.s3_prefix(..., encryption_key=KEY), or allow it to the role"
_NOT_TOLD: Final = (
    "it depends on policies, values or conditions that are not known before deploying"
)
_Need = tuple[str, "String"]


def role_may(
    place: Place,
    deployment: Deployment,
    role: String | None,
    container: Container,
    key: str | None,
) -> Iterator[Outcome]:
    """Yield whether a role may do what the start of a container takes.

    A role of the templates cannot be simulated before it is there, so that its statements are read.

    Args:
        place: Where to ask.
        deployment: All that is deployed.
        role: ARN of the role.
        container: The container.
        key: ARN of the key that the model's files are encrypted with, if there is one.

    Raises:
        AwsError: If IAM does not tell.
    """
    needs = _needs(container, key)
    made_here = deployment.role(role)
    if made_here is not None:
        yield from _by_template(place, deployment, made_here, needs)
        return
    arn = place.known(role)
    match = _ROLE.fullmatch(arn or "")
    if arn is None or match is None:
        detail = f"which role {shown(role)} is, is known only when it is deployed"
        yield place.outcome("role", "unknown", detail)
        return
    if match[1] != place.account.id(place.region):
        detail = f"{arn} is a role of another account than that of the credentials"
        yield place.outcome("role", "unknown", detail, f"sign in to account {match[1]}")
        return
    yield from place.asked("role", lambda: _trust(place, arn, match[2]))
    yield from _simulated(place, arn, match[2], needs)


def _needs(container: Container, key: str | None) -> list[_Need]:
    needs: list[_Need] = []
    for _, uri, prefix in addresses(container):
        bucket, objects = arns(uri, prefix)
        if bucket is not None:
            needs += [("s3:GetObject", objects), ("s3:ListBucket", bucket)]
    repository = repository_arn(container)
    if repository is not None:
        needs.append(("ecr:BatchGetImage", repository))
    return [*needs, ("kms:Decrypt", key)] if key else needs


def _by_template(
    place: Place, deployment: Deployment, role: Role, needs: Sequence[_Need]
) -> Iterator[Outcome]:
    name = literal(role.name)
    for action, resource in needs:
        answer = allows(role, action, resource)
        if answer is False and action.startswith("s3:"):
            bucket = (split(resource, "/") or (UNKNOWN,))[0]
            answer = UNKNOWN if is_open(deployment, bucket) else False
        if answer is False and allowed_by_resource(place, action, resource, name) is not False:
            answer = UNKNOWN  # a boundary of the role would count as well
        why = _NOT_TOLD if answer is UNKNOWN else "no policy of the template allows it"
        taken = (
            _taken_back(place, path_of(role), action, resource, name) if answer is True else None
        )
        yield taken or _answer(place, path_of(role), action, resource, answer, why)


def _answer(
    place: Place, role: str, action: str, resource: String, answer: bool | Unknown, why: str
) -> Outcome:
    what = f"{action} on {shown(resource)}"
    if answer is True:
        return place.outcome("role", "pass", f"{role} allows {what}")
    if answer is False:
        detail = f"{role} does not allow {what}: {why}"
        fix = _ALLOW_KEY if action.startswith("kms:") else _ALLOW
        return place.outcome("role", "fail", detail, fix, _RULES.get(action, ""))
    detail = f"whether {role} allows {what} cannot be told: {why}"
    fix = "look at the policies of the role, and of the bucket, key or repository"
    return place.outcome("role", "unknown", detail, fix)


_RULES: Final = {
    "s3:GetObject": "LMI091",
    "s3:ListBucket": "LMI091",
    "ecr:BatchGetImage": "LMI092",
}
"""Rules that say the same of a role of the template."""


def _trust(place: Place, arn: str, name: str) -> Iterator[Outcome]:
    with asking(f"role {arn}", "iam:GetRole"):
        role = place.client("iam").get_role(RoleName=name)["Role"]
    if "sagemaker." in str(role.get("AssumeRolePolicyDocument")):
        yield place.outcome("role", "pass", f"SageMaker may assume {arn}")
    else:
        fix = "let sagemaker.amazonaws.com assume the role"
        yield place.outcome("role", "fail", f"SageMaker may not assume {arn}", fix, "LMI094")


def _simulated(place: Place, arn: str, name: str, needs: Sequence[_Need]) -> Iterator[Outcome]:
    """Ask IAM about a role that exists; policies of buckets and keys are asked apart."""
    client = place.client("iam")
    partition = ":".join(arn.split(":")[:2])
    for action, resource in needs:
        target = place.known(resource)
        if target is None:
            why = "the resource is known only when it is deployed"
            yield _answer(place, arn, action, resource, UNKNOWN, why)
            continue
        with asking(f"what {arn} may do", "iam:SimulatePrincipalPolicy"):
            answer = client.simulate_principal_policy(
                PolicySourceArn=arn,
                ActionNames=[action],
                ResourceArns=[f"{partition}:{target.split(':', 2)[2]}"],
            )
        allowed, why = _decided(answer)
        if allowed is False and "implicit" in why:
            allowed = allowed_by_resource(place, action, target, name)
        taken = _taken_back(place, arn, action, target, name) if allowed is True else None
        yield taken or _answer(place, arn, action, resource, allowed, why)


def _taken_back(
    place: Place, role: str, action: str, resource: String, name: str | None
) -> Outcome | None:
    """Return that a policy of the resource takes back what a role allows, if it may."""
    refused, why = refused_by_resource(place, action, resource, name)
    if refused is False:
        return None
    detail = f"{role} allows {action} on {shown(resource)}, but {why}"
    fix = "let that policy allow it to the role"
    return place.outcome("role", "fail" if refused is True else "unknown", detail, fix)


def _decided(answer: dict[str, Any]) -> tuple[bool | Unknown, str]:
    """Return what IAM decided, and why."""
    results = answer.get("EvaluationResults") or ()
    if not results:
        raise NoAnswerError("IAM gave no decision", "run it again")
    result = results[0]
    if result["EvalDecision"] == "allowed":
        return True, ""
    missing = result.get("MissingContextValues") or ()
    if missing:
        return UNKNOWN, f"it depends on {', '.join(sorted(missing))}"
    if (result.get("OrganizationsDecisionDetail") or {}).get("AllowedByOrganizations") is False:
        return False, "a policy of the organization does not let it"
    if (result.get("PermissionsBoundaryDecisionDetail") or {}).get(
        "AllowedByPermissionsBoundary"
    ) is False:
        return False, "its permissions boundary does not let it"
    if result["EvalDecision"] == "explicitDeny":
        return False, "one of its policies denies it (explicit deny)"
    return False, "none of its policies allows it (implicit deny)"

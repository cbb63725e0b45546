"""What policies of buckets, keys and repositories give to a role, or take from it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from lmi_constructs.checks.values import UNKNOWN, Unknown
from lmi_constructs.operations.aws import AwsError, NoAnswerError, NotThereError, asking
from lmi_constructs.preflight.policy_statements import Said, said

if TYPE_CHECKING:
    from lmi_constructs.checks.values import String
    from lmi_constructs.preflight.place import Place


def allowed_by_resource(
    place: Place, action: str, resource: String, role: str | None
) -> bool | Unknown:
    """Tell whether the policy of a bucket, key or repository gives to a role what its own do not.

    Args:
        place: Where to ask.
        action: What the role's own policies do not allow.
        resource: ARN of the bucket, object, key or repository.
        role: Name of the role, `None` for one that is yet to be made under a name of its own.

    Returns:
        `UNKNOWN` where the policy cannot be seen, or depends on a condition.

    Raises:
        AwsError: If the question was refused for another reason than permissions.
    """
    target = place.known(resource)
    if target is None:
        return UNKNOWN
    try:
        found = _said(place, action, target, role)
    except NoAnswerError:
        return UNKNOWN
    except NotThereError:
        return False
    if found.denied is True or found.allowed is False:
        return False
    return True if found.allowed is True and found.denied is False else UNKNOWN


def refused_by_resource(
    place: Place, action: str, resource: String, role: str | None
) -> tuple[bool | Unknown, str]:
    """Tell whether the policy of a bucket, key or repository takes back what a role's own allow.

    Args:
        place: Where to ask.
        action: What the role's own policies allow.
        resource: ARN of the bucket, object, key or repository.
        role: Name of the role, `None` for one that is yet to be made under a name of its own.

    Returns:
        `True` and why if it does, `UNKNOWN` and why if that depends on a condition. `False` if not, or
        if the policy cannot be seen.
    """
    target = place.known(resource)
    if target is None:
        return False, ""
    try:
        found = _said(place, action, target, role)
    except AwsError:
        return False, ""
    whose = f"the policy of {target}"
    if found.denied is not False:
        under = "" if found.denied is True else ", under a condition that cannot be judged"
        return found.denied, f"{whose} denies it{under}"
    if not action.startswith("kms:") or True in (found.allowed, found.delegated):
        return False, ""
    if UNKNOWN in (found.allowed, found.delegated):
        return UNKNOWN, f"{whose} allows it under a condition that cannot be judged"
    return True, f"{whose} names neither the role nor the account"


def _said(place: Place, action: str, target: str, role: str | None) -> Said:
    policy = _policy(place, action, target)
    return said(policy, action, target, role, place.account.id(place.region))


def _policy(place: Place, action: str, target: str) -> object:
    if action.startswith("s3:"):
        bucket = target.split(":::", 1)[-1].split("/", 1)[0]
        with asking(f"the policy of {bucket}", "s3:GetBucketPolicy"):
            text = place.client("s3").get_bucket_policy(Bucket=bucket)["Policy"]
    elif action.startswith("kms:"):
        with asking(f"the policy of {target}", "kms:GetKeyPolicy"):
            answer: Any = place.client("kms").get_key_policy(KeyId=target, PolicyName="default")
        text = answer["Policy"]
    else:
        _, _, _, _, owner, repository = target.split(":", 5)
        if owner != place.account.id(place.region):
            return {}  # a right in another account's registry takes the role's own policies as well
        with asking(f"the policy of {target}", "ecr:GetRepositoryPolicy"):
            answer = place.client("ecr").get_repository_policy(
                registryId=owner, repositoryName=repository.removeprefix("repository/")
            )
        text = answer["policyText"]
    return json.loads(text)

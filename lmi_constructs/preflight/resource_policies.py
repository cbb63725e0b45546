"""What policies of buckets, keys and repositories give to a role, beside the role's own policies."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from lmi_constructs.checks.values import UNKNOWN, Unknown, as_mapping, as_sequence
from lmi_constructs.operations.aws import NoAnswerError, NotThereError, asking

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lmi_constructs.checks.values import String
    from lmi_constructs.preflight.place import Place


def allowed_by_resource(
    place: Place, action: str, resource: String, role: str | None
) -> bool | Unknown:
    """Tell whether a bucket, key or repository surely gives nothing to a role.

    Args:
        place: Where to ask.
        action: What the role's own policies do not allow.
        resource: ARN of the bucket, object, key or repository.
        role: Name of the role, `None` for one that is yet to be made under a name of its own.

    Returns:
        `False` if its policy names neither the role nor everybody, else `UNKNOWN`.

    Raises:
        AwsError: If the question was refused for another reason than permissions.
    """
    target = place.known(resource)
    if target is None:
        return UNKNOWN
    try:
        policy = _policy(place, action, target)
    except NoAnswerError:
        return UNKNOWN
    except NotThereError:
        return False
    names = list(_principals(policy))
    named = role is not None and any(name.endswith(f"/{role}") for name in names)
    return UNKNOWN if named or "*" in names else False


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


def _principals(policy: object) -> Iterator[str]:
    for statement in as_sequence(as_mapping(policy).get("Statement")):
        principal = as_mapping(statement).get("Principal")
        given = as_mapping(principal).values() if isinstance(principal, dict) else [principal]
        for value in given:
            yield from (name for name in as_sequence(value) if isinstance(name, str))

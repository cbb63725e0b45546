"""Whether secrets and keys are there."""

from __future__ import annotations

import re
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from lmi_constructs.checks.values import Reference, Text
from lmi_constructs.operations.aws import NotThereError, asking
from lmi_constructs.preflight.model_files import key_of
from lmi_constructs.preflight.place import MADE_HERE, NOT_KNOWN

if TYPE_CHECKING:
    from collections.abc import Container, Iterator

    from lmi_constructs.checks.values import String
    from lmi_constructs.preflight.model_files import Location
    from lmi_constructs.preflight.outcome import Outcome
    from lmi_constructs.preflight.place import Place

_REFERENCE: Final = re.compile(r"\{\{resolve:secretsmanager:([^}]+)\}\}")
_VARIABLE: Final = re.compile(r"\$\{([^}]+)\}")
_ARN_FIELDS: Final = 7


def secrets(place: Place, properties: object, made_here: Container[str]) -> Iterator[Outcome]:
    """Yield whether the secrets are there that CloudFormation puts into a resource.

    The values are never read. Who deploys needs to read them; the endpoint's role does not.

    Args:
        place: Where to ask.
        properties: The resource's properties as they stand in the template.
        made_here: Logical ids of the template.
    """
    texts = _texts(properties, place, made_here)
    found = (_id(reference) for text in texts for reference in _REFERENCE.findall(text))
    for secret in dict.fromkeys(found):
        if MADE_HERE in secret:
            continue
        if NOT_KNOWN in secret:
            detail = "which secret it is, is known only when it is deployed"
            yield place.outcome("secret", "unknown", detail)
        else:
            yield from place.asked("secret", partial(_secret, place, secret))


def _texts(node: object, place: Place, made_here: Container[str]) -> Iterator[str]:
    """Yield all strings of a part of a template, those in parts put together."""
    match node:
        case str():
            yield node
        case {"Fn::Join": ["", [*parts]]}:
            yield "".join(_text(part, place, made_here) for part in parts)
        case {"Fn::Sub": str(text) | [str(text), _]}:
            yield _VARIABLE.sub(lambda name: _named(name[1], place, made_here), text)
        case dict():
            for value in node.values():
                yield from _texts(value, place, made_here)
        case list():
            for value in node:
                yield from _texts(value, place, made_here)


def _text(part: object, place: Place, made_here: Container[str]) -> str:
    match part:
        case str():
            return part
        case {"Ref": str(name)} | {"Fn::GetAtt": [str(name), _]}:
            return _named(name, place, made_here)
    return NOT_KNOWN


def _named(name: str, place: Place, made_here: Container[str]) -> str:
    """Return what a reference becomes: a pseudo parameter's value, or a sign."""
    if name.split(".", 1)[0] in made_here:
        return MADE_HERE
    return place.text(Text((Reference("", name),)))


def _id(reference: str) -> str:
    """Return the name or ARN of a secret, without the field and version that may follow."""
    parts = reference.split(":")
    return ":".join(parts[:_ARN_FIELDS]) if parts[0] == "arn" else parts[0]


def _secret(place: Place, secret: str) -> Iterator[Outcome]:
    try:
        with asking(f"secret {secret}", "secretsmanager:DescribeSecret"):
            known = place.client("secretsmanager").describe_secret(SecretId=secret)
    except NotThereError as error:
        fix = (
            f"aws secretsmanager create-secret --name {secret.rsplit(':', 1)[-1]}, or name another"
        )
        yield place.outcome("secret", "fail", error.message, fix)
        return
    if known.get("DeletedDate"):
        fix = f"restore it: aws secretsmanager restore-secret --secret-id {secret}"
        yield place.outcome("secret", "fail", f"{secret} is scheduled for deletion", fix)
    else:
        yield place.outcome("secret", "pass", f"{secret} exists")


def key_usable(place: Place, key: String | None, what: str) -> Iterator[Outcome]:
    """Yield whether a KMS key exists and is enabled; nothing for no key or one made here.

    Args:
        place: Where to ask.
        key: Id, ARN or alias of the key.
        what: What it encrypts, for the message.

    Raises:
        AwsError: If KMS does not tell.
    """
    if key is None or MADE_HERE in place.text(key):
        return
    known = place.known(key)
    if known is None:
        detail = f"the key of {what} is known only when it is deployed"
        yield place.outcome("key", "unknown", detail)
        return
    state = described_key(place, known).get("KeyState")
    if state == "Enabled":
        yield place.outcome("key", "pass", f"the key of {what}, {known}, is enabled")
    else:
        fix = "enable it (aws kms enable-key), or name another"
        yield place.outcome("key", "fail", f"the key of {what}, {known}, is {state}", fix)


def key_of_files(place: Place, location: Location) -> Iterator[Outcome]:
    """Yield whether the key that a model's files are encrypted with is enabled, if there is one.

    Raises:
        AwsError: If S3 or KMS do not tell.
    """
    yield from key_usable(place, key_of(place, location), "the files")


def described_key(place: Place, key: str) -> dict[str, Any]:
    """Return what KMS knows of a key.

    Raises:
        AwsError: If KMS does not tell.
    """

    def ask() -> dict[str, Any]:
        with asking(f"key {key}", "kms:DescribeKey"):
            known: dict[str, Any] = place.client("kms").describe_key(KeyId=key)["KeyMetadata"]
        return known

    return place.account.once(("key", key, place.region), ask)

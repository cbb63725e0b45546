"""What kind of value a keyword or field takes, and how to write one."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, is_dataclass, replace
from typing import Any, Final

import aws_cdk as cdk

from lmi_constructs.findings import Finding, raise_errors
from lmi_constructs.hosting._cdk_tokens import is_resolvable, is_token
from lmi_constructs.readable import readable

_LARGEST_INTEGER: Final = 2**53
"""Up to here JavaScript counts by ones."""


@dataclass(frozen=True, slots=True)
class Kind:
    """What a keyword takes.

    Attributes:
        fix: How to write a value.
        types: The classes of a value.
        has: Attribute by which an object of the CDK is known, as its interfaces cannot be asked for.
        many: Whether it takes a sequence of such values.
        required: Whether `None` is no value.
        resolvable: Whether an object that the CDK resolves at deploy time will do.
        words: The only texts that there are, if there are few.
    """

    fix: str
    types: tuple[type, ...] = ()
    has: str = ""
    many: bool = False
    required: bool = False
    resolvable: bool = False
    words: tuple[str, ...] = ()

    def takes(self, value: object) -> bool:
        """Return whether a value is of this kind; one that is unknown at synth may be."""
        if value is None:
            return not self.required
        if self.many:
            listed = isinstance(value, Sequence) and not isinstance(value, (str, bytes))
            return listed and all(self._takes_one(item) for item in value)  # type: ignore[attr-defined]
        return self._takes_one(value)

    def fix_of(self, value: object) -> str:
        """Return how to write a value, and how to write this one if it is a token."""
        if not is_token(value):
            return self.fix
        if int in self.types:
            return f"{self.fix}; of a token: cdk.Token.as_number(...)"
        return (
            f"{self.fix}; of a token: cdk.Token.as_string(...)" if str in self.types else self.fix
        )

    def _takes_one(self, value: object) -> bool:
        if self.has and _is_known_by(value, self.has):
            return True
        if isinstance(value, bool):
            return bool in self.types
        if isinstance(value, (int, float)):
            is_unknown = int in self.types and is_token(value)
            return is_unknown or (isinstance(value, self.types) and _is_exact(value))
        if isinstance(value, str):
            return str in self.types and (not self.words or is_token(value) or value in self.words)
        return (self.resolvable and is_resolvable(value)) or isinstance(value, self.types)


def _is_exact(value: float) -> bool:
    """Tell whether a number reaches the CDK as it is: NaN and infinity end its process."""
    return abs(value) <= _LARGEST_INTEGER if isinstance(value, int) else math.isfinite(value)


def _is_known_by(value: object, attribute: str) -> bool:
    """Tell whether an object has an attribute.

    The class is asked first, which is no call over the bridge. What the CDK returns as an interface,
    such as an immutable role, is of no class that has it.
    """
    if isinstance(value, type):
        return False
    return hasattr(type(value), attribute) or hasattr(value, attribute)


def text(example: str) -> Kind:
    """Return a text, shown by an example."""
    return Kind(f'give text, such as "{example}"', (str,))


def one_of(*words: str) -> Kind:
    """Return one of a few texts."""
    return Kind("use " + " or ".join(map(repr, words)), (str,), words=words)


def needed(kind: Kind) -> Kind:
    """Return the same kind without `None`."""
    return replace(kind, required=True)


DURATION: Final = Kind("give a duration: cdk.Duration.seconds(1800)", (cdk.Duration,))
COUNT: Final = Kind("give a whole number", (int,))
NUMBER: Final = Kind("give a number", (int, float))
CHOICE: Final = Kind("give True or False", (bool,), resolvable=True)
BUCKET: Final = Kind(
    'give a bucket, or the name of one, such as "my-models"',
    (str,),
    has="bucket_arn",
    required=True,
)
ENCRYPTION_KEY: Final = Kind(
    "give a key: kms.Key(...), or kms.Key.from_key_arn(stack, id, arn)", has="key_arn"
)
TOPIC: Final = Kind(
    "give a topic: sns.Topic(...), or sns.Topic.from_topic_arn(stack, id, arn)", has="topic_arn"
)


def check_kinds(values: Mapping[str, object], kinds: Mapping[str, Kind]) -> list[Finding]:
    """Return what is wrong with the kinds of values, before anything is done with them."""
    return [
        wrong(name, f"{name} is {_shown(value)}", kinds[name].fix_of(value))
        for name, value in values.items()
        if name in kinds and not kinds[name].takes(value)
    ]


def _shown(value: object) -> str:
    """Return a value as a user would call it: an object without a text of its own by its class."""
    if isinstance(value, (list, tuple)):
        items = ", ".join(map(_shown, value))
        return f"({items})" if isinstance(value, tuple) else f"[{items}]"
    of_its_own = is_resolvable(value) or type(value).__repr__ is not object.__repr__
    return repr(value) if of_its_own and not is_dataclass(value) else f"{type(value).__name__}(...)"


def check_fields(value: Any, kinds: Mapping[str, Kind]) -> None:
    """Refuse a value whose fields are of other kinds.

    Raises:
        LmiError: All such fields at once (LMI010).
    """
    raise_errors(check_kinds({name: getattr(value, name) for name in kinds}, kinds))


def refused(where: str, message: str, takes: str) -> list[Finding]:
    """Return the finding about a value that CreateEndpointConfig does not take."""
    return [
        Finding(
            rule="LMI010",
            message=message,
            why=f"CreateEndpointConfig takes {takes}, and refuses the configuration",
            fix=f"give {takes}",
            where=where,
            source="botocore 1.44.8 sagemaker 2017-07-24 EndpointConfig",
        )
    ]


def check_bounds(
    where: str, value: float | None, least: int, most: int | None = None
) -> list[Finding]:
    """Check that a number is within the service's bounds; a token is not known."""
    if value is None or is_token(value):
        return []
    if value >= least and (most is None or value <= most):
        return []
    takes = f"{least} or more" if most is None else f"{least} to {most}"
    return refused(where, f"{where} is {readable(value)}", takes)


def wrong(name: str, message: str, fix: str) -> Finding:
    """Return the finding about a value of another kind."""
    return Finding(
        rule="LMI010",
        message=message,
        why="the construct can make nothing of a value of another kind",
        fix=fix,
        where=name,
    )

"""What an outcome is about, and where to ask about it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from lmi_constructs.checks.values import Reference, Text, Unknown
from lmi_constructs.facts import registries
from lmi_constructs.operations.aws import AwsError, NotThereError
from lmi_constructs.preflight.outcome import Outcome

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from lmi_constructs.checks.resources import Resource
    from lmi_constructs.checks.values import String
    from lmi_constructs.preflight.account import Account
    from lmi_constructs.preflight.outcome import Check, Status

MADE_HERE: Final = "\ue010"
"""Stands in a text for what a resource of the same templates will turn out to be."""

NOT_KNOWN: Final = "\ue011"
"""Stands in a text for what is known only when it is deployed."""


@dataclass(frozen=True, slots=True)
class Place:
    """A resource, and the account and region that it goes to.

    Attributes:
        endpoint: Construct path of the endpoint it belongs to, if it belongs to one.
        subject: Construct path of the resource.
        account: Where to ask.
        region: Region to ask in; `None` for that of the AWS configuration.
        account_id: Account that the template goes to, if it says so.
    """

    endpoint: str | None
    subject: str
    account: Account
    region: str | None
    account_id: str | None = None

    def client(self, service: str, region: str | None = None) -> Any:
        """Return boto3's client of a service in this or another region.

        Raises:
            NoAnswerError: If there can be none.
        """
        return self.account.client(service, region or self.region)

    def outcome(
        self, check: Check, status: Status, detail: str, fix: str = "", rule: str = ""
    ) -> Outcome:
        """Return an outcome about this resource."""
        return Outcome(
            endpoint=self.endpoint,
            subject=self.subject,
            check=check,
            status=status,
            detail=detail,
            fix=fix,
            rule=rule,
        )

    def asked(self, check: Check, ask: Callable[[], Iterable[Outcome]]) -> Iterator[Outcome]:
        """Yield the outcomes of a question; what AWS does not answer is unknown."""
        try:
            yield from ask()
        except NotThereError as error:
            yield self.outcome(check, "fail", error.message, error.advice)
        except AwsError as error:
            yield self.outcome(check, "unknown", f"not known: {error.message}", error.advice)

    def known(self, value: String | None) -> str | None:
        """Return a string, with what this account and region make of it; `None` if not known."""
        text = None if value is None else self.text(value)
        return None if text is None or MADE_HERE in text or NOT_KNOWN in text else text

    def text(self, value: String) -> str:
        """Return a string with signs for what is not known."""
        if isinstance(value, str):
            return value
        parts = value.parts if isinstance(value, Text) else (value,)
        return "".join(map(self._part, parts))

    def _part(self, part: str | Reference | Unknown) -> str:
        if isinstance(part, str):
            return part
        if not isinstance(part, Reference):
            return NOT_KNOWN
        if part.resource:
            return MADE_HERE
        registry = registries().get(self.region or "")
        pseudo = {
            "AWS::Region": self.region,
            "AWS::AccountId": self.account_id,
            "AWS::Partition": registry.partition if registry else None,
        }
        return pseudo.get(part.name) or NOT_KNOWN


def path_of(resource: Resource) -> str:
    """Return what a resource is called: its construct path, or else its logical id."""
    return (resource.construct_path or resource.logical_id).removesuffix("/Resource")

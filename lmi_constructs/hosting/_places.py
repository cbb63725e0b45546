"""Where a construct goes: its parent and its id, which must be free."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from constructs import Construct

from lmi_constructs.findings import Finding, LmiError, raise_errors
from lmi_constructs.hosting._kinds import Kind, check_kinds, needed, text, wrong
from lmi_constructs.hosting._tokens import is_token

if TYPE_CHECKING:
    from collections.abc import Iterator

_PLACE = {
    "scope": Kind("give a construct, such as the stack", (Construct,), required=True),
    "id": needed(text("Chat")),
}
_UNKNOWN = Finding(
    rule="LMI010",
    message="id is not known at synth",
    why="logical ids are made of it, and the CDK takes no token there",
    fix='write it as text, such as "Chat", and give what is known later as a name',
    where="id",
)
_TAKEN = "There is already a Construct with name"


@contextmanager
def placed(scope: object, id: object, *, fix: str = "give each an id of its own") -> Iterator[None]:
    """Make a construct, and say what to write instead if there can be none in this place.

    Args:
        scope: Parent.
        id: Id within the parent.
        fix: What to write if the id is taken.

    Raises:
        LmiError: If parent or id are none or not known at synth (LMI010), or the id is taken
            (LMI067).
    """
    raise_errors(check_kinds({"scope": scope, "id": id}, _PLACE))
    if not id:
        raise LmiError(wrong("id", f"id is {id!r}", _PLACE["id"].fix))
    if is_token(id):
        raise LmiError(_UNKNOWN)
    try:
        yield
    except RuntimeError as error:
        if not str(error).startswith(_TAKEN):
            raise
        finding = Finding(
            rule="LMI067",
            message=f"the id {id!r} is used twice",
            why="two constructs of one parent cannot have the same id",
            fix=fix,
            where="id",
        )
        raise LmiError(finding) from error


class PlacedConstruct(Construct):
    """A construct that says what to write instead if it cannot be where it was put."""

    def __init__(self, scope: Construct, id: str) -> None:
        """Take a place in the construct tree.

        Args:
            scope: Parent.
            id: Id within the parent.

        Raises:
            LmiError: If there can be no construct (LMI010), or there is one already (LMI067).
        """
        with placed(scope, id):
            super().__init__(scope, id)

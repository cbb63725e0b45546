"""Where a construct goes: its parent and its id, which must be free."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from constructs import Construct

from lmi_constructs.findings import Finding, LmiError, raise_errors
from lmi_constructs.hosting._kinds import Kind, check_kinds, needed, text

if TYPE_CHECKING:
    from collections.abc import Iterator

_PLACE = {
    "scope": Kind("give a construct, such as the stack", (Construct,), required=True),
    "id": needed(text("Chat")),
}
_TAKEN = "There is already a Construct with name"


@contextmanager
def placed(scope: object, id: object, *, fix: str = "give each an id of its own") -> Iterator[None]:
    """Make a construct, and say what to write instead if there can be none in this place.

    Args:
        scope: Parent.
        id: Id within the parent.
        fix: What to write if the id is taken.

    Raises:
        LmiError: If parent or id are none (LMI010), or the id is taken (LMI067).
    """
    raise_errors(check_kinds({"scope": scope, "id": id}, _PLACE))
    if not id:
        raise_errors(check_kinds({"id": None}, _PLACE))
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

"""The scope and the id of a new construct: what makes them valid, and a base class that checks them."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

import aws_cdk as cdk
from constructs import Construct

from lmi_constructs.findings import Finding, LmiError, raise_errors
from lmi_constructs.hosting._cdk_tokens import is_token
from lmi_constructs.hosting._kinds import Kind, check_kinds, needed, text, wrong

if TYPE_CHECKING:
    from collections.abc import Iterator

_KINDS = {
    "scope": Kind("give a construct, such as the stack", (Construct,), required=True),
    "id": needed(text("Chat")),
}
_NO_STACK = Finding(
    rule="LMI010",
    message="scope is an app or a stage, not a stack",
    why="resources are deployed as part of a stack",
    fix='put the construct into a stack: cdk.Stack(app, "Llm")',
    where="scope",
)
_UNKNOWN = Finding(
    rule="LMI010",
    message="id is not known at synth",
    why="the CDK makes logical ids from it at synth, so it cannot be a token",
    fix='write a fixed id, such as "Chat", and pass the token as a name instead',
    where="id",
)
_TAKEN = "There is already a Construct with name"


@contextmanager
def checked_scope_and_id(
    scope: object, id: object, *, fix: str = "give each an id of its own"
) -> Iterator[None]:
    """Make a construct, and say what to write instead if its parent or id is not valid.

    Args:
        scope: Parent.
        id: Id within the parent.
        fix: What to write if the id is taken.

    Raises:
        LmiError: If the parent is no construct in a stack, or the id is empty or a token (LMI010),
            or the id is taken (LMI067).
    """
    raise_errors(check_kinds({"scope": scope, "id": id}, _KINDS))
    if isinstance(scope, cdk.Stage):
        raise LmiError(_NO_STACK)
    if not id:
        raise LmiError(wrong("id", f"id is {id!r}", _KINDS["id"].fix))
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
            why="two constructs with the same parent cannot share an id",
            fix=fix,
            where="id",
        )
        raise LmiError(finding) from error


class CheckedConstruct(Construct):
    """A construct whose parent and id are checked: what is wrong ends in a finding."""

    def __init__(self, scope: Construct, id: str) -> None:
        """Add the construct to its parent.

        Args:
            scope: Parent.
            id: Id within the parent.

        Raises:
            LmiError: If parent or id are not valid (LMI010), or the id is taken (LMI067).
        """
        with checked_scope_and_id(scope, id):
            super().__init__(scope, id)

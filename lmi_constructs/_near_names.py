"""Which known name a misspelled one resembles: one measure and three thresholds for the whole package.

The measure is that of `difflib`, from 0 (nothing in common) to 1 (equal), after case is folded and
`_` is read as `-`. A file of the package's root, since the bundle of the smoke test takes those along.
"""

from __future__ import annotations

from difflib import get_close_matches
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterable

WRONG: Final = 0.6
"""How alike names must be if the written one is known to be wrong, and only a suggestion is wanted.

It is the default of `difflib`. A suggestion that is off does no harm: the fix goes on with "If not".
"""

SUSPECT: Final = 0.8
"""How alike names must be if nothing but the likeness makes the written one suspect.

`Endpoint` for `EndpointName` is just found; a right name that is not known here is seldom accused.
"""

SURE: Final = 0.9
"""How alike names must be if others that are right are alike too, as in IAM or CloudWatch.

`ecr:BatchGetImages` is found; `ecr:BatchDeleteImage` is not taken for `ecr:BatchGetImage`.
"""


def near_names(
    written: str, known: Iterable[str], *, most: int = 1, likeness: float = WRONG
) -> tuple[str, ...]:
    """Return the known names that a written one resembles, nearest first; only itself if it is known.

    Args:
        written: What was written, whatever its case.
        known: What may be written; it is returned as it is spelled there.
        most: How many names to return at most.
        likeness: [`WRONG`][], [`SUSPECT`][] or [`SURE`][].
    """
    names = sorted(known)
    if written in names:
        return (written,)
    folded = {_folded(name): name for name in names}
    near = get_close_matches(_folded(written), folded, n=most, cutoff=likeness)
    return tuple(folded[name] for name in near)


def nearest(written: str, known: Iterable[str], *, likeness: float = WRONG) -> str | None:
    """Return the known name that a written one resembles most; `None` if it resembles none."""
    return next(iter(near_names(written, known, likeness=likeness)), None)


def did_you_mean(written: str, known: Iterable[str], otherwise: str = "", *, most: int = 1) -> str:
    """Return a fix for a wrong name: `did you mean awq? If not, remove it`.

    Args:
        written: What was written.
        known: What may be written.
        otherwise: What else to do, without a capital or full stop; all that is returned if no name is
            near. Default: nothing.
        most: How many names to suggest at most: more than one where names differ in a part that
            cannot be guessed, such as the size of an instance type.
    """
    return meant(near_names(written, known, most=most), otherwise)


def meant(names: Iterable[str], otherwise: str = "") -> str:
    """Return the words of [`did_you_mean`][] for names that were found in another way."""
    asked = " or ".join(names)
    if not asked:
        return otherwise
    return f"did you mean {asked}? If not, {otherwise}" if otherwise else f"did you mean {asked}?"


def _folded(name: str) -> str:
    return name.casefold().replace("_", "-")

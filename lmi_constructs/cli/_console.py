"""The console that commands print on."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import Console


def console(*, soft_wrap: bool = False, stderr: bool = False) -> Console:
    """Return a console that prints texts as they are.

    What users give is printed: `rich` would take `:secret:` in an ARN for an emoji, and `[a]` for
    markup. Colors come from `rich.text.Text` alone.

    Args:
        soft_wrap: Whether the terminal breaks long lines, so that they can be searched and copied.
        stderr: Whether it is standard error.
    """
    from rich.console import Console

    class Printing(Console):
        """Ends the command like `click.echo` where nobody reads on, instead of with status 1."""

        def on_broken_pipe(self) -> None:
            """Say so."""
            raise BrokenPipeError

    return Printing(highlight=False, markup=False, emoji=False, soft_wrap=soft_wrap, stderr=stderr)

"""A plan for a person: a table and a bar of the memory of one accelerator."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from rich.table import Table
from rich.text import Text

from lmi_constructs.cli._console import console
from lmi_constructs.report.bar import GRADES, budget_reason, longest_context, memory_parts, over_gib

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lmi_constructs.container import LmiContainer
    from lmi_constructs.planner import Plan, Suggestion

_COLORS: Final = {
    "fits": "bold green",
    "marginal": "bold yellow",
    "cannot": "bold red",
    "unknown": "bold magenta",
}
_PAINT: Final = {"W": "blue", "A": "yellow", "O": "magenta", "G": "cyan", "K": "green"}
_WIDEST_BAR: Final = 60
_LEAST_OVER: Final = 0.05
_NARROW: Final = 60
"""Below this width of the terminal the table gives figures without their explanation."""


def show(
    planned: Plan,
    suggestions: Sequence[Suggestion],
    release: LmiContainer,
    concurrency_at: int | None,
    notes: Sequence[str],
) -> None:
    """Print a plan."""
    screen = console()
    screen.print(_headline(planned, release))
    if planned.doubt is not None:
        screen.print(f"Memory is not planned: {planned.doubt}.")
    elif planned.budget_gib is None:
        screen.print("\n".join(planned.explain()[1:]), _capacity(planned, concurrency_at), sep="\n")
    else:
        screen.print()
        screen.print(_bar(planned, min(_WIDEST_BAR, max(10, screen.width - 28))))
        screen.print(_table(planned, explained=screen.width >= _NARROW))
        screen.print(_capacity(planned, concurrency_at))
    for note in notes:
        screen.print(f"note: {note}.", style="dim")
    for finding in sorted(planned.findings, key=lambda finding: finding.severity):
        style = "red" if finding.severity == "error" else "yellow"
        screen.print(Text(f"\n{finding.severity} {finding.rule}: {finding.message}", style=style))
        screen.print(f"  why: {finding.why}\n  write: {finding.fix}")
    if suggestions:
        sure = suggestions[0].plan.grade == "fits"
        screen.print(f"\nIt {'fits' if sure else 'may start'} with one of these:")
        for number, suggestion in enumerate(suggestions, 1):
            screen.print(f"  {number}. {suggestion.described('command')}")


def _headline(planned: Plan, release: LmiContainer) -> Text:
    where = f"{planned.accelerator_count} x {planned.accelerator.name}"
    line = Text(f"{planned.architecture.name} on {planned.instance_type} ({where}), ")
    line.append(f"{release.name}, tensor_parallel_degree {planned.setup.tensor}: ")
    return line.append(GRADES[planned.grade], style=_COLORS[planned.grade])


def _bar(planned: Plan, width: int) -> Text:
    """Return one accelerator's memory as a bar; letters tell its parts without color."""
    bar = Text("|")
    drawn, total = 0, 0.0
    for part in memory_parts(planned):
        total += part.percent
        cells = round(total * width / 100) - drawn
        color = _PAINT.get(part.letter)
        bar.append(part.letter * cells, style=f"{color} reverse" if color else "dim")
        drawn += cells
    usable = planned.usable_gib or 0.0
    over = over_gib(planned)
    tail = f" {over:.1f} GiB over {usable:.1f}" if over > _LEAST_OVER else f" {usable:.1f} GiB"
    return bar.append("|").append(tail)


def _table(planned: Plan, *, explained: bool) -> Table:
    table = Table(box=None, pad_edge=False, show_header=True, header_style="bold")
    table.add_column("each accelerator")
    table.add_column("GiB", justify="right")
    if explained:
        table.add_column("what it is made of")
    rows = [
        (
            Text(f"{part.letter} {part.name}", style=_PAINT.get(part.letter, "")),
            part.gib,
            part.reason,
        )
        for part in memory_parts(planned)
    ]
    rows.append((Text("budget"), planned.budget_gib or 0.0, budget_reason(planned)))
    for title, gib, reason in rows:
        row = (title, f"{gib:.2f}", reason)
        table.add_row(*(row if explained else row[:2]))
    return table


def _capacity(planned: Plan, concurrency_at: int | None) -> str:
    context = planned.setup.context
    length = concurrency_at or context
    lines = [f"\nlongest context: {longest_context(planned)}"]
    held = planned.concurrency_at(length) if length else None
    if held is not None:
        limit = planned.setup.sequences
        most = f"; the engine runs at most {limit}" if held > limit else ""
        lines.append(f"requests of {length} tokens at once: {held:.1f}{most}")
    if planned.repository_bytes:
        lines.append(f"weights to download: {planned.repository_bytes / 1e9:.1f} GB")
    if planned.start_up:
        download, load = planned.start_up.download, planned.start_up.load
        lines.append(f"by published measurements: {download} to download, {load} to load")
    return "\n".join(lines)

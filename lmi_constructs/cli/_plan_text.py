"""A plan for a person: a table and a bar of the memory of one accelerator."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from rich.table import Table
from rich.text import Text

from lmi_constructs.cli._console import console

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lmi_constructs.container import LmiContainer
    from lmi_constructs.planner import Plan, Suggestion

_COLOURS: Final = {
    "fits": "bold green",
    "marginal": "bold yellow",
    "cannot": "bold red",
    "unknown": "bold magenta",
}
_WORDS: Final = {
    "fits": "fits",
    "marginal": "may start or not",
    "cannot": "cannot start",
    "unknown": "not known",
}
_PARTS: Final = (
    ("weights_gib", "weights", "W", "blue"),
    ("activation_gib", "activation", "A", "yellow"),
    ("overhead_gib", "overhead", "O", "magenta"),
    ("cuda_graph_gib", "CUDA graphs", "G", "cyan"),
    ("kv_cache_gib", "KV cache", "K", "green"),
)
_WIDEST_BAR: Final = 60
_NARROW: Final = 60
"""Below this width of the terminal the table gives figures without their explanation."""


def show(
    planned: Plan,
    suggestions: Sequence[Suggestion],
    release: LmiContainer,
    concurrency_at: int | None,
    note: str | None,
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
    if note is not None:
        screen.print(f"note: {note}.", style="dim")
    for finding in sorted(planned.findings, key=lambda finding: finding.severity):
        style = "red" if finding.severity == "error" else "yellow"
        screen.print(Text(f"\n{finding.severity} {finding.rule}: {finding.message}", style=style))
        screen.print(f"  why: {finding.why}\n  write: {finding.fix}")
    if suggestions:
        screen.print("\nIt fits with one of these:")
        for number, suggestion in enumerate(suggestions, 1):
            screen.print(f"  {number}. {suggestion}")


def _headline(planned: Plan, release: LmiContainer) -> Text:
    where = f"{planned.accelerator_count} x {planned.accelerator.name}"
    line = Text(f"{planned.architecture.name} on {planned.instance_type} ({where}), ")
    line.append(f"{release.name}, tensor_parallel_degree {planned.setup.tensor}: ")
    return line.append(_WORDS[planned.grade], style=_COLOURS[planned.grade])


def _bar(planned: Plan, width: int) -> Text:
    """Return one accelerator's memory as a bar; letters tell its parts without colour."""
    usable = planned.usable_gib or 1.0
    sizes = [(getattr(planned, name) or 0.0, letter, colour) for name, _, letter, colour in _PARTS]
    scale = width / max(usable, sum(size for size, _, _ in sizes))
    bar = Text("|")
    drawn, total = 0, 0.0
    for size, letter, colour in sizes:
        total += size
        cells = round(total * scale) - drawn
        bar.append(letter * cells, style=f"{colour} reverse")
        drawn += cells
    free = max(0, round(usable * scale) - drawn)
    bar.append("." * free, style="dim").append("|")
    over = total - usable
    tail = f" {usable:.1f} GiB" if over <= 0.05 else f" {over:.1f} GiB over {usable:.1f}"
    return bar.append(tail)


def _table(planned: Plan, *, explained: bool) -> Table:
    table = Table(box=None, pad_edge=False, show_header=True, header_style="bold")
    table.add_column("each accelerator")
    table.add_column("GiB", justify="right")
    if explained:
        table.add_column("what it is made of")
    reasons = dict(_reasons(planned))
    for name, title, letter, colour in _PARTS:
        size = getattr(planned, name) or 0.0
        row = (Text(f"{letter} {title}", style=colour), f"{size:.2f}", reasons[name])
        table.add_row(*(row if explained else row[:2]))
    last = ("budget", f"{planned.budget_gib:.2f}", reasons["budget_gib"])
    table.add_row(*(last if explained else last[:2]))
    return table


def _reasons(planned: Plan) -> list[tuple[str, str]]:
    words = {}
    for line in planned.explain()[1:]:
        figure, _, reason = line.partition(": ")
        words[figure.split()[0]] = reason
    keys = ("weights", "activation", "overhead", "CUDA", "cache", "budget")
    names = [name for name, *_ in _PARTS] + ["budget_gib"]
    return [(name, words[key]) for name, key in zip(names, keys, strict=True)]


def _longest(planned: Plan) -> str:
    """Return the longest context in the words of the advice: what surely fits, and what may."""
    usual, sure = planned.max_context, planned.sure_context
    if usual is None or sure is None or sure >= usual:
        return f"{usual} tokens"
    return f"{sure} tokens surely fit, {usual} by the usual estimate"


def _capacity(planned: Plan, concurrency_at: int | None) -> str:
    context = planned.setup.context
    length = concurrency_at or context
    lines = [f"\nlongest context: {_longest(planned)}"]
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

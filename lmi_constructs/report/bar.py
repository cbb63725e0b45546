"""A plan in words and parts that the page and `lmi plan` share."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from lmi_constructs.planner import Grade, Plan

GRADES: Final[dict[Grade, str]] = {
    "fits": "fits",
    "marginal": "marginal (may or may not start)",
    "cannot": "cannot (does not start)",
    "unknown": "unknown (not planned)",
}
"""Each grade by its name, with what it means in words."""

_PARTS: Final = (
    ("weights_gib", "weights", "W"),
    ("activation_gib", "activation", "A"),
    ("overhead_gib", "overhead", "O"),
    ("cuda_graph_gib", "CUDA graphs", "G"),
    ("kv_cache_gib", "KV cache", "K"),
)
_LEAST: Final = 0.005
"""What is shown as 0.00 GiB."""


@dataclass(frozen=True)
class Part:
    """A part of one accelerator's memory.

    Attributes:
        name: What takes the memory.
        letter: What stands for it in the bar; a dot for what is left free.
        gib: How much, in GiB.
        percent: Share of the whole bar, from 0 to 100.
        reason: What the figure is made of.
    """

    name: str
    letter: str
    gib: float
    percent: float
    reason: str


def memory_parts(plan: Plan) -> tuple[Part, ...]:
    """Return the parts of one accelerator's memory; none where it is not planned.

    The last one is what the engine leaves free. Together they are what the driver shows, or more where
    it does not fit.

    Args:
        plan: The plan.
    """
    usable = plan.usable_gib
    if usable is None or plan.weights_gib is None or plan.budget_gib is None:
        return ()
    reasons = _reasons(plan)
    rows = [
        (name, letter, getattr(plan, figure) or 0.0, reasons[name.split()[0]])
        for figure, name, letter in _PARTS
    ]
    taken = sum(gib for _, _, gib, _ in rows)
    rows.append(("left free", ".", max(0.0, usable - taken), _left_free(plan, taken)))
    whole = max(usable, taken)
    return tuple(
        Part(name, letter, gib, 100 * gib / whole, reason) for name, letter, gib, reason in rows
    )


def budget_reason(plan: Plan) -> str:
    """Return what the budget is a share of; empty where it is not planned.

    Args:
        plan: The plan.
    """
    return _reasons(plan).get("budget", "")


def over_gib(plan: Plan) -> float:
    """Return by how much the parts are more than the driver shows, in GiB; 0 if they are not.

    Args:
        plan: The plan.
    """
    over = sum(part.gib for part in memory_parts(plan)) - (plan.usable_gib or 0.0)
    return over if over > _LEAST else 0.0


def longest_context(plan: Plan) -> str:
    """Return the longest context in the words of the advice: what surely fits, and what may.

    Args:
        plan: The plan.
    """
    usual, sure = plan.max_context, plan.sure_context
    if usual is None:
        return "not known"
    if sure is None or sure >= usual:
        return f"{usual} tokens" if usual else "none: no cache is left"
    surely = f"{sure} tokens surely fit" if sure else "none surely fits"
    return f"{surely}, {usual} by the usual estimate"


def _reasons(plan: Plan) -> dict[str, str]:
    """Return what each figure is made of, by the first word of its name."""
    words = {}
    for line in plan.explain()[1:]:
        figure, _, reason = line.partition(": ")
        words[figure.split()[0]] = reason
    words["KV"] = words.get("cache", "")
    return words


def _left_free(plan: Plan, taken: float) -> str:
    """Return why the engine does not take what is left: never because it has no use for it."""
    budget = plan.budget_gib or 0.0
    outside = 0.0 if plan.setup.graphs_in_budget else plan.cuda_graph_gib or 0.0
    over = taken - outside - budget
    if over > _LEAST:
        return f"nothing for the cache: the rest takes {over:.2f} GiB more than the budget"
    beside = " and the CUDA graphs" if outside > _LEAST else ""
    return f"outside the budget{beside}: the engine reserves nothing there"

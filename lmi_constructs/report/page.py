"""Rendering the page: one file, no script, nothing loaded from elsewhere."""

from __future__ import annotations

from importlib.resources import files
from typing import TYPE_CHECKING

from lmi_constructs._version import __version__
from lmi_constructs.report.bar import GRADES, budget_reason, longest_context, memory_parts, over_gib

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lmi_constructs.planner import Plan
    from lmi_constructs.report.view import EndpointView


def render(endpoints: Sequence[EndpointView], *, title: str) -> str:
    """Return the page.

    Args:
        endpoints: What to show.
        title: Heading, such as the name of the cloud assembly.
    """
    from jinja2 import Environment, StrictUndefined

    source = files(__package__).joinpath("page.html.j2").read_text("utf-8")
    environment = Environment(
        autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    environment.filters["gib"] = lambda gib: f"{gib:.2f}"
    template = environment.from_string(source)
    return template.render(
        endpoints=endpoints,
        title=title,
        version=__version__,
        memory_parts=memory_parts,
        budget_reason=budget_reason,
        over_gib=over_gib,
        bar_in_words=bar_in_words,
        longest_context=longest_context,
        grades=GRADES,
    )


def bar_in_words(plan: Plan) -> str:
    """Return what the memory bar shows, for who cannot see it.

    Args:
        plan: The plan.
    """
    parts = ", ".join(f"{part.name} {part.gib:.2f}" for part in memory_parts(plan))
    over = f"; {over_gib(plan):.2f} GiB more than there is" if over_gib(plan) else ""
    return f"Memory of one {plan.accelerator.name}, {plan.usable_gib:.2f} GiB: {parts}{over}"

"""Rendering the page: one file, no script, nothing loaded from elsewhere."""

from __future__ import annotations

from dataclasses import dataclass
from importlib.resources import files
from typing import TYPE_CHECKING

from lmi_constructs._version import __version__

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lmi_constructs.planner import Plan
    from lmi_constructs.report.view import EndpointView


@dataclass(frozen=True)
class Part:
    """A part of the memory bar.

    Attributes:
        name: What takes the memory.
        gib: How much, in GiB.
        percent: Share of what the driver shows.
        kind: Class in the style sheet.
    """

    name: str
    gib: float
    percent: float
    kind: str


def render(endpoints: Sequence[EndpointView], *, title: str) -> str:
    """Return the page.

    Args:
        endpoints: What to show.
        title: Heading, such as the path of the cloud assembly.
    """
    from jinja2 import Environment, StrictUndefined

    source = files(__package__).joinpath("page.html.j2").read_text("utf-8")
    environment = Environment(
        autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    template = environment.from_string(source)
    return template.render(
        endpoints=endpoints, title=title, version=__version__, memory_bar=memory_bar
    )


def memory_bar(plan: Plan) -> tuple[Part, ...]:
    """Return the parts of one accelerator's memory, in the order they are taken."""
    usable = plan.usable_gib
    if usable is None or plan.weights_gib is None:
        return ()
    taken = (
        ("weights", plan.weights_gib, "weights"),
        ("activations", plan.activation_gib or 0.0, "activation"),
        ("overhead", plan.overhead_gib or 0.0, "overhead"),
        ("CUDA graphs", plan.cuda_graph_gib or 0.0, "graphs"),
        ("KV cache", plan.kv_cache_gib or 0.0, "cache"),
    )
    free = max(0.0, usable - sum(gib for _, gib, _ in taken))
    whole = max(usable, sum(gib for _, gib, _ in taken))
    return tuple(
        Part(name, gib, 100 * gib / whole, kind)
        for name, gib, kind in (*taken, ("free", free, "free"))
    )

"""What both stages of a verdict look at, and how each says what it found."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from lmi_constructs.container.recommender import ASYNC_HANDLER, Recommendation
from lmi_constructs.facts.handler import HandlerBehavior, HandlerProperty, handler_properties
from lmi_constructs.findings import Finding

if TYPE_CHECKING:
    from lmi_constructs.container.release import LmiContainer
    from lmi_constructs.container.serving_properties import Option, Properties
    from lmi_constructs.facts.engine_arguments import EngineArgument

CONTAINERS_MAX_LORAS: Final = 4
"""What the container hands on as `max_loras` by default (vllm_rb_properties.py)."""
_REFUSED: Final = "the container refuses to load the model: the endpoint fails after the download"
_FAILED: Final = (
    "the model never becomes healthy, and the deployment fails after its whole time-out"
)


@dataclass(slots=True)
class Arguments:
    """Result of the first stage.

    Attributes:
        errors: What the release refuses.
        ignored: Options that are read by nothing.
        dropped: Options whose `false` the release drops on the way to the engine.
        effective: The engine's settings by engine name, converted.
    """

    errors: list[Finding] = field(default_factory=list)
    ignored: list[Option] = field(default_factory=list)
    dropped: list[Option] = field(default_factory=list)
    effective: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Stage:
    """Everything that the checks of a stage look at."""

    container: LmiContainer
    behavior: HandlerBehavior
    table: dict[str, EngineArgument]
    properties: Properties
    recommended: Recommendation

    @property
    def declared(self) -> dict[str, HandlerProperty]:
        """Settings that the container's own classes know in this release."""
        return handler_properties(self.container.release.lmi or 0)


def refusal(option: Option | str, message: str, fix: str, *, source: str | None = None) -> Finding:
    """Return the finding for a setting that the release refuses."""
    where = option if isinstance(option, str) else option.where
    return Finding(
        rule="LMI001", message=message, why=_REFUSED, fix=fix, where=where, source=source
    )


def failure(where: str, message: str, fix: str, source: str, *, rule: str = "LMI004") -> Finding:
    """Return the finding for something that ends the start."""
    return Finding(rule=rule, message=message, why=_FAILED, fix=fix, where=where, source=source)


def uses_async_handler(stage: Stage) -> bool:
    """Return whether vLLM's asynchronous handler serves the model."""
    return stage.recommended.handler == ASYNC_HANDLER


def where_of(stage: Stage, engine_name: str) -> str:
    """Return the variable or property that sets an engine argument."""
    names = [engine_name, *(r.name for r in stage.declared.values() if r.engine == engine_name)]
    if engine_name == "max_num_seqs":
        names.append("max_rolling_batch_size")
    for name in names:
        if name in stage.properties.options:
            return stage.properties.options[name].where
    return engine_name

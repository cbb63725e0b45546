"""Which handler serves the model, as the server's recommender and the Python engine decide it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from lmi_constructs.container import value_parsers
from lmi_constructs.container.serving_properties import UNKNOWN, Properties, Unknown

if TYPE_CHECKING:
    from lmi_constructs.facts.handler import HandlerBehavior

ASYNC_HANDLER: Final = "djl_python.lmi_vllm.vllm_async_service"
TRANSFORMERS_HANDLER: Final = "djl_python.huggingface"


@dataclass(frozen=True, slots=True)
class Recommendation:
    """What the server adds to the settings.

    Attributes:
        rolling_batch: Final value of `rolling_batch`, or unknown.
        async_mode: Whether the asynchronous Python engine runs.
        handler: Module that serves the model, or unknown.
        tensor_parallel_degree: The degree as text (`max` or a number), or unknown.
        pipeline_parallel_degree: The degree as text, or unknown.
        max_rolling_batch_size: Sequences in flight as text, or unknown.
    """

    rolling_batch: str | Unknown
    async_mode: bool | Unknown
    handler: str | Unknown
    tensor_parallel_degree: str | Unknown
    pipeline_parallel_degree: str | Unknown
    max_rolling_batch_size: str | Unknown

    @property
    def serves_with_vllm(self) -> bool | None:
        """Whether vLLM serves the model; `None` if that is unknown."""
        if isinstance(self.handler, Unknown):
            return None
        if self.handler == ASYNC_HANDLER:
            return True
        if isinstance(self.rolling_batch, Unknown):
            return None
        return self.handler == TRANSFORMERS_HANDLER and self.rolling_batch != "disable"


def recommend(
    properties: Properties, behavior: HandlerBehavior, *, text_generation: bool = True
) -> Recommendation:
    """Return what the server decides for a model whose config.json it can read."""
    rolling_batch, async_mode = _mode(properties, behavior, text_generation)
    default_size = "256" if rolling_batch in ("vllm", "trtllm") else "32"
    return Recommendation(
        rolling_batch=rolling_batch,
        async_mode=async_mode,
        handler=_handler(properties, behavior, async_mode),
        tensor_parallel_degree=_setting(properties, "tensor_parallel_degree", "max"),
        pipeline_parallel_degree=_setting(properties, "pipeline_parallel_degree", "1"),
        max_rolling_batch_size=_setting(properties, "max_rolling_batch_size", default_size),
    )


def _mode(
    properties: Properties, behavior: HandlerBehavior, text_generation: bool
) -> tuple[str | Unknown, bool | Unknown]:
    requested = properties.options.get("async_mode")
    async_mode: bool | Unknown = False
    if requested is not None:
        async_mode = UNKNOWN if requested.text is None else requested.text.lower() == "true"
    batch = properties.model.get("batch_size", "1")
    if isinstance(batch, str) and value_parsers.counted(batch, 1) > 1:
        return "disable", async_mode
    option = properties.options.get("rolling_batch")
    value = "auto" if option is None else option.value
    if value == "lmi-dist":
        return "vllm", async_mode
    if value != "auto":
        return value, async_mode
    if not text_generation:
        return "disable", async_mode
    return ("vllm", async_mode) if behavior.text_generation == "vllm" else ("disable", True)


def _handler(
    properties: Properties, behavior: HandlerBehavior, async_mode: bool | Unknown
) -> str | Unknown:
    option = properties.options.get("entryPoint")
    if option is not None:
        return option.value
    fallback = properties.environment.get("DJL_ENTRY_POINT", "")
    if fallback != "":
        return fallback
    if not behavior.async_entry_point:
        return TRANSFORMERS_HANDLER
    if isinstance(async_mode, Unknown):
        return UNKNOWN
    return ASYNC_HANDLER if async_mode else TRANSFORMERS_HANDLER


def _setting(properties: Properties, name: str, default: str) -> str | Unknown:
    option = properties.options.get(name)
    if option is not None:
        return option.value
    value = properties.environment.get(name.upper(), "") if name.endswith("_degree") else ""
    return default if value == "" else value

"""Numbers that DJL Serving reads itself, as Java does: `8`, never `8.0`, `8k` or ` 8`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from lmi_constructs.container.serving_properties import shown
from lmi_constructs.container.stage import failure
from lmi_constructs.container.value_parsers import java_integer
from lmi_constructs.findings import Finding

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lmi_constructs.container.serving_properties import Properties

_CONFIG_SOURCE: Final = "deepjavalibrary/djl-serving@d21927c4:serving/src/main/java/ai/djl/serving/util/ConfigManager.java"
_MODEL_SOURCE: Final = "deepjavalibrary/djl-serving@d21927c4:engines/python/src/main/java/ai/djl/python/engine/PyModel.java"
# What ConfigManager reads while the server starts, not those that it reads with a request.
_AT_START: Final = (
    "SERVING_BATCH_SIZE",
    "SERVING_JOB_QUEUE_SIZE",
    "SERVING_MAX_BATCH_DELAY",
    "SERVING_MAX_IDLE_TIME",
    "SERVING_MAX_REQUEST_SIZE",
    "SERVING_NUMBER_OF_NETTY_THREADS",
    "SERVING_RESERVED_MEMORY_MB",
)
_DEGREES: Final = ("tensor_parallel_degree", "pipeline_parallel_degree")
_TIMEOUTS: Final = ("model_loading_timeout", "predict_timeout")
_WRITE: Final = "write a whole number in digits, without a unit, a decimal point or a space"


def server_number_errors(properties: Properties) -> Iterator[Finding]:
    """Yield numbers that end the start of the server, or of the model (LMI004)."""
    for variable in _AT_START:
        text = properties.environment.get(variable)
        if isinstance(text, str) and java_integer(text) is None:
            where = properties.origins.get(variable, variable)
            message = f"{where}={shown(text)} is no number that the server reads when it starts"
            yield failure(where, message, _WRITE, _CONFIG_SOURCE)
    for name in _DEGREES:
        option = properties.options.get(name)
        value = properties.environment.get(name.upper()) if option is None else option.text
        if not isinstance(value, str) or value == "max" or java_integer(value) is not None:
            continue
        plain = properties.origins.get(name.upper(), name.upper())
        where = plain if option is None else option.where
        message = f"{where}={shown(value)} is no number that the server reads for the model"
        yield failure(where, message, _WRITE, _MODEL_SOURCE)


def unread_timeouts(properties: Properties) -> Iterator[Finding]:
    """Warn about time-outs that the server passes over because it cannot read them (LMI002)."""
    for name in _TIMEOUTS:
        option = properties.options.get(name)
        if option is None or option.text is None or java_integer(option.text) is not None:
            continue
        yield Finding(
            rule="LMI002",
            message=f"{option} is no number that the server reads",
            why="the server writes a line to its log and keeps its own time-out",
            fix="write whole seconds in digits, without a unit",
            severity="warning",
            where=option.where,
            source=_MODEL_SOURCE,
        )

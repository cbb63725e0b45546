"""What several tables say: the default release, and departures that recur."""

from __future__ import annotations

from typing import Final

from lmi_constructs.presets.table import Choice, Departure

RELEASE: Final = "v27"
RELEASE_SOURCE: Final = "newest release whose behavior has been verified by running its code"

LOADING: Final = Choice(1800, "LMI guide 3.7: 1800 to 3600 seconds")
LOADING_LARGE: Final = Choice(
    3600, "LMI guide 3.7: 3600 seconds for large models, and the longest that SageMaker waits"
)

UNSTUDIED: Final = (
    "the release is too old for its code to be run here; every setting is one that its own user"
    " guide or source names"
)
"""Why LMI016 is fine."""

LORA_NOTE: Final = (
    "Adapters are in `adapters/NAME/` next to the model's files, and are loaded at startup; select"
    " one in a request with `adapters`, or with `lmi invoke NAME --adapter`."
)


def model_id(guide: str, deployed: str | None = None) -> Departure:
    """Return why the hub id is not among the settings of a mounted model."""
    return Departure(
        key="HF_MODEL_ID",
        guide=guide,
        deployed=deployed or "the S3 prefix at /opt/ml/model, if model_data is one",
        why="SageMaker mounts the files there and the container finds them; with a hub id as well it"
        " would load a second model",
    )


ROLLING_BATCH: Final = Departure(
    key="OPTION_ROLLING_BATCH",
    guide="vllm",
    deployed=None,
    why="from LMI v17 on that value selects the old synchronous engine; without it the container"
    " uses the asynchronous one, which the guide recommends",
)

LMI_DIST: Final = Departure(
    key="OPTION_ROLLING_BATCH",
    guide="lmi-dist",
    deployed=None,
    why="LMI v15 dropped that back end; vLLM's asynchronous mode offers what it was chosen for, and"
    " is the container's default",
)

TRUST_REMOTE_CODE: Final = Departure(
    key="OPTION_TRUST_REMOTE_CODE",
    guide="true",
    deployed=None,
    why="the engine has the model built in; the option would only allow code from the hub to run in"
    " the container",
)

LORA_EXTRA_VOCAB_SIZE: Final = Departure(
    key="OPTION_LORA_EXTRA_VOCAB_SIZE",
    guide="256",
    deployed=None,
    why="vLLM 0.12 (LMI v18) removed it: an adapter with its own tokens can no longer be served, and"
    " the setting would be silently ignored",
)


def quantize(method: str) -> Departure:
    """Return why the method of a quantized checkpoint is not named."""
    return Departure(
        key="OPTION_QUANTIZE",
        guide=method,
        deployed=None,
        why=f"the checkpoint names it already; setting {method} forces the plain kernels where the engine"
        " would use the faster Marlin ones (djl-serving user guides, ahead-of-time quantization)",
    )

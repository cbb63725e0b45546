"""Which models the server registers when it starts: it needs exactly one that can load."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from lmi_constructs.container.serving_properties import MODEL_STORE, Properties, Unknown, shown
from lmi_constructs.container.stage import failure
from lmi_constructs.findings import Finding

if TYPE_CHECKING:
    from collections.abc import Iterator


_STORE_SOURCE: Final = (
    "deepjavalibrary/djl-serving@d21927c4:serving/src/main/java/ai/djl/serving/util/ModelStore.java"
)
# Engines that DJL Serving can have; the name of an inference library is none.
_DJL_ENGINES: Final = {"Python", "MPI", "PyTorch", "OnnxRuntime", "XGBoost", "TensorRT", "Rust"}
_DJL_ENGINES.update({"TensorFlow", "MXNet", "LightGBM", "SentencePiece", "fastText"})
_ENTRY: Final = re.compile(r"^\[?(?P<label>[^=\]/]*)\]?=(?P<url>.+)$")


def startup_models(properties: Properties, *, model_mounted: bool | None) -> Iterator[Finding]:
    """Check which models the server would register: it needs exactly one that can load.

    `SERVING_LOAD_MODELS` says which (by default what is mounted); `HF_MODEL_ID` adds one to them.
    """
    listed = properties.environment.get("SERVING_LOAD_MODELS", "")
    hub = properties.environment.get("HF_MODEL_ID", "")
    if isinstance(listed, Unknown):
        return
    entries = _entries(listed)
    for entry in entries:
        yield from _load_entry(entry)
    if isinstance(hub, Unknown):
        return
    mounted = False if listed.upper() == "NONE" else model_mounted
    if (hub == MODEL_STORE or hub.startswith(f"{MODEL_STORE}/")) and model_mounted is False:
        yield failure(
            "HF_MODEL_ID",
            f"HF_MODEL_ID={hub} names the place of mounted model data, but none is mounted",
            "give the model data, or set HF_MODEL_ID to the hub id or s3:// prefix",
            _STORE_SOURCE,
            rule="LMI009",
        )
    elif hub and not hub.startswith("/") and (mounted or entries):
        others = f"those in SERVING_LOAD_MODELS={shown(listed)}" if entries else MODEL_STORE
        yield failure(
            "HF_MODEL_ID",
            f"HF_MODEL_ID={shown(hub)} registers a second model beside {others}; then every request"
            " without a model name is answered with 400",
            "remove SERVING_LOAD_MODELS, or HF_MODEL_ID"
            if entries
            else f"remove HF_MODEL_ID, or set it to {MODEL_STORE}, or remove the model data",
            _STORE_SOURCE,
            rule="LMI009",
        )
    elif not hub and mounted is False and not entries:
        yield failure(
            "OPTION_MODEL_ID" if "model_id" in properties.options else "HF_MODEL_ID",
            "no model is registered: there is no model data to load and HF_MODEL_ID is not set"
            " (OPTION_MODEL_ID alone registers none)",
            "set HF_MODEL_ID to the hub id or s3:// prefix, or give the model data"
            + (" and remove SERVING_LOAD_MODELS=NONE" if listed else ""),
            _STORE_SOURCE,
        )


def model_notes(properties: Properties, model_mounted: bool | None) -> Iterator[Finding]:
    """Warn about models that requests may not reach, where it depends on more than is known."""
    listed = properties.environment.get("SERVING_LOAD_MODELS", "")
    if isinstance(listed, str) and len(_entries(listed)) > 1:
        yield Finding(
            rule="LMI009",
            message=f"SERVING_LOAD_MODELS={shown(listed)} registers several models",
            why="every request without a model name is then answered with 400",
            fix="list one model, or send the name of a model with each request",
            severity="warning",
            where="SERVING_LOAD_MODELS",
            source=_STORE_SOURCE,
        )
    option_id = properties.options.get("model_id")
    named = properties.environment.get("HF_MODEL_ID", "") != ""
    from_file = option_id is not None and option_id.where.startswith("option.")
    if option_id is None or from_file or named or model_mounted is not None:
        return
    yield Finding(
        rule="LMI009",
        message=f"{option_id.where} registers no model by itself: it only changes one that is"
        f" mounted at {MODEL_STORE}",
        why="without model data the server starts with no model, and every request fails",
        fix="write HF_MODEL_ID instead, unless model data with a serving.properties is mounted",
        severity="warning",
        where=option_id.where,
        source=_STORE_SOURCE,
    )


def models_are_known(properties: Properties, model_mounted: bool | None) -> bool:
    """Return whether it is certain that a model is registered."""
    hub = properties.environment.get("HF_MODEL_ID", "")
    return model_mounted is True or isinstance(hub, Unknown) or hub != ""


def _entries(listed: str) -> list[str]:
    """Return the models that SERVING_LOAD_MODELS names one by one."""
    return [] if listed.upper() in ("ALL", "NONE") else re.findall(r"[^,\s]+", listed)


def _load_entry(entry: str) -> Iterator[Finding]:
    match = _ENTRY.match(entry)
    if match is None or "://" in match["label"]:
        return
    parts = match["label"].split(":")
    if len(parts) > 2 and parts[2] and parts[2] not in _DJL_ENGINES:
        yield failure(
            "SERVING_LOAD_MODELS",
            f"SERVING_LOAD_MODELS={shown(entry)} names the engine {shown(parts[2])!r}, which DJL Serving does not"
            " have",
            f"remove SERVING_LOAD_MODELS: the image loads {MODEL_STORE} by itself (the engine slot"
            " takes Python, not the name of an inference library)",
            _STORE_SOURCE,
        )

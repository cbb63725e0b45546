"""Environment variables that are legal but cannot do what their writer meant."""

from __future__ import annotations

import difflib
import re
from typing import TYPE_CHECKING, Final

from lmi_constructs.container.front_end import Unknown, option_name, text_of
from lmi_constructs.findings import Finding

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

MAX_ENTRIES: Final = 100
MAX_VALUE_BYTES: Final = 1024
MAX_NAME_BYTES: Final = 1024
MAX_TOTAL_BYTES: Final = 32 * 1024
_LIMITS_SOURCE: Final = "botocore sagemaker 2017-07-24: ContainerDefinition$Environment"
_NAME: Final = re.compile(r"[a-zA-Z_][a-zA-Z0-9_]*")
_TOKEN_NAMES: Final = {
    "HF_API_TOKEN",
    "HUGGING_FACE_HUB_TOKEN",
    "HUGGINGFACE_TOKEN",
    "HF_HUB_TOKEN",
}
_ENDPOINT_SETTINGS: Final = {
    "CONTAINER_STARTUP_HEALTH_CHECK_TIMEOUT": "container_startup_health_check_timeout",
    "CONTAINER_STARTUP_HEALTH_CHECK_TIMEOUT_IN_SECONDS": "container_startup_health_check_timeout",
    "MODEL_DATA_DOWNLOAD_TIMEOUT": "model_data_download_timeout",
    "MODEL_DATA_DOWNLOAD_TIMEOUT_IN_SECONDS": "model_data_download_timeout",
}


def limit_findings(environment: Mapping[str, object]) -> Iterator[Finding]:
    """Check the platform's limits of an environment, counted in bytes (LMI005)."""
    total = 0
    if len(environment) > MAX_ENTRIES:
        yield _limit(None, f"the environment has {len(environment)} entries, {MAX_ENTRIES} fit")
    for name, given in environment.items():
        value = text_of(given)
        length = 0 if isinstance(value, Unknown) else len(value.encode())
        total += len(name.encode()) + length
        if not _NAME.fullmatch(name) or len(name.encode()) > MAX_NAME_BYTES:
            yield _limit(name, f"{name!r} is not a legal variable name (letters, digits, _)")
        if length > MAX_VALUE_BYTES:
            yield _limit(name, f"the value of {name} has {length} bytes, {MAX_VALUE_BYTES} fit")
    if total > MAX_TOTAL_BYTES:
        yield _limit(None, f"the environment has {total} bytes, {MAX_TOTAL_BYTES} fit")


def spelling_findings(
    environment: Mapping[str, object], known: frozenset[str]
) -> Iterator[Finding]:
    """Warn about names and value forms that the container does not understand (LMI006 to LMI009).

    Args:
        environment: The variables.
        known: Option names that some release or the server knows.
    """
    for name, given in environment.items():
        value = text_of(given)
        if name.startswith("OPTION_"):
            yield from _option(name, known)
        else:
            yield from _other(name, known)
        if (
            isinstance(value, str)
            and len(value) > 1
            and value[0] in "\"'"
            and value[-1] == value[0]
        ):
            yield _warning(
                "LMI008",
                name,
                f"{name} has quotes around its value, which become part of it",
                "remove them (json.dumps only objects and lists, not texts)",
            )
    if environment.get("HF_MODEL_ID") and environment.get("OPTION_MODEL_ID"):
        yield _warning(
            "LMI009",
            "OPTION_MODEL_ID",
            "HF_MODEL_ID and OPTION_MODEL_ID are both set, and each can name a different model",
            "keep HF_MODEL_ID",
        )
    token = text_of(environment.get("HF_TOKEN", ""))
    if isinstance(token, str) and token.startswith("hf_"):
        yield _warning(
            "LMI006",
            "HF_TOKEN",
            "HF_TOKEN holds an access token in plain text, which the template and DescribeModel show",
            "take it from a secret with a dynamic reference, or serve the model from S3",
        )


def _option(name: str, known: frozenset[str]) -> Iterator[Finding]:
    option = option_name(name)
    if option in known:
        return
    if option.lower() in known:
        yield _warning(
            "LMI007",
            name,
            f"{name} keeps its mixed case and is then not known as an option",
            f"write OPTION_{option.upper()}",
        )
        return
    close = difflib.get_close_matches(option, known, 1, 0.85)
    if close:
        yield _warning(
            "LMI007",
            name,
            f"{name} is not an option of any release",
            f"did you mean OPTION_{close[0].upper()}?",
        )


def _other(name: str, known: frozenset[str]) -> Iterator[Finding]:
    option = name.lower().removeprefix("vllm_").replace("-", "_")
    if name in _TOKEN_NAMES:
        yield _warning(
            "LMI007", name, f"{name} is not read for gated models in every library", "use HF_TOKEN"
        )
    elif name in _ENDPOINT_SETTINGS:
        yield _warning(
            "LMI007",
            name,
            f"{name} is a setting of the endpoint configuration; the container ignores it",
            f"pass {_ENDPOINT_SETTINGS[name]} to the endpoint, and OPTION_MODEL_LOADING_TIMEOUT"
            " here",
        )
    elif option in known and option not in _UNPREFIXED:
        yield _warning(
            "LMI007",
            name,
            f"{name} lacks the prefix OPTION_, so the container does not read it",
            f"write OPTION_{option.upper()}",
        )


# Read without a prefix by the server, the entry script or a library, or too general to judge.
_UNPREFIXED: Final = {
    "tensor_parallel_degree",
    "pipeline_parallel_degree",
    "model_loading_timeout",
    "predict_timeout",
    "batch_size",
    "max_batch_size",
    "seed",
    "device",
    "model",
    "backend",
    "task",
    "revision",
    "engine",
    "hf_token",
    "model_id",
    "model_dir",
    "lmcache_config_file",
    "attention_backend",
    "logits_processors",
    "normalize",
    "max_tokens",
    "master_addr",
    "master_port",
    "node_rank",
}


def _warning(rule: str, where: str, message: str, fix: str) -> Finding:
    return Finding(
        rule=rule,
        message=message,
        why="the container starts without the setting, or with a wrong one, and says nothing",
        fix=fix,
        severity="warning",
        where=where,
    )


def _limit(where: str | None, message: str) -> Finding:
    return Finding(
        rule="LMI005",
        message=message,
        why="CreateModel refuses the environment",
        fix="move long values into serving.properties beside the model, and drop what is not needed",
        where=where or "environment",
        source=_LIMITS_SOURCE,
    )

"""Environment variables that are legal but cannot do what their writer meant."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from lmi_constructs._near_names import SUSPECT, nearest
from lmi_constructs.container.serving_properties import option_name, text_of
from lmi_constructs.facts import options as facts
from lmi_constructs.findings import Finding

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from lmi_constructs.container.serving_properties import Properties

_LIKE_AN_OPTION: Final = 0.85
"""How alike an unknown option must be to a known one to be taken for a slip, not for a newer option.

Right names are alike too: of the 273 arguments of the 15 versions of vLLM (0.8.4 to 0.28.0) in the
facts, ten that some versions lack resemble one that they have by 0.80 to 0.85, such as
`offload_backend` and `kv_offloading_backend`.
"""

_PLACEHOLDER: Final = re.compile(r"<[^<>]+>")
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
        if is_quoted(value):
            yield _warning(
                "LMI008",
                name,
                f"{name} has quotes around its value, which become part of it",
                "remove them (json.dumps only objects and lists, not texts)",
            )
        yield from _placeholder(name, value)
    hub, option_id = environment.get("HF_MODEL_ID"), environment.get("OPTION_MODEL_ID")
    if hub and option_id and hub != option_id:
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


def file_findings(properties: Properties, known: frozenset[str]) -> Iterator[Finding]:
    """Warn about names in a serving.properties that the container does not understand (LMI007)."""
    for option in properties.options.values():
        if option.where.startswith("option."):
            yield from _misspelled(option.where, option.name, known, "option.{}".format)
            yield from _placeholder(option.where, option.value)
    for name in properties.model:
        folded = name.removeprefix("OPTION_").lower()
        if folded in known and (folded not in _UNPREFIXED or name != folded):
            yield _warning(
                "LMI007",
                name,
                f"{name} lacks the prefix option., so the container does not read it",
                f"write option.{folded}",
            )


def is_quoted(value: object) -> bool:
    """Tell whether a value begins and ends with the same quotation mark, which is part of it."""
    return isinstance(value, str) and len(value) > 1 and value[0] in "\"'" and value[0] == value[-1]


def _placeholder(name: str, value: object) -> Iterator[Finding]:
    if isinstance(value, str) and _PLACEHOLDER.fullmatch(value):
        yield _warning(
            "LMI008", name, f"{name}={value} is a placeholder", "put the value in its place"
        )


def _option(name: str, known: frozenset[str]) -> Iterator[Finding]:
    yield from _misspelled(
        name, option_name(name), known, lambda option: f"OPTION_{option.upper()}"
    )


def _misspelled(
    where: str, option: str, known: frozenset[str], spelled: Callable[[str], str]
) -> Iterator[Finding]:
    if option in known or option == "entryPoint":
        return
    if option.lower() in known:
        yield _warning(
            "LMI007",
            where,
            f"{where} is in mixed case, which the container keeps, so that no option has that name",
            f"write {spelled(option.lower())}",
        )
    elif near := nearest(option, known, likeness=_LIKE_AN_OPTION):
        yield _warning(
            "LMI007",
            where,
            f"{where} is not an option of any release",
            f"did you mean {spelled(near)}?",
        )


def _other(name: str, known: frozenset[str]) -> Iterator[Finding]:
    unread = facts.options().get(name)
    if unread is not None and unread.fate == "never read":
        yield _foreign(unread)
        return
    meant = _slip_of_prefix(name, known)
    if meant is not None:
        yield _warning(
            "LMI007", name, f"{name} does not begin with OPTION_, so nothing reads it", meant
        )
        return
    option = name.lower().removeprefix("vllm_").replace("-", "_")
    option = option.removeprefix("option.").removeprefix("option_")
    fact = facts.option(option)
    if fact is not None and fact.fate.startswith("never an option"):
        return
    if name in _TOKEN_NAMES:
        yield _warning(
            "LMI007",
            name,
            f"{name} is not read by every library that loads gated models",
            "use HF_TOKEN",
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


def _foreign(unread: facts.Option) -> Finding:
    """Return what is wrong with a variable of another server that this container does not read."""
    effect = unread.effect[:1].lower() + unread.effect[1:].rstrip(".")
    finding = _warning(
        "LMI007",
        unread.variable,
        f"{unread.variable} is read by no release: {effect}",
        f"write {unread.replacement}" if unread.replacement else "remove it",
    )
    return replace(finding, source=unread.source)


def _slip_of_prefix(name: str, known: frozenset[str]) -> str | None:
    """Return what to write for a name such as `OPTIONS_DTYPE`, `None` if it is no such slip."""
    prefix, _, rest = name.upper().partition("_")
    if prefix == "OPTION" or nearest(prefix, ("OPTION",), likeness=SUSPECT) is None:
        return None
    option = rest.lower()
    if option in known:
        return f"write OPTION_{rest}"
    near = nearest(option, known, likeness=_LIKE_AN_OPTION)
    return f"did you mean OPTION_{near.upper()}?" if near else None


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
        why="the container starts without the setting, or with a wrong one, and reports nothing",
        fix=fix,
        severity="warning",
        where=where,
    )

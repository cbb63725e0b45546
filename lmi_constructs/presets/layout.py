"""The directory under a model's prefix: what SageMaker mounts at `/opt/ml/model`."""

from __future__ import annotations

from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Final

from lmi_constructs.checks.archives import is_archive
from lmi_constructs.container.serving_properties import read_serving_properties
from lmi_constructs.findings import Finding

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from lmi_constructs.findings import Severity

PROPERTIES: Final = "serving.properties"
CONFIG: Final = "config.json"
ADAPTERS: Final = "adapters"
_WEIGHTS: Final = (".safetensors", ".bin", ".pt", ".pth")
_COPIES: Final = ("original", "metal")
_WHY: Final = "SageMaker mounts the prefix as it is, and the container looks in its root"
_SOURCE: Final = "deepjavalibrary/djl-serving@d21927c4:serving/docs/lmi/deployment_guide"


def check_layout(
    files: Iterable[str], serving_properties: str | None = None
) -> tuple[Finding, ...]:
    """Return what is wrong with the files of a model, errors first.

    The layout of the guide::

        my-model/
        ├── serving.properties              only if no environment variables are used
        ├── config.json
        ├── tokenizer.json, ...
        ├── model-00001-of-00002.safetensors
        └── adapters/NAME/                  only with LoRA
            ├── adapter_config.json
            └── adapter_model.safetensors

    Args:
        files: Names relative to the prefix, with `/` between folders, as a listing gives them. A
            name that ends in `/` is an empty object that stands for a folder.
        serving_properties: Text of the `serving.properties`, to see whether it names a model that
            is elsewhere, so that no weights are to be expected.

    Raises:
        LmiError: If the server could not read that text (LMI011).
    """
    names = sorted(set(files))
    elsewhere = _names_another_model(serving_properties)
    found = [*_folders(names), *_archives(names), *_copies(names), *_adapters(names)]
    found += _properties(names)
    if not elsewhere:
        found += _model(names)
    return tuple(sorted(found, key=lambda finding: finding.severity))


def _names_another_model(text: str | None) -> bool:
    model = str(read_serving_properties(text).get("option.model_id", ""))
    return bool(model) and not model.startswith("/opt/ml/model")


def _model(names: list[str]) -> Iterator[Finding]:
    nested = [name for name in names if _base(name) == CONFIG and not _is_adapter(name)]
    if CONFIG not in names:
        where = f"it lies in {nested[0]}" if nested else "there is none"
        fix = (
            f"give {PurePosixPath(nested[0]).parent}/ below it instead"
            if nested
            else "copy the whole repository of the model, not only its weights"
        )
        yield _finding("error", f"{CONFIG} is not in the root of the prefix: {where}", fix)
    if not any("/" not in name and name.endswith(_WEIGHTS) for name in names):
        yield _finding(
            "error",
            "no weights are in the root of the prefix",
            "copy the files ending in .safetensors beside config.json",
        )


def _properties(names: list[str]) -> Iterator[Finding]:
    for name in names:
        if _base(name) == PROPERTIES and name != PROPERTIES:
            yield _finding(
                "error",
                f"{name} is not in the root of the prefix, so that nothing reads it",
                f"move it to {PROPERTIES}, beside config.json",
            )


def _folders(names: list[str]) -> Iterator[Finding]:
    for name in names:
        if name.endswith("/"):
            yield Finding(
                rule="LMI028",
                message=f"{name} is an empty object that stands for a folder",
                why="SageMaker cannot mount a file and a folder of one name, and the deployment fails",
                fix="delete it (aws s3api delete-object); the S3 console makes such objects",
                where="model_data",
                source=_SOURCE,
            )


def _archives(names: list[str]) -> Iterator[Finding]:
    for name in names:
        if is_archive(name):
            yield _finding(
                "error",
                f"{name} is an archive, and a prefix is mounted without unpacking",
                "upload the files in it, uncompressed: they also load faster",
            )


def _copies(names: list[str]) -> Iterator[Finding]:
    for folder in _COPIES:
        if any(name.startswith(f"{folder}/") for name in names):
            yield _finding(
                "warning",
                f"{folder}/ holds the weights once more, in a form that the engine does not read",
                f"delete {folder}/: every instance downloads it at each start",
            )


def _adapters(names: list[str]) -> Iterator[Finding]:
    folders = {name.split("/")[1] for name in names if _is_adapter(name) and name.count("/") > 1}
    for folder in sorted(folders):
        if f"{ADAPTERS}/{folder}/adapter_config.json" not in names:
            yield _finding(
                "error",
                f"{ADAPTERS}/{folder}/ has no adapter_config.json",
                f"put each adapter's files into {ADAPTERS}/NAME/, not deeper",
            )


def _is_adapter(name: str) -> bool:
    return name.startswith(f"{ADAPTERS}/")


def _base(name: str) -> str:
    return PurePosixPath(name).name


def _finding(severity: Severity, message: str, fix: str) -> Finding:
    return Finding(
        rule="LMI028",
        message=message,
        why=_WHY,
        fix=fix,
        severity=severity,
        where="model_data",
        source=_SOURCE,
    )

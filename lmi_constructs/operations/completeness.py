"""Whether the files of a model are complete, wherever they lie."""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING, Any, Final, Protocol

from lmi_constructs.checks.archives import is_archive
from lmi_constructs.findings import Finding, Severity
from lmi_constructs.presets.layout import ADAPTERS, CONFIG, PROPERTIES, check_layout

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

INDEX: Final = "model.safetensors.index.json"
ADAPTER_CONFIG: Final = "adapter_config.json"
LARGEST_JSON_BYTES: Final = 64 * 1024 * 1024
"""A larger config or header is none: the header of safetensors may have 100 MB, and has kilobytes."""

_FIRST_READ_BYTES: Final = 128 * 1024
"""Holds most headers, so that one request a file is enough."""

_INDEX_ENDS: Final = ".index.json"
_TOKENIZERS: Final = (
    "tokenizer.json",
    "tokenizer.model",
    "tekken.json",
    "spiece.model",
    "sentencepiece.bpe.model",
    "vocab.json",
    "vocab.txt",
    "tiktoken.model",
    "qwen.tiktoken",
    "tokenization_",
)
"""Files that hold a vocabulary, by the beginning of their names."""

_PARSED: Final = (
    "tokenizer.json",
    "tokenizer_config.json",
    "generation_config.json",
    "special_tokens_map.json",
    "added_tokens.json",
    "preprocessor_config.json",
)
"""Files beside config.json that the engine parses when it starts, where they are there."""

WEIGHTS: Final = (".safetensors", ".bin", ".pt", ".pth", ".gguf")
"""How the names of files with weights end."""

_POINTER: Final = b"version https://git-lfs.github.com/spec/"
_POINTER_BYTES: Final = 1024
_POINTERS: Final = "https://github.com/git-lfs/git-lfs/blob/main/docs/spec.md"
"""A pointer of git-LFS is smaller than 1024 bytes and begins with its version."""

_MISTRAL_CONFIG: Final = "params.json"
_NO_FAMILY: Final = "https://github.com/huggingface/transformers/issues/37302"
"""`Unrecognized model in ... Should have a `model_type` key in its config.json`."""

_WHY: Final = "the container reads the files as they are, and stops at what is missing or cut short"
_FORMAT: Final = "https://github.com/huggingface/safetensors#format"


class ModelFiles(Protocol):
    """Files of a model, wherever they lie.

    Attributes:
        sizes: Size in bytes of every file, by its name relative to the model's root.
    """

    @property
    def sizes(self) -> Mapping[str, int]:
        """Size in bytes by name."""

    def read(self, name: str, start: int = 0, length: int | None = None) -> bytes:
        """Return a part of a file.

        Raises:
            LmiRuntimeError: If the place they lie in does not give it.
        """


def check_files(files: ModelFiles) -> tuple[Finding, ...]:
    """Return what is wrong with the files of a model, errors first.

    On top of the layout (see `presets.check_layout`): empty files, a missing tokenizer, shards that
    the index names and that are not there, files of weights that were cut short, pointers of
    git-LFS, and JSON that cannot be parsed. The headers of safetensors files are read, not their
    weights.

    Args:
        files: The files of the model.

    Raises:
        LmiRuntimeError: If the place they lie in does not give one of them.
    """
    sizes = files.sizes
    if not sizes:
        return (_wrong("there are no files", "copy the model there, for example with lmi stage"),)
    properties = read_text(files, PROPERTIES) if PROPERTIES in sizes else None
    found = list(check_layout(sizes, properties))
    if any(one.message.startswith("no weights") for one in found) and _only_archives(sizes):
        found = [one for one in found if "archive" in one.message]
    found += _empty(sizes)
    pointers = [name for name in sizes if is_pointer(files, name)]
    found += _pointers(pointers)
    if CONFIG in sizes:
        found += _tokenizer(sizes)
    found += _unparsable(files, pointers)
    found += _shards(files, pointers)
    unique = dict.fromkeys(found)
    return tuple(sorted(unique, key=lambda finding: finding.severity))


def is_pointer(files: ModelFiles, name: str) -> bool:
    """Tell whether git-LFS has left its pointer in the place of a file.

    Raises:
        LmiRuntimeError: If the place they lie in does not give it.
    """
    if not len(_POINTER) <= files.sizes[name] < _POINTER_BYTES or not _may_be_pointer(name):
        return False
    return files.read(name, 0, len(_POINTER)) == _POINTER


def _may_be_pointer(name: str) -> bool:
    """Tell whether hubs keep such a file with git-LFS; others are not read, as there may be many."""
    return name.endswith(WEIGHTS) or ("/" not in name and name.startswith(_TOKENIZERS))


def _pointers(names: list[str]) -> Iterator[Finding]:
    if names:
        more = f" and {len(names) - 1} more" if len(names) > 1 else ""
        yield _wrong(
            f"{names[0]}{more}: a pointer of git-LFS, not the file itself",
            "run git lfs pull in the clone, or let lmi stage take the model from the hub",
            source=_POINTERS,
        )


def _unparsable(files: ModelFiles, pointers: list[str]) -> Iterator[Finding]:
    """Yield which of the files cannot be read that the engine parses."""
    sizes = files.sizes
    configs = [f"{ADAPTERS}/{name}/{ADAPTER_CONFIG}" for name in adapter_names(sizes)]
    for name in (CONFIG, *_PARSED, *configs):
        if not sizes.get(name) or name in pointers:
            continue
        content, problem = read_json(files, name)
        if problem:
            yield problem
        elif name == "tokenizer.json" and not isinstance(content.get("model"), dict):
            yield _wrong(f"{name} holds no model of a tokenizer", "copy it again")
        elif name == CONFIG and not _says_family(content, sizes):
            yield _wrong(
                f"{CONFIG} names no model_type",
                "copy config.json from the model's repository, or add the model_type of its family",
                severity="warning",
                source=_NO_FAMILY,
            )


def _says_family(config: Mapping[str, Any], sizes: Mapping[str, int]) -> bool:
    """Tell whether the engine can know what model it is; code or Mistral's own format may say so."""
    return bool(config.get("model_type") or config.get("auto_map")) or _MISTRAL_CONFIG in sizes


def read_text(files: ModelFiles, name: str) -> str:
    """Return a small text file, whatever bytes it has."""
    return files.read(name, 0, LARGEST_JSON_BYTES).decode("utf-8", "replace")


def read_json(files: ModelFiles, name: str) -> tuple[dict[str, Any], Finding | None]:
    """Return a JSON object, or nothing and what is wrong with it.

    Raises:
        LmiRuntimeError: If the place they lie in does not give it.
    """
    if files.sizes.get(name, 0) > LARGEST_JSON_BYTES:
        return {}, _wrong(f"{name} is too large to be what its name says", "copy it again")
    try:
        content = json.loads(read_text(files, name))
    except (ValueError, RecursionError) as error:
        return {}, _wrong(
            f"{name} is no JSON: {error}", "copy it again from the model's repository"
        )
    if not isinstance(content, dict):
        return {}, _wrong(f"{name} holds no JSON object", "copy it again")
    return content, None


def adapter_names(sizes: Mapping[str, int]) -> list[str]:
    """Return the names of the adapters that lie beside the model."""
    start = f"{ADAPTERS}/"
    inner = (name.removeprefix(start) for name in sizes if name.startswith(start))
    return sorted({name.split("/", 1)[0] for name in inner if "/" in name})


def is_index(name: str) -> bool:
    """Tell whether a file says which weights are in which shard."""
    return "/" not in name and name.endswith(_INDEX_ENDS)


def _only_archives(sizes: Mapping[str, int]) -> bool:
    return all(map(is_archive, sizes))


def _empty(sizes: Mapping[str, int]) -> Iterator[Finding]:
    needed = (".safetensors", ".bin", ".pt", ".pth", ".json", ".model")
    for name, size in sizes.items():
        if size == 0 and name.endswith(needed):
            yield _wrong(f"{name} is empty", "copy it again: an upload or a download broke off")


def _tokenizer(sizes: Mapping[str, int]) -> Iterator[Finding]:
    if not any(name.startswith(_TOKENIZERS) for name in sizes if "/" not in name):
        yield _wrong(
            "there is no tokenizer beside config.json",
            "copy tokenizer.json, or tokenizer.model, and tokenizer_config.json of the model",
            severity="error" if not _names_tokenizer(sizes) else "warning",
        )


def _names_tokenizer(sizes: Mapping[str, int]) -> bool:
    """Tell whether some file may be a tokenizer under a name that is not known here."""
    return any("token" in name.lower() and not name.endswith("_config.json") for name in sizes)


def _shards(files: ModelFiles, pointers: list[str]) -> Iterator[Finding]:
    sizes = files.sizes
    indices = [name for name in sizes if is_index(name)]
    for index in indices:
        content, problem = read_json(files, index)
        if problem:
            yield problem
            continue
        weight_map = content.get("weight_map")
        if not isinstance(weight_map, dict) or not weight_map:
            yield _wrong(f"{index} names no weights", "copy it again")
            continue
        shards = sorted({str(shard) for shard in weight_map.values()})
        used = index == INDEX or INDEX not in indices
        yield from _missing(sizes, index, shards, used)
        if used and not set(shards) & set(pointers):
            yield from _total(files, index, shards, content.get("metadata"))
    yield from _incomplete_set(sizes, bool(indices))
    yield from (
        problem
        for name in sizes
        if name.endswith(".safetensors")
        and name not in pointers
        and (problem := cut_short(files, name))
    )


def _missing(
    sizes: Mapping[str, int], index: str, shards: list[str], used: bool
) -> Iterator[Finding]:
    lacking = [shard for shard in shards if shard not in sizes]
    if lacking:
        names = ", ".join(lacking[:3]) + (", ..." if len(lacking) > 3 else "")
        yield _wrong(
            f"{len(lacking)} of {len(shards)} shards that {index} names are missing: {names}",
            "bring the missing files; lmi stage uploads only what is missing"
            if used
            else f"delete {index}, whose weights are not there",
            severity="error" if used else "warning",
        )


def _incomplete_set(sizes: Mapping[str, int], has_index: bool) -> Iterator[Finding]:
    shards = [name for name in sizes if "-of-" in name and name.endswith((".safetensors", ".bin"))]
    if not has_index and any("/" not in name for name in shards):
        yield _wrong(
            f"{min(shards)} is one of several shards, and there is no {INDEX}",
            f"copy {INDEX}: it says which weights are in which shard",
        )


def _total(files: ModelFiles, index: str, shards: list[str], metadata: object) -> Iterator[Finding]:
    """Compare the sizes with the index; only files without readable headers depend on it."""
    total = metadata.get("total_size") if isinstance(metadata, dict) else None
    if isinstance(total, bool) or not isinstance(total, (int, float)) or not math.isfinite(total):
        return
    there = [files.sizes[shard] for shard in shards if shard in files.sizes]
    if len(there) < len(shards) or sum(there) >= total:
        return
    readable = all(shard.endswith(".safetensors") for shard in shards)
    yield _wrong(
        f"the weights have {sum(there)} bytes, and {index} says {int(total)}",
        "copy the weights again"
        if not readable
        else "if the files are those of the model's repository, its index is wrong; copy it again",
        severity="warning" if readable else "error",
    )


def cut_short(files: ModelFiles, name: str) -> Finding | None:
    """Return that a safetensors file is not as long as its header says, if so.

    Raises:
        LmiRuntimeError: If the place they lie in does not give it.
    """
    size = files.sizes[name]
    if size == 0:
        return None
    header, length = read_header(files, name)
    try:
        ends = [int(tensor["data_offsets"][1]) for tensor in header.values()]
    except (ValueError, TypeError, KeyError, IndexError, OverflowError):
        length = 0
    if not length:
        return _wrong(f"{name} has no header of safetensors", "copy it again", source=_FORMAT)
    expected = 8 + length + max(ends, default=0)
    if size == expected:
        return None
    return _wrong(
        f"{name} has {size} bytes, and its header says {expected}",
        "copy it again: an upload or a download broke off",
        source=_FORMAT,
    )


def read_header(files: ModelFiles, name: str) -> tuple[dict[str, Any], int]:
    """Return what a safetensors file says of its tensors, and how long that is in bytes.

    Nothing and 0 if it has no header.

    Raises:
        LmiRuntimeError: If the place they lie in does not give it.
    """
    size = files.sizes[name]
    start = files.read(name, 0, _FIRST_READ_BYTES)
    length = int.from_bytes(start[:8], "little") if size > 8 else 0
    if not 0 < length <= LARGEST_JSON_BYTES or length + 8 > size:
        return {}, 0
    rest = files.read(name, len(start), 8 + length - len(start)) if len(start) < 8 + length else b""
    try:
        header = json.loads((start + rest)[8 : 8 + length])
    except (ValueError, RecursionError):
        return {}, 0
    if not isinstance(header, dict):
        return {}, 0
    return {key: value for key, value in header.items() if key != "__metadata__"}, length


def _wrong(
    message: str, fix: str, *, severity: Severity = "error", source: str | None = None
) -> Finding:
    return Finding(
        rule="LMI028",
        message=message,
        why=_WHY,
        fix=fix,
        severity=severity,
        where="model_data",
        source=source,
    )

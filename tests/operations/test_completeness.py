"""Whether the files of a model are complete."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lmi_constructs.operations import check_files
from tests.operations.support import (
    CONFIG,
    FIRST,
    POINTER,
    Memory,
    adapter_files,
    model_files,
    safetensors,
)

INDEX = "model.safetensors.index.json"


def test_a_whole_model_with_an_adapter_has_no_findings() -> None:
    adapter = {f"adapters/legal/{name}": content for name, content in adapter_files().items()}
    assert check_files(Memory({**model_files(), **adapter})) == ()


def test_one_file_of_weights_needs_no_index() -> None:
    files = model_files()
    single = {name: files[name] for name in ("config.json", "tokenizer.json")}
    assert check_files(Memory({**single, "model.safetensors": safetensors()})) == ()


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"config.json": None}, "config.json is not in the root"),
        ({"config.json": b"{"}, "config.json is no JSON"),
        ({"config.json": b"[]"}, "config.json holds no JSON object"),
        ({"config.json": b"[" * 100_000}, "config.json is no JSON"),
        ({"tokenizer.json": None, "tokenizer_config.json": None}, "no tokenizer"),
        ({FIRST: None}, f"1 of 2 shards that {INDEX} names are missing: {FIRST}"),
        ({FIRST: b""}, f"{FIRST} is empty"),
        ({FIRST: safetensors()[:-1]}, f"{FIRST} has {len(safetensors()) - 1} bytes"),
        ({FIRST: safetensors() + b"x"}, f"{FIRST} has {len(safetensors()) + 1} bytes"),
        ({FIRST: b"Entry not found, as a hub answers"}, "no header of safetensors"),
        ({FIRST: POINTER}, f"{FIRST}: a pointer of git-LFS"),
        ({"tokenizer.json": POINTER}, "tokenizer.json: a pointer of git-LFS"),
        ({"tokenizer.model": POINTER}, "tokenizer.model: a pointer of git-LFS"),
        (
            {
                "adapters/a/adapter_model.safetensors": POINTER,
                "adapters/a/adapter_config.json": b"{}",
            },
            "adapters/a/adapter_model.safetensors: a pointer",
        ),
        ({"tokenizer.json": b'{"mod'}, "tokenizer.json is no JSON"),
        ({"tokenizer.json": b"{}"}, "tokenizer.json holds no model of a tokenizer"),
        ({"tokenizer_config.json": b"<html>"}, "tokenizer_config.json is no JSON"),
        ({"generation_config.json": b"[]"}, "generation_config.json holds no JSON object"),
        ({"adapters/a/adapter_config.json": b"{"}, "adapter_config.json is no JSON"),
        ({INDEX: None}, "is one of several shards"),
        ({INDEX: b'{"weight_map": {}}'}, "names no weights"),
        ({INDEX: b"\xff\xfe"}, f"{INDEX} is no JSON"),
        ({"model.tar.gz": b"x"}, "is an archive"),
        ({"adapters/legal/adapter_model.safetensors": safetensors()}, "no adapter_config.json"),
        ({"sub/": b""}, "stands for a folder"),
    ],
)
def test_names_what_is_wrong_with_a_model(changes: dict[str, bytes | None], message: str) -> None:
    files = {**model_files(), **changes}
    found = check_files(Memory({name: body for name, body in files.items() if body is not None}))
    assert [one.severity for one in found if message in one.message] == ["error"], found


@pytest.mark.parametrize(
    ("config", "more", "warned"),
    [
        ({}, {}, True),
        ({"model_type": ""}, {}, True),
        ({"auto_map": {"AutoConfig": "configuration_novel.NovelConfig"}}, {}, False),
        ({}, {"params.json": b"{}"}, False),  # Mistral's own format
    ],
)
def test_a_config_that_names_no_family_is_a_warning(
    config: dict[str, Any], more: dict[str, bytes], warned: bool
) -> None:
    bare = {key: value for key, value in CONFIG.items() if key != "model_type"}
    body = json.dumps({**bare, **config}).encode()
    found = check_files(Memory({**model_files(), "config.json": body, **more}))
    said = [("warning", "config.json names no model_type")] if warned else []
    assert [(one.severity, one.message) for one in found] == said


def test_pointers_of_git_lfs_are_one_finding() -> None:
    """Where a clone lacks git-lfs, every large file is a pointer: that is one fault, not twenty."""
    weights = {name: POINTER for name in model_files() if name.endswith(".safetensors")}
    found = check_files(Memory({**model_files(), **weights, "tokenizer.json": POINTER}))
    assert [one.message for one in found] == [
        f"{found[0].message.split(' and ')[0]} and 2 more: a pointer of git-LFS, not the file itself"
    ]
    assert "git lfs pull" in found[0].fix


def test_small_files_that_are_no_weights_are_not_read() -> None:
    """In S3 every read is a request, and there may be ten thousand files."""
    files = Memory({**model_files(), **{f"notes/{n}.txt": POINTER for n in range(100)}})
    read: list[str] = []
    whole = files.read
    files.read = lambda name, *rest: (read.append(name), whole(name, *rest))[1]  # type: ignore[method-assign]
    assert check_files(files) == ()
    assert not [name for name in read if name.startswith("notes/")]


def test_a_header_that_is_longer_than_the_first_read_is_read_whole() -> None:
    tensors = {
        f"model.layers.{number}.mlp.experts.weight": {
            "dtype": "U8",
            "shape": [1],
            "data_offsets": [number, number + 1],
        }
        for number in range(3000)
    }
    header = json.dumps(tensors).encode()
    assert len(header) > 200_000
    whole = len(header).to_bytes(8, "little") + header + b"x" * 3000
    assert check_files(Memory({**model_files(), FIRST: whole})) == ()
    (found,) = check_files(Memory({**model_files(), FIRST: whole[:-1]}))
    assert f"its header says {len(whole)}" in found.message


def test_an_archive_alone_is_one_finding() -> None:
    (only,) = check_files(Memory({"model.tar.gz": b"x"}))[-1:]
    assert "model.tar.gz is an archive" in only.message
    assert not any(
        "no weights" in one.message for one in check_files(Memory({"model.tar.gz": b"x"}))
    )


def test_nothing_at_all_is_said_so() -> None:
    (only,) = check_files(Memory({}))
    assert "there are no files" in only.message


def test_an_index_that_counts_more_than_whole_files_hold_is_a_warning() -> None:
    files = model_files()
    index = json.loads(files[INDEX])
    index["metadata"]["total_size"] = 10**9
    (only,) = check_files(Memory({**files, INDEX: json.dumps(index).encode()}))
    assert (only.severity, "says 1000000000" in only.message) == ("warning", True)


def test_pytorch_weights_smaller_than_their_index_says_are_cut_short() -> None:
    files = {name: body for name, body in model_files().items() if "safetensors" not in name}
    index = {"metadata": {"total_size": 100}, "weight_map": {"a": "pytorch_model-1-of-1.bin"}}
    files["pytorch_model.bin.index.json"] = json.dumps(index).encode()
    files["pytorch_model-1-of-1.bin"] = b"x" * 99
    (only,) = check_files(Memory(files))
    assert (only.severity, "have 99 bytes" in only.message) == ("error", True)


def test_a_leftover_index_of_another_format_is_a_warning() -> None:
    files = model_files()
    files["pytorch_model.bin.index.json"] = b'{"weight_map": {"a": "pytorch_model.bin"}}'
    (only,) = check_files(Memory(files))
    assert (only.severity, "delete pytorch_model.bin.index.json" in only.fix) == ("warning", True)


@pytest.mark.parametrize("number", ["Infinity", "-Infinity", "NaN", "1e999"])
def test_numbers_that_are_none_do_not_make_it_crash(number: str) -> None:
    shards = '{"w": "model-00001-of-00002.safetensors", "v": "model-00002-of-00002.safetensors"}'
    index = f'{{"metadata": {{"total_size": {number}}}, "weight_map": {shards}}}'
    assert check_files(Memory({**model_files(), INDEX: index.encode()})) == ()
    header = f'{{"w": {{"data_offsets": [0, {number}]}}}}'.encode()
    weights = len(header).to_bytes(8, "little") + header + b"1234"
    (found,) = check_files(Memory({**model_files(), FIRST: weights}))
    assert found.message == f"{FIRST} has no header of safetensors"


@given(st.dictionaries(st.sampled_from(sorted(model_files())), st.binary(max_size=200)))
def test_no_content_of_any_file_makes_it_crash(changes: dict[str, bytes]) -> None:
    found = check_files(Memory({**model_files(), **changes}))
    assert all(one.rule == "LMI028" for one in found)


@given(st.integers(min_value=0, max_value=len(safetensors()) - 1))
def test_every_shorter_file_is_found(length: int) -> None:
    files = {**model_files(), FIRST: safetensors()[:length]}
    assert any(FIRST in one.message for one in check_files(Memory(files)))

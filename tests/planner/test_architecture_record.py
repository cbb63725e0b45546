"""A shape that travels in a template's metadata: nothing is lost, and nothing odd is planned."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from lmi_constructs.facts import models
from lmi_constructs.planner import EngineConfiguration, plan
from lmi_constructs.planner.architecture_record import architecture_of, record_of
from tests.planner.support import known

if TYPE_CHECKING:
    from collections.abc import Iterator

MIXTURE = "deepseek-ai/DeepSeek-R1"
"""Has experts, latent attention and a quantization."""


def recorded(hub_id: str) -> dict[str, Any]:
    record: dict[str, Any] = json.loads(json.dumps(record_of(known(hub_id))))
    return record


def test_every_known_shape_comes_back_as_it_was() -> None:
    for facts in models().values():
        assert architecture_of(recorded(facts.hub_id)) == known(facts.hub_id)


def test_tells_nothing_of_where_a_shape_was_read() -> None:
    assert "source" not in record_of(known("Qwen/Qwen3-8B"))


@pytest.mark.parametrize(
    "record",
    [
        None,
        "Qwen/Qwen3-8B",
        {},
        {**recorded("Qwen/Qwen3-8B"), "a_later_release_says": 1},
        {**recorded("Qwen/Qwen3-8B"), "heads": 0},
        {**recorded("Qwen/Qwen3-8B"), "layers": -1},
        {**recorded("Qwen/Qwen3-8B"), "hidden": 10**30},
        {**recorded("Qwen/Qwen3-8B"), "quantization": {"method": "none_such", "bits": 4}},
        {
            **recorded("Qwen/Qwen3-8B"),
            "experts": {"count": 0, "width": 1, "per_token": 1, "layers": 1},
        },
    ],
)
def test_takes_no_shape_that_no_model_has(record: object) -> None:
    assert architecture_of(record) is None


def leaves(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    if isinstance(value, dict):
        for name in value:
            yield from leaves(value[name], (*path, name))
    else:
        yield path


@pytest.mark.parametrize("hub_id", [MIXTURE, "openai/gpt-oss-20b", "google/gemma-3-27b-it"])
@pytest.mark.parametrize("odd", [0, 1, -1, 10**10, 10**400, float("nan"), "x", None, [], {}])
def test_whatever_a_record_says_the_plan_of_it_ends(hub_id: str, odd: object) -> None:
    for path in leaves(recorded(hub_id)):
        record = recorded(hub_id)
        inner = record
        for name in path[:-1]:
            inner = inner[name]
        inner[path[-1]] = odd
        found = architecture_of(record)
        if found is not None:
            setup = EngineConfiguration(tensor_parallel_degree=4, max_model_len=4096)
            assert plan(found, "ml.g6.12xlarge", setup).grade

"""Rows of the data files: complete, of the declared types, and named where they are not."""

from __future__ import annotations

import copy
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, fields
from importlib import import_module
from typing import Any, get_type_hints

import pytest
from pydantic import TypeAdapter

from lmi_constructs.facts import _data
from lmi_constructs.facts.accelerators import accelerators
from lmi_constructs.facts.containers import container_releases
from lmi_constructs.facts.handler import aliases, handler_behavior, handler_properties
from lmi_constructs.facts.host_image_choices import host_image_choices
from lmi_constructs.facts.host_images import host_images
from lmi_constructs.facts.hub_models import hub_models
from lmi_constructs.facts.instances import instance_types
from lmi_constructs.facts.limits import limits
from lmi_constructs.facts.loading_times import loading_times
from lmi_constructs.facts.metrics import component_metrics, endpoint_metrics
from lmi_constructs.facts.models import model_families, models
from lmi_constructs.facts.options import options
from lmi_constructs.facts.parsers import output_parsers
from lmi_constructs.facts.registries import registries
from lmi_constructs.facts.template_references import template_references

TABLES: dict[str, Callable[[], Collection[Any]]] = {
    "accelerators": lambda: accelerators().values(),
    "aliases": aliases,
    "behavior": lambda: [handler_behavior(15), handler_behavior(29)],
    "component metrics": lambda: component_metrics().values(),
    "families": lambda: model_families().values(),
    "host image choices": host_image_choices,
    "host images": lambda: host_images().values(),
    "hub models": lambda: hub_models().values(),
    "instances": lambda: instance_types().values(),
    "limits": lambda: limits().values(),
    "loading times": lambda: [*loading_times("download"), *loading_times("load")],
    "metrics": lambda: endpoint_metrics().values(),
    "models": lambda: models().values(),
    "options": lambda: options().values(),
    "parsers": output_parsers,
    "properties": lambda: [*handler_properties(15).values(), *handler_properties(29).values()],
    "references": lambda: template_references().values(),
    "registries": lambda: registries().values(),
    "releases": lambda: container_releases().values(),
}


@pytest.mark.parametrize("rows", TABLES.values(), ids=TABLES)
def test_every_value_has_the_type_that_its_field_declares(
    rows: Callable[[], Collection[Any]],
) -> None:
    kind = type(next(iter(rows())))
    hints = get_type_hints(kind, localns={"Mapping": Mapping})
    for item in fields(kind):
        adapter = TypeAdapter(hints[item.name])
        for row in rows():
            value = getattr(row, item.name)
            plain = dict(value) if isinstance(value, Mapping) else value
            adapter.validate_python(plain, strict=True)


@dataclass(frozen=True)
class _Fruit:
    name: str
    colors: tuple[str, ...]
    months: frozenset[int] = frozenset()


@pytest.fixture
def fruits(monkeypatch: pytest.MonkeyPatch) -> Callable[..., dict[str, _Fruit]]:
    """Read rows that are given as if they were those of `fruits.json`."""

    def read(*rows: dict[str, Any]) -> dict[str, _Fruit]:
        monkeypatch.setattr(_data, "load", lambda _: {"rows": rows})
        return _data.table(_Fruit, "fruits", "name")

    return read


def test_lists_become_what_the_field_declares(fruits: Callable[..., dict[str, _Fruit]]) -> None:
    found = fruits({"name": "plum", "colors": ["blue", "red"], "months": [8, 9]})
    assert found == {"plum": _Fruit("plum", ("blue", "red"), frozenset({8, 9}))}


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ({"name": "plum"}, "the row of 'plum' lacks 'colors'"),
        (
            {"name": "plum", "shades": []},
            "the row of 'plum' lacks 'colors' and has 'shades', which is no field of it",
        ),
        ({}, "the row of '' lacks 'name' and lacks 'colors'"),
    ],
)
def test_a_row_that_is_not_complete_is_named(
    fruits: Callable[..., dict[str, _Fruit]], row: dict[str, Any], message: str
) -> None:
    with pytest.raises(ValueError, match="fruits") as caught:
        fruits(row)
    assert str(caught.value) == f"facts/data/fruits.json: {message}"


def test_a_key_is_one_rows_own(fruits: Callable[..., dict[str, _Fruit]]) -> None:
    plum = {"name": "plum", "colors": []}
    with pytest.raises(ValueError, match=r"fruits\.json: there are two rows of 'plum'"):
        fruits(plum, plum)


def _changed(monkeypatch: pytest.MonkeyPatch, file: str, change: Callable[[Any], None]) -> None:
    document = copy.deepcopy(_data.load(file))
    change(document["rows"][-1])
    monkeypatch.setattr(import_module(f"lmi_constructs.facts.{file}"), "load", lambda _: document)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda row: row.pop("gated"), "lacks 'gated'"),
        (lambda row: row.update(like="Nobody/Nothing"), "is like 'Nobody/Nothing', which has no"),
        (lambda row: (row.pop("like", 0), row.pop("config", 0)), "lacks 'config'"),
    ],
)
def test_a_model_that_is_not_complete_is_named(
    monkeypatch: pytest.MonkeyPatch, change: Callable[[Any], None], message: str
) -> None:
    _changed(monkeypatch, "models", change)
    with pytest.raises(ValueError, match=message) as caught:
        models.__wrapped__()
    assert str(caught.value).startswith("facts/data/models.json: the row of '")


def test_an_instance_type_without_a_known_accelerator_is_named(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    _changed(monkeypatch, "instances", lambda row: row.update(accelerator="L5"))
    with pytest.raises(ValueError, match=r"has the accelerator 'L5', which has no row in"):
        instance_types.__wrapped__()

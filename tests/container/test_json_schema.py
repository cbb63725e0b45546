"""What the small reader of JSON Schema finds, and what it lets pass."""

from __future__ import annotations

from lmi_constructs.container import json_schema


def test_a_schema_finds_unknown_keys_fixed_sets_and_ranges():
    rules = {
        "type": "object",
        "additionalProperties": False,
        "properties": {
            "backend": {"enum": ["auto", "outlines"]},
            "size": {"type": "integer", "minimum": 1},
            "inner": {"$ref": "#/$defs/Inner"},
            "either": {"anyOf": [{"type": "integer"}, {"type": "null"}]},
        },
        "required": ["backend"],
        "$defs": {"Inner": {"type": "object", "properties": {"a": {"type": "string"}}}},
    }
    assert json_schema.problems({"backend": "auto", "size": "3", "either": None}, rules) == []
    assert json_schema.problems({"backend": "x"}, rules) == [
        "backend is 'x', not one of auto, outlines"
    ]
    assert json_schema.problems({"backend": "auto", "size": 0}, rules) == ["size is 0, too small"]
    assert json_schema.problems({"backend": "auto", "other": 1}, rules) == [
        "value has the unknown key 'other'"
    ]
    assert json_schema.problems({}, rules) == ["value lacks the key 'backend'"]
    assert json_schema.problems({"backend": "auto", "inner": {"a": 1}}, rules) == [
        "a is 1, not of type string"
    ]
    assert json_schema.problems([], rules) == ["value is [], not of type object"]
    assert json_schema.problems({"backend": "auto", "either": {}}, rules) != []

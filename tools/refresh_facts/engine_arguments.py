"""Derive the engine-argument table of every vLLM version that a release carries."""

from __future__ import annotations

import copy
import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from tools.refresh_facts.packages import wheel

PROBE = Path(__file__).with_name("engine_probe.py")
_WANTED = (
    "vllm/config",
    "vllm/engine/arg_utils.py",
    "vllm/utils",
    "vllm/envs.py",
    "vllm/reasoning",
)
_WANTED += ("vllm/tool_parsers", "vllm/entrypoints/openai/tool_parsers", "vllm/pooling_params.py")
_WANTED += ("vllm/model_executor/layers/quantization/__init__.py", "vllm/v1/attention")
_WANTED += ("vllm/attention", "vllm/transformers_utils/config.py")
# The parts of the engine's configuration whose fields are arguments of the same name.
_CONFIGS = ("Model", "Load", "Parallel", "Cache", "MultiModal", "LoRA", "Observability")
_CONFIGS += ("Scheduler", "Compilation", "Vllm", "UVAOffload", "PrefetchOffload")

KINDS = ("tool_parsers", "reasoning_parsers", "quantization_methods")
"""Sections that list which versions have a name."""


def derive(version: str) -> dict[str, Any]:
    """Return the argument table of one vLLM version, read from its published wheel."""
    with wheel(f"vllm=={version}") as archive, tempfile.TemporaryDirectory() as folder:
        for name in archive.namelist():
            if name.startswith(_WANTED) and name.endswith(".py"):
                archive.extract(name, folder)
        return probe(Path(folder))


def probe(sources: Path) -> dict[str, Any]:
    """Return the argument table of unpacked sources; vLLM's own code builds the parser."""
    command = [sys.executable, str(PROBE), str(sources)]
    done = subprocess.run(command, check=True, capture_output=True, text=True)  # noqa: S603
    table: dict[str, Any] = json.loads(done.stdout)
    return table


def merge(tables: dict[str, dict[str, Any]], as_of: str) -> dict[str, Any]:
    """Fold the tables of all versions, oldest first, into one: equal neighbours become a span."""
    merged: dict[str, Any] = {"engines": [], "arguments": {}, "schemas": {}}
    merged |= {kind: {} for kind in KINDS}
    for version, table in tables.items():
        merged = extended(merged, version, table, as_of)
    return merged


def extended(
    merged: dict[str, Any], version: str, table: dict[str, Any], as_of: str
) -> dict[str, Any]:
    """Return a merged table with one more version, which is newer than those in it.

    Args:
        merged: The table so far; it is not changed.
        version: The version.
        table: Its own table, as `derive` returns it.
        as_of: Date of what changes.
    """
    merged = copy.deepcopy(merged)
    before, versions = merged["engines"][-1:], [*merged["engines"], version]
    schemas = {json.dumps(row, sort_keys=True): key for key, row in merged["schemas"].items()}
    arguments, bounds = merged["arguments"], _bounds(table["bounds"])
    for name in dict.fromkeys([*table["annotations"], *table["arguments"]]):
        argument = table["arguments"].get(name)
        row = _row(name, argument, name in table["annotations"], bounds.get(name), schemas)
        spans = arguments.setdefault(name, {"spans": []})["spans"]
        if spans and [spans[-1]["until"]] == before and spans[-1]["is"] == row:
            spans[-1]["until"] = version
        else:
            spans.append({"since": version, "until": version, "is": row})
        source = (
            f"vllm {spans[0]['since']} to {version} wheels: vllm/engine/arg_utils.py, vllm/config"
        )
        arguments[name] = {"spans": spans, "source": source, "as_of": as_of}
    for kind in KINDS:
        for name in table[kind]:
            known = merged[kind].get(name, {"engines": []})["engines"]
            source = f"vllm wheels: vllm/{kind}"
            row = {"engines": [*known, version], "source": source, "as_of": as_of}
            merged[kind][name] = row
    return {
        "meta": {
            "source": "wheels of vllm " + ", ".join(versions) + ": vllm/engine/arg_utils.py",
            "as_of": as_of,
        },
        "engines": versions,
        "arguments": dict(sorted(arguments.items())),
        "schemas": {key: json.loads(text) for text, key in schemas.items()},
        **{kind: dict(sorted(merged[kind].items())) for kind in KINDS},
    }


def _row(
    name: str,
    argument: dict[str, Any] | None,
    passed: bool,
    bounds: dict[str, float] | None,
    schemas: dict[str, str],
) -> dict[str, Any]:
    if argument is None:
        return {"action": "none"}
    row = {k: v for k, v in argument.items() if k not in ("flags", "schema", "config")}
    if argument["flags"][0] != "--" + name.replace("_", "-"):
        row["flag"] = argument["flags"][0]
    if row["default"] is None:
        del row["default"]
    if not passed:
        row["asynchronous_only"] = True
    if bounds:
        row["bounds"] = bounds
    if argument.get("schema"):
        text = json.dumps(argument["schema"], sort_keys=True)
        row["schema"] = schemas.setdefault(text, f"{argument['config']}/{len(schemas)}")
    return row


def _bounds(configs: dict[str, dict[str, Any]]) -> dict[str, dict[str, float]]:
    found: dict[str, dict[str, float]] = {}
    for config in _CONFIGS:
        found.update(configs.get(config + "Config", {}))
    return found


def dump(table: dict[str, Any]) -> str:
    """Render the merged table as JSON with one row a line, so that differences can be read."""
    parts = []
    for section, rows in table.items():
        if section in ("meta", "engines"):
            parts.append(f" {json.dumps(section)}: {json.dumps(rows)}")
        else:
            lines = (f"  {json.dumps(name)}: {json.dumps(row)}" for name, row in rows.items())
            parts.append(f" {json.dumps(section)}: {{\n" + ",\n".join(lines) + "\n }")
    return "{\n" + ",\n".join(parts) + "\n}\n"

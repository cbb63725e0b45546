"""The evaluation reads logs as they are, and its last line can be read by a machine."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent


def test_the_last_line_holds_the_figures():
    done = subprocess.run(
        [sys.executable, str(HERE / "evaluate.py"), str(HERE / "logs.json")],
        capture_output=True,
        text=True,
        check=True,
    )
    figures = json.loads(done.stdout.splitlines()[-1])
    assert figures["weights_median"] < 0.01
    assert figures["kv_tokens_p90"] < 0.05
    assert figures["refused_ok"] == 0
    assert (figures["caught"], figures["not_started"]) == (3, 3)
    assert figures["abstained"] == 3
    assert list(figures) == [
        *("weights_median", "weights_p90", "kv_tokens_median", "kv_tokens_p90"),
        *("refused_ok", "caught", "not_started", "abstained", "from_configuration_alone"),
    ]
    assert "'judged_by_the_logged_cache': 1" in done.stdout
    alone = figures["from_configuration_alone"]
    assert (alone["caught"], alone["not_started"], alone["refused_ok"]) == (2, 2, 0)
    assert (alone["abstained"], alone["cases"]) == (4, 7)
    assert "kv_too_small" in done.stdout


def last_line_for(content: str, tmp_path: Path, **environment: str) -> dict[str, object]:
    """Return the figures for a file; fail if they are no JSON or the program stops before them."""
    file = tmp_path / "logs.json"
    file.write_text(content, encoding="utf-8")
    done = subprocess.run(
        [sys.executable, str(HERE / "evaluate.py"), str(file)],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, **environment},
    )
    return json.loads(done.stdout.splitlines()[-1], parse_constant=pytest.fail)


@pytest.mark.parametrize(
    "content",
    [
        "",
        "[",
        "[]",
        "null",
        "3",
        '"cases"',
        "{}",
        '{"cases": 3}',
        '[null, 3, "case", []]',
        "\ufeff[]",
        "[" * 100_000,
    ],
)
def test_a_file_without_cases_has_figures_of_none(content, tmp_path):
    figures = last_line_for(content, tmp_path)
    assert figures["weights_median"] is None
    assert (figures["caught"], figures["not_started"], figures["abstained"]) == (0, 0, 0)


def case_with(**changes: object) -> str:
    case = json.loads((HERE / "logs.json").read_text(encoding="utf-8"))
    case = (case if isinstance(case, list) else case["cases"])[0]
    seen = {**case["observed"], **changes.pop("observed", {})}  # type: ignore[dict-item]
    return json.dumps([{**case, "observed": seen, **changes}])


@pytest.mark.parametrize(
    "changes",
    [
        {"vllm_version": "0." + "9" * 5000},
        {"gpu": "9" * 5000 + "GB"},
        {"gpu": "0GB"},
        {"lora": "9" * 5000 + " registered"},
        {"model_id": "\ud800 \u00fc", "case_id": "\ud800"},
        {"outcome": "\ud800"},
        {"observed": {"weights_gib": 5e-324, "kv_tokens": 1e-320}},
    ],
)
def test_an_odd_value_in_a_case_stops_nothing(changes, tmp_path):
    assert "abstained" in last_line_for(case_with(**changes), tmp_path, PYTHONIOENCODING="ascii")


def test_a_number_without_end_counts_as_not_stated(tmp_path):
    stated = case_with(max_num_seqs=None)
    endless = stated.replace('"max_num_seqs": null', '"max_num_seqs": ' + "9" * 5000)
    assert endless != stated
    assert last_line_for(endless, tmp_path) == last_line_for(stated, tmp_path)

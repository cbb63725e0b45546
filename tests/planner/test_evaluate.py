"""The evaluation reads logs as they are, and its last line can be read by a machine."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

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

"""The documentation builds without a network, and every link in it leads somewhere."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_the_site_builds_without_a_warning(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(tmp_path)]
    environment = {**os.environ, "NO_MKDOCS_2_WARNING": "1"}
    done = subprocess.run(
        command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert "zensical" not in done.stderr.lower()
    page = (tmp_path / "reference" / "constructs" / "index.html").read_text("utf-8")
    assert "auto_scale_instance_count" in page
    assert "retain_deployment" in page, "the reference lacks the keywords of constructors"
    assert "https://fonts." not in page
    assert 'href="../../stylesheets/tables.css"' in page, "names in tables would be broken"

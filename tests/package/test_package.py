"""What the package promises as a whole."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
FORBIDDEN = re.compile(
    "|".join(
        [
            r"registry\.npm" + "js",
            r"files\.python" + "hosted",
            r"py" + r"pi\.org/simple",
            r"/wo" + r"rk/",
            r"deb\.deb" + "ian",
        ]
    )
)


def _modules_after(statement: str) -> set[str]:
    code = f"import sys\n{statement}\nprint(*sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT
    )
    return {name.split(".")[0] for name in done.stdout.split()}


@pytest.mark.parametrize(
    "statement",
    [
        "import lmi_constructs",
        "import lmi_constructs.container",
        "import lmi_constructs.planner",
        "import lmi_constructs.checks",
        "import lmi_constructs.runtime",
        "import lmi_constructs.cli._group",
    ],
)
def test_light_parts_load_neither_the_cdk_nor_boto3(statement: str) -> None:
    loaded = _modules_after(statement)
    assert not loaded & {"aws_cdk", "jsii", "constructs", "moto"}
    if "runtime" not in statement:
        assert not loaded & {"boto3", "botocore"}


def test_tracked_files_name_no_registry_host_and_no_path_of_a_machine() -> None:
    listed = subprocess.run(
        ["git", "ls-files", "-z"], capture_output=True, text=True, check=True, cwd=ROOT
    ).stdout
    for name in filter(None, listed.split("\0")):
        path = ROOT / name
        if path.is_file():
            found = FORBIDDEN.search(path.read_text(errors="ignore"))
            assert found is None, f"{name}: {found}"

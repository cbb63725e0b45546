"""Without an extra, what needs it says how to install it, inside `lmi` and outside."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from lmi_constructs._extras import install

ROOT = Path(__file__).parents[2]
YAML = ROOT / "tests" / "checks" / "good" / "tgi_gated_with_secret.yaml"
CHECK = f"from lmi_constructs.checks import check_path; check_path({str(YAML)!r})"


@pytest.mark.parametrize(
    ("missing", "code", "said"),
    [
        (
            "botocore",
            "import lmi_constructs.runtime",
            "lmi_constructs.runtime needs 'botocore': " + install("runtime"),
        ),
        (
            "botocore",
            "import lmi_constructs.preflight",
            "lmi_constructs.preflight needs 'botocore': " + install("cli"),
        ),
        (
            "botocore",
            "from lmi_constructs.operations import stage",
            "lmi_constructs.operations needs 'botocore': " + install("runtime"),
        ),
        (
            "yaml",
            CHECK,
            "lmi_constructs.checks needs 'yaml': " + install("cli"),
        ),
        (
            "moto",
            "from lmi_constructs.local import LocalAws",
            "lmi_constructs.local needs 'moto': " + install("local"),
        ),
        (
            "cfnlint",
            "from lmi_constructs.testing import replacements\n"
            "replacements({'Resources': {'A': {'Type': 'B'}}}, {'Resources': {'A': {'Type': 'B'}}})",
            "lmi_constructs.testing needs 'cfnlint': " + install("testing"),
        ),
    ],
)
def test_without_its_extra_a_package_says_how_to_get_it(missing: str, code: str, said: str) -> None:
    # The error keeps the module's name, which `lmi` asks for.
    hidden = f"""
import importlib.abc, sys
class Hidden(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path, target=None):
        if name.partition(".")[0] == {missing!r}:
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)
sys.meta_path.insert(0, Hidden())
try:
    exec({code!r})
except ModuleNotFoundError as error:
    print(error.name, error, sep="|")
"""
    done = subprocess.run(
        [sys.executable, "-c", hidden], capture_output=True, text=True, check=True, cwd=ROOT
    )
    assert done.stdout == f"{missing}|{said}\n"


def test_what_installs_an_extra_works_for_a_clone_and_for_an_index_of_ones_own() -> None:
    assert install("cli,hub") == (
        "pip install '.[cli,hub]' in a clone of lmi-constructs, or 'lmi-constructs[cli,hub]' from your"
        " own package index"
    )


def test_nothing_tells_to_install_from_a_public_index() -> None:
    """The package is on none, and whoever took its name there could be installed instead."""
    pages = [ROOT / "README.md", ROOT / "README.ko.md"]
    for folder in ("docs", "examples", "lmi_constructs", "tools"):
        pages += (
            page
            for page in (ROOT / folder).rglob("*")
            if page.suffix in (".md", ".py", ".yml", ".sh", ".txt") and page.is_file()
        )
    told = re.compile(r"pip install (-\S+ )*'?lmi-constructs")
    assert not [str(page) for page in pages if told.search(page.read_text("utf-8"))]

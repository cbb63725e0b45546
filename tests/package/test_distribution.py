"""What is built and installed: everything that is needed, and nothing else."""

from __future__ import annotations

import re
import subprocess
import sys
import tarfile
import zipfile
from email import message_from_string
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from packaging.specifiers import SpecifierSet

if TYPE_CHECKING:
    from email.message import Message

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with wheel and sdist, built without a network."""
    folder = tmp_path_factory.mktemp("dist")
    command = [sys.executable, "-m", "hatchling", "build", "-d", str(folder)]
    subprocess.run(command, check=True, cwd=ROOT, capture_output=True)
    return folder


@pytest.fixture(scope="module")
def wheel(built: Path) -> zipfile.ZipFile:
    (file,) = built.glob("*.whl")
    return zipfile.ZipFile(file)


@pytest.fixture(scope="module")
def metadata(wheel: zipfile.ZipFile) -> Message:
    (name,) = (name for name in wheel.namelist() if name.endswith("METADATA"))
    return message_from_string(wheel.read(name).decode())


def test_the_wheel_holds_every_file_of_the_package_and_no_other(wheel: zipfile.ZipFile) -> None:
    tracked = subprocess.run(
        ["git", "ls-files", "lmi_constructs"], capture_output=True, text=True, check=True, cwd=ROOT
    ).stdout.split()
    packed = {name for name in wheel.namelist() if ".dist-info/" not in name}
    assert packed == set(tracked)
    assert "lmi_constructs/py.typed" in packed


def test_it_needs_four_libraries_and_the_rest_are_extras(metadata: Message) -> None:
    needed = metadata.get_all("Requires-Dist") or []
    always = {re.split("[<>=!~]", entry)[0] for entry in needed if "extra ==" not in entry}
    assert always == {"aws-cdk-lib", "constructs", "javaproperties", "pydantic"}
    assert {"cli", "local", "runtime", "testing"} <= set(metadata.get_all("Provides-Extra") or [])
    assert metadata["Requires-Python"] == ">=3.10"
    assert metadata["License-Expression"] == "Apache-2.0"


def test_the_pure_parts_work_where_nothing_else_is_installed(built: Path, tmp_path: Path) -> None:
    (file,) = built.glob("*.whl")
    zipfile.ZipFile(file).extractall(tmp_path)
    program = """
import sys
sys.path.insert(0, sys.argv[1])
import lmi_constructs
from lmi_constructs.facts import instance_types
from lmi_constructs.planner import Architecture, EngineConfiguration, plan
from lmi_constructs.container import LmiContainer, verdict
judged = verdict({"OPTION_DTYPE": "bf16"}, LmiContainer.V27, gpus=4)
print(len(instance_types()) > 50, judged.backend, lmi_constructs.__file__.startswith(sys.argv[1]))
"""
    command = [sys.executable, "-I", "-S", "-c", program, str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.stdout.split() == ["True", "vllm-async", "True"], done.stderr


def test_the_sdist_can_be_tested(built: Path) -> None:
    (file,) = built.glob("*.tar.gz")
    with tarfile.open(file) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    for name in ("pyproject.toml", "Makefile", "constraints.txt", "app.py", "tests/conftest.py"):
        assert name in names
    assert "mkdocs.yml" in names
    assert not [name for name in names if ".venv" in name or "cdk.out" in name]


def test_the_pinned_versions_leave_room_for_every_extra() -> None:
    """What extras need that `make` does not install, by sagemaker-core 2.27.0 and graphene 3.4.3."""
    lines = (ROOT / "constraints.txt").read_text().splitlines()
    pinned = dict(line.split("==") for line in lines if "==" in line)
    for name, needed in (("rich", ">=13,<15"), ("graphql-core", ">=3.1,<3.3")):
        assert SpecifierSet(needed).contains(pinned[name])

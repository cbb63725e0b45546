from __future__ import annotations

import subprocess
import sys

from click.testing import CliRunner

from lmi_constructs.cli._group import _COMMANDS, lmi


def test_help_names_every_command() -> None:
    result = CliRunner().invoke(lmi, ["--help"])
    assert result.exit_code == 0
    for name in _COMMANDS:
        assert name in result.output


def test_every_command_can_be_loaded_and_has_help() -> None:
    for name in _COMMANDS:
        result = CliRunner().invoke(lmi, [name, "--help"])
        assert result.exit_code == 0, result.output
        assert "Usage: " in result.output


def test_an_unknown_command_is_a_usage_error() -> None:
    result = CliRunner().invoke(lmi, ["deploy-to-mars"])
    assert result.exit_code == 2
    assert "deploy-to-mars" in result.output


def test_without_the_extra_the_command_says_how_to_get_it() -> None:
    code = "import sys; sys.modules['click'] = None\nfrom lmi_constructs.cli import main; main()"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "lmi-constructs[cli]" in done.stderr
    assert "Traceback" not in done.stderr

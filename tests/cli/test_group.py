from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
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


MAIN = "from lmi_constructs.cli import main; main()"


@pytest.mark.parametrize(
    "arguments",
    [
        ["--help"],
        ["plan", "--help"],
        ["presets"],  # printed by click
        ["plan", "--model", "Qwen/Qwen3-8B", "--instance", "ml.g6.12xlarge"],  # printed by rich
    ],
)
def test_where_nobody_reads_on_the_command_ends_silently_as_shells_count(
    arguments: list[str],
) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    with os.fdopen(writing, "w") as nobody:
        done = subprocess.run(
            [sys.executable, "-c", MAIN, *arguments],
            stdout=nobody,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
    assert (done.returncode, done.stderr) == (141, "")


@pytest.mark.parametrize(
    "arguments",
    [
        ["--help"],
        ["presets"],
        ["plan", "--model", "Qwen/Qwen3-8B", "--instance", "ml.g6.12xlarge"],
    ],
)
def test_a_full_disk_is_said_without_a_traceback(arguments: list[str]) -> None:
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [sys.executable, "-c", MAIN, *arguments],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
    assert done.returncode == 1
    assert done.stderr == "lmi: not everything is written: No space left on device\n"


def test_half_a_character_of_a_file_is_printed_as_it_is_written(tmp_path: Path) -> None:
    config = {"model_type": "llama", "_name_or_path": "me/\ud800", "hidden_size": 2048}
    config |= {"intermediate_size": 8192, "num_attention_heads": 32, "num_hidden_layers": 16}
    file = tmp_path / "config.json"
    file.write_text(json.dumps({**config, "vocab_size": 128256}))
    arguments = ["plan", "--config", str(file), "--instance", "ml.g6.2xlarge"]
    done = subprocess.run(
        [sys.executable, "-c", MAIN, *arguments], capture_output=True, check=False
    )
    assert done.returncode == 0
    assert b"me/\\ud800 on ml.g6.2xlarge" in done.stdout


@pytest.mark.parametrize(
    ("when", "status"),
    [
        ("raise KeyboardInterrupt", 130),  # while the command is imported or its options are read
        ("import threading, time; threading.Thread(target=press).start()", 130),  # waits for it
        ("import atexit; atexit.register(press)", 130),
        ("import weakref; weakref.finalize(type('Any', (), {}), press)", 130),
    ],
)
def test_ctrl_c_ends_with_130_while_python_ends_too(when: str, status: int) -> None:
    code = f"""
import os, signal, sys, time
import lmi_constructs.cli._group as group
signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background job ignores it
def press():
    time.sleep(0.2)
    os.kill(os.getpid(), signal.SIGINT)
    time.sleep(0.2)
def lmi():
    {when}
group.lmi = lmi
{MAIN}
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (status, "")


@pytest.mark.parametrize(
    ("printing", "encoding", "shown"),
    [
        ("click.echo", "utf-8", "안녕 \\ud83d".encode()),
        ("console().print", "utf-8", "안녕 \\ud83d".encode()),
        ("console().print", "ascii", rb"\uc548\ub155 \ud83d"),
        ("click.echo", "latin-1", rb"\uc548\ub155 \ud83d"),
    ],
)
def test_what_the_terminal_cannot_show_is_printed_as_its_escape(
    printing: str, encoding: str, shown: bytes
) -> None:
    code = f"""
import click
import lmi_constructs.cli._group as group
from lmi_constructs.cli._console import console
group.lmi = lambda: {printing}("안녕 \\ud83d")
{MAIN}
"""
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, "PYTHONIOENCODING": encoding},
        capture_output=True,
        check=False,
    )
    assert (done.returncode, done.stdout.strip(), done.stderr) == (0, shown, b"")


def test_ctrl_c_after_the_last_word_lets_the_status_stand() -> None:
    code = f"""
import atexit, os, signal, time
atexit.register(lambda: (os.kill(os.getpid(), signal.SIGINT), time.sleep(0.2)))
import sys; sys.argv = ["lmi", "--version"]
{MAIN}
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")

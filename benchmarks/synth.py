"""How long `LmiEndpoint` takes to synthesize, against the same template written by hand.

Each figure is a whole `python app.py` in a process of its own. The ways are run in turn, so that a
busy moment of the machine hits all of them, and medians are compared.

    python -m benchmarks.synth [--runs 7] [--counts 1,50,200] [--validator both|on|off]
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median
from typing import NamedTuple

from benchmarks import ENVIRONMENT

_ROOT = Path(__file__).parent.parent
_COMPARED_COUNT = 50


class Run(NamedTuple):
    """What one run took."""

    seconds: float
    cpu_seconds: float
    peak_mib: float
    """Of the largest process: Python, or the node it talks to."""


def main() -> None:
    """Measure, and print a table and the ratio."""
    options = _options()
    ways = ["raw", "ours"]
    if importlib.util.find_spec("aws_cdk.aws_sagemaker_alpha"):
        ways.append("alpha")
    check_same_template()
    ratio = None
    for validator in options.validators:
        print(f"validator {'on' if validator else 'off'}")
        print(f"{'endpoints':>9} {'way':>6} {'seconds':>8} {'CPU s':>6} {'MiB':>5} {'to raw':>7}")
        for count in options.counts:
            runs = _interleaved(ways, count, options.runs, validator)
            raw_seconds = median(run.seconds for run in runs["raw"])
            for way, taken in runs.items():
                seconds = median(run.seconds for run in taken)
                cpu_seconds = median(run.cpu_seconds for run in taken)
                peak = median(run.peak_mib for run in taken)
                print(
                    f"{count:>9} {way:>6} {seconds:>8.2f} {cpu_seconds:>6.2f} {peak:>5.0f}"
                    f" {seconds / raw_seconds:>7.2f}"
                )
                if way == "ours" and count == _COMPARED_COUNT and not validator:
                    ratio = seconds / raw_seconds
    if ratio is not None:
        print(f"ratio to raw L1 at {_COMPARED_COUNT} endpoints, validator off: {ratio:.2f}")


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--runs", type=int, default=7)
    parser.add_argument("--counts", default="1,50,200")
    parser.add_argument("--validator", choices=("both", "on", "off"), default="both")
    options = parser.parse_args()
    options.counts = [int(count) for count in options.counts.split(",")]
    options.validators = {"both": [True, False], "on": [True], "off": [False]}[options.validator]
    return options


def _interleaved(ways: list[str], count: int, runs: int, validator: bool) -> dict[str, list[Run]]:
    taken: dict[str, list[Run]] = {way: [] for way in ways}
    for _ in range(runs):
        for way in ways:
            with tempfile.TemporaryDirectory() as assembly:
                taken[way].append(_run(way, count, assembly, validator=validator))
    return taken


def _run(way: str, count: int, assembly: str, *, validator: bool) -> Run:
    """Synthesize endpoints in a process of its own."""
    environment = ENVIRONMENT | {
        "CDK_OUTDIR": assembly,
        "CDK_VALIDATION": "true" if validator else "false",
    }
    command = [sys.executable, "-m", "benchmarks.endpoints", way, str(count)]
    begin = time.perf_counter()
    process = subprocess.Popen(command, cwd=_ROOT, env=environment, stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    seconds = time.perf_counter() - begin
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise SystemExit(f"{' '.join(command)} failed")
    return Run(seconds, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024)


def check_same_template() -> None:
    """Make sure that both ways yield the same resources, in the same order.

    The first run also compiles the bytecode and unpacks the CDK, which must not be measured.
    """
    with tempfile.TemporaryDirectory() as ours, tempfile.TemporaryDirectory() as raw:
        _run("ours", 1, ours, validator=False)
        _run("raw", 1, raw, validator=False)
        if _resources(ours) != _resources(raw):
            raise SystemExit("the two ways yield different templates: compare nothing")


def _resources(assembly: str) -> object:
    """Return the resources of an assembly, with their logical ids replaced by their places."""
    template = json.loads((Path(assembly) / "Stack0.template.json").read_text("utf-8"))
    resources = template["Resources"]
    text = json.dumps(list(resources.values()))
    for place, logical_id in enumerate(resources):
        text = text.replace(f'"{logical_id}"', f'"{place}"')
    return json.loads(text)


if __name__ == "__main__":
    main()

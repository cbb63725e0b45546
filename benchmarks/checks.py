"""How long the pure parts take: verdict, plan, rules, and the commands that need no CDK.

python -m benchmarks.checks
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from itertools import count
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING

from benchmarks import ENVIRONMENT
from lmi_constructs.checks import CheckOptions, TemplateSource, check
from lmi_constructs.checks.template.read import read_deployment
from lmi_constructs.container import LmiContainer, verdict
from lmi_constructs.planner import Architecture, EngineConfiguration, plan

if TYPE_CHECKING:
    from collections.abc import Callable

_ROOT = Path(__file__).parent.parent
_REPEATS = 200
_RUNS = 7
_ENDPOINTS = 100
_IMPORT_CDK = """
from aws_cdk import App, aws_applicationautoscaling, aws_cloudwatch, aws_iam, aws_sagemaker
App
"""
_IMPORT_OURS = _IMPORT_CDK + "from lmi_constructs import LmiEndpoint, LmiSettings, ModelData"
_ENVIRONMENT = {"OPTION_MAX_ROLLING_BATCH_SIZE": "64", "OPTION_MAX_MODEL_LEN": "16384"}


def main() -> None:
    """Measure, and print a table."""
    with tempfile.TemporaryDirectory() as folder:
        one, many = Path(folder) / "one", Path(folder) / "many"
        _synth(1, one)
        _synth(_ENDPOINTS, many)
        template = json.loads((one / "Stack0.template.json").read_text("utf-8"))
        source = TemplateSource("Stack0", template, "us-west-2", "111122223333")
        deployment = read_deployment([source], CheckOptions().facts)
        architecture = Architecture.known("Qwen/Qwen3-8B")
        assert architecture is not None
        effective = verdict(_ENVIRONMENT, LmiContainer.V27, gpus=4).effective
        runs = count()
        parts = {
            "verdict of a release": lambda: verdict(
                {**_ENVIRONMENT, "RUN": str(next(runs))},  # one that was given before is kept
                LmiContainer.V27,
                gpus=4,
            ),
            "memory plan": lambda: plan(
                architecture,
                "ml.g6.12xlarge",
                EngineConfiguration.from_effective(
                    effective,
                    accelerator_count=4,
                    engine_version=LmiContainer.V27.engine_version,
                ),
            ),
            "all rules over one deployment": lambda: check(deployment),
        }
        print(f"{'one deployment, warm':<44} {'ms':>8}")
        total = 0.0
        for name, call in parts.items():
            taken = _milliseconds(call)
            total += taken
            print(f"{name:<44} {taken:>8.2f}")
        print(f"{'together':<44} {total:>8.2f}")
        print(f"\n{'whole commands':<44} {'s':>8}")
        print(f"{'python -c pass':<44} {_program_seconds('pass'):>8.2f}")
        print(f"{'import aws_cdk':<44} {_program_seconds(_IMPORT_CDK):>8.2f}")
        print(f"{'import aws_cdk, then ours':<44} {_program_seconds(_IMPORT_OURS):>8.2f}")
        for arguments in (
            ["--version"],
            ["--help"],
            ["plan", "--model", "Qwen/Qwen3-8B", "--instance", "ml.g6.12xlarge"],
            ["check", str(many)],
        ):
            shown = " ".join(arguments).replace(str(many), f"cdk.out ({_ENDPOINTS} endpoints)")
            print(f"{'lmi ' + shown:<44.44} {_seconds(arguments):>8.2f}")


def _synth(count: int, folder: Path) -> None:
    command = [sys.executable, "-m", "benchmarks.endpoints", "raw", str(count)]
    environment = ENVIRONMENT | {"CDK_OUTDIR": str(folder), "CDK_VALIDATION": "false"}
    subprocess.run(command, check=True, cwd=_ROOT, env=environment)


def _milliseconds(call: Callable[[], object]) -> float:
    call()
    taken = []
    for _ in range(_REPEATS):
        begin = time.perf_counter()
        call()
        taken.append(time.perf_counter() - begin)
    return median(taken) * 1000


def _seconds(arguments: list[str]) -> float:
    return _program_seconds("from lmi_constructs.cli import main; main()", *arguments)


def _program_seconds(program: str, *arguments: str) -> float:
    command = [sys.executable, "-c", program, *arguments]
    taken = []
    for _ in range(_RUNS):
        begin = time.perf_counter()
        done = subprocess.run(command, cwd=_ROOT, env=ENVIRONMENT, capture_output=True, check=False)
        taken.append(time.perf_counter() - begin)
        if done.returncode:
            raise SystemExit(f"{' '.join(command)} failed: {done.stderr.decode()}")
    return median(taken)


if __name__ == "__main__":
    main()

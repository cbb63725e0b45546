"""How an endpoint behaves under load: a sweep over concurrency, level by level.

The measuring itself is `sm-bench` of sm-endpoint-bmt (extra `bench`), which has the figures and
formulas of `vllm bench serve` and reads this container's JSON lines. Here are the sweep and what
follows from it for autoscaling.

Source: https://pypi.org/project/sm-endpoint-bmt/ 1.0.0 (as of 2026-12-01)
"""

from __future__ import annotations

import importlib.util
import json
import math
import subprocess
import sys
import tempfile
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal

from lmi_constructs.runtime.errors import LmiRuntimeError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

_TOOL: Final = "sagemaker_benchmark"
_REQUESTS_A_SLOT: Final = 4
"""Requests for each one in flight: the first and the last ones run beside fewer others."""

_FEWEST_REQUESTS: Final = 10
_KNEE: Final = 0.9
"""Share of the best throughput at which more concurrency buys waiting, not tokens: a judgement."""

CONCURRENCY_TARGET_RATIO: Final = 0.6
"""Share of the sustained concurrency at which another instance is asked for, as the constructs do:
what is there must take what comes while a new instance starts, for minutes."""

Schema = Literal["chat", "completion"]
_ENDPOINT_TYPES: Final[Mapping[Schema, str]] = {"chat": "openai-chat", "completion": "openai"}


class BenchmarkError(LmiRuntimeError):
    """The benchmark could not be run."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Percentiles:
    """Milliseconds that half of the requests, and 99 of 100, do not exceed."""

    p50: float
    p99: float


@dataclass(frozen=True, slots=True, kw_only=True)
class BenchmarkLevel:
    """What was measured with a number of requests in flight.

    Attributes:
        concurrency: Requests in flight at most.
        completed: Requests that were answered.
        failed: Requests that were not.
        seconds: How long the level took.
        requests_per_second: Answered requests.
        output_tokens_per_second: Tokens of all answers.
        time_to_first_token: Milliseconds until the first part of an answer.
        inter_token_latency: Milliseconds between two parts.
        whole_answer: Milliseconds until the last part.
        without_usage: Answers whose tokens the container did not count; with such, tokens a second
            are too few.
        errors: How often which error came.
    """

    concurrency: int
    completed: int
    failed: int
    seconds: float
    requests_per_second: float
    output_tokens_per_second: float
    time_to_first_token: Percentiles
    inter_token_latency: Percentiles
    whole_answer: Percentiles
    without_usage: int
    errors: Mapping[str, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class Capacity:
    """What an instance sustains, by a sweep.

    Attributes:
        concurrency: Requests at once that it sustains, `None` if no level was good enough.
        reason: Why this level.
    """

    concurrency: int | None
    reason: str

    @property
    def target(self) -> int | None:
        """Target for `scale_on_concurrency`: 0.6 of the sustained concurrency."""
        if self.concurrency is None:
            return None
        return max(1, math.floor(self.concurrency * CONCURRENCY_TARGET_RATIO))


def ensure_installed() -> None:
    """Say so at once if the tool that measures is missing.

    Raises:
        BenchmarkError: If sm-bench is not installed.
    """
    if importlib.util.find_spec(_TOOL) is None:
        raise BenchmarkError(
            "sm-bench is not installed", "pip install 'lmi-constructs[bench]', or sm-endpoint-bmt"
        )


def benchmark(
    endpoint_name: str,
    *,
    concurrencies: Sequence[int] = (1, 2, 4, 8, 16, 32),
    input_tokens: int = 1024,
    output_tokens: int = 128,
    requests_per_level: int | None = None,
    schema: Schema = "chat",
    region: str | None = None,
    seed: int = 0,
) -> Iterator[BenchmarkLevel]:
    """Measure an endpoint with ever more requests in flight, and yield each level as it ends.

    Prompts are random words, so that the prefix cache helps little, and answers run to the asked
    length. Measure one instance: with scaling on, the figures are those of a moving fleet.

    Args:
        endpoint_name: Name of the endpoint.
        concurrencies: Requests in flight, one level after the other.
        input_tokens: Length of a prompt; an estimate, as no tokenizer is loaded.
        output_tokens: Length of an answer.
        requests_per_level: Requests of a level. Default: four for each one in flight, at least 10.
        schema: Form of the requests.
        region: Region of the endpoint. Default: that of the AWS configuration.
        seed: Seed of the prompts.

    Raises:
        BenchmarkError: If sm-bench is not installed, or cannot be run.
    """
    ensure_installed()
    for concurrency in concurrencies:
        requests = requests_per_level or max(_FEWEST_REQUESTS, _REQUESTS_A_SLOT * concurrency)
        options = {
            "endpoint-name": endpoint_name,
            "endpoint-type": _ENDPOINT_TYPES[schema],
            "max-concurrency": concurrency,
            "num-prompts": requests,
            "random-input-len": input_tokens,
            "random-output-len": output_tokens,
            "percentile-metrics": "ttft,itl,e2el",
            "metric-percentiles": "50,99",
            "temperature": 0,
            "seed": seed,
            **({"region": region} if region else {}),
        }
        yield _level(concurrency, _measured(options))


def capacity(
    levels: Sequence[BenchmarkLevel],
    *,
    time_to_first_token_ms: float | None = None,
    inter_token_latency_ms: float | None = None,
) -> Capacity:
    """Return what the measured instance sustains.

    With limits: the highest level whose 99th percentiles keep them. Without: the lowest level that
    brings nine tenths of the best throughput, as more concurrency only makes requests wait. A level
    with failed requests never counts.

    Args:
        levels: The sweep.
        time_to_first_token_ms: Longest time to the first token.
        inter_token_latency_ms: Longest time between two tokens.
    """
    sound = [level for level in levels if level.completed and not level.failed]
    if not sound:
        return Capacity(concurrency=None, reason="every level had failed requests")
    if time_to_first_token_ms is None and inter_token_latency_ms is None:
        best = max(level.output_tokens_per_second for level in sound)
        knee = min(
            level.concurrency for level in sound if level.output_tokens_per_second >= _KNEE * best
        )
        return Capacity(
            concurrency=knee,
            reason=f"{_KNEE:.0%} of the best throughput ({best:.0f} tokens a second) is reached",
        )
    first, between = time_to_first_token_ms or math.inf, inter_token_latency_ms or math.inf
    good = [
        level.concurrency
        for level in sound
        if level.time_to_first_token.p99 <= first and level.inter_token_latency.p99 <= between
    ]
    if not good:
        return Capacity(concurrency=None, reason="no level keeps the limits")
    return Capacity(concurrency=max(good), reason="the highest level that keeps the limits")


def _measured(options: Mapping[str, object]) -> dict[str, Any]:
    """Run sm-bench once, and return what it wrote.

    Raises:
        BenchmarkError: If it wrote nothing.
    """
    with tempfile.TemporaryDirectory() as folder:
        command = [
            sys.executable,
            "-m",
            _TOOL,
            "--save-result",
            "--save-detailed",
            "--disable-tqdm",
        ]
        command += ["--result-dir", folder, "--result-filename", "result.json"]
        for name, value in options.items():
            command += [f"--{name}", str(value)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603
        result = Path(folder) / "result.json"
        if not result.is_file():
            said = (done.stderr.strip() or done.stdout.strip()).splitlines()
            raise BenchmarkError(
                f"sm-bench could not measure: {said[-1] if said else 'it said nothing'}",
                "try one request first: lmi invoke",
            )
        measured: dict[str, Any] = json.loads(result.read_text("utf-8"))
    return measured


def _level(concurrency: int, measured: Mapping[str, Any]) -> BenchmarkLevel:
    def percentiles(name: str) -> Percentiles:
        return Percentiles(p50=measured[f"p50_{name}_ms"], p99=measured[f"p99_{name}_ms"])

    return BenchmarkLevel(
        concurrency=concurrency,
        completed=measured["completed"],
        failed=measured["failed"],
        seconds=measured["duration"],
        requests_per_second=measured["request_throughput"],
        output_tokens_per_second=measured["output_throughput"],
        time_to_first_token=percentiles("ttft"),
        inter_token_latency=percentiles("itl"),
        whole_answer=percentiles("e2el"),
        without_usage=measured["requests_without_usage"],
        errors=Counter(kind for kind in measured["error_kinds"] if kind),
    )

"""The sweep over concurrency, and what follows from it."""

from __future__ import annotations

import importlib.util
import json
from typing import TYPE_CHECKING, Any

import pytest
from click.testing import CliRunner

from lmi_constructs.cli import bench as command
from lmi_constructs.cli._group import lmi
from lmi_constructs.hosting.scaling import _checks as scaling_checks
from lmi_constructs.runtime import (
    CallerError,
    NotAllowedError,
    NotReadyError,
    RequestError,
    readiness,
)
from lmi_constructs.runtime import benchmark as benchmarks
from lmi_constructs.runtime.benchmark import BenchmarkError, BenchmarkLevel, Percentiles, capacity

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from lmi_constructs.local import LocalAws

needs_the_tool = pytest.mark.skipif(
    importlib.util.find_spec("sagemaker_benchmark") is None, reason="needs the extra bench"
)


def level(concurrency: int, tokens: float, first: float, *, failed: int = 0) -> BenchmarkLevel:
    return BenchmarkLevel(
        concurrency=concurrency,
        completed=10,
        failed=failed,
        seconds=1,
        requests_per_second=10,
        output_tokens_per_second=tokens,
        time_to_first_token=Percentiles(p50=first / 2, p99=first),
        inter_token_latency=Percentiles(p50=10, p99=20),
        whole_answer=Percentiles(p50=first, p99=2 * first),
        without_usage=0,
        errors={},
    )


SWEEP = [level(1, 50, 100), level(8, 380, 180), level(16, 405, 400), level(32, 410, 1900)]


def test_without_limits_the_knee_of_the_throughput_counts() -> None:
    found = capacity(SWEEP)
    assert found.concurrency == 8
    assert found.target == 4


def test_one_level_proves_nothing_about_others() -> None:
    assert "no other level was measured" in capacity(SWEEP[:1]).reason


@pytest.mark.parametrize(
    "options",
    [
        {"concurrencies": [1, 0]},
        {"input_tokens": -1},
        {"output_tokens": 0},
        {"requests_per_level": 0},
        {"endpoint_name": "a b"},
    ],
)
def test_refuses_what_nothing_can_be_measured_with(options: Any) -> None:
    with pytest.raises(RequestError):
        next(benchmarks.benchmark(**{"endpoint_name": "chat", **options}))


def test_with_limits_the_highest_level_that_keeps_them_counts() -> None:
    assert capacity(SWEEP, time_to_first_token_ms=500).concurrency == 16
    assert capacity(SWEEP, time_to_first_token_ms=500, inter_token_latency_ms=20).concurrency == 16
    assert capacity(SWEEP, inter_token_latency_ms=19).concurrency is None
    assert capacity(SWEEP, inter_token_latency_ms=19).target is None
    assert capacity(SWEEP, time_to_first_token_ms=0).concurrency is None
    assert capacity([]).reason == "nothing was measured"


def test_a_level_with_failed_requests_never_counts() -> None:
    sweep = [*SWEEP[:2], level(16, 9999, 1, failed=1)]
    assert capacity(sweep).concurrency == 8
    assert capacity([level(1, 10, 1, failed=1)]).concurrency is None


def test_the_target_leaves_the_room_that_the_constructs_leave() -> None:
    assert benchmarks.CONCURRENCY_TARGET_RATIO == scaling_checks.CONCURRENCY_TARGET_RATIO


def test_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(benchmarks, "_TOOL", "no_such_module")
    with pytest.raises(BenchmarkError, match="sm-bench is not installed") as refused:
        list(benchmarks.benchmark("chat"))
    assert "lmi-constructs[bench]" in refused.value.advice
    printed = CliRunner().invoke(lmi, ["bench", "chat"])
    assert printed.exit_code == 1
    assert printed.stdout == ""  # no head of a table that never comes


def measured(**changed: Any) -> Mapping[str, Any]:
    names = [f"p{p}_{name}_ms" for p in (50, 99) for name in ("ttft", "itl", "e2el")]
    return {
        "completed": 10,
        "failed": 0,
        "duration": 2.0,
        "request_throughput": 5.0,
        "output_throughput": 640.0,
        "requests_without_usage": 0,
        "error_kinds": [""] * 10,
        **dict.fromkeys(names, 12.5),
        **changed,
    }


def test_prints_levels_and_the_target(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[Mapping[str, object]] = []

    def run(options: Mapping[str, object]) -> Mapping[str, Any]:
        asked.append(options)
        return measured()

    monkeypatch.setattr(benchmarks, "_TOOL", "json")
    monkeypatch.setattr(benchmarks, "_measured", run)
    monkeypatch.setattr(command, "_find", lambda *_: None)
    done = CliRunner().invoke(lmi, ["bench", "chat", "--concurrency", "16,4"])
    assert done.exit_code == 0, done.output
    assert [options["num-prompts"] for options in asked] == [16, 64]
    assert "sustains 4 requests at once" in done.output
    assert "scale_on_concurrency(..., target=2)" in done.output


def test_failed_requests_are_counted_by_kind_and_fail_the_command(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    kinds = ["ThrottlingException"] * 3 + [""] * 7
    failing = measured(completed=7, failed=3, error_kinds=kinds)
    monkeypatch.setattr(benchmarks, "_TOOL", "json")
    monkeypatch.setattr(benchmarks, "_measured", lambda _: failing)
    monkeypatch.setattr(command, "_find", lambda *_: None)
    done = CliRunner().invoke(lmi, ["bench", "chat", "--concurrency", "2"])
    assert done.exit_code == 1
    assert "3 x ThrottlingException" in done.output
    assert "no level to recommend" in done.output


@pytest.mark.parametrize("counts", ["0", "1,-2", "many", "", "1,,2", "1.5", "9" * 20])
def test_refuses_what_is_no_list_of_counts(counts: str) -> None:
    done = CliRunner().invoke(lmi, ["bench", "chat", "--concurrency", counts])
    assert done.exit_code == 2
    assert "Traceback" not in done.output


@pytest.mark.parametrize(
    ("picture", "said"),
    [("sweep.foo", "ends in none of .png"), ("absent/sweep.png", "no folder that can be written")],
)
def test_a_picture_that_cannot_be_written_is_refused_before_measuring(
    tmp_path: Path, picture: str, said: str
) -> None:
    done = CliRunner().invoke(lmi, ["bench", "chat", "--plot", str(tmp_path / picture)])
    assert (done.exit_code, said in " ".join(done.output.split())) == (2, True), done.output


def test_without_the_extra_nothing_but_that_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(benchmarks, "_TOOL", "no_such_module")
    done = CliRunner().invoke(lmi, ["bench", "chat"])
    assert (done.exit_code, done.stdout) == (1, "")
    assert "lmi-constructs[bench]" in done.stderr


def test_a_tool_that_is_installed_in_part_is_to_be_installed_again(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "half_a_tool.py").write_text("import no_such_module_at_all\n")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    monkeypatch.setattr(benchmarks, "_TOOL", "half_a_tool")
    with pytest.raises(BenchmarkError, match="no_such_module_at_all") as refused:
        benchmarks._measured({})
    assert "install it again" in refused.value.advice


@pytest.fixture
def untouched(aws: LocalAws, monkeypatch: pytest.MonkeyPatch) -> LocalAws:
    """An account, and a tool that must not be run."""
    for name, value in aws.environment().items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(benchmarks, "_TOOL", "json")
    monkeypatch.setattr(benchmarks, "_measured", lambda _: pytest.fail("it was measured"))
    return aws


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({}, "chat"),
        ({"AWS_ENDPOINT_URL": "no-address"}, "correct AWS_ENDPOINT_URL"),
        ({"AWS_PROFILE": "nobody"}, "AWS_PROFILE"),
    ],
)
def test_an_endpoint_that_is_not_there_is_not_measured(
    untouched: LocalAws, monkeypatch: pytest.MonkeyPatch, changed: dict[str, str], said: str
) -> None:
    for name, value in changed.items():
        monkeypatch.setenv(name, value)
    done = CliRunner().invoke(lmi, ["bench", "chat"])
    assert (done.exit_code, done.stdout) == (1, ""), done.output
    assert said in done.stderr
    assert "what to do" in done.stderr
    assert untouched


def test_credentials_that_are_no_longer_valid_are_said_before_measuring(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def expired(*_: object) -> None:
        raise CallerError("chat: expired", "sign in again")

    monkeypatch.setattr(readiness, "endpoint_state", expired)
    with pytest.raises(CallerError, match="sign in again"):
        command._find("chat", "us-east-1")


def test_who_may_only_call_an_endpoint_may_measure_it(monkeypatch: pytest.MonkeyPatch) -> None:
    def denied(*_: object) -> None:
        raise NotAllowedError("chat: denied", "ask")

    monkeypatch.setattr(readiness, "endpoint_state", denied)
    command._find("chat", "us-east-1")


def test_an_endpoint_that_is_not_ready_is_waited_for_first(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    state = readiness.EndpointState(name="chat", kind="endpoint", status="Creating")
    monkeypatch.setattr(readiness, "endpoint_state", lambda *_: state)
    with pytest.raises(NotReadyError, match="lmi wait chat"):
        command._find("chat", "us-east-1")


@needs_the_tool
def test_measures_the_streams_of_the_container(
    aws: LocalAws, deployed: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    for name, value in aws.environment().items():
        monkeypatch.setenv(name, value)
    picture = tmp_path / "sweep.svg"
    options = ["--concurrency", "2", "--output-tokens", "8", "--format", "json"]
    done = CliRunner().invoke(lmi, ["bench", deployed, *options, "--plot", str(picture)])
    assert done.exit_code == 0, done.output
    (only,) = json.loads(done.stdout)["levels"]
    assert (only["completed"], only["failed"], only["without_usage"]) == (10, 0, 0)
    assert only["time_to_first_token"]["p50"] > 0
    assert picture.read_text().startswith("<?xml")


DENIED = """Traceback (most recent call last):
  File "x.py", line 1, in <module>
botocore.exceptions.ClientError: An error occurred (403) when calling the \
InvokeEndpointWithResponseStream operation (reached max retries: 0): \
<?xml version="1.0"?><Error><Code>AccessDenied</Code><Message>Access Denied</Message></Error>
"""
FULL = (
    "botocore.errorfactory.ModelError: An error occurred (ModelError) when calling the "
    "InvokeEndpointWithResponseStream operation: Received server error (503) from primary with "
    'message "{"error":"ServiceUnavailableException: the queue is full"}". See https://logs in '
    "account 1 for more information."
)


@pytest.mark.parametrize(
    ("kind", "text", "said"),
    [
        ("403", DENIED, ["endpoint: AccessDenied: Access Denied", "the policy of a VPC endpoint"]),
        (
            "ModelError",
            FULL,
            ["answered 503", "ServiceUnavailableException", "SERVING_JOB_QUEUE_SIZE"],
        ),
        ("TypeError", "Traceback\nTypeError: odd", ["TypeError: odd"]),
    ],
)
def test_an_error_is_said_once_with_its_reason_and_remedy(
    monkeypatch: pytest.MonkeyPatch, kind: str, text: str, said: list[str]
) -> None:
    failing = measured(
        completed=8, failed=2, error_kinds=[kind] * 2 + [""] * 8, errors=[text] * 2 + [""] * 8
    )
    monkeypatch.setattr(benchmarks, "_TOOL", "json")
    monkeypatch.setattr(benchmarks, "_measured", lambda _: failing)
    monkeypatch.setattr(command, "_find", lambda *_: None)
    done = CliRunner().invoke(lmi, ["bench", "chat", "--concurrency", "1,2"])
    assert done.exit_code == 1
    assert done.output.count(f"2 x {kind}") == 2
    for words in said:
        assert done.output.count(words) == 1, done.output
    assert "<?xml" not in done.output


def test_answers_that_broke_off_are_failures(monkeypatch: pytest.MonkeyPatch) -> None:
    """The container ends a stream that failed with status 200, and without a count of tokens."""
    monkeypatch.setattr(benchmarks, "_TOOL", "json")
    monkeypatch.setattr(benchmarks, "_measured", lambda _: measured(requests_without_usage=3))
    (found,) = benchmarks.benchmark("chat", concurrencies=[4])
    assert (found.completed, found.failed, found.without_usage) == (7, 3, 0)
    assert found.errors == {benchmarks.CUT_SHORT: 3}
    assert capacity([found]).concurrency is None


def test_a_container_that_counts_no_tokens_at_all_has_not_failed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(benchmarks, "_TOOL", "json")
    monkeypatch.setattr(benchmarks, "_measured", lambda _: measured(requests_without_usage=10))
    (found,) = benchmarks.benchmark("chat", concurrencies=[4])
    assert (found.completed, found.failed, found.without_usage, found.errors) == (10, 0, 10, {})


def test_no_more_is_sent_when_nothing_was_answered(monkeypatch: pytest.MonkeyPatch) -> None:
    none = measured(completed=0, failed=10, error_kinds=["403"] * 10, errors=[DENIED] * 10)
    monkeypatch.setattr(benchmarks, "_TOOL", "json")
    monkeypatch.setattr(benchmarks, "_measured", lambda _: none)
    levels = list(benchmarks.benchmark("chat", concurrencies=[1, 2, 4]))
    assert [one.concurrency for one in levels] == [1]


def test_a_throughput_that_still_rises_says_so() -> None:
    rising = [level(1, 100, 1), level(2, 200, 1), level(4, 400, 1)]
    found = capacity(rising)
    assert (found.concurrency, found.target) == (4, 2)
    assert "measure higher levels" in found.reason
    assert "measure" not in capacity(SWEEP).reason


@pytest.mark.parametrize("levels", [SWEEP, SWEEP[:1], [level(1, 0, 1, failed=3)]])
def test_draws_every_sweep(tmp_path: Path, levels: list[BenchmarkLevel]) -> None:
    pytest.importorskip("matplotlib")
    from lmi_constructs.cli._benchmark_plot import draw

    draw(levels, capacity(levels), "chat", (300, None), tmp_path / "sweep.png")
    assert (tmp_path / "sweep.png").read_bytes().startswith(b"\x89PNG")

"""How long weights take is told as published measurements range, and held against time-outs."""

from __future__ import annotations

import pytest

from lmi_constructs.checks.examples import Example
from lmi_constructs.checks.rules.loading_times import ShorterThanAnyLoading
from lmi_constructs.facts.loading_times import loading_times
from lmi_constructs.planner import Architecture, Span, plan
from tests.checks.support import findings

VARIANT = "Config/Properties/ProductionVariants/0"
SOURCE = "Model/Properties/PrimaryContainer/ModelDataSource"


def judged(change):
    example = ShorterThanAnyLoading.failing
    changes = {**example.change, f"{VARIANT}/ContainerStartupHealthCheckTimeoutInSeconds": 3600}
    changed = Example({**changes, **change}, model_config=example.model_config)
    return [one for one in findings(changed) if one.rule == "LMI063"]


def test_a_70b_in_16_bits_takes_seconds_to_half_an_hour():
    start_up = plan(
        Architecture.known("meta-llama/Llama-3.1-70B-Instruct"), "ml.p5.48xlarge"
    ).start_up
    assert start_up.download.shortest == pytest.approx(131.4 / (128.5 / 20), rel=0.01)
    assert start_up.load.shortest == pytest.approx(131.4 / (147.1 / 25.43), rel=0.01)
    assert start_up.load.longest == pytest.approx(131.4 / (12.55 / 194), rel=0.01)


def test_measurements_are_sorted_and_of_one_phase():
    rates = [row.gib_per_second for row in loading_times("load")]
    assert rates == sorted(rates, reverse=True)
    assert {row.phase for row in loading_times("download")} == {"download"}


def test_a_span_reads_as_no_shorter_than_it_is():
    assert str(Span(12.1, 119.5) + Span(0.0, 1.0)) == "13 s to 3 min"


def test_the_download_timeout_bounds_what_is_mounted():
    (finding,) = judged({f"{VARIANT}/ModelDataDownloadTimeoutInSeconds": 50})
    assert finding.path == "ProductionVariants/0/ModelDataDownloadTimeoutInSeconds"
    assert "is 50, but to download" in finding.message
    assert judged({f"{VARIANT}/ModelDataDownloadTimeoutInSeconds": 600}) == []


def test_the_health_check_bounds_the_download_too_where_the_container_does_it():
    hub = {
        SOURCE: "<removed>",
        "Model/Properties/PrimaryContainer/Environment/HF_MODEL_ID": "org/model",
        "Model/Properties/EnableNetworkIsolation": False,
    }
    health = f"{VARIANT}/ContainerStartupHealthCheckTimeoutInSeconds"
    assert judged({health: 100}) == []
    (finding,) = judged({**hub, health: 100})
    assert "download and load" in finding.message


def test_a_timeout_that_is_not_known_yet_is_not_judged():
    health = f"{VARIANT}/ContainerStartupHealthCheckTimeoutInSeconds"
    assert judged({health: {"Ref": "Seconds"}}) == []

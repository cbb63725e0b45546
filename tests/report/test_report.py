"""The page: what a reader relies on, and that it needs nothing from elsewhere."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from click.testing import CliRunner

from lmi_constructs.checks import TemplateSource
from lmi_constructs.checks.examples import REMOVED, Example
from lmi_constructs.checks.rules.components import ImpossibleAdapter
from lmi_constructs.checks.template import read_deployment
from lmi_constructs.cli._group import lmi
from lmi_constructs.planner import Architecture, EngineConfiguration, plan
from lmi_constructs.report import render, view
from lmi_constructs.report.bar import memory_parts

ENVIRONMENT = "Model/Properties/PrimaryContainer/Environment"


def page_of(template: dict[str, Any]) -> str:
    endpoints = view(read_deployment([TemplateSource("stack", template, "us-east-1")]))
    return render(endpoints, title="endpoints")


def test_shows_each_endpoint_with_its_instance_container_settings_and_scaling() -> None:
    page = page_of(Example(base="scaled").template())
    assert "ml.g5.12xlarge" in page
    assert "LMI v22" in page
    assert "OPTION_MAX_MODEL_LEN" in page
    assert re.search(r"1 to \d+ instances", page)


def test_shows_thresholds_of_latencies_in_seconds() -> None:
    template = Example({"Latency/Properties/Threshold": 10_000_000.0}, base="scaled").template()
    page = page_of(template)
    assert "above 10 s" in page
    assert "ModelLatency: Time the container takes for a whole answer" in page
    assert "Threshold" not in page


def test_shows_the_plan_of_a_model_whose_id_stands_beside_the_data() -> None:
    template = Example().template()
    template["Resources"]["Model"]["Metadata"] = {"lmi:model": "Qwen/Qwen3-8B"}
    page = page_of(template)
    assert "Qwen/Qwen3-8B on A10G" in page
    assert 'class="grade fits"' in page
    assert "KV cache" in page


def test_shows_each_component_of_a_fleet_with_its_share_and_its_own_plan() -> None:
    template = ImpossibleAdapter.passing.template()
    template["Resources"]["Model"]["Metadata"] = {"lmi:model": "Qwen/Qwen3-8B"}
    page = page_of(template)
    assert "Component chat" in page
    assert re.search(r"1 \u00d7 \d accelerators, \d+ MiB of host memory", page)
    assert "Qwen/Qwen3-8B on" in page
    assert "an adapter on chat" in page
    assert page.count("<h4>Settings</h4>") == 1


def test_says_that_an_unknown_model_is_not_planned() -> None:
    assert "not planned" in page_of(Example().template())


def test_shows_findings_with_reason_and_fix() -> None:
    page = page_of(Example({f"{ENVIRONMENT}/OPTION_DTYPE": "fp8"}).template())
    assert "LMI001" in page
    assert "Write: " in page


def test_hides_secrets_and_escapes_what_templates_say() -> None:
    changes = {f"{ENVIRONMENT}/HF_TOKEN": "hf_verysecret", f"{ENVIRONMENT}/NCCL_DEBUG": "<script>"}
    page = page_of(Example(changes).template())
    assert "hf_verysecret" not in page
    assert "<script>" not in page


def test_needs_no_network() -> None:
    page = page_of(Example().template())
    assert not re.search(r"src=|href=\"[^#]|url\(|@import|<script", page)
    assert "default-src 'none'" in page


def test_the_memory_bar_adds_up_to_what_the_driver_shows() -> None:
    architecture = Architecture.known("Qwen/Qwen3-8B")
    assert architecture is not None
    planned = plan(architecture, "ml.g6.12xlarge", EngineConfiguration(tensor_parallel_degree=4))
    parts = memory_parts(planned)
    assert planned.usable_gib is not None
    assert abs(sum(part.gib for part in parts) - planned.usable_gib) < 0.01
    assert abs(sum(part.percent for part in parts) - 100) < 0.01


def test_the_command_writes_the_page_into_the_cloud_assembly(tmp_path: Path) -> None:
    template = tmp_path / "stack.json"
    template.write_text(json.dumps(Example().template()))
    result = CliRunner().invoke(lmi, ["report", str(template)])
    assert result.exit_code == 0, result.output
    assert "1 endpoint" in result.output
    assert (tmp_path / "lmi-report.html").read_text().startswith("<!doctype html>")


def test_the_command_says_what_it_cannot_read(tmp_path: Path) -> None:
    broken = tmp_path / "stack.json"
    broken.write_text("{")
    result = CliRunner().invoke(lmi, ["report", str(broken)])
    assert result.exit_code == 2
    assert "stack.json" in result.output


def test_the_command_says_where_it_cannot_write(tmp_path: Path) -> None:
    template = tmp_path / "a.template.json"
    template.write_text('{"Resources": {}}')
    place = tmp_path / "nowhere" / "page.html"
    result = CliRunner().invoke(lmi, ["report", str(template), "--output", str(place)])
    assert result.exit_code == 2
    assert "cannot be written" in result.output


def test_shows_what_is_no_text_in_names_and_templates(tmp_path: Path) -> None:
    template = tmp_path / "stack-\udcff.json"
    odd = Example({f"{ENVIRONMENT}/OPTION_DTYPE": "\ud800<b>"}).template()
    template.write_text(json.dumps(odd))
    assert CliRunner().invoke(lmi, ["report", str(template)]).exit_code == 0
    page = (tmp_path / "lmi-report.html").read_text("utf-8")
    assert "stack-\\udcff.json" in page
    assert "<td>?&lt;b&gt;</td>" in page


def test_shows_a_model_whose_settings_no_engine_takes() -> None:
    settings = {"HF_MODEL_ID": "Qwen/Qwen3-8B", "OPTION_GPU_MEMORY_UTILIZATION": "1e400"}
    changes = {f"{ENVIRONMENT}/{name}": value for name, value in settings.items()}
    without_data = {
        "Model/Properties/PrimaryContainer/ModelDataSource": REMOVED,
        "Model/Properties/EnableNetworkIsolation": REMOVED,
    }
    page = page_of(Example({**without_data, **changes}).template())
    assert "gpu_memory_utilization is no number that an engine takes" in page


def test_says_what_scales_and_watches_which_component() -> None:
    good = Path(__file__).parents[1] / "checks" / "good" / "components_from_zero.json"
    page = page_of(json.loads(good.read_text()))
    assert "by steps, when an alarm says so" in page
    assert "NoCapacityInvocationFailures of " in page

"""The page: what a reader relies on, and that it needs nothing from elsewhere."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from lmi_constructs.checks import TemplateSource
from lmi_constructs.checks.examples import REMOVED, Example, llama_config
from lmi_constructs.checks.rules.adapters import ImpossibleAdapter
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
    assert re.search(r"1 \u00d7 \d accelerators, \d+ MiB of host memory, on ml\.", page)
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


QWEN = {"lmi:model": "Qwen/Qwen3-8B"}


def two_endpoints() -> dict[str, Any]:
    """Return a planned endpoint, and one that has a fault and whose model is not known."""
    template = Example({f"{ENVIRONMENT}/OPTION_DTYPE": "fp8"}).template()
    resources = template["Resources"]
    copies = json.loads(json.dumps(resources).replace('"Model"', '"Model2"'))
    for name in ("Model", "Config", "Endpoint"):
        text = json.dumps(copies[name if name != "Model" else "Model2"])
        text = text.replace('"Config"', '"Config2"')
        resources[f"{name}2"] = json.loads(text)
    resources["Model"]["Metadata"] = QWEN
    del resources["Model"]["Properties"]["PrimaryContainer"]["Environment"]["OPTION_DTYPE"]
    return template


def test_an_overview_links_to_each_of_several_endpoints() -> None:
    page = page_of(two_endpoints())
    overview = page[page.index('class="overview"') : page.index("</table>")]
    links = re.findall(r'href="#(endpoint-\d)"', overview)
    assert links == ["endpoint-1", "endpoint-2"]
    assert all(f'id="{link}"' in page for link in links)
    known, unknown = overview.split("</tr>")[1:3]
    for shown in ("ml.g5.12xlarge", "Qwen/Qwen3-8B", "fits", " tokens", ">none<"):
        assert shown in known, shown
    assert "not planned" in unknown
    assert "1 error" in unknown


def test_one_endpoint_needs_no_overview() -> None:
    assert 'class="overview"' not in page_of(Example().template())


def test_the_bar_says_in_words_what_it_shows_and_what_is_left_free() -> None:
    template = Example().template()
    template["Resources"]["Model"]["Metadata"] = QWEN
    page = page_of(template)
    (label,) = re.findall(r'role="img" aria-label="([^"]*)"', page)
    assert re.fullmatch(
        r"Memory of one A10G, 22\.\d\d GiB: weights [\d.]+, activation [\d.]+, overhead [\d.]+,"
        r" CUDA graphs [\d.]+, KV cache [\d.]+, left free [\d.]+",
        label,
    )
    assert "the engine reserves nothing there" in page


def test_says_why_nothing_is_planned_and_what_to_give() -> None:
    page = page_of(Example().template())
    assert "--model-config Model=config.json" in page
    own = {"Model/Properties/PrimaryContainer/Image": "registry.example.com/own:1"}
    assert "--image registry.example.com/own:1=v27" in page_of(Example(own).template())


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"Threshold": 2_000_000, "ExtendedStatistic": "p99"}, "99th percentile) above 2 s"),
        ({"ComparisonOperator": "LessThanOrEqualToThreshold"}, "at or below "),
        ({"Period": 60, "EvaluationPeriods": 3}, " for 3 minutes"),
        (
            {"Period": 60, "EvaluationPeriods": 5, "DatapointsToAlarm": 3},
            " in 3 of 5 periods of 1 minute",
        ),
        (
            {"MetricName": "Invocation5XXErrors", "Statistic": "Average", "Threshold": 0.05},
            "Invocation5XXErrors (average) above 5 % of requests",
        ),
        ({"MetricName": "DiskUtilization", "Threshold": 85}, "above 85 %"),
        ({"MetricName": "Mine", "Threshold": 1.5}, "Mine (99th percentile) above 1.5 "),
        ({"AlarmDescription": "Call <Ann>."}, "Call &lt;Ann&gt;."),
        ({"Threshold": {"Ref": "AWS::Region"}}, "above a threshold known at deployment"),
        ({"ComparisonOperator": "GreaterThanUpperThreshold"}, "above its expected band"),
    ],
)
def test_says_in_words_when_an_alarm_rings(changes: dict[str, Any], words: str) -> None:
    template = Example(base="scaled").template()
    properties = template["Resources"]["Latency"]["Properties"]
    properties.pop("Statistic", None)
    properties.pop("ExtendedStatistic", None)
    properties.update({"ComparisonOperator": "GreaterThanThreshold", "EvaluationPeriods": 1})
    if "Statistic" not in changes:
        properties["ExtendedStatistic"] = "p99"
    properties.update(changes)
    page = page_of(template)
    alarms = page[page.index("<h3>Alarms</h3>") :]
    assert words in alarms, alarms[:600]
    assert "Threshold" not in alarms


def test_says_what_scaling_keeps_in_the_metric_s_own_name() -> None:
    page = page_of(Example(base="scaled").template())
    scaling = page[page.index("<h3>Scaling</h3>") : page.index("<h3>Alarms</h3>")]
    assert re.search(r"to keep \w+ near \d+", scaling)
    assert "SageMakerVariant" not in scaling


def report_on(*arguments: str) -> tuple[int, str]:
    result = CliRunner().invoke(lmi, ["report", *arguments])
    assert result.exception is None or isinstance(result.exception, SystemExit)
    return result.exit_code, result.output


def test_a_config_of_a_model_plans_somebody_elses_template(tmp_path: Path) -> None:
    template, config = tmp_path / "stack.json", tmp_path / "config.json"
    template.write_text(json.dumps(Example().template()))
    config.write_text(json.dumps(llama_config()))
    assert report_on(str(template), "--model-config", f"Model={config}")[0] == 0
    assert '<th scope="row">budget</th>' in (tmp_path / "lmi-report.html").read_text()
    code, output = report_on(str(template), "--model-config", f"Nobody={config}")
    assert (code, "there is Model" in output) == (2, True)


def test_a_folder_without_templates_is_refused(tmp_path: Path) -> None:
    code, output = report_on(str(tmp_path))
    assert code == 2
    assert "neither a cloud assembly nor a folder with templates" in output
    assert not list(tmp_path.iterdir())


def test_a_file_that_is_no_template_is_refused(tmp_path: Path) -> None:
    place = tmp_path / "notes.json"
    place.write_text("[]")
    code, output = report_on(str(place))
    assert (code, "no CloudFormation template" in output) == (2, True)


def test_a_page_about_no_endpoint_says_so(tmp_path: Path) -> None:
    (tmp_path / "stack.json").write_text('{"Resources": {"Topic": {"Type": "AWS::SNS::Topic"}}}')
    code, output = report_on(str(tmp_path))
    assert (code, "0 endpoints" in output) == (0, True)
    assert "There is no SageMaker endpoint" in (tmp_path / "lmi-report.html").read_text()


def test_a_folder_as_output_is_refused(tmp_path: Path) -> None:
    (tmp_path / "stack.json").write_text('{"Resources": {}}')
    code, output = report_on(str(tmp_path), "--output", str(tmp_path))
    assert (code, "cannot be written: Is a directory" in output) == (2, True)


def test_says_what_writes_a_cloud_assembly_that_is_not_there(tmp_path: Path) -> None:
    code, output = report_on(str(tmp_path / "cdk.out"))
    assert (code, "`cdk synth` writes" in output) == (2, True)


def test_the_page_and_the_command_take_memory_apart_alike() -> None:
    template = Example().template()
    template["Resources"]["Model"]["Metadata"] = QWEN
    page = page_of(template)
    arguments = ["--model", "Qwen/Qwen3-8B", "--instance", "ml.g5.12xlarge", "--container", "v22"]
    environment = template["Resources"]["Model"]["Properties"]["PrimaryContainer"]["Environment"]
    context = environment["OPTION_MAX_MODEL_LEN"]
    result = CliRunner(env={"COLUMNS": "200"}).invoke(
        lmi, ["plan", *arguments, "--max-model-len", context, "--format", "text"]
    )
    for row in ("W weights", "A activation", "O overhead", "G CUDA graphs", "K KV cache", ". left"):
        (line,) = (one for one in result.output.splitlines() if one.startswith(row))
        gib = re.findall(r"\d+\.\d\d", line)[0]
        name = row[2:].replace("left", "left free")
        assert f'{name}</th><td class="number">{gib}</td>' in page, line


def test_a_bar_that_is_too_long_shows_where_the_memory_ends() -> None:
    template = Example().template()
    template["Resources"]["Model"]["Metadata"] = {"lmi:model": "Qwen/Qwen2.5-72B-Instruct"}
    page = page_of(template)
    assert "cannot (does not start)" in page
    (place,) = re.findall(r'<b style="left:([\d.]+)%"', page)
    assert 0 < float(place) < 100
    assert re.search(r"; [\d.]+ GiB more than there is", page)
    template["Resources"]["Model"]["Metadata"] = QWEN
    assert "<b style" not in page_of(template)


def test_endpoints_of_the_same_logical_id_are_told_apart_by_their_templates() -> None:
    template = Example().template()
    sources = [TemplateSource(name, template, "us-east-1") for name in ("a.json", "b.json")]
    page = render(view(read_deployment(sources)), title="endpoints")
    assert "Endpoint in a.json" in page
    assert "Endpoint in b.json" in page


def contrast(one: str, other: str) -> float:
    """Return the contrast of two colors as WCAG 2 defines it, from 1 to 21."""

    def luminance(color: str) -> float:
        digits = color.lstrip("#")
        digits = digits if len(digits) == 6 else "".join(digit * 2 for digit in digits)
        channels = [int(digits[place : place + 2], 16) / 255 for place in (0, 2, 4)]
        red, green, blue = (
            value / 12.92 if value <= 0.04045 else ((value + 0.055) / 1.055) ** 2.4
            for value in channels
        )
        return 0.2126 * red + 0.7152 * green + 0.0722 * blue

    dark, light = sorted((luminance(one), luminance(other)))
    return (light + 0.05) / (dark + 0.05)


def test_every_text_has_enough_contrast_by_day_by_night_and_on_paper() -> None:
    page = page_of(Example().template())
    themes = [
        dict(re.findall(r"--(\w+): (#\w+)", theme)) for theme in re.findall(r":root {[^}]*}", page)
    ]
    assert len(themes) == 3
    for colors in themes:
        for name in ("ink", "soft", "link", "fits", "marginal", "cannot", "unknown"):
            assert contrast(colors[name], colors["paper"]) >= 4.5, (name, colors)
        assert contrast(colors["ink"], colors["free"]) >= 4.5
    letters = dict(re.findall(r"\.([WAOGK]) { background: (#\w+); }", page))
    assert sorted(letters) == sorted("WAOGK")
    for letter, color in letters.items():
        assert contrast(color, "#ffffff") >= 4.5, letter


def test_each_policy_follows_what_it_scales() -> None:
    good = Path(__file__).parents[1] / "checks" / "good" / "components_from_zero.json"
    (endpoint,) = view(read_deployment([TemplateSource("s", json.loads(good.read_text()), None)]))
    kinds = [" to " in line.text and line.text[0].isdigit() for line in endpoint.scaling]
    assert kinds[0]
    assert False in kinds


def test_a_model_that_is_not_planned_is_named_all_the_same() -> None:
    template = two_endpoints()
    template["Resources"]["Model2"]["Metadata"] = {"lmi:model": "acme/own"}
    page = page_of(template)
    assert '<td role="cell" data-label="model">acme/own</td>' in page
    assert "the planner does not know acme/own" in page

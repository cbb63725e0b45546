import time

import pytest
from click.testing import CliRunner

from lmi_constructs.checks import CheckOptions
from lmi_constructs.checks.examples import Example
from lmi_constructs.cli.check import check
from lmi_constructs.findings import LmiError
from tests.checks.command import BAD, WARNED, assembly, run
from tests.checks.support import VARIANT


def test_exits_0_when_nothing_is_found(template):
    result = run(template(Example()))
    assert result.exit_code == 0
    assert "0 errors, 0 warnings in 1 template" in result.output


def test_exits_1_on_errors_and_on_warnings_if_asked(template):
    assert run(template(BAD)).exit_code == 1
    assert run(template(WARNED)).exit_code == 0
    assert run(template(WARNED), "--fail-on", "warning").exit_code == 1
    assert run(template(WARNED), "--raise", "LMI043").exit_code == 1
    assert run(template(BAD), "--rule-off", "LMI042").exit_code == 0


def test_exits_2_with_a_message_when_a_path_cannot_be_read(tmp_path):
    (tmp_path / "a.json").write_text("[1]")
    for path in ("missing.json", str(tmp_path / "a.json"), str(tmp_path)):
        result = run(path)
        assert result.exit_code == 2
        assert path in result.output
        assert "Traceback" not in result.output


def test_says_everything_in_text(template):
    output = run(template(BAD)).output
    for part in ("Config", "error LMI042", f"at  {VARIANT[18:]}/VolumeSizeInGB", "why", "fix"):
        assert part in output


def test_refuses_an_image_that_no_template_has(template):
    result = run(template(Example()), "--image", "111122223333.dkr.ecr/mistyped=v27")
    assert result.exit_code == 2
    assert "no image begins with '111122223333.dkr.ecr/mistyped'" in result.output
    assert "djl-inference:0.36.0-lmi22.0.0-cu129" in result.output


def test_takes_an_image_of_the_users_own_for_a_release(template):
    own = Example(
        {
            "Model/Properties/PrimaryContainer/Image": (
                "111122223333.dkr.ecr.us-east-1.amazonaws.com/own-lmi:7"
            ),
            "Role/Properties/Policies/0/PolicyDocument/Statement/1/Resource": "*",
            "Model/Properties/PrimaryContainer/Environment/OPTION_TENSOR_PARALLEL_DEGREE": "8",
        }
    )
    file = template(own)
    assert run(file).exit_code == 0
    image = "111122223333.dkr.ecr.us-east-1.amazonaws.com/own-lmi=v22"
    assert "LMI055" in run(file, "--image", image).output


def test_takes_an_instance_type_that_is_not_known(template):
    file = template(Example({f"{VARIANT}/InstanceType": "ml.g9.xlarge"}))
    assert run(file).exit_code == 1
    assert run(file, "--instance-type", "ml.g9.xlarge").exit_code == 0


def test_checks_a_hundred_endpoints_in_a_second(tmp_path):
    stacks = {f"Stack{index}": Example(base="scaled").template() for index in range(100)}
    place = assembly(tmp_path / "cdk.out", stacks)
    run(place)
    start = time.perf_counter()
    result = run(place)
    assert time.perf_counter() - start < 1.0
    assert "0 errors, 0 warnings in 100 templates" in result.output


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--region", "mars"], "'mars' is no name of a region"),
        (["--region", ""], "'' is no name of a region"),
        (["--rule-off", "LMI999"], "there is no rule 'LMI999'"),
        (["--raise", "LMI43"], "there is no rule 'LMI43'"),
        (["--image", "mine=v99"], "container release 'v99' is not known"),
        (["--model-config", "Nope=CONFIG"], "construct path 'Nope'; there is Model"),
    ],
)
def test_refuses_an_option_that_would_do_nothing(template, tmp_path, options, said):
    config = tmp_path / "config.json"
    config.write_text("{}")
    file = template(Example())
    given = [option.replace("CONFIG", str(config)) for option in options]
    result = CliRunner().invoke(check, [file, *given])
    assert result.exit_code == 2
    assert said in " ".join(result.output.split())


def test_takes_a_model_config_by_any_name_of_its_model(template, tmp_path):
    config = tmp_path / "config.json"
    config.write_text("{}")
    assert run(template(Example()), "--model-config", f"Model={config}").exit_code == 0


def test_takes_ids_of_rules_as_people_write_them(template):
    file = template(Example({**BAD.change, **WARNED.change}))
    assert run(file, "--rule-off", "lmi042, LMI043").output.startswith("0 errors, 0 warnings")
    assert run(file, "--rule-off", "lmi::LMI042", "--rule-off", "LMI043").exit_code == 0
    assert "2 errors" in run(file, "--raise", "LMI062,lmi043").output


@pytest.mark.parametrize(
    ("written", "said"),
    [
        ("lmi042", "write LMI042"),
        ("lmi::LMI042", "write LMI042"),
        ("LMI042,LMI043", "write LMI042 and LMI043, each as an id of its own"),
        ("LMI43", "did you mean LMI043"),
        ("volume", "give ids such as LMI043"),
    ],
)
def test_options_say_how_to_write_the_id_that_was_meant(written, said):
    with pytest.raises(LmiError) as raised:
        CheckOptions(rules_off=frozenset({written}))
    assert raised.value.findings[0].fix.startswith(said)


def test_judges_a_template_with_the_parameters_given(tmp_path):
    template = tmp_path / "a.yaml"
    template.write_text(
        "Parameters: {Size: {Type: String, Default: ml.g6e.xlarge}}\n"
        "Resources:\n"
        "  Config:\n"
        "    Type: AWS::SageMaker::EndpointConfig\n"
        "    Properties: {ProductionVariants: [{InstanceType: !Ref Size, ModelName: m}]}\n"
    )
    assert run(str(template)).exit_code == 0
    wrong = run(str(template), "--parameter", "Size=ml.g9.xlarge")
    assert (wrong.exit_code, "LMI040" in wrong.output) == (1, True)
    for given, said in (("Siz=x", "did you mean Size?"), ("Size", "NAME=VALUE")):
        refused = run(str(template), "--parameter", given)
        assert (refused.exit_code, said in refused.output) == (2, True)

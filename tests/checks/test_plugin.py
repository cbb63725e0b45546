import json
from pathlib import Path

import aws_cdk as cdk
import pytest
from aws_cdk import aws_sagemaker as sagemaker
from aws_cdk import cloudformation_include as include

from lmi_constructs.checks import CheckOptions, Facts, check_path
from lmi_constructs.checks.examples import Example
from lmi_constructs.checks.plugin import LmiChecks, attach_to

VARIANT = "Config/Properties/ProductionVariants/0"
BAD = Example({f"{VARIANT}/VolumeSizeInGB": 256})
WARNED = Example({"Config/Properties/KmsKeyId": "alias/key"})


def stack_of(scope, example, tmp_path, id="Llama", region="us-east-1"):
    file = tmp_path / f"{id}.json"
    file.write_text(json.dumps(example.template()))
    stack = cdk.Stack(scope, id, env=cdk.Environment(account="111122223333", region=region))
    include.CfnInclude(stack, "Template", template_file=str(file))
    return stack


def config(scope, id, **overrides):
    variant = {
        "variant_name": "AllTraffic",
        "model_name": "llama",
        "instance_type": "ml.g5.12xlarge",
        "initial_instance_count": 1,
        **overrides,
    }
    return sagemaker.CfnEndpointConfig(
        scope,
        id,
        production_variants=[sagemaker.CfnEndpointConfig.ProductionVariantProperty(**variant)],
    )


def report(app):
    """Synthesize and return what the plugins reported, by plugin."""
    try:
        app.synth()
        raised = None
    except Exception as error:
        raised = error
    file = Path(app.outdir) / "validation-report.json"
    reports = json.loads(file.read_text())["pluginReports"] if file.exists() else []
    return raised, [one for one in reports if one["pluginName"] == "lmi"]


def rules(reports):
    return [violation["ruleName"] for one in reports for violation in one["violations"]]


def test_an_error_makes_synth_raise_with_path_and_fix(tmp_path):
    app = cdk.App()
    stack_of(app, BAD, tmp_path)
    cdk.Validations.of(app).add_plugins(LmiChecks())
    with pytest.raises(Exception, match="LMI042") as raised:
        app.synth()
    assert "Llama/Template/Config" in str(raised.value)
    assert "remove VolumeSizeInGB" in str(raised.value)


def test_a_warning_does_not_fail(tmp_path):
    app = cdk.App()
    stack_of(app, WARNED, tmp_path)
    cdk.Validations.of(app).add_plugins(LmiChecks())
    raised, reports = report(app)
    assert raised is None
    assert rules(reports) == ["LMI043"]


def test_a_good_app_passes_in_silence(tmp_path):
    app = cdk.App()
    stack_of(app, Example(base="scaled"), tmp_path)
    cdk.Validations.of(app).add_plugins(LmiChecks())
    raised, reports = report(app)
    assert raised is None
    assert rules(reports) == []


def test_an_app_with_an_empty_stack_passes(tmp_path):
    app = cdk.App()
    stack_of(app, Example(), tmp_path)
    cdk.Stack(app, "Empty")
    cdk.NestedStack(cdk.Stack(app, "Parent"), "Empty")
    cdk.Validations.of(app).add_plugins(LmiChecks())
    app.synth()


def test_an_acknowledged_error_does_not_fail_though_warnings_stay(tmp_path):
    app = cdk.App()
    stack = stack_of(app, Example({**BAD.change, **WARNED.change}), tmp_path)
    cdk.Validations.of(app).add_plugins(LmiChecks())
    cdk.Validations.of(stack).acknowledge(
        cdk.Acknowledgment(id="lmi::LMI042", reason="tried in our account")
    )
    raised, _ = report(app)
    assert raised is None


def test_options_switch_rules_off_and_raise_warnings(tmp_path):
    app = cdk.App()
    stack_of(app, Example({**BAD.change, **WARNED.change}), tmp_path)
    options = CheckOptions(rules_off=frozenset({"LMI042"}), raised=frozenset({"LMI043"}))
    cdk.Validations.of(app).add_plugins(LmiChecks(options))
    raised, _ = report(app)
    assert "LMI043" in str(raised)
    assert "LMI042" not in str(raised)


def test_reports_once_over_several_environments(tmp_path):
    app = cdk.App()
    stack_of(app, WARNED, tmp_path, id="East")
    stack_of(app, WARNED, tmp_path, id="Elsewhere", region="eu-west-1")
    cdk.Validations.of(app).add_plugins(LmiChecks())
    _, reports = report(app)
    assert rules(reports).count("LMI043") == 2


def test_reports_below_given_paths_only(tmp_path):
    app = cdk.App()
    stack = cdk.Stack(app, "Stack")
    config(stack, "Ours", volume_size_in_gb=100)
    config(stack, "Theirs", instance_type="ml.g5.large")
    cdk.Validations.of(app).add_plugins(LmiChecks(only=["Stack/Ours"]))
    raised, _ = report(app)
    assert "LMI042" in str(raised)
    assert "LMI040" not in str(raised)


def test_attached_checks_name_the_keyword_and_leave_others_alone():
    app = cdk.App()
    stack = cdk.Stack(app, "Stack")
    ours = config(stack, "Ours", volume_size_in_gb=100)
    config(stack, "Theirs", instance_type="ml.g5.large")
    attach_to(ours, stack)
    with pytest.raises(Exception, match="change volume_size") as raised:
        app.synth()
    assert "Stack/Ours" in str(raised.value)
    assert "LMI040" not in str(raised.value)


def test_attached_and_added_checks_do_not_double(tmp_path):
    app = cdk.App()
    stack = cdk.Stack(app, "Stack")
    attach_to(config(stack, "Ours", volume_size_in_gb=100), stack)
    attach_to(config(stack, "Second"), stack)
    config(stack, "Theirs", instance_type="ml.g5.large")
    cdk.Validations.of(app).add_plugins(LmiChecks())
    raised, _ = report(app)
    assert str(raised).count("LMI042") == str(raised).count("LMI040")


def test_stages_are_checked_too(tmp_path):
    app = cdk.App()
    stage = cdk.Stage(app, "Prod")
    stack_of(stage, BAD, tmp_path)
    cdk.Validations.of(app).add_plugins(LmiChecks())
    raised, _ = report(app)
    assert "Prod/Llama/Template/Config" in str(raised)


def test_files_of_a_synthesized_app_are_read_with_stages_and_paths(tmp_path):
    app = cdk.App(outdir=str(tmp_path / "cdk.out"))
    stage = cdk.Stage(app, "Prod")
    stack = cdk.Stack(stage, "Llama", env=cdk.Environment(region="eu-west-1"))
    config(cdk.NestedStack(stack, "Inner"), "Config", volume_size_in_gb=100)
    config(stack, "Config", instance_type="ml.g5.large")
    app.synth()
    found = check_path(tmp_path / "cdk.out")
    places = {(one.rule, one.construct_path) for one in found if one.severity == "error"}
    assert places == {
        ("LMI042", "Prod/Llama/Inner/Config"),
        ("LMI040", "Prod/Llama/Config"),
    }


@pytest.mark.parametrize("where", ["app", "stage", "stack", "nested", "resource", "elsewhere"])
def test_files_and_synth_agree_on_what_is_acknowledged(tmp_path, where):
    app = cdk.App(outdir=str(tmp_path / "cdk.out"))
    stage = cdk.Stage(app, "Prod")
    stack = cdk.Stack(stage, "Llama", env=cdk.Environment(region="eu-west-1"))
    nested = cdk.NestedStack(stack, "Inner")
    places = {
        "app": app,
        "stage": stage,
        "stack": stack,
        "nested": nested,
        "resource": config(nested, "Config", volume_size_in_gb=100),
        "elsewhere": config(stack, "Config"),
    }
    cdk.Validations.of(app).add_plugins(LmiChecks())
    cdk.Validations.of(places[where]).acknowledge(
        cdk.Acknowledgment(id="lmi::LMI042", reason="tried in our account")
    )
    raised, _ = report(app)
    found = [one.rule for one in check_path(tmp_path / "cdk.out") if one.severity == "error"]
    assert (raised is not None, found) == (
        (True, ["LMI042"]) if where == "elsewhere" else (False, [])
    )
    shown = check_path(tmp_path / "cdk.out", options=CheckOptions(acknowledged=True))
    assert "LMI042" in [one.rule for one in shown]


@pytest.mark.parametrize(
    ("only", "said"),
    [
        (["Stack/Our"], "did you mean 'Stack/Ours'"),
        (["Stack/Ours", "Elsewhere"], "give construct paths of this app, such as 'Stack'"),
        (lambda path: path.startswith("Prod"), "what the function takes"),
    ],
)
def test_an_only_that_turns_everything_off_is_an_error(only, said):
    app = cdk.App()
    config(cdk.Stack(app, "Stack"), "Ours")
    cdk.Validations.of(app).add_plugins(LmiChecks(only=only))
    raised, reports = report(app)
    assert raised is not None
    (violation,) = (one for report in reports for one in report["violations"])
    assert violation["ruleName"] == "LMI010"
    assert said in violation["description"] + violation["suggestedFix"]
    cdk.Validations.of(app).acknowledge(
        cdk.Acknowledgment(id="lmi::LMI010", reason="the stack is made in some regions only")
    )
    assert report(app)[0] is None


@pytest.mark.parametrize("only", [["Stack"], ["Stack/Ours"], lambda path: "Ours" in path])
def test_an_only_that_something_stands_at_says_nothing(only):
    app = cdk.App()
    config(cdk.Stack(app, "Stack"), "Ours")
    cdk.Validations.of(app).add_plugins(LmiChecks(only=only))
    assert report(app) == (None, [])


OWN = "111122223333.dkr.ecr.us-east-1.amazonaws.com/our-lmi"


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({"111122223333.dkr.ecr.us-east-1.amazonaws.com/our-llm": "v27"}, ["LMI010"]),
        ({"111122223333.dkr.ecr.eu-west-1.amazonaws.com/our-lmi": "v27"}, ["LMI010"]),
        ({"111122223333.dkr.ecr.us-east-1.amazonaws.com/sklearn": "v27"}, []),
        ({OWN: "v27", "111122223333.dkr.ecr.eu-west-1.amazonaws.com/our-lmi": "v27"}, []),
        ({}, []),
    ],
)
def test_an_image_that_is_all_but_given_is_a_warning_and_shared_facts_are_not(given, expected):
    app = cdk.App()
    stack = cdk.Stack(app, "Stack")
    container = sagemaker.CfnModel.ContainerDefinitionProperty(
        image=f"{OWN}:1", environment={"HF_MODEL_ID": "Qwen/Qwen3-8B"}
    )
    role = "arn:aws:iam::111122223333:role/sagemaker"
    sagemaker.CfnModel(stack, "Model", execution_role_arn=role, primary_container=container)
    options = CheckOptions(facts=Facts(images=given, instance_types=frozenset({"ml.g9.xlarge"})))
    cdk.Validations.of(app).add_plugins(LmiChecks(options))
    raised, reports = report(app)
    assert (raised, rules(reports)) == (None, expected)

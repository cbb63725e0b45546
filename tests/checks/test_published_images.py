"""Images that AWS does not publish, or not there, and releases that are newer than all known ones."""

import pytest

from lmi_constructs.checks.examples import Example, llama_config
from tests.checks.support import ENVIRONMENT, IMAGE, REGISTRY, V27, findings

V30 = f"{REGISTRY}/djl-inference:0.39.0-lmi30.0.0-cu130"
HOST_IMAGE = "Config/Properties/ProductionVariants/0/InferenceAmiVersion"
ON_CUDA_13 = {HOST_IMAGE: "al2023-ami-sagemaker-inference-gpu-4-1"}
RIGHTS = "Role/Properties/Policies/0/PolicyDocument/Statement"


def of(rule, change, **arguments):
    found = findings(Example({**ON_CUDA_13, IMAGE: V27, **change}, **arguments))
    return [one for one in found if one.rule == rule]


@pytest.mark.parametrize(
    ("tag", "meant"),
    [
        ("0.36.0-lmi27.0.0-cu13", "0.36.0-lmi27.0.0-cu130"),
        ("0.36.0-lmi27.0.0-cu129", "0.36.0-lmi27.0.0-cu130"),
        ("0.36.0-lmi29.0.0-cu130", "0.38.0-lmi29.0.0-cu130"),
        ("0.33.0-tensorrtllm0.21.0-cu12", "0.33.0-tensorrtllm0.21.0-cu128"),
    ],
)
def test_asks_after_the_tag_that_was_meant(tag, meant):
    (finding,) = of("LMI107", {IMAGE: f"{REGISTRY}/djl-inference:{tag}"})
    assert (finding.severity, finding.path) == ("warning", "PrimaryContainer/Image")
    assert repr(tag) in finding.message
    assert f"did you mean {meant}?" in finding.fix


@pytest.mark.parametrize(
    "image",
    [
        V27,
        f"{REGISTRY}/djl-inference:0.36.0-lmi20.0.0-cu128-v1.0",
        f"{REGISTRY}/djl-inference@sha256:{'0' * 64}",
        f"{REGISTRY}/huggingface-pytorch-tgi-inference:2.4.0-tgi2.3.1-gpu-py311-cu124-ubuntu22.04",
        "111122223333.dkr.ecr.us-east-1.amazonaws.com/djl-inference:ours",
        "111122223333.dkr.ecr.us-east-1.amazonaws.com/djl-serving:ours",
    ],
)
def test_abstains_from_what_is_published_or_foreign(image):
    assert of("LMI107", {IMAGE: image}) == []


def test_names_the_repository_and_asks_for_no_right_to_another():
    change = {IMAGE: f"{REGISTRY}/djl-serving:0.36.0-lmi27.0.0-cu130"}
    (finding,) = of("LMI107", change)
    assert "djl-serving" in finding.message
    assert finding.fix == "write djl-inference"
    assert of("LMI092", change) == []


def test_judges_a_newer_release_as_the_newest_known_one_and_is_not_sure():
    change = {
        IMAGE: V30,
        f"{ENVIRONMENT}/OPTION_DTYPE": "fp8",
        f"{ENVIRONMENT}/OPTION_TENSOR_PARALLEL_DEGREE": "64",
        f"{ENVIRONMENT}/OPTION_BRAND_NEW": "1",
    }
    (finding,) = of("LMI016", change)
    assert (finding.severity, finding.path) == ("warning", "PrimaryContainer/Image")
    assert "v30 is newer than v29" in finding.message
    assert [one.severity for one in of("LMI001", change)] == ["warning"]
    assert [one.severity for one in of("LMI055", change)] == ["warning"]
    assert of("LMI002", change) == of("LMI007", change) == of("LMI107", change) == []


def test_plans_the_memory_of_a_newer_release():
    giant = llama_config(hidden_size=8192, intermediate_size=28672, num_hidden_layers=80)
    giant["num_attention_heads"] = 64
    found = of("LMI050", {IMAGE: V30}, model_config=giant)
    assert [one.severity for one in found] == ["warning"]
    assert [one.severity for one in of("LMI050", {}, model_config=giant)] == ["error"]


def test_says_one_thing_of_an_image_in_another_region():
    elsewhere = {IMAGE: V27.replace("us-east-1", "ap-east-1")}  # whose registry has another account
    (finding,) = of("LMI030", elsewhere)
    assert REGISTRY in finding.fix
    assert of("LMI031", elsewhere) == of("LMI092", elsewhere) == []


def test_sends_nobody_from_an_own_repository_to_that_of_aws():
    own = "111122223333.dkr.ecr.eu-west-1.amazonaws.com/own:1"
    (finding,) = of("LMI030", {IMAGE: own})
    assert finding.fix == "replicate the repository to us-east-1, and pull it from there"


@pytest.mark.parametrize(
    ("action", "fix"),
    [
        ("ecr:DescribeImages", "ecr:GetAuthorizationToken on *"),
        ("ecr:GetAuthorisationToken", "write ecr:GetAuthorizationToken instead of"),
    ],
)
def test_wants_the_role_to_log_in(action, fix):
    statements = Example().template()["Resources"]["Role"]["Properties"]["Policies"][0]
    actions = [one["Action"] for one in statements["PolicyDocument"]["Statement"]]
    place = actions.index("ecr:GetAuthorizationToken")
    (finding,) = of("LMI092", {f"{RIGHTS}/{place}/Action": action})
    assert finding.severity == "warning"
    assert "ecr:GetAuthorizationToken" in finding.message
    assert fix in finding.fix


def test_wants_the_login_on_everything():
    statements = Example().template()["Resources"]["Role"]["Properties"]["Policies"][0]
    actions = [one["Action"] for one in statements["PolicyDocument"]["Statement"]]
    place = actions.index("ecr:GetAuthorizationToken")
    repository = "arn:aws:ecr:us-east-1:763104351884:repository/djl-inference"
    (finding,) = of("LMI092", {f"{RIGHTS}/{place}/Resource": repository})
    assert "ecr:GetAuthorizationToken" in finding.message

"""Ids of the hub that are nearly those of known models."""

import pytest

from lmi_constructs.checks.examples import Example
from tests.checks.support import ENVIRONMENT, WITHOUT_DATA, findings


def slips(variable, value):
    example = Example({**WITHOUT_DATA, f"{ENVIRONMENT}/{variable}": value})
    return [one for one in findings(example) if one.rule == "LMI103"]


@pytest.mark.parametrize("variable", ["HF_MODEL_ID", "OPTION_MODEL_ID"])
@pytest.mark.parametrize(
    "written",
    ["Qwen/Qwen3-32BB", "Qwen/Qwen3-32", "Qwn/Qwen3-32B", "Qwen/Qwne3-32B"],
)
def test_asks_after_the_known_model(variable, written):
    (finding,) = slips(variable, written)
    assert (finding.severity, finding.fix) == ("warning", "did you mean Qwen/Qwen3-32B?")
    assert finding.path == f"PrimaryContainer/Environment/{variable}"


def test_asks_after_the_case_of_a_gated_model():
    """huggingface/transformers issue 26475: the rights to another case were not found."""
    (finding,) = slips("HF_MODEL_ID", "meta-llama/llama-3.1-8b-instruct")
    assert finding.fix == "did you mean meta-llama/Llama-3.1-8B-Instruct?"


@pytest.mark.parametrize(
    "written",
    [
        "Qwen/Qwen3-32B",
        "qwen/qwen3-32b",
        "Qwen/Qwen3-33B",
        "Qwen/Qwen3-32B-ours",
        "our-team/our-model",
        "s3://example-models/Qwen/Qwen3-32BB",
        "/opt/ml/model",
        {"Ref": "AWS::StackName"},
    ],
)
def test_takes_other_models_for_others(written):
    assert slips("HF_MODEL_ID", written) == []

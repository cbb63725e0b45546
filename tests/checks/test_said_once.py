"""One mistake, one finding, where the value to change stands."""

import pytest

from lmi_constructs.checks.examples import REMOVED, Example, llama_config
from tests.checks.support import ENVIRONMENT, VARIANT, findings

SERVERLESS = {
    f"{VARIANT}/ServerlessConfig": {"MemorySizeInMB": 6144, "MaxConcurrency": 2},
    f"{VARIANT}/InstanceType": REMOVED,
    f"{VARIANT}/InitialInstanceCount": REMOVED,
    f"{VARIANT}/InferenceAmiVersion": REMOVED,
}
TWO_IN_ONE = {
    "quotes around a number": ({f"{ENVIRONMENT}/OPTION_MAX_MODEL_LEN": '"8192"'}, "LMI001"),
    "a dotted name": ({f"{ENVIRONMENT}/option.max_model_len": "8192"}, "LMI005"),
    "a data source on a serverless variant": (SERVERLESS, "LMI047"),
}


@pytest.mark.parametrize(("change", "rule"), TWO_IN_ONE.values(), ids=TWO_IN_ONE)
def test_says_one_mistake_once(change, rule):
    assert [one.rule for one in findings(Example(change))] == [rule]


def test_says_how_to_mend_quotes():
    (finding,) = findings(Example({f"{ENVIRONMENT}/OPTION_MAX_MODEL_LEN": '"8192"'}))
    assert "remove the quotes" in finding.fix


@pytest.mark.parametrize(
    ("variable", "value", "model", "rule"),
    [
        ("OPTION_TENSOR_PARALLEL_DEGREE", "3", {}, "LMI052"),
        ("TENSOR_PARALLEL_DEGREE", "3", {}, "LMI052"),
        ("OPTION_MAX_MODEL_LEN", "9000", {"max_position_embeddings": 8192}, "LMI056"),
        ("OPTION_GPU_MEMORY_UTILIZATION", "1.0", {}, "LMI102"),
        ("OPTION_QUANTIZE", "awq", {}, "LMI101"),
    ],
)
def test_places_a_setting_that_the_model_cannot_have_in_its_environment(
    variable, value, model, rule
):
    change = {f"{ENVIRONMENT}/OPTION_TENSOR_PARALLEL_DEGREE": REMOVED}
    change[f"{ENVIRONMENT}/{variable}"] = value
    found = findings(Example(change, model_config=llama_config(**model)))
    (finding,) = [one for one in found if one.rule == rule]
    assert finding.resource == "Model"
    assert finding.path == f"PrimaryContainer/Environment/{variable}"


def test_speaks_of_settings_as_a_template_writes_them():
    change = {f"{ENVIRONMENT}/OPTION_TENSOR_PARALLEL_DEGREE": "3"}
    found = findings(Example(change, model_config=llama_config()))
    (finding,) = [one for one in found if one.rule == "LMI052"]
    assert "set OPTION_TENSOR_PARALLEL_DEGREE to" in finding.fix
    assert "tensor_parallel_degree" not in finding.fix


def test_places_a_model_that_does_not_fit_at_the_instance_type():
    giant = llama_config(hidden_size=8192, intermediate_size=28672, num_hidden_layers=80)
    giant["num_attention_heads"] = 64
    (finding,) = [one for one in findings(Example(model_config=giant)) if one.rule == "LMI050"]
    assert (finding.resource, finding.path) == ("Config", "ProductionVariants/0/InstanceType")
    assert "InstanceType=ml." in finding.fix


def test_names_an_instance_where_there_are_more_ranks_than_gpus_too():
    change = {
        f"{VARIANT}/InstanceType": "ml.g6.xlarge",
        f"{ENVIRONMENT}/OPTION_TENSOR_PARALLEL_DEGREE": "3",
    }
    found = {one.rule: one for one in findings(Example(change, model_config=llama_config()))}
    assert "InstanceType=ml." in found["LMI052"].fix
    assert "to 1" in found["LMI055"].fix

"""What the planner is asked, and where its answers are placed."""

from types import SimpleNamespace

import pytest

from lmi_constructs import planner
from lmi_constructs.checks.deployment import Facts
from lmi_constructs.checks.examples import Example
from lmi_constructs.checks.resources import Model
from lmi_constructs.checks.rules import memory
from lmi_constructs.findings import Finding
from tests.checks.support import findings

ENVIRONMENT = "Model/Properties/PrimaryContainer/Environment"
CANNOT = Finding(rule="LMI050", message="70 GiB of 22", why="no memory", fix="take more")


@pytest.fixture
def asked(monkeypatch):
    """A planner that writes down what it is asked and always says no."""
    questions = []

    def plan(architecture, instance, configuration):
        questions.append((architecture, instance, configuration))
        return SimpleNamespace(
            findings=(CANNOT,), grade="cannot", start_up=None, instance_type=None
        )

    monkeypatch.setattr(planner, "plan", plan)
    return questions


def test_asks_with_the_settings_that_the_engine_will_have(asked):
    example = Example(
        {f"{ENVIRONMENT}/OPTION_TENSOR_PARALLEL_DEGREE": "max"},
        model_config=memory.DoesNotFit.passing.model_config,
    )
    found = [one for one in findings(example) if one.rule == "LMI050"]
    ((architecture, instance, configuration),) = asked
    assert architecture.heads == 32
    assert instance == "ml.g5.12xlarge"
    assert configuration.tensor_parallel_degree == 4
    assert configuration.max_model_len == 8192
    assert configuration.max_num_seqs == 32
    assert configuration.engine_version == (0, 17, 0)
    assert [(one.resource, one.path) for one in found] == [
        ("Config", "ProductionVariants/0/InstanceType")
    ]


def test_knows_a_model_by_its_hub_id(asked):
    changes = {
        f"{ENVIRONMENT}/HF_MODEL_ID": "Qwen/Qwen3-32B",
        "Model/Properties/EnableNetworkIsolation": False,
    }
    findings(Example(changes))
    assert [question[0].name for question in asked] == ["Qwen/Qwen3-32B"]


def test_abstains_from_a_model_that_is_not_known(asked):
    assert findings(Example()) == ()
    ((architecture, *_),) = asked  # formats are judged all the same
    assert not architecture.understood


def resource(template: str, logical_id: str, path: str | None) -> Model:
    return Model(template=template, logical_id=logical_id, construct_path=path)


@pytest.mark.parametrize(
    ("keys", "found"),
    [
        (["Model"], "Model"),
        (["Model", "Prod/Llm"], "Prod/Llm"),
        (["Prod", "Prod/Llm/Chat"], "Prod/Llm/Chat"),
        (["Prod/Llm/Chat/Model"], "Prod/Llm/Chat/Model"),
        (["Prod/Llm/Chat/Model/Resource"], "Prod/Llm/Chat/Model/Resource"),
        (["Prod/Llm/Chat/Model/Resource", "ProdLlm/Model"], "ProdLlm/Model"),
        (["Dev/Llm/Chat", "Dev", "Prod/Llm/Cha", "rod"], None),
        ([], None),
    ],
)
def test_what_is_known_of_a_model_goes_by_its_most_precise_key(
    keys: list[str], found: str | None
) -> None:
    """Stages have the same logical ids."""
    facts = Facts(
        model_configs={key: {"key": key} for key in keys},
        serving_properties={key: key for key in keys},
    )
    model = resource("ProdLlm", "Model", "Prod/Llm/Chat/Model/Resource")
    assert facts.config_of(model) == (None if found is None else {"key": found})
    assert facts.properties_of(model) == found


def test_a_model_without_a_construct_path_goes_by_its_logical_id() -> None:
    facts = Facts(serving_properties={"Model": "a", "Other/Model": "b"})
    assert facts.properties_of(resource("T", "Model", None)) == "a"
    assert facts.properties_of(resource("Other", "Model", None)) == "b"

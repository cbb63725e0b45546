"""A model that fits no single instance is refused with the ways out."""

from __future__ import annotations

import pytest

from lmi_constructs.checks.examples import llama_config
from lmi_constructs.planner import Architecture, EngineConfiguration, plan

CONFIG = llama_config(
    hidden_size=16384,
    intermediate_size=65536,
    num_attention_heads=128,
    max_position_embeddings=8192,
)


@pytest.mark.parametrize(("layers", "rule"), [(64, "LMI050"), (256, "LMI050"), (512, "LMI058")])
def test_tells_a_small_instance_from_the_limit_of_all(layers: int, rule: str) -> None:
    architecture = Architecture.from_config_json({**CONFIG, "num_hidden_layers": layers})
    planned = plan(architecture, "ml.g6.48xlarge", EngineConfiguration(tensor_parallel_degree=8))
    assert planned.grade == "cannot"
    assert [finding.rule for finding in planned.findings] == [rule]


def test_names_the_ways_out() -> None:
    architecture = Architecture.from_config_json({**CONFIG, "num_hidden_layers": 512})
    (finding,) = plan(architecture, "ml.p5en.48xlarge").findings
    for way in ("quantized", "distilled", "HyperPod on EKS"):
        assert way in finding.fix
    assert "more copies" in finding.why

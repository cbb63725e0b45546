"""Weights that the engine converts to FP8 while loading need room before, too."""

from __future__ import annotations

import pytest

from lmi_constructs.container import LmiContainer
from tests.planner.support import in_container, of_config

FP8 = {"max_model_len": 8192, "quantization": "fp8"}


@pytest.mark.parametrize(
    ("container", "grade"),
    [
        (LmiContainer.V15, "cannot"),
        (LmiContainer.V19, "cannot"),
        (LmiContainer.V20, "cannot"),
        (LmiContainer.V21, "fits"),
        (LmiContainer.V27, "fits"),
    ],
)
def test_the_whole_checkpoint_needs_room_until_vllm_0_16(container, grade):
    p = in_container("Qwen/Qwen2.5-32B-Instruct", "ml.g6e.xlarge", container, **FP8)
    assert p.grade == grade
    if grade == "cannot":
        (finding,) = p.findings
        assert finding.rule == "LMI050"
        assert "61.0 GiB on each accelerator, which has 44.4 GiB" in finding.message
        assert "v21 or later" in finding.fix


def test_what_has_room_loads_and_an_fp8_checkpoint_is_loaded_as_it_is():
    wide = in_container("Qwen/Qwen2.5-32B-Instruct", "ml.g6e.12xlarge", LmiContainer.V15, **FP8)
    assert wide.grade == "fits"
    own = in_container("Qwen/Qwen3-32B-FP8", "ml.g6e.xlarge", LmiContainer.V19, max_model_len=8192)
    assert own.grade != "cannot"


def test_it_is_uncertain_where_the_checkpoint_has_hardly_room():
    told = {"quantization": "fp8", "engine_version": (0, 14, 0)}
    p = of_config({"num_hidden_layers": 48}, "ml.g6.2xlarge", **told)  # 21.5 GiB of 22
    assert (p.grade, [one.rule for one in p.findings]) == ("marginal", ["LMI051"])
    assert "may not fit" in p.findings[0].message

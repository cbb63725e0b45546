"""Number formats of the cache: their bytes, and who has kernels for them."""

from __future__ import annotations

import pytest

from lmi_constructs.container import LmiContainer
from lmi_constructs.planner import suggest
from tests.planner.support import errors, in_container


@pytest.mark.parametrize(
    ("hub_id", "instance", "name", "grade"),
    [
        ("Qwen/Qwen3-8B", "ml.g6e.2xlarge", "fp8", "fits"),
        ("Qwen/Qwen3-8B", "ml.g6e.2xlarge", "int8_per_token_head", "fits"),
        ("Qwen/Qwen3-8B", "ml.g6e.2xlarge", "turboquant_3bit_nc", "unknown"),
        ("Qwen/Qwen3-8B", "ml.g6e.2xlarge", "fp8_inc", "cannot"),
        ("Qwen/Qwen3-8B", "ml.g6e.2xlarge", "fp8_ds_mla", "cannot"),
        ("Qwen/Qwen3-8B", "ml.g6.2xlarge", "nvfp4", "cannot"),
        ("Qwen/Qwen3-8B", "ml.g5.2xlarge", "nvfp4", "cannot"),
        ("Qwen/Qwen3-8B", "ml.p5.4xlarge", "nvfp4", "cannot"),
        ("Qwen/Qwen3-8B", "ml.p6-b200.48xlarge", "nvfp4", "fits"),
        ("deepseek-ai/DeepSeek-R1", "ml.p5en.48xlarge", "fp8", "fits"),
        ("deepseek-ai/DeepSeek-R1", "ml.p5en.48xlarge", "fp8_e5m2", "cannot"),
        ("deepseek-ai/DeepSeek-R1", "ml.p5en.48xlarge", "int8_per_token_head", "cannot"),
        ("deepseek-ai/DeepSeek-R1", "ml.p5en.48xlarge", "turboquant_3bit_nc", "cannot"),
        ("deepseek-ai/DeepSeek-R1", "ml.p6-b200.48xlarge", "nvfp4", "cannot"),
        ("openai/gpt-oss-20b", "ml.g6e.2xlarge", "turboquant_4bit_nc", "cannot"),
    ],
)
def test_a_format_needs_a_kernel_on_the_accelerator_for_the_model(hub_id, instance, name, grade):
    p = in_container(hub_id, instance, LmiContainer.V27, max_model_len=8192, kv_cache_dtype=name)
    assert p.grade == grade, p.findings
    if grade == "cannot":
        assert "LMI054" in errors(p)


def test_bytes_are_those_of_the_format_with_its_scales():
    def held(name: str | None) -> float:
        p = in_container(
            "Qwen/Qwen3-8B",
            "ml.p6-b200.48xlarge",
            LmiContainer.V27,
            max_model_len=8192,
            kv_cache_dtype=name,
        )
        return p.setup.cache_bytes

    assert held(None) == 2
    assert held("fp8") == 1
    assert held("int8_per_token_head") == 1 + 4 / 128
    assert held("nvfp4") == 0.5625


def test_an_older_engine_is_not_judged_by_what_newer_ones_list():
    told = {"max_model_len": 8192, "kv_cache_dtype": "fp8_inc"}
    old = in_container("Qwen/Qwen3-8B", "ml.g6e.2xlarge", LmiContainer.V16, **told)
    assert (old.grade, old.findings) == ("unknown", ())
    latent = {"max_model_len": 8192, "kv_cache_dtype": "fp8", "tensor_parallel_degree": 1}
    early = in_container(
        "deepseek-ai/DeepSeek-Coder-V2-Lite-Instruct",
        "ml.g6e.2xlarge",
        LmiContainer.V19,
        **latent,
    )
    assert errors(early) == ["LMI054"]


def test_the_way_out_keeps_the_instance():
    p = in_container(
        "Qwen/Qwen3-8B",
        "ml.g6.2xlarge",
        LmiContainer.V27,
        max_model_len=8192,
        kv_cache_dtype="nvfp4",
    )
    ways = suggest(p.architecture, "ml.g6.2xlarge", p.configuration)
    assert [way.change for way in ways][:2] == ['kv_cache_dtype="fp8"', "no kv_cache_dtype"]

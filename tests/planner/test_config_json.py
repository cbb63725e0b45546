"""Reading configs as they are published: right where the planner is sure, abstaining elsewhere."""

from __future__ import annotations

import json
from typing import Any

import pytest

from lmi_constructs.findings import LmiError
from lmi_constructs.planner import Architecture, plan
from lmi_constructs.planner.weights import parameters
from tests.planner.support import LLAMA, of_config

COMMAND_R = {
    "model_type": "cohere",
    "hidden_size": 8192,
    "intermediate_size": 22528,
    "num_attention_heads": 64,
    "num_key_value_heads": 64,
    "num_hidden_layers": 40,
    "vocab_size": 256000,
}
"""Of the shape of CohereLabs/c4ai-command-r-v01, whose model card says 35 billion parameters."""

STARCODER2_7B = {
    "model_type": "starcoder2",
    "hidden_size": 4608,
    "intermediate_size": 18432,
    "num_attention_heads": 36,
    "num_key_value_heads": 4,
    "num_hidden_layers": 32,
    "vocab_size": 49152,
}
"""Of the shape of bigcode/starcoder2-7b, whose model card says 7 billion parameters."""

QWEN2_VL_2B = {
    "model_type": "qwen2_vl",
    "hidden_size": 1536,
    "intermediate_size": 8960,
    "num_attention_heads": 12,
    "num_key_value_heads": 2,
    "num_hidden_layers": 28,
    "vocab_size": 151936,
    "tie_word_embeddings": True,
    "vision_config": {
        "depth": 32,
        "embed_dim": 1280,
        "hidden_size": 1536,
        "mlp_ratio": 4,
        "num_heads": 16,
    },
}
"""Of the shape of Qwen/Qwen2-VL-2B-Instruct: 2.21 billion parameters on the hub, about 675 million of
them in the tower, as its paper of September 2024 says."""


def read(**changes: Any) -> Architecture:
    return Architecture.from_config_json({**LLAMA, **changes})


def quantized(**described: Any) -> Architecture:
    return read(quantization_config=described)


@pytest.mark.parametrize(("config", "published"), [(COMMAND_R, 35.0e9), (QWEN2_VL_2B, 2.21e9)])
def test_reproduces_the_published_number_of_parameters(config, published):
    architecture = Architecture.from_config_json(config)
    assert architecture.understood
    assert parameters(architecture) == pytest.approx(published, rel=0.03)


def test_counts_two_matrices_of_a_plain_mlp_and_one_embedding():
    embedding = 49152 * 4608
    attention = 2 * 4608 * 4608 + 2 * 4608 * 4 * 128
    mlp = 2 * 4608 * 18432
    architecture = Architecture.from_config_json(STARCODER2_7B)
    assert architecture.understood
    counted = embedding + 32 * (attention + mlp)
    assert parameters(architecture) == pytest.approx(counted, rel=0.001)


def test_a_tower_is_as_wide_as_its_own_embedding():
    vision = Architecture.from_config_json(QWEN2_VL_2B).vision
    assert vision is not None
    assert vision.parameters == 32 * 12 * 1280**2
    assert vision.heads == 16


def test_a_text_part_of_a_known_family_is_of_that_family():
    config = {
        "model_type": "qwen2_vl",
        "text_config": {**QWEN2_VL_2B, "model_type": "qwen2_vl_text", "vision_config": None},
        "vision_config": QWEN2_VL_2B["vision_config"],
    }
    assert Architecture.from_config_json(config) == Architecture.from_config_json(QWEN2_VL_2B)


def test_a_byte_order_mark_is_no_content(tmp_path):
    file = tmp_path / "config.json"
    file.write_text(json.dumps(LLAMA), encoding="utf-8-sig")
    assert Architecture.from_config_json(file, "it") == Architecture.from_config_json(LLAMA, "it")


@pytest.mark.parametrize(
    ("changes", "doubt"),
    [
        ({"num_key_value_heads": "8"}, "num_key_value_heads is no single size"),
        ({"intermediate_size": [14336] * 32}, "intermediate_size is no single size"),
        ({"num_key_value_heads": 8.5}, "num_key_value_heads is no single size"),
        ({"head_dim": float("nan")}, "head_dim is no single size"),
        ({"num_local_experts": -8}, "num_local_experts is no single size"),
        ({"is_encoder_decoder": True}, "encoder"),
        ({"index_topk": 2048}, "index cache"),
        ({"num_kv_shared_layers": 20}, "share their cache"),
        ({"block_configs": [{}]}, "differ in shape"),
        ({"hybrid_override_pattern": "M-M*"}, "state per sequence"),
        ({"audio_config": {"encoder_layers": 32}}, "audio_config describes further layers"),
        ({"audio_config": {}}, "audio_config is not stated"),
        ({"draft_config": {"num_hidden_layers": 1}}, "draft_config describes further layers"),
        ({"vision_config": {"model_type": "siglip_vision_model"}}, "vision tower is not stated"),
        ({"layer_types": ["full_attention"] * 31 + ["mamba2"]}, "'mamba2'"),
        ({"layer_types": ["full_attention"] * 8}, "not those of its layers"),
        ({"layer_types": "full_attention"}, "no list"),
    ],
)
def test_abstains_where_it_is_out_of_its_depth(changes, doubt):
    architecture = read(**changes)
    assert not architecture.understood
    assert architecture.doubt is not None
    assert doubt in architecture.doubt
    assert plan(architecture, "ml.g5.2xlarge").weights_gib is None


@pytest.mark.parametrize(
    "changes",
    [
        {"sliding_window": -1},
        {"num_local_experts": 0},
        {"head_dim": None},
        {"num_experts": False},
        {"vision_config": None},
        {"num_kv_shared_layers": 0},
        {"is_encoder_decoder": False},
    ],
)
def test_what_says_that_there_is_none_changes_nothing(changes):
    assert read(**changes) == read()


@pytest.mark.parametrize(
    ("changes", "windowed"),
    [
        ({"model_type": "exaone4", "sliding_window_pattern": "LLLG"}, 24),
        ({"model_type": "gemma3_text", "sliding_window_pattern": 6}, 27),
        ({"model_type": "qwen2", "use_sliding_window": True, "max_window_layers": 28}, 4),
        ({"model_type": "mistral"}, 32),
    ],
)
def test_counts_the_layers_with_a_window(changes, windowed):
    assert read(sliding_window=4096, **changes).window_layers == windowed


@pytest.mark.parametrize(("multi_query", "heads"), [(True, 1), (False, 32)])
def test_an_old_falcon_has_one_head_of_keys_or_all(multi_query, heads):
    changes = {"model_type": "falcon", "num_key_value_heads": None, "multi_query": multi_query}
    assert read(**changes).kv_heads == heads


NVFP4_GROUP = {"targets": ["Linear"], "weights": {"num_bits": 4, "type": "float", "group_size": 16}}
FP8_GROUP = {"targets": ["Linear"], "weights": {"num_bits": 8, "type": "float"}}


@pytest.mark.parametrize(
    ("described", "method"),
    [
        ({"quant_method": "modelopt", "quant_algo": "NVFP4"}, "nvfp4"),
        ({"quant_method": "modelopt", "quant_algo": "FP8"}, "fp8"),
        ({"quant_method": "modelopt_fp4", "quant_algo": "NVFP4"}, "nvfp4"),
        ({"quant_method": "modelopt", "config_groups": {"group_0": NVFP4_GROUP}}, "nvfp4"),
        ({"quant_method": "compressed-tensors", "config_groups": {"a": FP8_GROUP}}, "fp8"),
        (
            {
                "quant_method": "compressed-tensors",
                "config_groups": {"a": FP8_GROUP, "b": FP8_GROUP},
            },
            "fp8",
        ),
        (
            {"quant_method": "gptq", "bits": 4, "group_size": 128, "dynamic": {"-:.*gate$": {}}},
            "gptq",
        ),
    ],
)
def test_reads_the_format_that_the_method_leaves_open(described, method):
    found = quantized(**described).quantization
    assert found is not None
    assert found.method == method


@pytest.mark.parametrize(
    "described",
    [
        {"quant_method": "modelopt", "quant_algo": "MIXED_PRECISION", "quantized_layers": {}},
        {"quant_method": "modelopt", "quant_algo": "W4A8_AWQ"},
        {"quant_method": "modelopt_mixed"},
        {"quant_method": "compressed-tensors", "config_groups": {}},
        {
            "quant_method": "compressed-tensors",
            "config_groups": {"a": FP8_GROUP, "b": NVFP4_GROUP},
        },
        {
            "quant_method": "compressed-tensors",
            "config_groups": {"a": {**FP8_GROUP, "targets": ["re:.*experts.*"]}},
        },
        {
            "quant_method": "compressed-tensors",
            "config_groups": {"a": FP8_GROUP},
            "sparsity_config": {"format": "sparse-24-bitmask"},
        },
        {"quant_method": "gptq", "bits": 4, "dynamic": {"+:.*down_proj": {"bits": 8}}},
        {"quant_method": "quark"},
        {"quant_method": "torchao", "quant_type": {"default": {"_type": "Int4WeightOnlyConfig"}}},
    ],
)
def test_abstains_from_formats_that_differ_between_layers(described):
    architecture = quantized(**described)
    assert not architecture.understood
    assert "quantization" in (architecture.doubt or "")


@pytest.mark.parametrize(
    ("names", "kept"),
    [
        (["mlp.shared_expert_gate"], {}),
        (["re:.*shared_experts.*"], {"shared": 1.0}),
        ([r"re:.*layers\.0\.mlp\..*"], {"mlp": 1 / 32}),
        (["model.layers.0*"], dict.fromkeys(("shared", "experts", "attention", "mlp"), 1 / 32)),
        (["model.layers.61*", "model.layers.61.self_attn"], {}),
        (["vision_model.encoder.layers.0"], {}),
    ],
)
def test_counts_the_modules_that_stay_in_16_bits(names, kept):
    found = quantized(quant_method="fp8", modules_to_not_convert=names).quantization
    assert found is not None
    assert dict(found.kept) == pytest.approx(kept)


@pytest.mark.parametrize(
    ("changes", "doubt"),
    [
        ({"torch_dtype": "foo"}, "its dtype 'foo' is not known"),
        ({"intermediate_size": None}, "its intermediate_size is not stated"),
    ],
)
def test_what_is_not_said_is_not_made_up(changes, doubt):
    p = of_config(changes)
    assert (p.grade, p.doubt) == ("unknown", doubt)


def test_a_model_without_key_value_heads_is_none():
    with pytest.raises(LmiError, match="no usable num_key_value_heads") as caught:
        of_config({"num_key_value_heads": 0})
    assert caught.value.findings[0].rule == "LMI029"

"""Reading a model's own config.json."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lmi_constructs.findings import LmiError
from lmi_constructs.planner import Architecture, EngineConfiguration, plan
from tests.planner.support import LLAMA


def test_a_config_gives_the_shape_of_the_known_model():
    read = Architecture.from_config_json(LLAMA)
    known = Architecture.known("meta-llama/llama-3.1-8b-instruct")
    assert known is not None
    assert read.understood
    assert (read.layers, read.heads, read.kv_heads, read.head_dim) == (32, 32, 8, 128)
    assert (read.hidden, read.intermediate, read.vocabulary) == (
        known.hidden,
        known.intermediate,
        known.vocabulary,
    )


def test_reads_a_file(tmp_path):
    file = tmp_path / "config.json"
    file.write_text(json.dumps(LLAMA))
    assert Architecture.from_config_json(file) == Architecture.from_config_json(
        LLAMA, tmp_path.name
    )


@pytest.mark.parametrize("content", ["", "[]", "{", "3", "[" * 100_000])
def test_refuses_a_file_that_is_no_config(tmp_path, content):
    file = tmp_path / "config.json"
    file.write_text(content)
    with pytest.raises(LmiError, match=r"cannot be read as a config\.json"):
        Architecture.from_config_json(file)


def test_refuses_a_missing_file(tmp_path):
    with pytest.raises(LmiError):
        Architecture.from_config_json(tmp_path / "nowhere.json")


def test_says_what_a_config_lacks():
    with pytest.raises(LmiError, match="num_hidden_layers, vocab_size"):
        Architecture.from_config_json(
            {k: v for k, v in LLAMA.items() if k not in ("num_hidden_layers", "vocab_size")}
        )


def test_does_not_claim_to_understand_an_unknown_family():
    read = Architecture.from_config_json({**LLAMA, "model_type": "brand_new"})
    assert not read.understood
    assert read.doubt is not None
    assert "brand_new" in read.doubt


def test_does_not_claim_to_understand_an_unknown_quantization():
    read = Architecture.from_config_json(
        {**LLAMA, "quantization_config": {"quant_method": "brand_new"}}
    )
    assert not read.understood


@pytest.mark.parametrize(
    "odd",
    [
        {"quant_method": "fp8", "weight_block_size": ["a", 3]},
        {"quant_method": "fp8", "weight_block_size": 0.5},
        {"quant_method": "awq", "bits": -1},
        {"quant_method": "gptq", "group_size": "128"},
        {"quant_method": "awq", "modules_to_not_convert": 3},
        {"quant_method": "awq", "modules_to_not_convert": [None]},
        {"quant_method": "compressed-tensors", "config_groups": [1]},
        {"quant_method": "compressed-tensors", "config_groups": {"a": {"weights": 4}}},
        "fp8",
    ],
)
def test_does_not_guess_at_an_oddly_described_quantization(odd):
    read = Architecture.from_config_json({**LLAMA, "quantization_config": odd})
    assert not read.understood
    assert read.doubt is not None
    assert "quantization" in read.doubt


def test_one_module_may_be_kept_without_a_list():
    one = {"quant_method": "awq", "bits": 4, "modules_to_not_convert": "self_attn"}
    many = {**one, "modules_to_not_convert": ["self_attn"]}
    read = Architecture.from_config_json({**LLAMA, "quantization_config": one})
    assert read == Architecture.from_config_json({**LLAMA, "quantization_config": many})
    assert read.quantization.kept_share("attention") == 1.0


@pytest.mark.parametrize("size", [10**400, float("inf"), float("nan"), "32", True, -4])
def test_refuses_a_size_that_no_model_has(size):
    with pytest.raises(LmiError, match="no usable num_hidden_layers"):
        Architecture.from_config_json({**LLAMA, "num_hidden_layers": size})


def test_refuses_heads_without_a_width():
    with pytest.raises(LmiError, match="no usable head_dim"):
        Architecture.from_config_json({**LLAMA, "hidden_size": 1})


def test_an_unknown_model_is_none():
    assert Architecture.known("nobody/nothing") is None


@pytest.mark.parametrize(
    ("given_config", "method", "group", "bytes_per_weight"),
    [
        ({"quant_method": "awq", "bits": 4, "group_size": 128}, "awq", 128, 0.51953125),
        ({"quant_method": "gptq", "bits": 4, "group_size": 32}, "gptq", 32, 0.578125),
        ({"quant_method": "gptq", "bits": 8, "group_size": 128}, "gptq", 128, 1.0234375),
        ({"quant_method": "gptq", "bits": 4, "group_size": -1}, "gptq", None, 0.5),
        ({"quant_method": "fp8"}, "fp8", None, 1.0),
        ({"quant_method": "mxfp4"}, "mxfp4", 32, 0.53125),
        ({"quant_method": "bitsandbytes", "load_in_4bit": True}, "nf4", 64, 0.515869140625),
        ({"quant_method": "bitsandbytes", "load_in_8bit": True}, "int8", None, 1.002),
        (
            {
                "quant_method": "compressed-tensors",
                "config_groups": {
                    "group_0": {
                        "weights": {
                            "num_bits": 4,
                            "type": "int",
                            "group_size": 32,
                            "symmetric": True,
                        }
                    }
                },
            },
            "int4",
            32,
            0.5625,
        ),
        (
            {
                "quant_method": "compressed-tensors",
                "config_groups": {"group_0": {"weights": {"num_bits": 8, "type": "float"}}},
            },
            "fp8",
            None,
            1.0,
        ),
    ],
)
def test_reads_quantizations(given_config, method, group, bytes_per_weight):
    read = Architecture.from_config_json({**LLAMA, "quantization_config": given_config})
    assert read.quantization is not None
    assert (read.quantization.method, read.quantization.group) == (method, group)
    assert read.quantization.bytes_per_weight == pytest.approx(bytes_per_weight)


def test_modules_that_stay_in_16_bits_are_counted():
    fp8 = {"quant_method": "fp8", "modules_to_not_convert": ["lm_head"]}
    attention = [f"model.layers.{n}.self_attn.q_proj" for n in range(32)]
    some = [*attention, "model.layers.0.mlp.up_proj", "model.layers.31.mlp.up_proj"]

    def weights(skipped: list[str]) -> float:
        config = {**LLAMA, "quantization_config": {**fp8, "modules_to_not_convert": skipped}}
        architecture = Architecture.from_config_json(config)
        return plan(architecture, "ml.g6e.2xlarge", EngineConfiguration()).weights_gib or 0

    more = weights(some) - weights(["lm_head"])
    matrices = 32 * (2 * 4096 * 4096 + 2 * 4096 * 1024) + 2 * 3 * 4096 * 14336
    assert more == pytest.approx(matrices / 2**30, rel=0.001)


def test_reads_the_text_part_and_the_tower_of_a_multimodal_config():
    read = Architecture.from_config_json(
        {
            "model_type": "gemma3",
            "text_config": {**LLAMA, "model_type": "gemma3_text", "sliding_window": 1024},
            "vision_config": {
                "hidden_size": 1152,
                "intermediate_size": 4304,
                "num_hidden_layers": 27,
                "num_attention_heads": 16,
            },
        }
    )
    assert read.layers == 32
    assert read.tied_embeddings
    assert read.window_layers == 32 - 32 // 6
    assert read.vision is not None
    assert read.vision.parameters == pytest.approx(411e6, rel=0.01)


def test_a_muted_window_counts_for_nothing():
    config = {**LLAMA, "model_type": "qwen2", "sliding_window": 131072, "use_sliding_window": False}
    assert Architecture.from_config_json(config).window_layers == 0


@pytest.mark.parametrize(
    ("scaling", "longest"),
    [
        ({"type": "yarn", "factor": 4.0, "original_max_position_embeddings": 32768}, 131072),
        ({"rope_type": "llama3", "factor": 8.0}, 131072),
        ({"type": "linear", "factor": 2.0}, 262144),
        (None, 131072),
    ],
)
def test_the_longest_context_is_stretched_by_rope_scaling(scaling, longest):
    read = Architecture.from_config_json({**LLAMA, "rope_scaling": scaling})
    assert read.max_context == longest


_VALUES = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(-5, 10**6), st.floats(), st.text(max_size=8)),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3), st.dictionaries(st.text(max_size=6), inner, max_size=3)
    ),
    max_leaves=6,
)
_KEYS = st.sampled_from(
    [
        *LLAMA,
        "quantization_config",
        "layer_types",
        "sliding_window",
        "num_experts",
        "vision_config",
        "text_config",
        "rope_scaling",
        "kv_lora_rank",
        "head_dim",
        "n_shared_experts",
        "moe_intermediate_size",
        "first_k_dense_replace",
        "mlp_only_layers",
        "decoder_sparse_step",
        "tie_word_embeddings",
    ]
)
_QUANTIZED = st.fixed_dictionaries(
    {"quant_method": st.sampled_from(["fp8", "awq", "gptq", "compressed-tensors", "bitsandbytes"])},
    optional=dict.fromkeys(
        ("bits", "group_size", "weight_block_size", "config_groups", "ignore"), _VALUES
    ),
)


@given(changes=st.dictionaries(_KEYS, _VALUES, max_size=4), quantized=st.none() | _QUANTIZED)
def test_no_config_crashes_the_reader_or_the_plan(changes, quantized):
    config = {**LLAMA, "quantization_config": quantized, **changes}
    try:
        architecture = Architecture.from_config_json(config)
    except LmiError:
        return
    assert plan(architecture, "ml.g6.12xlarge").grade in ("fits", "marginal", "cannot", "unknown")

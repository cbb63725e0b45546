"""What the engine refuses to start with, held against what its sources say, by version."""

from __future__ import annotations

from typing import Any

import pytest

from lmi_constructs.container import LmiContainer, verdict
from lmi_constructs.findings import LmiError
from lmi_constructs.planner import Architecture, EngineConfiguration, Plan, plan, suggest
from lmi_constructs.planner.explanation import copies
from tests.planner.test_architecture import LLAMA

QWEN2: dict[str, Any] = {
    **LLAMA,
    "model_type": "qwen2",
    "architectures": ["Qwen2ForCausalLM"],
    "use_sliding_window": True,
    "sliding_window": 4096,
}


def in_container(hub_id: str, instance: str, container: LmiContainer, **told: Any) -> Plan:
    architecture = Architecture.known(hub_id)
    assert architecture is not None
    count = plan(architecture, instance).accelerator_count or 1
    return plan(architecture, instance, EngineConfiguration.in_container(container, count, **told))


def of_config(changes: dict[str, Any], instance: str = "ml.g6e.2xlarge", **told: Any) -> Plan:
    architecture = Architecture.from_config_json({**LLAMA, **changes})
    return plan(architecture, instance, EngineConfiguration(max_model_len=2048, **told))


def errors(planned: Plan) -> list[str]:
    return [finding.rule for finding in planned.findings if finding.severity == "error"]


class TestConvertingWhileLoading:
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
    def test_the_whole_checkpoint_needs_room_until_vllm_0_16(self, container, grade):
        p = in_container("Qwen/Qwen2.5-32B-Instruct", "ml.g6e.xlarge", container, **self.FP8)
        assert p.grade == grade
        if grade == "cannot":
            (finding,) = p.findings
            assert finding.rule == "LMI050"
            assert "61.0 GiB on each accelerator, which has 44.4 GiB" in finding.message
            assert "v21 or later" in finding.fix

    def test_what_has_room_loads_and_an_fp8_checkpoint_is_loaded_as_it_is(self):
        wide = in_container(
            "Qwen/Qwen2.5-32B-Instruct", "ml.g6e.12xlarge", LmiContainer.V15, **self.FP8
        )
        assert wide.grade == "fits"
        own = in_container(
            "Qwen/Qwen3-32B-FP8", "ml.g6e.xlarge", LmiContainer.V19, max_model_len=8192
        )
        assert own.grade != "cannot"

    def test_it_is_uncertain_where_the_checkpoint_has_hardly_room(self):
        told = {"quantization": "fp8", "engine_version": (0, 14, 0)}
        p = of_config({"num_hidden_layers": 48}, "ml.g6.2xlarge", **told)  # 21.5 GiB of 22
        assert (p.grade, [one.rule for one in p.findings]) == ("marginal", ["LMI051"])
        assert "may not fit" in p.findings[0].message


class TestSequences:
    def test_more_sequences_than_tokens_of_a_batch_are_refused(self):
        p = in_container(
            "Qwen/Qwen3-8B",
            "ml.g6e.2xlarge",
            LmiContainer.V27,
            max_model_len=8192,
            max_num_seqs=3000,
        )
        assert p.setup.sequences == 3000
        (finding,) = [one for one in p.findings if one.rule == "LMI004"]
        assert "max_num_seqs is 3000, but max_num_batched_tokens is 2048" in finding.message
        assert p.grade == "cannot"
        told = EngineConfiguration(max_num_seqs=4096, max_num_batched_tokens=2048)
        assert "LMI004" in errors(plan(p.architecture, "ml.p5.48xlarge", told))

    def test_vllms_own_server_assumes_more_on_large_accelerators_than_the_container(self):
        served = EngineConfiguration(max_num_seqs=3000)
        shape = Architecture.known("Qwen/Qwen3-8B")
        assert shape is not None
        assert plan(shape, "ml.p5.4xlarge", served).setup.batched_tokens == 8192
        inside = in_container("Qwen/Qwen3-8B", "ml.p5.4xlarge", LmiContainer.V27)
        assert inside.setup.batched_tokens == 2048

    @pytest.mark.parametrize(
        ("variables", "starts"),
        [
            ({"OPTION_MAX_ROLLING_BATCH_SIZE": "100000"}, False),
            ({"OPTION_MAX_ROLLING_BATCH_SIZE": "2049"}, False),
            ({"OPTION_MAX_ROLLING_BATCH_SIZE": "2048"}, True),
            (
                {
                    "OPTION_MAX_ROLLING_BATCH_SIZE": "3000",
                    "OPTION_MAX_NUM_BATCHED_TOKENS": "4096",
                },
                True,
            ),
        ],
    )
    def test_the_container_is_known_to_stop(self, variables, starts):
        judged = verdict({"HF_MODEL_ID": "Qwen/Qwen3-8B", **variables}, LmiContainer.V27)
        assert judged.starts is starts
        if not starts:
            (finding,) = judged.errors
            assert (finding.rule, finding.where) == ("LMI004", "OPTION_MAX_ROLLING_BATCH_SIZE")
            assert "at most 2048" in finding.fix

    def test_older_releases_assume_more_for_models_with_images(self):
        told = {"HF_MODEL_ID": "any/model", "OPTION_MAX_ROLLING_BATCH_SIZE": "3000"}
        assert verdict(told, LmiContainer.V16).starts is True
        told["OPTION_MAX_ROLLING_BATCH_SIZE"] = "6000"
        assert verdict(told, LmiContainer.V16).starts is False


class TestCacheFormats:
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
    def test_a_format_needs_a_kernel_on_the_accelerator_for_the_model(
        self, hub_id, instance, name, grade
    ):
        p = in_container(
            hub_id, instance, LmiContainer.V27, max_model_len=8192, kv_cache_dtype=name
        )
        assert p.grade == grade, p.findings
        if grade == "cannot":
            assert "LMI054" in errors(p)

    def test_bytes_are_those_of_the_format_with_its_scales(self):
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

    def test_an_older_engine_is_not_judged_by_what_newer_ones_list(self):
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

    def test_the_way_out_keeps_the_instance(self):
        p = in_container(
            "Qwen/Qwen3-8B",
            "ml.g6.2xlarge",
            LmiContainer.V27,
            max_model_len=8192,
            kv_cache_dtype="nvfp4",
        )
        ways = suggest(p.architecture, "ml.g6.2xlarge", p.configuration)
        assert [way.change for way in ways][:2] == ['kv_cache_dtype="fp8"', "no kv_cache_dtype"]


class TestConfigs:
    @pytest.mark.parametrize(
        ("method", "bits", "version", "refused"),
        [
            ("awq", 4, (0, 23, 0), False),
            ("awq", 3, (0, 23, 0), True),
            ("gptq", 8, (0, 23, 0), False),
            ("gptq", 5, (0, 14, 0), True),
            ("gptq", 3, (0, 14, 0), False),
            ("gptq", 3, (0, 23, 0), True),
        ],
    )
    def test_bits_are_those_that_the_engine_reads(self, method, bits, version, refused):
        quantization = {"quant_method": method, "bits": bits, "group_size": 128}
        p = of_config({"quantization_config": quantization}, engine_version=version)
        assert (errors(p) == ["LMI054"]) is refused
        assert p.grade == ("cannot" if refused else "fits")

    @pytest.mark.parametrize(
        ("changes", "longest"),
        [
            ({"seq_length": 2048}, 2048),
            ({"model_max_length": 2048}, 2048),
            ({"max_seq_len": 4096, "n_positions": 8192}, 4096),
            ({"model_max_length": 262144}, 262144),
            ({"model_max_length": 10**30}, 131072),
        ],
    )
    def test_the_smallest_key_is_the_longest_context(self, changes, longest):
        assert Architecture.from_config_json({**LLAMA, **changes}).max_context == longest

    def test_a_window_in_some_layers_is_refused(self):
        some = {**QWEN2, "max_window_layers": 16}
        p = of_config(some)
        assert errors(p) == ["LMI004"]
        assert "16 of the 32 layers" in p.findings[0].message
        assert of_config({**QWEN2, "max_window_layers": 32}).grade == "fits"
        assert of_config({**some, "use_sliding_window": False}).grade == "fits"

    def test_blackwell_computes_in_no_8_bit_integers(self):
        group = {
            "targets": ["Linear"],
            "weights": {"num_bits": 8, "type": "int"},
            "input_activations": {"num_bits": 8, "type": "int"},
        }
        whole = {"quant_method": "compressed-tensors", "config_groups": {"group_0": group}}
        changes = {"quantization_config": whole}
        assert errors(of_config(changes, "ml.p6-b200.48xlarge")) == ["LMI054"]
        assert of_config(changes, "ml.p5.4xlarge").grade == "fits"
        weights_only = {**group, "input_activations": None}
        changes = {"quantization_config": {**whole, "config_groups": {"group_0": weights_only}}}
        assert of_config(changes, "ml.p6-b200.48xlarge").grade == "fits"

    @pytest.mark.parametrize(
        ("changes", "doubt"),
        [
            ({"torch_dtype": "foo"}, "its dtype 'foo' is not known"),
            ({"intermediate_size": None}, "its intermediate_size is not stated"),
        ],
    )
    def test_what_is_not_said_is_not_made_up(self, changes, doubt):
        p = of_config(changes)
        assert (p.grade, p.doubt) == ("unknown", doubt)

    def test_a_model_without_key_value_heads_is_none(self):
        with pytest.raises(LmiError, match="no usable num_key_value_heads") as caught:
            of_config({"num_key_value_heads": 0})
        assert caught.value.findings[0].rule == "LMI029"

    @pytest.mark.parametrize(("heads", "keys"), [(30, 8), (32, 3)])
    def test_heads_that_do_not_group_are_refused_whatever_the_degree(self, heads, keys):
        changes = {"num_attention_heads": heads, "num_key_value_heads": keys, "head_dim": 128}
        p = of_config(changes, "ml.g6e.12xlarge", tensor_parallel_degree=4)
        (finding,) = [one for one in p.findings if one.rule == "LMI052"]
        assert "cannot share evenly" in finding.message
        assert "config.json" in finding.fix
        assert suggest(p.architecture, "ml.g6e.12xlarge", p.configuration) == ()


class TestAccelerators:
    def test_engines_say_from_which_capability_on_they_run(self):
        told = {"max_model_len": 4096, "dtype": "float16"}
        new = in_container("Qwen/Qwen3-8B", "ml.p3.8xlarge", LmiContainer.V27, **told)
        assert (new.grade, errors(new)) == ("cannot", ["LMI054"])
        old = in_container("Qwen/Qwen3-8B", "ml.p3.8xlarge", LmiContainer.V19, **told)
        assert (old.grade, old.findings) == ("unknown", ())

    @pytest.mark.parametrize(
        ("container", "dtype", "grade"),
        [
            (LmiContainer.V27, None, "fits"),
            (LmiContainer.V27, "bfloat16", "cannot"),
            (LmiContainer.V27, "float16", "fits"),
            (LmiContainer.V15, None, "marginal"),
        ],
    )
    def test_turing_computes_in_float16_where_the_engine_is_not_told_otherwise(
        self, container, dtype, grade
    ):
        p = in_container(
            "Qwen/Qwen2.5-7B-Instruct",
            "ml.g4dn.12xlarge",
            container,
            dtype=dtype,
            max_model_len=4096,
            max_num_seqs=16,
        )
        assert p.grade == grade
        ways = suggest(p.architecture, "ml.g4dn.12xlarge", p.configuration)
        assert [way.change for way in ways][:1] == ([] if grade == "fits" else ['dtype="float16"'])

    @pytest.mark.parametrize("hub_id", ["Qwen/Qwen3-8B", "Qwen/Qwen3-8B-FP8"])
    def test_ampere_runs_fp8_as_weights_only(self, hub_id):
        told = {} if hub_id.endswith("FP8") else {"quantization": "fp8"}
        p = in_container(hub_id, "ml.g5.2xlarge", LmiContainer.V27, max_model_len=8192, **told)
        assert (p.grade, p.findings) == ("fits", ())

    @pytest.mark.parametrize(
        ("container", "grade"), [(LmiContainer.V15, "cannot"), (LmiContainer.V27, "fits")]
    )
    def test_turing_runs_fp8_only_with_newer_engines(self, container, grade):
        told = {"dtype": "float16", "max_model_len": 4096, "max_num_seqs": 16}
        p = in_container("Qwen/Qwen3-8B-FP8", "ml.g4dn.12xlarge", container, **told)
        assert p.grade == grade, p.findings
        assert errors(p) == (["LMI054"] if grade == "cannot" else [])


class TestAdapters:
    def test_ranks_are_those_of_the_engine(self):
        shape = Architecture.known("Qwen/Qwen3-8B")
        assert shape is not None

        def ranked(rank: int, container: LmiContainer) -> Plan:
            told = {"enable_lora": True, "max_lora_rank": rank, "max_model_len": 4096}
            return in_container("Qwen/Qwen3-8B", "ml.g6e.2xlarge", container, **told)

        assert errors(ranked(7, LmiContainer.V27)) == ["LMI001"]
        assert "set max_lora_rank to 8" in ranked(7, LmiContainer.V27).findings[0].fix
        assert ranked(1, LmiContainer.V27).grade == "fits"
        assert errors(ranked(1, LmiContainer.V15)) == ["LMI001"]


class TestNumbers:
    @pytest.mark.parametrize("tokens", [0, -5])
    def test_a_context_that_is_none_is_not_planned(self, tokens):
        p = in_container("Qwen/Qwen3-8B", "ml.g6e.2xlarge", LmiContainer.V27, max_model_len=tokens)
        assert (p.grade, p.doubt) == ("unknown", "max_model_len is no number that an engine takes")

    def test_minus_one_leaves_the_context_to_the_engine(self):
        p = in_container("Qwen/Qwen3-8B", "ml.g6e.2xlarge", LmiContainer.V27, max_model_len=-1)
        assert (p.grade, p.setup.context) == ("fits", None)

    @pytest.mark.parametrize("measured", [-1, 0, "3", True, float("nan"), 100])
    def test_a_measurement_that_cannot_be_is_refused(self, measured):
        shape = Architecture.known("Qwen/Qwen3-8B")
        with pytest.raises(LmiError) as caught:
            plan(shape, "ml.g6.2xlarge", measured_cache_gib=measured)
        (finding,) = caught.value.findings
        assert (finding.rule, finding.where) == ("LMI010", "measured_cache_gib")

    def test_a_count_beside_an_instance_type_is_refused(self):
        shape = Architecture.known("Qwen/Qwen3-8B")
        with pytest.raises(LmiError, match="has its own number of accelerators"):
            plan(shape, "ml.g6.12xlarge", count=2)

    @pytest.mark.parametrize("given", [5, None, ["config.json"]])
    def test_what_is_no_config_and_no_name_is_refused(self, given):
        for read in (Architecture.from_config_json, Architecture.known):
            with pytest.raises(LmiError) as caught:
                read(given)
            assert caught.value.findings[0].rule == "LMI010"


def test_overrides_of_the_shape_are_not_judged():
    p = of_config({}, hf_overrides={"num_hidden_layers": 4})
    assert (p.grade, p.doubt) == ("unknown", "hf_overrides changes num_hidden_layers")


def test_an_old_release_is_told_the_first_that_serves_the_family():
    p = in_container(
        "Qwen/Qwen3-8B", "ml.g6e.2xlarge", LmiContainer.V14, max_model_len=4096, max_num_seqs=32
    )
    (finding,) = [one for one in p.findings if one.rule == "LMI017"]
    assert "v16 or a later" in finding.fix


def test_no_suggestion_holds_less_than_a_request():
    for hub_id, instance in (
        ("Qwen/Qwen3-14B", "ml.g5.2xlarge"),
        ("Qwen/Qwen3-32B", "ml.g6.xlarge"),
    ):
        p = in_container(hub_id, instance, LmiContainer.V27)
        for way in suggest(p.architecture, instance, p.configuration):
            assert way.plan.max_concurrency is None or way.plan.max_concurrency >= 1


@pytest.mark.parametrize(
    ("told", "said"),
    [
        ({"tensor_parallel_degree": 4}, []),
        (
            {"tensor_parallel_degree": 1},
            [
                "the container starts 4 copies of the model, each on 1 of the 4 L4: the figures are"
                " those of one copy"
            ],
        ),
        ({"tensor_parallel_degree": 3}, ["1 of the 4 L4 stay idle"]),
        ({"tensor_parallel_degree": 1, "enable_lora": True}, ["3 of the 4 L4 stay idle"]),
    ],
)
def test_what_other_accelerators_are_for_is_said(told, said):
    p = in_container(
        "Qwen/Qwen3-8B", "ml.g6.12xlarge", LmiContainer.V27, max_model_len=4096, **told
    )
    assert copies(p) == said

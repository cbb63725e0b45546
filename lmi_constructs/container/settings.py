"""Settings of the container as typed values that mean the same on every release."""

from __future__ import annotations

import json
from collections.abc import Callable, Hashable, Mapping
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    ValidationError,
    WrapValidator,
    model_validator,
)

from lmi_constructs.container import reading, rendering
from lmi_constructs.container.cdk_tokens import is_token
from lmi_constructs.container.release import LmiContainer
from lmi_constructs.container.settings_errors import clashes, validation_findings
from lmi_constructs.findings import Finding, LmiError, raise_errors

if TYPE_CHECKING:
    from lmi_constructs.container.remedies import Remedies


def _token_or(value: Any, check: Callable[[Any], Any]) -> Any:
    """Let unresolved CDK tokens pass: their value is known only at deployment."""
    return value if is_token(value) else check(value)


def _number_or(value: Any, check: Callable[[Any], Any]) -> Any:
    """Let tokens pass, and refuse a boolean, which Python takes for 1 or 0."""
    if isinstance(value, bool):
        raise ValueError("a number is needed, not a boolean")
    return _token_or(value, check)


def _json(value: Any) -> Any:
    """Refuse what JSON cannot say, which could not be rendered either."""
    try:
        json.dumps(value, allow_nan=False)
    except (TypeError, ValueError, RecursionError) as error:
        raise ValueError(f"cannot be written as JSON ({error})") from None
    return value


def _number_of_tokens(value: Any, check: Callable[[Any], Any]) -> Any:
    """Read `16k` and `16K` as the engine does."""
    if isinstance(value, str) and not is_token(value) and value != "auto":
        value = reading.number_with_unit(value)
    return _number_or(value, check)


_Or = WrapValidator(_token_or)
_Number = WrapValidator(_number_or)
Flag = Annotated[bool, _Or]
Count = Annotated[int, Field(ge=1), _Number]
WholeNumber = Annotated[int, Field(ge=0), _Number]
Fraction = Annotated[float, Field(gt=0, le=1), _Number]
Gibibytes = Annotated[float, Field(ge=0, allow_inf_nan=False), _Number]
Text = Annotated[str, Field(min_length=1)]
JsonObject = Annotated[Mapping[str, Any], AfterValidator(dict), AfterValidator(_json), _Or]


class LmiSettings(BaseModel):
    """What the container is told, independent of the release.

    A field that is `None` is not rendered, so the container's own default holds. Values may be CDK
    tokens. Where the model is (`HF_MODEL_ID`, a token for the hub) is not a setting: that belongs
    to the model data.

    Attributes:
        tensor_parallel_degree: GPUs that share one copy of the model: a number, or `max` for all
            GPUs of the instance. A number below the GPU count starts several copies.
        enable_expert_parallel: Whether experts of a mixture-of-experts model are distributed over
            the GPUs instead of being split.
        async_mode: Whether vLLM's asynchronous handler serves: the recommended mode, and the library's
            default on every release that has it (v15 and later). `False` selects the older rolling
            batch.
        rolling_batch: Back end by the container's own name, passed through: for other images
            (`trtllm`, `lmi-dist`, `tnx`) or to keep an old configuration. Leave it unset for vLLM.
        entry_point: Module of a custom handler.
        max_rolling_batch_size: Maximum concurrent sequences; becomes vLLM's `max_num_seqs`, also in
            asynchronous mode, where the container's default is only 32.
        max_model_len: Longest sequence in tokens, prompt and response together; `auto` (v19 and
            later) uses what fits in memory; `16K` is read as 16384, `16k` as 16000.
        max_num_batched_tokens: Maximum tokens per engine step.
        gpu_memory_utilization: Share of the GPU memory that the engine may use, above 0 up to 1.
        kv_cache_dtype: Data type of the KV cache, such as `auto` or `fp8`.
        block_size: Tokens in a block of the KV cache.
        swap_space: GiB of host memory per GPU for swapped blocks (until v22).
        cpu_offload_gb: GiB of weights per GPU that stay in host memory.
        enforce_eager: Whether CUDA graphs are off: less memory, slower responses.
        enable_prefix_caching: Whether shared prompt prefixes are computed only once.
        enable_chunked_prefill: Whether long prompts are processed in chunks.
        scheduling_policy: Order of waiting requests.
        dtype: Data type of the weights and activations.
        quantize: Method that quantizes the weights while loading, such as `fp8`, or that the
            checkpoint was quantized with. Not needed if the checkpoint names it.
        load_in_4bit: Old name for bitsandbytes with the Transformers handler; not for vLLM.
        load_format: How weights are read, such as `auto` or `runai_streamer`.
        revision: Revision of the model on the hub.
        trust_remote_code: Whether code in the model repository may run.
        tokenizer_mode: Tokenizer mode: `auto`, `slow`, `mistral` and others by release.
        task: What the model does, such as `text-generation` or `text-embedding`.
        served_model_name: Name that requests use for the model.
        seed: Random seed.
        max_logprobs: Most log probabilities that a request may ask for.
        disable_custom_all_reduce: Whether the engine's own all-reduce is off.
        disable_sliding_window: Whether the model's sliding window is off.
        disable_log_stats: Whether the engine's statistics logging is off.
        structured_outputs_backend: Library for structured outputs, such as `xgrammar`; rendered as
            each release expects it (a guided-decoding option until v16).
        speculative_config: Speculative decoding, as the engine's JSON object.
        limit_mm_per_prompt: Maximum media items of each kind per prompt.
        hf_overrides: Changes to the model's config.json.
        compilation_config: Compilation settings, as the engine's JSON object.
        enable_lora: Whether adapters can be served; only one copy of the model then runs.
        max_loras: Adapters in one batch; the container's default is 4.
        max_lora_rank: Largest rank of an adapter.
        max_cpu_loras: Adapters kept in host memory, at least `max_loras`.
        fully_sharded_loras: Whether adapters are fully sharded over the GPUs.
        lora_extra_vocab_size: Additional tokens of an adapter (until v17).
        enable_auto_tool_choice: Whether the model decides when to call tools.
        tool_call_parser: Parser for the model's tool-call format.
        reasoning_parser: Parser for the model's reasoning format.
        chat_template: Template, or path to one, that replaces the tokenizer's.
        output_formatter: Response format in rolling batch; asynchronous mode ignores it.
        speculative_draft_model: Draft model of lmi-dist (until v14) and Neuron.
        speculative_length: Tokens that such a draft model proposes.
        draft_model_tp_size: GPUs of such a draft model.
        max_input_len: Longest prompt in tokens, on the TensorRT-LLM image only.
        max_beam_width: Widest beam, on the TensorRT-LLM image only.
        model_loading_timeout: Seconds that loading may take inside the container (the image's
            default is 1200); the endpoint has its own limit.
        predict_timeout: Seconds that one request may take inside the container.
        fail_fast: Whether the server exits when a worker fails permanently.
        job_queue_size: Requests that may queue before the server returns 503.
        engine_args: Any other option by name; checked against the release's engine.
        environment: Any other environment variable, such as `NCCL_DEBUG`.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", protected_namespaces=())

    tensor_parallel_degree: Literal["max"] | Count | None = None
    enable_expert_parallel: Flag | None = None
    async_mode: bool | None = None
    rolling_batch: Text | None = None
    entry_point: Text | None = None
    max_rolling_batch_size: Count | None = None
    max_model_len: Annotated[Literal["auto"] | Count, WrapValidator(_number_of_tokens)] | None = (
        None
    )
    max_num_batched_tokens: Annotated[Count, WrapValidator(_number_of_tokens)] | None = None
    gpu_memory_utilization: Fraction | None = None
    kv_cache_dtype: Text | None = None
    block_size: Count | None = None
    swap_space: Gibibytes | None = None
    cpu_offload_gb: Gibibytes | None = None
    enforce_eager: Flag | None = None
    enable_prefix_caching: Flag | None = None
    enable_chunked_prefill: Flag | None = None
    scheduling_policy: Annotated[Literal["fcfs", "priority"], _Or] | None = None
    dtype: Annotated[Literal["auto", "fp16", "bf16", "fp32"], _Or] | None = None
    quantize: Text | None = None
    load_in_4bit: Flag | None = None
    load_format: Text | None = None
    revision: Text | None = None
    trust_remote_code: Flag | None = None
    tokenizer_mode: Text | None = None
    task: Text | None = None
    served_model_name: Text | None = None
    seed: WholeNumber | None = None
    max_logprobs: Annotated[int, Field(ge=-1), _Number] | None = None
    disable_custom_all_reduce: Flag | None = None
    disable_sliding_window: Flag | None = None
    disable_log_stats: Flag | None = None
    structured_outputs_backend: Text | None = None
    speculative_config: JsonObject | None = None
    limit_mm_per_prompt: JsonObject | None = None
    hf_overrides: JsonObject | None = None
    compilation_config: JsonObject | None = None
    enable_lora: Flag | None = None
    max_loras: Count | None = None
    max_lora_rank: Count | None = None
    max_cpu_loras: Count | None = None
    fully_sharded_loras: Flag | None = None
    lora_extra_vocab_size: WholeNumber | None = None
    enable_auto_tool_choice: Flag | None = None
    tool_call_parser: Text | None = None
    reasoning_parser: Text | None = None
    chat_template: Text | None = None
    output_formatter: Text | None = None
    speculative_draft_model: Text | None = None
    speculative_length: Count | None = None
    draft_model_tp_size: Count | None = None
    max_input_len: Count | None = None
    max_beam_width: Count | None = None
    model_loading_timeout: Count | None = None
    predict_timeout: Count | None = None
    fail_fast: Flag | None = None
    job_queue_size: Count | None = None
    engine_args: Annotated[Mapping[str, Any], AfterValidator(dict), AfterValidator(_json)] = Field(
        default_factory=dict
    )
    environment: Annotated[Mapping[str, str], AfterValidator(dict)] = Field(default_factory=dict)

    if not TYPE_CHECKING:  # keeps the typed signature that the fields give

        def __init__(self, **values: object) -> None:
            """Check all values, and raise every fault at once as the library's own error."""
            try:
                super().__init__(**values)
            except ValidationError as error:
                raise LmiError(validation_findings(error, type(self).model_fields)) from None

    @model_validator(mode="after")
    def _check_relations(self) -> LmiSettings:
        raise_errors(clashes(self))
        return self

    @classmethod
    def from_environment(cls, environment: Mapping[str, object]) -> LmiSettings:
        """Return the settings in environment variables.

        Names of text-generation-inference that the image understands are read too. Where the model
        is and its access token are left out: they are no settings.

        Raises:
            LmiError: If a value is not possible (LMI010).
        """
        return cls(**reading.settings_in(environment, None))

    @classmethod
    def from_serving_properties(cls, text: str) -> LmiSettings:
        """Return the settings in the text of a serving.properties.

        Raises:
            LmiError: If a value is not possible (LMI010).
        """
        return cls(**reading.settings_in({}, text))

    def to_environment(self, container: LmiContainer | None = None) -> dict[str, str]:
        """Return the environment variables for a release.

        Nothing is rendered that the release would drop; what that is, [`check`][] says.

        Raises:
            LmiError: If the release would refuse something, all faults at once.
        """
        release = container or LmiContainer.default()
        raise_errors(self.check(release))
        return rendering.environment(self, release)[0]

    def to_serving_properties(
        self, container: LmiContainer | None = None, model_id: str | None = None
    ) -> str:
        """Return the text of a serving.properties for a release.

        Variables that no file can carry (`environment`, `fail_fast`) are named in a comment.

        Args:
            container: The release; by default the library's default release.
            model_id: Hub id or s3:// prefix of the model, if it does not lie beside the file.

        Raises:
            LmiError: If the release would refuse something, all faults at once.
        """
        release = container or LmiContainer.default()
        raise_errors(f for f in self.check(release) if f.rule != "LMI005")  # limits of variables
        return rendering.serving_properties(self, release, model_id)

    def check(
        self, container: LmiContainer | None = None, gpus: int | None = None
    ) -> tuple[Finding, ...]:
        """Return everything that is wrong with these settings on a release, errors first."""
        return rendering.check(self, container or LmiContainer.default(), gpus)

    def merged(self, other: LmiSettings) -> LmiSettings:
        """Return these settings with those that `other` sets on top."""
        values = {**self.given(), **other.given()}
        for name in ("engine_args", "environment"):
            values[name] = {**getattr(self, name), **getattr(other, name)}
        return LmiSettings(**values)

    def replace(self, **changes: object) -> LmiSettings:
        """Return these settings with some fields changed; `None` unsets a field."""
        values: dict[str, Any] = {**self.given(), **changes}
        return LmiSettings(**values)

    def given(self) -> dict[str, Any]:
        """Return the fields that are set."""
        return {
            name: value
            for name in type(self).model_fields
            if (value := getattr(self, name)) is not None and value != {}
        }

    @property
    def remedy(self) -> Remedies:
        """What to change when something goes wrong in operation."""
        from lmi_constructs.container.remedies import Remedies

        return Remedies(self)

    def __hash__(self) -> int:
        """Hash by what is set, so that settings can be keys; of objects, whose order may differ, by name."""
        values = self.given().items()
        return hash(
            tuple((name, value) if isinstance(value, Hashable) else name for name, value in values)
        )

    def __repr__(self) -> str:
        """Show only what is set."""
        return f"LmiSettings({', '.join(f'{k}={v!r}' for k, v in self.given().items())})"

    __str__ = __repr__


TEXT_FIELDS: Final = frozenset(
    name for name, field in LmiSettings.model_fields.items() if field.annotation == Text | None
)

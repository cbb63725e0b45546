"""What the container's property classes refuse."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from lmi_constructs.container import value_parsers
from lmi_constructs.container.recommender import TRANSFORMERS_HANDLER
from lmi_constructs.container.serving_properties import Option, Unknown, shown
from lmi_constructs.container.stage import Stage, refusal
from lmi_constructs.facts.engine_arguments import registered

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lmi_constructs.facts.handler import HandlerProperty
    from lmi_constructs.findings import Finding


ENGINES_DTYPES: Final = {"auto": "auto", "fp32": "float32", "fp16": "float16", "bf16": "bfloat16"}


def class_errors(stage: Stage) -> Iterator[Finding]:
    """Check what every Python handler checks: the common and the Transformers classes."""
    vllm = stage.recommended.serves_with_vllm
    for option in stage.properties.options.values():
        row = stage.declared.get(option.name)
        if row is None or row.owner == "server" or (row.owner == "vllm" and not vllm):
            continue
        problem = type_problem(row, option)
        if problem:
            yield refusal(
                option,
                f"{option} {problem}",
                f"give {option.name} a value of type {row.type.removeprefix('optional_')}"
                + (f": {', '.join(row.choices)}" if row.choices else ""),
                source=row.source,
            )
    yield from _degree_errors(stage)
    yield from _rolling_batch_errors(stage)
    yield from _dtype_errors(stage)
    yield from _bitsandbytes_errors(stage)
    yield from _streaming_errors(stage)


def vllm_class_errors(stage: Stage) -> Iterator[Finding]:
    """Check what the property class of the vLLM handlers checks."""
    yield from _engine_errors(stage)
    yield from _pipeline_parallel_errors(stage)
    yield from _parser_errors(stage, "enable_auto_tool_choice", "tool_call_parser", "tool_parsers")
    yield from _parser_errors(stage, "enable_reasoning", "reasoning_parser", "reasoning_parsers")


def type_problem(row: HandlerProperty, option: Option) -> str | None:
    """Return why a value is none of the declared type, or `None` if it is one or is not known."""
    if option.text is None or row.type == "rolling_batch":
        return None
    if row.name == "tensor_parallel_degree" and option.text == "max":
        return None
    reader = (
        value_parsers.one_of(*row.choices)
        if row.choices
        else value_parsers.PROPERTY_READERS[row.type]
    )
    try:
        reader(option.text)
    except ValueError as error:
        return str(error)
    return None


def _degree_errors(stage: Stage) -> Iterator[Finding]:
    """Check degrees that come from the plain variables, which no class row covers."""
    degree = stage.recommended.tensor_parallel_degree
    if "tensor_parallel_degree" not in stage.properties.options and isinstance(degree, str):
        try:
            degree == "max" or value_parsers.whole(degree)
        except ValueError:
            where = stage.properties.origins.get("TENSOR_PARALLEL_DEGREE", "TENSOR_PARALLEL_DEGREE")
            yield refusal(
                where,
                f"{where}={shown(degree)} is neither max nor a whole number",
                "set it to max, in lower case, or to a number of GPUs",
            )


def _rolling_batch_errors(stage: Stage) -> Iterator[Finding]:
    value, handler = stage.recommended.rolling_batch, stage.recommended.handler
    if isinstance(value, Unknown):
        return
    option = stage.properties.options.get("rolling_batch") or "OPTION_ROLLING_BATCH"
    unusable = handler == TRANSFORMERS_HANDLER and value not in ("vllm", "disable")
    if value not in stage.behavior.rolling_batch or unusable:
        name = stage.container.name
        yield refusal(
            option,
            f"rolling_batch={shown(value)} is not served by the image of {name}",
            _rolling_batch_fix(value, stage),
            source=stage.behavior.source,
        )


def _rolling_batch_fix(value: str, stage: Stage) -> str:
    if value.lower() == "trtllm":
        return "use the TensorRT-LLM image (LmiContainer.TRTLLM), or remove rolling_batch for vLLM"
    if value.lower() == "tnx":
        return "use the Neuron image (LmiContainer.NEURONX), or remove rolling_batch for vLLM"
    if value.lower() in stage.behavior.rolling_batch:
        return f"write it in lower case: {value.lower()}"
    return "remove it: the release then serves with vLLM"


def _dtype_errors(stage: Stage) -> Iterator[Finding]:
    option = stage.properties.options.get("dtype")
    if option is None or option.text is None:
        return
    allowed = [*ENGINES_DTYPES, "int8"]
    vllm = stage.recommended.serves_with_vllm
    if option.text.lower() not in allowed or (vllm and option.text not in ENGINES_DTYPES):
        quantized = option.text.lower().startswith(("fp8", "int8", "int4", "float8"))
        yield refusal(
            option,
            f"{option} is not a data type of the container (auto, fp16, bf16, fp32)",
            "use OPTION_QUANTIZE=fp8 to quantize while loading, or set nothing for a checkpoint"
            " that is already quantized"
            if quantized
            else "write auto, fp16, bf16 or fp32 (long names such as bfloat16 are refused)",
            source=stage.declared["dtype"].source,
        )


def _bitsandbytes_errors(stage: Stage) -> Iterator[Finding]:
    """Check 4 and 8 bit loading, which the Transformers classes refuse outside rolling batch."""
    options = stage.properties.options
    if stage.recommended.rolling_batch in stage.behavior.bitsandbytes_checked_unless:
        return
    if isinstance(stage.recommended.rolling_batch, Unknown) or "device_map" in options:
        return
    requested = [
        option
        for name in ("load_in_4bit", "load_in_8bit")
        if (option := options.get(name)) and (option.text or "").lower() in value_parsers.TRUE
    ]
    quantize = options.get("quantize")
    if quantize is not None and quantize.text in ("bitsandbytes4", "bitsandbytes8"):
        requested.append(quantize)
    for option in requested:
        yield refusal(
            option,
            f"{option} is refused in this mode: only the plain Transformers handler takes it, with"
            " a device map",
            "use OPTION_QUANTIZE=bitsandbytes where the engine has it, or a pre-quantized model",
            source=stage.behavior.source,
        )


def _streaming_errors(stage: Stage) -> Iterator[Finding]:
    """Check dynamic batching, which excludes the old streaming switch."""
    size = stage.properties.text("batch_size") or stage.properties.model.get("batch_size", "1")
    streaming = stage.properties.text("enable_streaming", "false") or "false"
    several = isinstance(size, str) and value_parsers.counted(size, 1) > 1
    if several and streaming.lower() != "false" and stage.recommended.rolling_batch == "disable":
        yield refusal(
            stage.properties.options["enable_streaming"],
            f"enable_streaming={shown(streaming)} cannot be combined with batch_size={size}",
            "remove enable_streaming: requests ask for streaming themselves",
            source=stage.declared["batch_size"].source,
        )


def _engine_errors(stage: Stage) -> Iterator[Finding]:
    """Check that vLLM is run by the Python engine of DJL Serving."""
    engine_name = stage.properties.model.get("engine", "Python")
    if isinstance(engine_name, str) and engine_name != "Python":
        where = "OPTION_ENGINE" if "OPTION_ENGINE" in stage.properties.environment else "engine"
        yield refusal(
            where,
            f"engine={shown(engine_name)} cannot run vLLM",
            "write Python, or remove the setting",
        )


def _pipeline_parallel_errors(stage: Stage) -> Iterator[Finding]:
    """Check that the pipeline has one stage."""
    name, options = "pipeline_parallel_degree", stage.properties.options
    degree = stage.recommended.pipeline_parallel_degree
    if isinstance(degree, str) and degree != "1" and degree.strip() not in ("1", "1.0", "+1"):
        yield refusal(
            options[name] if name in options else name.upper(),
            f"pipeline_parallel_degree={shown(degree)} is refused: the vLLM handlers allow only 1",
            "remove it and use tensor_parallel_degree",
            source=stage.declared[name].source,
        )


def _parser_errors(stage: Stage, switch: str, parser: str, kind: str) -> Iterator[Finding]:
    """Check that a switch has the parser that it needs, and that the engine has this parser.

    Args:
        stage: The settings and what reads them.
        switch: Option that needs a parser.
        parser: Option that names the parser.
        kind: Which parsers of the engine may be named.
    """
    options, version = stage.properties.options, stage.container.release.engine_version or ""
    option, known = options.get(parser), registered(kind, version)
    if (stage.properties.text(switch) or "").lower() not in value_parsers.TRUE or not known:
        return
    if option is None:
        problem = "not set"
    elif option.text is not None and option.text not in known:
        problem = f"{shown(str(option.value))}, which this engine does not have"
    else:
        return
    yield refusal(
        option or options[switch],
        f"{switch} needs a {parser}, but it is {problem}",
        f"set {parser} to one of {', '.join(sorted(known))}",
        source=f"vllm {version} wheel",
    )

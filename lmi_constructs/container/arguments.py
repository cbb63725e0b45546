"""The first stage: what the container's property classes and the engine's parser do."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from lmi_constructs._near_names import did_you_mean
from lmi_constructs.container import value_parsers
from lmi_constructs.container.engine_parser import parse_text
from lmi_constructs.container.property_classes import (
    ENGINES_DTYPES,
    class_errors,
    type_problem,
    vllm_class_errors,
)
from lmi_constructs.container.quantization_methods import successor
from lmi_constructs.container.stage import CONTAINERS_MAX_LORAS, Arguments, Stage, refusal

if TYPE_CHECKING:
    from lmi_constructs.container.serving_properties import Option
    from lmi_constructs.facts.engine_arguments import EngineArgument
    from lmi_constructs.facts.handler import HandlerProperty

# Names that both sides have and that the container compares as text with a number, so that even
# equal values differ (vllm_rb_properties.py, handle_lmi_vllm_config_conflicts).
TWICE_NAMED: Final = {
    "max_num_seqs": "max_rolling_batch_size",
    "tensor_parallel_size": "tensor_parallel_degree",
    "pipeline_parallel_size": "pipeline_parallel_degree",
}
_RECOMMENDED: Final = ("tensor_parallel_degree", "max_rolling_batch_size", "rolling_batch")
"""Settings whose value is taken from the recommender, which has read them."""


def read_arguments(stage: Stage) -> Arguments:
    """Run the property classes and the engine's parser over the merged settings."""
    result = Arguments()
    result.errors.extend(class_errors(stage))
    if stage.recommended.serves_with_vllm:
        result.errors.extend(vllm_class_errors(stage))
        _pass_through(stage, result)
    return result


def _pass_through(stage: Stage, result: Arguments) -> None:
    """Pass every remaining option to the engine, or note that nothing reads it."""
    _known_settings(stage, result)
    aliases = {row.engine: row.name for row in stage.declared.values() if row.engine}
    for option in stage.properties.options.values():
        row = stage.declared.get(option.name) or stage.declared.get(aliases.get(option.name, ""))
        argument = stage.table.get(option.name)
        if row is not None and row.owner == "huggingface":
            result.ignored.append(option)
        elif row is not None:
            _read_declared(row, option, stage, result)
        elif argument is None or not argument.passed:
            result.ignored.append(option)
        elif option.name in TWICE_NAMED:
            result.errors.append(
                refusal(
                    option,
                    f"{option.where} keeps the model from loading on every release, even with an equal value",
                    f"use {TWICE_NAMED[option.name]} (OPTION_{TWICE_NAMED[option.name].upper()})",
                    source="vllm_rb_properties.py: handle_lmi_vllm_config_conflicts",
                )
            )
        else:
            _read_engine(argument, option, stage, result)


def _known_settings(stage: Stage, result: Arguments) -> None:
    """Note the settings that the container always hands to the engine."""
    recommended = stage.recommended
    if isinstance(recommended.tensor_parallel_degree, str):
        degree = recommended.tensor_parallel_degree
        result.effective["tensor_parallel_degree"] = _number(degree) if degree != "max" else "max"
    if isinstance(recommended.max_rolling_batch_size, str):
        result.effective["max_num_seqs"] = _number(recommended.max_rolling_batch_size)
    result.effective["max_loras"] = CONTAINERS_MAX_LORAS


def _read_declared(row: HandlerProperty, option: Option, stage: Stage, result: Arguments) -> None:
    """Read a declared setting; where the engine's parser sees it too, let that check it."""
    name = row.engine or option.name
    if option.text is None or row.owner in ("server", "handler") or name in _RECOMMENDED:
        return
    if name == "dtype":
        if option.text in ENGINES_DTYPES:
            result.effective["dtype"] = ENGINES_DTYPES[option.text]
        return
    problem = type_problem(row, option)
    if row.engine is None:
        if problem is None:
            result.effective[name] = value_parsers.PROPERTY_READERS.get(row.type, str)(option.text)
        return
    if problem and option.name != row.name:
        result.errors.append(
            refusal(
                option,
                f"{option} {problem}",
                f"give it a value of type {row.type.removeprefix('optional_')}",
            )
        )
    if problem is None and name in stage.table:
        _read_engine(stage.table[name], option, stage, result)


def _read_engine(argument: EngineArgument, option: Option, stage: Stage, result: Arguments) -> None:
    if option.text is None:
        return
    try:
        value = parse_text(argument, option.text, stage.behavior)
    except ValueError as error:
        result.errors.append(
            refusal(
                option,
                f"{option} {error}",
                _engine_fix(argument, option),
                source=argument.source,
            )
        )
        return
    if option.text.lower() == "false" and value is None:
        result.dropped.append(option)
    elif value is not None:
        result.effective[argument.name] = value


def _engine_fix(argument: EngineArgument, option: Option) -> str:
    if argument.action == "store_true":
        return "remove it: the engine's default is false already, and only true can be given"
    if argument.action in ("boolean_optional", "store_boolean"):
        return "write true or false"
    if argument.choices:
        choices = [str(choice) for choice in argument.choices]
        one_of = "use one of " + ", ".join(choices)
        instead = successor(option.text or "", choices) if argument.name == "quantization" else ""
        if instead:
            return instead + one_of
        return did_you_mean(option.text or "", choices, one_of, most=3)
    kinds = {
        "int": "a whole number",
        "float": "a number",
        "json": "JSON, as json.dumps writes it",
        "config": "a JSON object, as json.dumps writes it, with the keys that this engine knows",
        "human_readable_int": "a whole number such as 16384 or 16K",
        "human_readable_int_or_auto": "a whole number such as 16384 or 16K, or auto",
        "nullable_kvs": "pairs such as image=4,video=1",
    }
    return "give it " + kinds.get(argument.type or "", "a plain text value")


def _number(text: str) -> int | str:
    try:
        return value_parsers.whole(text)
    except ValueError:
        return text

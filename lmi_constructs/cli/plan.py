"""`lmi plan`: what a model takes of an instance, and how many requests fit at once."""

from __future__ import annotations

import json
import sys
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from lmi_constructs._near_names import did_you_mean, meant
from lmi_constructs.cli._number import Number

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from lmi_constructs.container import LmiContainer
    from lmi_constructs.planner import Architecture, EngineConfiguration, Plan, Suggestion

_LONGEST_NUMBER = 13
"""Digits and a unit: what is longer is a slip, not a context."""


def _tokens(text: str) -> int:
    """Return a number of tokens, read as the engine reads it: `16K` is 16,384, `16k` is 16,000."""
    from lmi_constructs.container.value_parsers import readable_whole

    try:
        tokens = readable_whole(text, "km") if len(text.strip()) <= _LONGEST_NUMBER else 0
    except ValueError:
        tokens = 0
    if tokens < 1:
        raise click.BadParameter(f"{text!r} is no number of tokens such as 16384 or 16K")
    return tokens


def _list_models(context: click.Context, _: click.Parameter, wanted: bool) -> None:
    """Print the hub ids of the known models, one a line, and end."""
    if not wanted or context.resilient_parsing:
        return
    from lmi_constructs.facts import models

    click.echo("\n".join(sorted((facts.hub_id for facts in models().values()), key=str.lower)))
    context.exit()


@click.command()
@click.option(
    "--list-models",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=_list_models,
    help="Print the hub ids of all models that the planner knows.",
)
@click.option("--model", help="Hub id of a model that the planner knows, such as Qwen/Qwen3-32B.")
@click.option(
    "--config",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="A model's own config.json.",
)
@click.option("--instance", required=True, help="SageMaker instance type, such as ml.g6.12xlarge.")
@click.option("--container", help="Container release, such as v27. Default: the library's.")
@click.option("--tp", default="max", show_default=True, help="tensor_parallel_degree, or max.")
@click.option(
    "--max-model-len",
    type=_tokens,
    metavar="TOKENS",
    help="Longest context, such as 16384 or 16K (16k is 16000).",
)
@click.option(
    "--max-num-seqs", type=click.IntRange(1, 10**12), help="Maximum concurrent sequences."
)
@click.option(
    "--max-num-batched-tokens",
    type=_tokens,
    metavar="TOKENS",
    help="Maximum tokens per batch, such as 8K.",
)
@click.option("--dtype", type=click.Choice(["auto", "fp16", "bf16", "fp32"]), help="Data type.")
@click.option("--kv-cache-dtype", help="Data type of the KV cache, such as fp8.")
@click.option("--quantization", help="Quantization of the weights, such as awq or fp8.")
@click.option(
    "--gpu-memory-utilization",
    type=Number(0, 1, min_open=True),
    help="Share of each GPU's memory that the engine may use.",
)
@click.option(
    "--measured-cache",
    type=Number(0, 10**6, min_open=True),
    metavar="GIB",
    help="GiB of KV cache on each GPU, from the log of this engine; replaces the estimate.",
)
@click.option("--expert-parallel", is_flag=True, help="Distribute whole experts over the GPUs.")
@click.option(
    "--concurrency-at",
    type=_tokens,
    metavar="TOKENS",
    help="Request length to count concurrency at.",
)
@click.option("--region", help="Region from which to suggest instance types.")
@click.option("--format", "form", type=click.Choice(["text", "json"]), default="text")
def plan(
    model: str | None,
    config: Path | None,
    instance: str,
    container: str | None,
    tp: str,
    max_model_len: int | None,
    max_num_seqs: int | None,
    max_num_batched_tokens: int | None,
    dtype: str | None,
    kv_cache_dtype: str | None,
    quantization: str | None,
    gpu_memory_utilization: float | None,
    measured_cache: float | None,
    expert_parallel: bool,
    concurrency_at: int | None,
    region: str | None,
    form: str,
) -> None:
    """Plan how much of an instance a model uses, and how many concurrent requests fit.

    The exit code is 0 for the grades fits, marginal (may or may not start) and unknown (not planned),
    because the planner refuses only what it is sure of; --format json has the grade. It is 1 for the
    grade cannot (does not start), and 2 for a usage error, such as an unknown model, or a file that
    cannot be read.
    """
    from lmi_constructs.container.property_classes import ENGINES_DTYPES
    from lmi_constructs.planner import EngineConfiguration
    from lmi_constructs.planner.explanation import copies

    architecture, release = _architecture_and_release(model, config, container)
    _known_cache_dtype(kv_cache_dtype, release)
    _known_quantization(quantization, release)
    _known_region(region)
    count, degree = _accelerators(instance), _degree(tp)
    configuration = EngineConfiguration.in_container(
        release,
        count,
        tensor_parallel_degree=degree,
        max_model_len=max_model_len,
        max_num_seqs=max_num_seqs,
        max_num_batched_tokens=max_num_batched_tokens,
        dtype=dtype and ENGINES_DTYPES[dtype],
        kv_cache_dtype=kv_cache_dtype,
        quantization=quantization,
        gpu_memory_utilization=gpu_memory_utilization,
        expert_parallel=expert_parallel or None,
    )
    planned, suggestions = _planned(architecture, instance, configuration, region, measured_cache)
    _within_context(concurrency_at, planned)
    notes = [
        *([] if max_num_seqs else _sequences(configuration, release)),
        *copies(planned),
        *_nowhere(planned, suggestions, region),
    ]
    if form == "json":
        content = _as_json(planned, suggestions, release, concurrency_at)
        content["notes"] = notes
        click.echo(json.dumps(content, indent=2))
    else:
        from lmi_constructs.cli._plan_text import show

        show(planned, suggestions, release, concurrency_at, notes)
    sys.exit(planned.grade == "cannot")


def _architecture_and_release(
    model: str | None, config: Path | None, container: str | None
) -> tuple[Architecture, LmiContainer]:
    from lmi_constructs.container import LmiContainer
    from lmi_constructs.findings import LmiError

    try:
        architecture = _architecture(model, config)
        release = LmiContainer.default() if container is None else LmiContainer.of(container)
    except LmiError as error:
        raise click.UsageError(str(error)) from error
    return architecture, release


def _planned(
    architecture: Architecture,
    instance: str,
    configuration: EngineConfiguration,
    region: str | None,
    measured_cache: float | None,
) -> tuple[Plan, Sequence[Suggestion]]:
    """Return the plan with its advice, and what would fit instead.

    Raises:
        click.BadParameter: If no engine can have measured such a cache there.
    """
    from lmi_constructs.findings import LmiError
    from lmi_constructs.planner import advised_findings, suggest
    from lmi_constructs.planner import plan as compute

    try:
        planned = compute(architecture, instance, configuration, measured_cache_gib=measured_cache)
    except LmiError as error:
        fix = "; ".join(finding.fix for finding in error.findings)
        raise click.BadParameter(fix, param_hint="--measured-cache") from error
    estimated = measured_cache is None  # suggestions are estimates, which a measurement would belie
    suggestions = suggest(architecture, instance, configuration, region) if estimated else ()
    found = advised_findings(planned, region, suggestions, door="command")
    return replace(planned, findings=found), suggestions


def _architecture(model: str | None, config: Path | None) -> Architecture:
    from lmi_constructs.planner import Architecture, similar_models

    if (model is None) == (config is None):
        raise click.UsageError("give either --model or --config")
    if config is not None:
        return Architecture.from_config_json(config)
    found = Architecture.known(model or "")
    if found is None:
        hint = meant(similar_models(model or ""), "give the model's config.json with --config")
        raise click.BadParameter(
            f"{model!r} is not among the models that the planner knows; {hint}."
            " `lmi plan --list-models` prints those that it knows.",
            param_hint="--model",
        )
    return found


def _accelerators(instance: str) -> int:
    """Return how many accelerators an instance type has."""
    from lmi_constructs.facts import instance_types

    known = instance_types().get(instance)
    if known is None:
        hint = did_you_mean(instance, instance_types(), "write it like ml.g6.48xlarge", most=3)
        raise click.BadParameter(
            f"{instance!r} is no known hosting instance type with accelerators; {hint}",
            param_hint="--instance",
        )
    return known.accelerator_count


def _degree(tp: str) -> int | None:
    """Return the degree that is given, `None` for all accelerators."""
    if tp == "max":
        return None
    if not (tp.isascii() and tp.isdecimal()) or len(tp) > 12 or not int(tp):
        raise click.BadParameter(f"{tp!r} is neither a number nor max", param_hint="--tp")
    return int(tp)


def _known_cache_dtype(given: str | None, release: LmiContainer) -> None:
    """Refuse a number format that the release's engine does not have, where its formats are known."""
    from lmi_constructs.facts.engine_arguments import engine_arguments

    arguments = engine_arguments(release.release.engine_version or "") or {}
    argument = arguments.get("kv_cache_dtype")
    choices = tuple(map(str, argument.choices or ())) if argument else ()
    if given is not None and choices and given not in choices:
        raise click.BadParameter(
            f"{given!r} is no format of the cache in {release.name} (vLLM"
            f" {release.release.engine_version}). Use one of {', '.join(choices)}.",
            param_hint="--kv-cache-dtype",
        )


def _known_quantization(given: str | None, release: LmiContainer) -> None:
    """Refuse a method that the release's engine does not have, where its methods are known."""
    from lmi_constructs.facts.engine_arguments import registered

    version = release.release.engine_version
    known = sorted(registered("quantization_methods", version or "") or ())
    if given is not None and known and given.lower() not in known:
        hint = did_you_mean(given, known, f"use one of {', '.join(known)}", most=3)
        raise click.BadParameter(
            f"{given!r} is no quantization method of {release.name} (vLLM {version}); {hint}",
            param_hint="--quantization",
        )


def _within_context(tokens: int | None, planned: Plan) -> None:
    """Refuse to count requests that are longer than the engine takes."""
    context = planned.setup.context
    if tokens is not None and context is not None and tokens > context:
        raise click.BadParameter(
            f"no request has {tokens} tokens: the engine refuses what is longer than max_model_len,"
            f" which is {context}. Count at {context} or less, or raise --max-model-len.",
            param_hint="--concurrency-at",
        )


def _known_region(given: str | None) -> None:
    """Refuse a region in which no instance type could be suggested."""
    from lmi_constructs.facts import instance_types

    known = sorted({region for one in instance_types().values() for region in one.regions})
    if given is not None and given not in known:
        hint = did_you_mean(given, known, f"use one of {', '.join(known)}", most=3)
        raise click.BadParameter(
            f"{given!r} is no region with a known hosting instance type that has accelerators;"
            f" {hint}",
            param_hint="--region",
        )


def _sequences(configuration: EngineConfiguration, release: LmiContainer) -> list[str]:
    """Return what to say of the sequences that the container itself sets."""
    if configuration.max_num_seqs is None:
        return []
    return [
        f"max_num_seqs is {configuration.max_num_seqs}: {release.name} sets it unless"
        " OPTION_MAX_ROLLING_BATCH_SIZE says otherwise"
    ]


def _nowhere(planned: Plan, suggestions: Iterable[Suggestion], region: str | None) -> list[str]:
    """Return that no instance type of a region fits, where one was looked for."""
    if region is None or planned.grade not in ("cannot", "marginal"):
        return []
    if any(one.kind == "instance_type" and one.plan.grade == "fits" for one in suggestions):
        return []
    return [f"no other instance type in {region} surely fits with these settings"]


def _as_json(
    planned: Plan,
    suggestions: Iterable[Suggestion],
    release: LmiContainer,
    concurrency_at: int | None,
) -> dict[str, Any]:
    figures = (
        "weights_gib kv_cache_gib kv_needed_gib activation_gib overhead_gib cuda_graph_gib"
        " budget_gib usable_gib total_gib kv_tokens max_context sure_context max_concurrency"
        " repository_bytes doubt"
    )
    content: dict[str, Any] = {
        "model": planned.architecture.name,
        "instance_type": planned.instance_type,
        "accelerator": planned.accelerator.name,
        "accelerator_count": planned.accelerator_count,
        "container": release.name,
        "engine_version": list(planned.setup.version),
        "tensor_parallel_degree": planned.setup.tensor,
        "max_model_len": planned.setup.context,
        "max_num_seqs": planned.setup.sequences,
        "max_num_batched_tokens": planned.setup.batched_tokens,
        "grade": planned.grade,
        **{name: getattr(planned, name) for name in figures.split()},
        "start_up_seconds": None if planned.start_up is None else asdict(planned.start_up),
        "findings": [asdict(finding) for finding in planned.findings],
        "suggestions": [
            {
                "kind": s.kind,
                "change": s.written("command"),
                "changes": s.changes,
                "grade": s.plan.grade,
                "max_model_len": s.plan.setup.context,
                "max_concurrency": s.plan.max_concurrency,
            }
            for s in suggestions
        ],
    }
    if concurrency_at is not None:
        held = planned.concurrency_at(concurrency_at)
        content["concurrency_at"] = {"tokens": concurrency_at, "requests": held}
    return content

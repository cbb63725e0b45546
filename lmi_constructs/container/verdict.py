"""What a release does with an environment, told before anything is deployed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final, Literal

from lmi_constructs.container.arguments import read_arguments
from lmi_constructs.container.environment_limits import is_legal_name, limit_findings
from lmi_constructs.container.lost_settings import (
    beaten_by_file,
    dropped_false,
    never_read,
    set_twice,
)
from lmi_constructs.container.misspelled_variables import (
    file_findings,
    is_quoted,
    spelling_findings,
)
from lmi_constructs.container.mode_warnings import mode_findings
from lmi_constructs.container.recommender import ASYNC_HANDLER, TRANSFORMERS_HANDLER, recommend
from lmi_constructs.container.registered_models import (
    model_notes,
    models_are_known,
    startup_models,
)
from lmi_constructs.container.release import LmiContainer
from lmi_constructs.container.server_numbers import server_number_errors, unread_timeouts
from lmi_constructs.container.serving_properties import Properties, Unknown, merge, shown
from lmi_constructs.container.stage import Arguments, Stage, failure
from lmi_constructs.container.start_checks import start_findings
from lmi_constructs.container.value_parsers import boolean, decimal, whole
from lmi_constructs.facts.engine_arguments import derived_engines, engine_arguments
from lmi_constructs.facts.handler import handler_behavior
from lmi_constructs.facts.options import option_names
from lmi_constructs.findings import Finding

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

ArgumentsVerdict = Literal["accepted", "rejected", "accepted-ignoring", "accepted-without-vllm"]


@dataclass(frozen=True, slots=True)
class Verdict:
    """What a release does with an environment, in two stages.

    Attributes:
        arguments: First stage: whether the container's classes and the engine's argument parser
            take the settings. `accepted-without-vllm` means that a plain Transformers handler would
            serve the model.
        ignored: Names of options that nothing reads, if the arguments are accepted.
        starts: Second stage: `False` if something is known that ends the start or keeps the model
            from answering, `True` if nothing is known that does, `None` if the settings are not
            known well enough or the release was not studied.
        backend: What serves the model, or `None` if it is unknown.
        findings: Errors and warnings, each with the variable it is about and a fix.
        effective: The engine's resulting settings by engine name, and `tensor_parallel_degree`
            (`max` or a number). What is absent has the engine's own default.
        unknown: Settings, by the same names, whose value is known only at deployment.
    """

    arguments: ArgumentsVerdict
    ignored: frozenset[str] = frozenset()
    starts: bool | None = None
    backend: str | None = None
    findings: tuple[Finding, ...] = ()
    effective: Mapping[str, Any] = field(default_factory=dict)
    unknown: frozenset[str] = frozenset()

    @property
    def errors(self) -> tuple[Finding, ...]:
        """The findings that make a deployment fail."""
        return tuple(finding for finding in self.findings if finding.severity == "error")

    @property
    def warnings(self) -> tuple[Finding, ...]:
        """The findings about settings that do not do what they say."""
        return tuple(finding for finding in self.findings if finding.severity == "warning")


def verdict(
    environment: Mapping[str, object],
    container: LmiContainer | None = None,
    gpus: int | None = None,
    *,
    serving_properties: str | Mapping[str, object] | None = None,
    model_mounted: bool | None = None,
    text_generation: bool = True,
) -> Verdict:
    """Return what a release does with an environment.

    Values that are not known yet (CDK tokens, template parameters) are skipped: they never cause an
    error. It is assumed that the container can read the model's config.json.

    Args:
        environment: Environment variables of the container. Numbers and booleans are allowed.
        container: The release; by default the library's default release.
        gpus: GPUs that the container sees, to check the tensor-parallel degree.
        serving_properties: Text or mapping of the serving.properties beside the model, which wins
            over the environment.
        model_mounted: Whether model data is mounted at /opt/ml/model; `None` if unknown.
        text_generation: Whether the architecture ends in ForCausalLM, LMHeadModel or
            ForConditionalGeneration; others are not given to vLLM by default.

    Returns:
        The verdict; its findings say what to write instead.

    Raises:
        LmiError: If the server could not read the serving.properties (LMI011).
    """
    release = container or LmiContainer.default()
    if isinstance(serving_properties, Mapping) or not all(
        isinstance(value, str) for value in environment.values()
    ):
        return _verdict(
            environment, release, gpus, serving_properties, model_mounted, text_generation
        )
    return _repeated_verdict(
        tuple(environment.items()),
        release,
        gpus,
        serving_properties,
        model_mounted,
        text_generation,
    )


@lru_cache(maxsize=256)
def _repeated_verdict(
    environment: tuple[tuple[str, object], ...],
    release: LmiContainer,
    gpus: int | None,
    serving_properties: str | None,
    model_mounted: bool | None,
    text_generation: bool,
) -> Verdict:
    """Return the verdict on texts, which is asked for several times of each model."""
    return _verdict(
        dict(environment), release, gpus, serving_properties, model_mounted, text_generation
    )


def _verdict(
    environment: Mapping[str, object],
    release: LmiContainer,
    gpus: int | None,
    serving_properties: str | Mapping[str, object] | None,
    model_mounted: bool | None,
    text_generation: bool,
) -> Verdict:
    notes = [*limit_findings(environment)]
    environment = {name: value for name, value in environment.items() if isinstance(name, str)}
    properties = merge(environment, serving_properties)
    notes += spelling_findings(environment, option_names())
    notes += [*file_findings(properties, option_names()), *beaten_by_file(properties)]
    notes += [*model_notes(properties, model_mounted), *unread_timeouts(properties)]
    notes = _without_renamed(environment, notes)
    behavior = handler_behavior(release.release.lmi or 0)
    table = engine_arguments(release.release.engine_version or "")
    if behavior is None or table is None:
        return _without_table(release, properties, notes, model_mounted)
    recommended = recommend(properties, behavior, text_generation=text_generation)
    stage = Stage(release, behavior, table, properties, recommended)
    arguments = read_arguments(stage)
    starts = start_findings(stage, arguments, gpus=gpus, model_mounted=model_mounted)
    return _combined(stage, arguments, starts, notes, model_mounted)


def _combined(
    stage: Stage,
    arguments: Arguments,
    starts: list[Finding],
    notes: list[Finding],
    model_mounted: bool | None,
) -> Verdict:
    errors, notes = _without_quotes(arguments.errors, notes, stage.properties)
    refused = [*errors, *(note for note in notes if note.severity == "error")]
    vllm = stage.recommended.serves_with_vllm
    kind: ArgumentsVerdict = "accepted"
    if arguments.errors:
        kind = "rejected"
    elif vllm is False:
        kind = "accepted-without-vllm"
    elif arguments.ignored:
        kind = "accepted-ignoring"
    misspelled = {note.where for note in notes if note.rule == "LMI007"}
    warnings = [*never_read(stage, arguments, misspelled), *dropped_false(stage, arguments)]
    warnings += [*set_twice(stage), *mode_findings(stage, arguments.effective)]
    known = vllm is not None and models_are_known(stage.properties, model_mounted)
    ignored = kind == "accepted-ignoring"
    return Verdict(
        arguments=kind,
        ignored=frozenset(o.name for o in arguments.ignored) if ignored else frozenset(),
        starts=False if refused or starts else (True if known else None),
        backend=_backend(stage),
        findings=(*errors, *starts, *notes, *warnings),
        effective=arguments.effective,
        unknown=_unknown(stage),
    )


def _without_renamed(environment: Mapping[str, object], notes: list[Finding]) -> list[Finding]:
    """Return notes without those on the spelling of a name that is illegal anyway (LMI005)."""
    illegal = {name for name in environment if not is_legal_name(name)}
    return [one for one in notes if one.rule != "LMI007" or one.where not in illegal]


def _without_quotes(
    errors: Iterable[Finding], notes: list[Finding], properties: Properties
) -> tuple[list[Finding], list[Finding]]:
    """Return errors and notes; where quotes are why a value is refused, the error says so alone."""
    quoted = {
        error.where
        for error in errors
        if error.where and is_quoted(properties.environment.get(error.where))
    }
    said = [
        replace(error, fix="remove the quotes around it, which are part of the value")
        if error.where in quoted
        else error
        for error in errors
    ]
    return said, [one for one in notes if one.rule != "LMI008" or one.where not in quoted]


def _unknown(stage: Stage) -> frozenset[str]:
    """Return the engine's names of the settings whose value is not known yet."""
    names = {row.name: row.engine or row.name for row in stage.declared.values()}
    names["max_rolling_batch_size"] = "max_num_seqs"
    options = stage.properties.options.values()
    found = {names.get(option.name, option.name) for option in options if option.text is None}
    if isinstance(stage.recommended.tensor_parallel_degree, Unknown):
        found.add("tensor_parallel_degree")
    if isinstance(stage.recommended.max_rolling_batch_size, Unknown):
        found.add("max_num_seqs")
    return frozenset(found)


def _backend(stage: Stage) -> str | None:
    vllm = stage.recommended.serves_with_vllm
    if vllm is None:
        return None
    if not vllm:
        return "huggingface" if stage.recommended.handler == TRANSFORMERS_HANDLER else None
    return "vllm-async" if stage.recommended.handler == ASYNC_HANDLER else "vllm-rolling-batch"


def _without_table(
    container: LmiContainer,
    properties: Properties,
    notes: list[Finding],
    model_mounted: bool | None,
) -> Verdict:
    """Judge only the back end and the models: this release's parsers were not derived."""
    release = container.release
    backend = properties.text("rolling_batch", "auto")
    served = {name.removesuffix("-rolling-batch"): name for name in release.backends}
    names = {
        "vllm": "vllm-rolling-batch",
        "auto": release.default_backend,
        "disable": "huggingface",
    }
    chosen = names.get(backend or "", backend)
    found = list(startup_models(properties, model_mounted=model_mounted))
    found += server_number_errors(properties)
    if backend not in (None, "disable") and chosen not in served.values():
        found.append(
            failure(
                properties.options["rolling_batch"].where,
                f"rolling_batch={shown(backend)} is not served by the image {container.tag}",
                "use one of " + ", ".join(served) + ", or another image",
                release.source,
                rule="LMI001",
            )
        )
        return Verdict("rejected", starts=False, findings=(*found, *notes))
    note = Finding(
        rule="LMI016",
        message=f"the settings of {container.name} were not checked one by one",
        why="its property classes and engine were not examined",
        fix=f"check them against the release's own documentation, or use {_checked_releases()}",
        severity="warning",
        where="container",
        source=release.source,
    )
    starts = False if found or any(note.severity == "error" for note in notes) else None
    return Verdict(
        "accepted",
        starts=starts,
        backend=chosen,
        findings=(*found, *notes, note),
        effective=_read_plainly(properties),
        unknown=_plainly_unknown(properties),
    )


def _checked_releases() -> str:
    """Return the releases whose settings are checked one by one: `v15 to v29`."""
    names = [
        container.name
        for container in LmiContainer.all()
        if container.release.engine == "vllm"
        and container.release.engine_version in derived_engines()
    ]
    return f"{names[0]} to {names[-1]}"


_PLAIN: Final[dict[str, tuple[str, Callable[[str], object]]]] = {
    "tensor_parallel_degree": ("tensor_parallel_degree", whole),
    "max_rolling_batch_size": ("max_num_seqs", whole),
    "max_model_len": ("max_model_len", whole),
    "gpu_memory_utilization": ("gpu_memory_utilization", decimal),
    "quantize": ("quantization", str),
    "enable_lora": ("enable_lora", boolean),
    "max_loras": ("max_loras", whole),
    "max_lora_rank": ("max_lora_rank", whole),
}
"""Options that mean the same on every release, with the engine's name and how they are read."""


def _read_plainly(properties: Properties) -> dict[str, Any]:
    """Return the engine's settings as far as they mean the same on every release."""
    found: dict[str, Any] = {}
    for option_name, (engine_name, read) in _PLAIN.items():
        text = properties.text(option_name)
        if text is None and option_name == "tensor_parallel_degree":
            value = properties.environment.get("TENSOR_PARALLEL_DEGREE")
            text = value if isinstance(value, str) else None
        if text is None or text in ("max", "auto"):
            continue
        try:
            found[engine_name] = read(text)
        except ValueError:
            continue  # what this release makes of it is not known
    return found


def _plainly_unknown(properties: Properties) -> frozenset[str]:
    """Return the engine's names of such settings whose value is not known yet."""
    found = {
        _PLAIN[option.name][0]
        for option in properties.options.values()
        if option.name in _PLAIN and option.text is None
    }
    if isinstance(properties.environment.get("TENSOR_PARALLEL_DEGREE"), Unknown):
        found.add("tensor_parallel_degree")
    return frozenset(found)

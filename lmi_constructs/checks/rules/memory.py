"""Whether the model fits on the instance: the planner's findings, as rules.

The one joint with [`lmi_constructs.planner`][], which is loaded when a container runs a release whose
settings are known. A model is known by its hub id, by the shape that our constructs wrote beside it,
or by the `config.json` that the user gives for it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from lmi_constructs.checks.examples import Example, llama_config
from lmi_constructs.checks.queries.caching import cached_per_deployment
from lmi_constructs.checks.queries.container_images import release
from lmi_constructs.checks.queries.containers import environment
from lmi_constructs.checks.queries.instance_types import instance
from lmi_constructs.checks.rules.base import Rule, placed, with_severity
from lmi_constructs.checks.rules.engine import judged_runs, presumed_runs
from lmi_constructs.checks.rules.published_images import newest
from lmi_constructs.findings import LmiError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lmi_constructs.checks.deployment import Deployment
    from lmi_constructs.checks.queries.containers import Running
    from lmi_constructs.checks.resources import Resource
    from lmi_constructs.container import Verdict
    from lmi_constructs.findings import Finding
    from lmi_constructs.planner import Architecture, Plan

_ENVIRONMENT: Final = "Model/Properties/PrimaryContainer/Environment"
_TYPE: Final = "Config/Properties/ProductionVariants/0/InstanceType"
_VLLM: Final = "https://docs.vllm.ai/en/latest/configuration/conserving_memory/"

_70B: Final = {"hidden_size": 8192, "intermediate_size": 28672, "num_hidden_layers": 80}
_GIANT: Final = {"hidden_size": 16384, "intermediate_size": 65536, "num_hidden_layers": 512}
_MIXTURE: Final[dict[str, object]] = {
    "architectures": ["Qwen3MoeForCausalLM"],
    "model_type": "qwen3_moe",
    "num_experts": 128,
    "num_experts_per_tok": 8,
    "moe_intermediate_size": 768,
    "hidden_size": 2048,
    "head_dim": 128,
    "num_hidden_layers": 48,
    "num_key_value_heads": 4,
    "quantization_config": {"quant_method": "fp8", "weight_block_size": [128, 128]},
}


_OF_CONTAINER: Final = "LMI055"
"""More ranks than GPUs, which the container finds before the engine plans anything."""


class _OfPlan(Rule):
    """A rule whose findings the planner makes."""

    source = _VLLM
    passing = Example(model_config=llama_config())

    def check(self, deployment: Deployment) -> Iterator[Finding]:
        """Yield what the plan of each known model on its instance says."""
        for planned in plans(deployment):
            yield from findings_of(planned, self.id, self.source)


class DoesNotFit(_OfPlan):
    """LMI050."""

    id = "LMI050"
    title = "the model does not fit on the instance"
    why = "the engine runs out of memory at start"
    fix = "use an instance with more memory, or quantized weights"
    failing = Example(model_config=llama_config(**_70B, num_attention_heads=64))


class FitsBarely(_OfPlan):
    """LMI051."""

    id = "LMI051"
    title = "the model fits only just"
    severity = "warning"
    why = "the engine may not start, or serves few requests at once"
    fix = "shorten the context, or use an instance with more memory"
    failing = Example(
        {
            _TYPE: "ml.g5.2xlarge",
            f"{_ENVIRONMENT}/OPTION_TENSOR_PARALLEL_DEGREE": "1",
            f"{_ENVIRONMENT}/OPTION_MAX_MODEL_LEN": "34816",
        },
        model_config=llama_config(),
    )


class HeadsNotDivisible(_OfPlan):
    """LMI052."""

    id = "LMI052"
    title = "the attention heads cannot be shared by the ranks"
    why = "the engine stops at start: the number of heads is not a multiple of the degree"
    fix = "set OPTION_TENSOR_PARALLEL_DEGREE to a divisor of the number of heads"
    source = "https://github.com/vllm-project/vllm/issues/2652"
    failing = Example(model_config=llama_config(num_attention_heads=30, num_key_value_heads=6))


class BlocksNotDivisible(_OfPlan):
    """LMI053."""

    id = "LMI053"
    title = "the quantized weights cannot be shared by the ranks"
    why = "one rank's share is not a multiple of the quantization's blocks or groups"
    fix = "use a smaller degree, or expert parallelism"
    source = "https://github.com/vllm-project/vllm/issues/25292"
    failing = Example({_TYPE: "ml.g6e.12xlarge"}, model_config=llama_config(**_MIXTURE))


class ContextTooLong(_OfPlan):
    """LMI056."""

    id = "LMI056"
    title = "the context is longer than the model's own"
    why = "the engine refuses a context that the model was not made for"
    fix = "set OPTION_MAX_MODEL_LEN to at most the model's own context"
    failing = Example(model_config=llama_config(max_position_embeddings=4096))


class TooLittleStorage(_OfPlan):
    """LMI057."""

    id = "LMI057"
    title = "the weights are larger than the instance's local storage"
    why = "the download fails when the storage is full"
    fix = "use a larger instance, or a checkpoint that is quantized already"
    source = "https://docs.aws.amazon.com/sagemaker/latest/dg/host-instance-storage.html"
    failing = Example(
        {
            _TYPE: "ml.g6e.xlarge",
            f"{_ENVIRONMENT}/OPTION_TENSOR_PARALLEL_DEGREE": "1",
            f"{_ENVIRONMENT}/OPTION_QUANTIZE": "bitsandbytes",
            f"{_ENVIRONMENT}/OPTION_MAX_MODEL_LEN": "2048",
        },
        model_config=llama_config(**_70B, num_attention_heads=64, torch_dtype="float32"),
    )


class FitsNowhere(_OfPlan):
    """LMI058."""

    id = "LMI058"
    title = "the model fits on no single instance"
    why = "an endpoint runs each copy of a model on one instance, however many instances there are"
    fix = "use a quantized or distilled model, or SageMaker HyperPod on EKS"
    source = "https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-hyperpod-eks.html"
    failing = Example(model_config=llama_config(**_GIANT, num_attention_heads=128))


class OtherQuantization(_OfPlan):
    """LMI101."""

    id = "LMI101"
    title = "the quantization asked for is not the checkpoint's"
    why = (
        "the engine converts no weights to AWQ or GPTQ, and takes no name but the checkpoint's own"
    )
    fix = "use the quantized checkpoint and set nothing, or OPTION_QUANTIZE to fp8"
    source = "https://github.com/vllm-project/vllm/issues/1419"
    failing = Example({f"{_ENVIRONMENT}/OPTION_QUANTIZE": "awq"}, model_config=llama_config())
    passing = Example({f"{_ENVIRONMENT}/OPTION_QUANTIZE": "fp8"}, model_config=llama_config())


class NothingFree(_OfPlan):
    """LMI102."""

    id = "LMI102"
    title = "the engine is to have memory that is taken before it starts"
    why = "the engine compares its share with what is free, and stops"
    fix = "set OPTION_GPU_MEMORY_UTILIZATION to 0.95 or less"
    source = "https://github.com/vllm-project/vllm/issues/20305"
    failing = Example(
        {f"{_ENVIRONMENT}/OPTION_GPU_MEMORY_UTILIZATION": "1.0"}, model_config=llama_config()
    )
    passing = Example(
        {f"{_ENVIRONMENT}/OPTION_GPU_MEMORY_UTILIZATION": "0.95"}, model_config=llama_config()
    )


PLAN_RULES: Final[tuple[type[_OfPlan], ...]] = (
    DoesNotFit,
    FitsBarely,
    HeadsNotDivisible,
    BlocksNotDivisible,
    ContextTooLong,
    TooLittleStorage,
    FitsNowhere,
    OtherQuantization,
    NothingFree,
)


@dataclass(frozen=True)
class PlannedRun:
    """A model on one of the instance types that run it.

    Attributes:
        run: The container on its variant.
        judged: What the release does with its environment.
        path: Path of the instance type inside the endpoint configuration's properties.
        plan: What fits.
        presumed: Whether the release is newer than all known ones, so that nothing is sure.
        known: Whether the model's shape is known; if not, the plan judges number formats only.
    """

    run: Running
    judged: Verdict
    path: str
    plan: Plan
    presumed: bool = False
    known: bool = True


@cached_per_deployment
def plans(deployment: Deployment) -> Iterator[PlannedRun]:
    """Return the plan of each known model on each instance type that runs it."""
    yield from (planned for planned in all_plans(deployment) if planned.known)


@cached_per_deployment
def all_plans(deployment: Deployment) -> Iterator[PlannedRun]:
    """Return the plan of each model, known or not, on each instance type that runs it."""
    for run, judged in (*judged_runs(deployment), *presumed_runs(deployment)):
        from lmi_constructs.planner import Architecture, EngineConfiguration, is_planned, plan

        known = _architecture(deployment, run)
        architecture = known or Architecture.unknown("the model")

        if not is_planned(judged.backend):
            continue
        for path, name in run.variant.instance_types:
            kind = instance(name)
            if kind is None:
                continue
            container = release(deployment, run.container) or newest()
            configuration = EngineConfiguration.from_effective(
                judged.effective,
                accelerator_count=run.accelerator_count or kind.accelerator_count,
                engine_version=container.engine_version,
                unknown=judged.unknown,
            )
            planned = plan(architecture, kind.name, configuration)
            presumed = release(deployment, run.container) is None
            yield PlannedRun(run, judged, path, planned, presumed, known is not None)


def findings_of(planned: PlannedRun, rule: str, source: str) -> Iterator[Finding]:
    """Yield what a plan says by one rule, in the words of a template and at the value to change.

    Args:
        planned: The plan.
        rule: Id of the rule.
        source: Source of the rule, for findings that have none of their own.
    """
    if not any(finding.rule == rule for finding in planned.plan.findings):
        return
    from lmi_constructs.container.setting_names import translated
    from lmi_constructs.planner import advised_findings

    left = _without(planned.plan, _OF_CONTAINER)
    for finding in advised_findings(left, planned.run.config.region, door="environment"):
        if finding.rule == rule:
            one = replace(finding, message=translated(finding.message, "environment"))
            one = with_severity(one, "warning") if planned.presumed else one
            yield placed(one, *_place(planned, finding), source)


def _without(plan: Plan, rule: str) -> Plan:
    """Return a plan without what another rule says, so that the advice goes to the rest."""
    rest = tuple(finding for finding in plan.findings if finding.rule != rule)
    return plan if len(rest) == len(plan.findings) else replace(plan, findings=rest)


def _place(planned: PlannedRun, finding: Finding) -> tuple[Resource, str]:
    """Return where the value to change stands: in the environment, or else the instance type."""
    from lmi_constructs.container.setting_names import variables

    container = planned.run.container
    for variable in variables(finding.where or ""):
        if variable in environment(container):
            return planned.run.resource, f"{container.path}/Environment/{variable}"
    return planned.run.config, planned.path


def _architecture(deployment: Deployment, run: Running) -> Architecture | None:
    given = deployment.facts.config_of(run.resource)
    recorded = run.model.architecture if run.model else None
    mounted = run.model.mounted_model if run.model else None
    known = mounted or environment(run.container).get("HF_MODEL_ID")
    if given is None and recorded is None and not isinstance(known, str):
        return None
    from lmi_constructs.planner import Architecture
    from lmi_constructs.planner.architecture_record import architecture_of

    if given is None:
        read = architecture_of(recorded) if recorded else None
        return read or (Architecture.known(known) if isinstance(known, str) else None)
    try:
        return Architecture.from_config_json(given)
    except LmiError:
        return None

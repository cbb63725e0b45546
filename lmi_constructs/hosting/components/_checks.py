"""What is wrong about components and adapters before there is a template."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from lmi_constructs.findings import Finding
from lmi_constructs.hosting._cdk_tokens import is_token
from lmi_constructs.hosting._exclusive_keywords import give_model_data
from lmi_constructs.hosting._stack_environment import StackEnvironment
from lmi_constructs.readable import readable

if TYPE_CHECKING:
    from collections.abc import Mapping

    from constructs import Construct

    from lmi_constructs.hosting._resolved_model import ResolvedModel
    from lmi_constructs.hosting.model import LmiModel

_SOURCE = "botocore 1.44.8 sagemaker 2017-07-24 CreateInferenceComponentInput"
_FEWEST_CPUS = 0.25
"""botocore 1.44.8 sagemaker 2017-07-24 NumberOfCpuCores."""
_DEFAULT_RANK = 16
"""What vLLM takes without `max_lora_rank` (EngineArgs of the vLLM wheels)."""


def check_environment(scope: Construct, fleet: Construct) -> list[Finding]:
    """Check that a component stands where its fleet does; what is known at deploy time may."""
    here, there = StackEnvironment.of(scope), StackEnvironment.of(fleet)
    findings = []
    for what, mine, others in (
        ("region", here.region, there.region),
        ("account", here.account, there.account),
    ):
        if mine == others or is_token(mine) or is_token(others):
            continue
        finding = Finding(
            rule="LMI069",
            message=f"the fleet is in {what} {others}, what is put on it in {mine}",
            why="SageMaker looks for the endpoint where the component is made, and finds none",
            fix="give both stacks the same env=cdk.Environment(account=..., region=...)",
            where="fleet",
            source=_SOURCE,
        )
        findings.append(finding)
    return findings


_OF_A_MODEL: Final = ("model_data", "container", "settings", "environment", "role")


def check_exclusive_keywords(given: Mapping[str, Any]) -> list[Finding]:
    """Check that a component is made from a model, or from the keywords of one.

    Args:
        given: All keywords of the component.
    """
    of_model = [name for name in _OF_A_MODEL if given[name] is not None]
    has_model = given["model"] is not None
    if has_model and of_model:
        message = f"{', '.join(of_model)} and model are both given"
        fix = "pass them to the LmiModel instead"
    elif not has_model and "model_data" not in of_model:
        message = "neither model_data nor model is given"
        fix = give_model_data(given["environment"])
    else:
        return []
    why = "a component serves exactly one model"
    return [Finding(rule="LMI068", message=message, why=why, fix=fix, where="model")]


def accelerators_of(model: LmiModel, given: int | None) -> int | None:
    """Return the accelerators of a copy: those given, else as many as the model is split over."""
    if given is not None or model.settings is None:
        return given
    degree = model.settings.tensor_parallel_degree
    return degree if isinstance(degree, int) else None


def check_accelerators(count: int | None) -> list[Finding]:
    """Check that it is known how many accelerators a copy takes."""
    if count is not None and (is_token(count) or count >= 1):
        return []
    return [
        Finding(
            rule="LMI046",
            message="it is not said how many accelerators a copy takes"
            if count is None
            else f"accelerator_count is {count}",
            why="SageMaker gives the container no accelerator then, and the engine does not start",
            fix="give accelerator_count=, or tensor_parallel_degree in the settings as a number",
            where="accelerator_count",
            source=_SOURCE,
        )
    ]


def check_cpus(count: float | None) -> list[Finding]:
    """Check the vCPUs of a copy."""
    if count is None or is_token(count) or count >= _FEWEST_CPUS:
        return []
    return [
        Finding(
            rule="LMI046",
            message=f"cpu_count is {readable(count)}",
            why=f"SageMaker takes {_FEWEST_CPUS} or more, and refuses the component",
            fix="give the vCPUs of each copy, or leave cpu_count out",
            where="cpu_count",
            source=_SOURCE,
        )
    ]


def check_base(rank: int | None, base: ResolvedModel | None) -> list[Finding]:
    """Check that the base takes adapters of a rank; nothing is said where one is not known."""
    if base is None or base.verdict is None or base.verdict.starts is None:
        return []
    if not base.verdict.effective.get("enable_lora"):
        return [
            Finding(
                rule="LMI059",
                message="the base component is not set up for adapters",
                why="its container loads none, and the adapter's component fails",
                fix="give the base component LmiSettings(enable_lora=True, ...)",
                where="base",
                source="https://docs.vllm.ai/en/latest/features/lora/",
            )
        ]
    if rank is None or is_token(rank):
        return []
    largest = base.verdict.effective.get("max_lora_rank", _DEFAULT_RANK)
    if not isinstance(largest, int) or is_token(largest) or rank <= largest:
        return []
    return [
        Finding(
            rule="LMI059",
            message=f"the adapter has rank {rank}, the base component takes up to {largest}",
            why="the engine refuses to load the adapter, and its component fails",
            fix=f"give the base component settings with max_lora_rank={rank} or more",
            where="data",
            source="https://docs.vllm.ai/en/latest/features/lora/",
        )
    ]


def check_kind_of_base(base: object) -> list[Finding]:
    """Check that an adapter is put on a model, not on another adapter."""
    from lmi_constructs.hosting.components.adapter import LmiAdapter

    if not isinstance(base, LmiAdapter):
        return []
    return [
        Finding(
            rule="LMI059",
            message=f"the base is {base.component_name}, which is an adapter itself",
            why="an adapter runs on a component that holds a model, and an adapter holds none",
            fix="give the component that this adapter runs on: base=adapter.base",
            where="base",
            source=_SOURCE,
        )
    ]


def check_rank(rank: int | None) -> list[Finding]:
    """Check that a rank is one; `None` is not known."""
    if rank is None or is_token(rank) or rank >= 1:
        return []
    return [
        Finding(
            rule="LMI059",
            message=f"the rank is {rank}",
            why="no adapter has such a rank, so that nothing could be compared with it",
            fix="give r of its adapter_config.json, or leave rank out",
            where="rank",
            source="https://docs.vllm.ai/en/latest/features/lora/",
        )
    ]


def check_archive(key: str) -> list[Finding]:
    """Check that an adapter is one archive."""
    if is_token(key) or (key.endswith(".tar.gz") and not key.startswith(("/", "s3://"))):
        return []
    return [
        Finding(
            rule="LMI059",
            message=f"{key!r} is not the key of a .tar.gz",
            why="SageMaker takes the files of an adapter component as one such archive only",
            fix="pack adapter_config.json and adapter_model.safetensors into one .tar.gz, and give its"
            " key without the bucket, such as 'adapters/tenant-a.tar.gz'",
            where="key",
            source="botocore 1.44.8 sagemaker 2017-07-24"
            " InferenceComponentContainerSpecification.ArtifactUrl",
        )
    ]

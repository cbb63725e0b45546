"""Relations between the fields of a hosting request that SageMaker refuses when broken.

Single fields are checked against the API's own model (`shapes`); what relates fields to each other
or to other resources stands here, one small function a relation.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lmi_constructs.facts.instances import instance_types
from lmi_constructs.local.records import COMPONENT, ENDPOINT, ENDPOINT_CONFIG, MODEL, Kind, Record

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from lmi_constructs.local.sagemaker import LocalSageMakerBackend

Request = dict[str, Any]

ENVIRONMENT_BYTES = 32 * 1024
"""Ceiling over all keys and values of all containers of one model (CreateModel, Environment)."""


def create_faults(backend: LocalSageMakerBackend, kind: Kind, given: Request) -> list[str]:
    """Return what the service would refuse in a request that creates a resource."""
    return list(RULES[kind](backend, given))


def update_faults(endpoint: Record, config: Request, given: Request) -> list[str]:
    """Return what the service would refuse in an update of an endpoint to a config."""
    faults = list(_deployment_faults(given, config))
    if "DeploymentConfig" in given:
        running = {item["VariantName"] for item in endpoint.state["ProductionVariants"]}
        wanted = {item["VariantName"] for item in config["ProductionVariants"]}
        if running != wanted:
            faults.append(
                "The variant names of the old and the new endpoint configuration must be the same "
                f"when a DeploymentConfig is given: {sorted(running)} and {sorted(wanted)}."
            )
    return faults


def _model_faults(_: LocalSageMakerBackend, given: Request) -> Iterator[str]:
    primary, containers = given.get("PrimaryContainer"), given.get("Containers")
    if bool(primary) == bool(containers):
        yield "Exactly one of PrimaryContainer and Containers must be given."
    everything = [*([primary] if primary else []), *(containers or [])]
    size = sum(
        len(f"{key}{value}".encode())
        for container in everything
        for key, value in container.get("Environment", {}).items()
    )
    if size > ENVIRONMENT_BYTES:
        yield (
            f"The environment variables of all containers together have {size} bytes; at most "
            f"{ENVIRONMENT_BYTES} bytes are allowed."
        )


def _config_faults(backend: LocalSageMakerBackend, given: Request) -> Iterator[str]:
    variants, shadows = given["ProductionVariants"], given.get("ShadowProductionVariants", [])
    names = [variant["VariantName"] for variant in [*variants, *shadows]]
    for name in sorted({name for name in names if names.count(name) > 1}):
        yield f'The variant name "{name}" was non-unique within the request.'
    if shadows and (len(variants), len(shadows)) != (1, 1):
        yield "With a shadow variant there must be exactly one production and one shadow variant."
    for variant in [*variants, *shadows]:
        yield from _variant_faults(backend, variant)
    bare = [variant["VariantName"] for variant in variants if "ModelName" not in variant]
    if bare and "ExecutionRoleArn" not in given:
        yield (
            "ExecutionRoleArn must be given in the endpoint configuration when a variant has no "
            f"ModelName: {', '.join(bare)}."
        )


def _variant_faults(backend: LocalSageMakerBackend, variant: Request) -> Iterator[str]:
    name, instance_type = variant["VariantName"], variant.get("InstanceType")
    model_name = variant.get("ModelName")
    if model_name is not None:
        yield from _missing(backend, MODEL, model_name)
    if not {"InstanceType", "ServerlessConfig", "InstancePools"} & variant.keys():
        yield f"Variant {name} needs an InstanceType, InstancePools or a ServerlessConfig."
    scaling = variant.get("ManagedInstanceScaling", {})
    if scaling and model_name is not None:
        yield (
            f"ManagedInstanceScaling of variant {name} is only allowed when inference components "
            "are used, that is without a ModelName."
        )
    if scaling.get("MinInstanceCount", 0) > scaling.get("MaxInstanceCount", float("inf")):
        yield f"MinInstanceCount of variant {name} must not be above its MaxInstanceCount."
    row = instance_types().get(instance_type or "")
    if row and "VolumeSizeInGB" in variant and not row.volume_size_allowed:
        yield (
            f"VolumeSizeInGB is not allowed for instance type {instance_type} of variant {name}: "
            "it has instance storage."
        )
    routing = variant.get("RoutingConfig", {})
    if (
        routing.get("RoutingStrategy") == "PREFIX_AWARE"
        and "PrefixAwareRoutingConfig" not in routing
    ):
        yield f"PrefixAwareRoutingConfig of variant {name} is required with PREFIX_AWARE routing."


def _endpoint_faults(backend: LocalSageMakerBackend, given: Request) -> Iterator[str]:
    config_name = given["EndpointConfigName"]
    config = backend.find(ENDPOINT_CONFIG, config_name)
    if config is None:
        yield from _missing(backend, ENDPOINT_CONFIG, config_name)
    else:
        yield from _deployment_faults(given, config.given)


def _deployment_faults(given: Request, config: Request) -> Iterator[str]:
    deployment = given.get("DeploymentConfig", {})
    blue_green = deployment.get("BlueGreenUpdatePolicy")
    rolling = deployment.get("RollingUpdatePolicy")
    if blue_green and rolling:
        yield "Only one of BlueGreenUpdatePolicy and RollingUpdatePolicy can be given."
    variants = config["ProductionVariants"]
    if rolling and (len(variants) > 1 or "ServerlessConfig" in variants[0]):
        yield "RollingUpdatePolicy is not available for several variants or serverless ones."
    if blue_green:
        yield from _blue_green_faults(blue_green)
    if rolling:
        yield from _capacity_faults(rolling["MaximumBatchSize"], "MaximumBatchSize", 5, 50)


def _blue_green_faults(policy: Request) -> Iterator[str]:
    routing = policy["TrafficRoutingConfiguration"]
    waits = routing["WaitIntervalInSeconds"] + policy.get("TerminationWaitInSeconds", 0)
    limit = policy.get("MaximumExecutionTimeoutInSeconds")
    if limit is not None and limit <= waits:
        yield (
            f"MaximumExecutionTimeoutInSeconds {limit} must be larger than the wait times "
            f"together, {waits}."
        )
    for kind, member, low, high in (
        ("CANARY", "CanarySize", 1, 50),
        ("LINEAR", "LinearStepSize", 10, 50),
    ):
        if routing["Type"] != kind:
            continue
        if member not in routing:
            yield f"{member} is required for traffic routing of type {kind}."
        else:
            yield from _capacity_faults(routing[member], member, low, high)


def _capacity_faults(size: Request, member: str, low: int, high: int) -> Iterator[str]:
    if size["Type"] == "CAPACITY_PERCENT" and not low <= size["Value"] <= high:
        yield f"{member} must be {low} to {high} percent of the capacity, but is {size['Value']}."


def component_faults(backend: LocalSageMakerBackend, given: Request) -> Iterator[str]:
    """Yield what the service would refuse in an inference component."""
    if "Specification" in given and "Specifications" in given:
        yield "Only one of Specification and Specifications can be given."
    specifications = [
        *([given["Specification"]] if "Specification" in given else []),
        *given.get("Specifications", []),
    ]
    if not specifications:
        yield "Specification or Specifications must be given."
    for specification in specifications:
        yield from _specification_faults(backend, given, specification)
    yield from _placement_faults(backend, given)


def _specification_faults(
    backend: LocalSageMakerBackend, given: Request, specification: Request
) -> Iterator[str]:
    base_name = specification.get("BaseInferenceComponentName")
    has_compute = "ComputeResourceRequirements" in specification
    if base_name is not None:
        base = backend.find(COMPONENT, base_name)
        if base is None:
            yield from _missing(backend, COMPONENT, base_name)
        elif base.given["EndpointName"] != given["EndpointName"]:
            yield f"The base component {base_name} is not on endpoint {given['EndpointName']}."
        if has_compute:
            yield "ComputeResourceRequirements must not be given with a BaseInferenceComponentName."
        return
    if not has_compute:
        yield "ComputeResourceRequirements must be given for a component that has no base component."
    if "ModelName" in specification:
        yield from _missing(backend, MODEL, specification["ModelName"])
    elif "Container" not in specification:
        yield "A component needs a ModelName or a Container."


def _placement_faults(backend: LocalSageMakerBackend, given: Request) -> Iterator[str]:
    endpoint = backend.find(ENDPOINT, given["EndpointName"])
    if endpoint is None:
        yield from _missing(backend, ENDPOINT, given["EndpointName"])
        return
    config = backend.get(ENDPOINT_CONFIG, endpoint.given["EndpointConfigName"])
    variants = {item["VariantName"]: item for item in config.given["ProductionVariants"]}
    name = given.get("VariantName")
    if name is None:
        return  # components on a base component take its variant
    if name not in variants:
        yield f'The variant "{name}" is not present in endpoint "{endpoint.name}".'
    elif "ModelName" in variants[name]:
        yield (
            f'Inference components are not allowed on variant "{name}" of endpoint '
            f'"{endpoint.name}": the variant has a ModelName.'
        )


def _new_component_faults(backend: LocalSageMakerBackend, given: Request) -> Iterator[str]:
    yield from component_faults(backend, given)
    if given.get("RuntimeConfig", {}).get("CopyCount", 1) < 1:
        yield "CopyCount must be at least 1 when an inference component is created."


def _missing(backend: LocalSageMakerBackend, kind: Kind, name: str) -> Iterator[str]:
    if backend.find(kind, name) is None:
        yield f'Could not find {kind.label} "{backend.arn(kind, name)}".'


RULES: dict[Kind, Callable[[LocalSageMakerBackend, Request], Iterator[str]]] = {
    MODEL: _model_faults,
    ENDPOINT_CONFIG: _config_faults,
    ENDPOINT: _endpoint_faults,
    COMPONENT: _new_component_faults,
}

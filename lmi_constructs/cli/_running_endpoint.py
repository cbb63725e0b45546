"""A running endpoint, read with boto3, as the template that would create it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from lmi_constructs.checks import TemplateSource, UnreadableError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

_CONFIG_PROPERTIES: Final = (
    "ProductionVariants",
    "ShadowProductionVariants",
    "AsyncInferenceConfig",
    "DataCaptureConfig",
    "ExecutionRoleArn",
    "KmsKeyId",
    "EnableNetworkIsolation",
    "VpcConfig",
)
_MODEL_PROPERTIES: Final = (
    "PrimaryContainer",
    "Containers",
    "ExecutionRoleArn",
    "VpcConfig",
    "EnableNetworkIsolation",
)
_COMPONENT_PROPERTIES: Final = ("VariantName", "Specification", "Specifications")
_TARGET_PROPERTIES: Final = ("ServiceNamespace", "ScalableDimension", "MinCapacity", "MaxCapacity")


def read_endpoint(name: str, region: str | None = None) -> TemplateSource:
    """Return a running endpoint with its configuration, models, components and scaling.

    Only describing and listing calls are made.

    Args:
        name: Name of the endpoint.
        region: Region it runs in; the default of the environment if left out.

    Raises:
        UnreadableError: If the endpoint cannot be described.
    """
    import boto3
    from botocore.exceptions import BotoCoreError, ClientError

    try:
        session = boto3.Session(region_name=region)
        body, names = _template(session.client("sagemaker"), name)
        body.update(_scaling(session.client("application-autoscaling"), name))
    except (BotoCoreError, ClientError, ValueError) as error:  # the last of AWS_ENDPOINT_URL
        raise UnreadableError(f"endpoint {name}: {error}") from error
    return TemplateSource(
        f"endpoint {name}",
        {"Resources": body},
        session.region_name,
        construct_paths=names,
    )


def _template(sagemaker: Any, name: str) -> tuple[dict[str, Any], dict[str, str]]:
    """Return the resources, and the names that they have in the account by logical id."""
    endpoint = sagemaker.describe_endpoint(EndpointName=name)
    config = sagemaker.describe_endpoint_config(EndpointConfigName=endpoint["EndpointConfigName"])
    models: dict[str, str] = {}
    names = {"Endpoint": name, "Config": endpoint["EndpointConfigName"]}
    resources: dict[str, Any] = {
        "Endpoint": _resource(
            "Endpoint", {"EndpointConfigName": _attribute("Config", "EndpointConfigName")}
        ),
        "Config": _resource("EndpointConfig", _chosen(config, _CONFIG_PROPERTIES)),
    }
    components = _components(sagemaker, name)
    for index, (component_name, component) in enumerate(components.items()):
        resources[f"Component{index}"] = _resource("InferenceComponent", component)
        names[f"Component{index}"] = component_name
    for holder in _holders(resources["Config"]["Properties"], components.values()):
        model = holder.get("ModelName")
        if model:
            logical_id = models.setdefault(model, f"Model{len(models)}")
            holder["ModelName"] = _attribute(logical_id, "ModelName")
    for model, logical_id in models.items():
        described = sagemaker.describe_model(ModelName=model)
        resources[logical_id] = _resource("Model", _chosen(described, _MODEL_PROPERTIES))
        names[logical_id] = model
    return resources, names


def _components(sagemaker: Any, endpoint: str) -> dict[str, dict[str, Any]]:
    components = {}
    pages = sagemaker.get_paginator("list_inference_components")
    for page in pages.paginate(EndpointNameEquals=endpoint):
        for row in page["InferenceComponents"]:
            name = row["InferenceComponentName"]
            described = sagemaker.describe_inference_component(InferenceComponentName=name)
            component = _chosen(described, _COMPONENT_PROPERTIES)
            component["EndpointName"] = _attribute("Endpoint", "EndpointName")
            for specification in _specifications(component):
                _name_image(specification.get("Container", {}))
            components[name] = component
    return components


def _name_image(container: dict[str, Any]) -> None:
    """Write the image of a component's container where the template that created it has it."""
    image = container.pop("DeployedImage", {}).get("SpecifiedImage")
    if image:
        container["Image"] = image


def _specifications(component: Mapping[str, Any]) -> list[dict[str, Any]]:
    return component.get("Specifications") or [component.get("Specification", {})]


def _scaling(autoscaling: Any, endpoint: str) -> dict[str, Any]:
    pages = autoscaling.get_paginator("describe_scalable_targets")
    targets: dict[str, Any] = {}
    for page in pages.paginate(ServiceNamespace="sagemaker"):
        for target in page["ScalableTargets"]:
            fields = target["ResourceId"].split("/")
            if fields[:2] != ["endpoint", endpoint] or len(fields) != 4:
                continue
            properties = _chosen(target, _TARGET_PROPERTIES)
            resource_id = f"endpoint/${{Endpoint.EndpointName}}/variant/{fields[3]}"
            properties["ResourceId"] = {"Fn::Sub": resource_id}
            targets[f"Target{len(targets)}"] = {
                "Type": "AWS::ApplicationAutoScaling::ScalableTarget",
                "Properties": properties,
            }
    if targets:  # A running endpoint does not tell whether its next update retains this.
        targets["Endpoint"] = _resource(
            "Endpoint",
            {
                "EndpointConfigName": _attribute("Config", "EndpointConfigName"),
                "RetainAllVariantProperties": {"Ref": "AWS::StackId"},
            },
        )
    return targets


def _holders(
    config: Mapping[str, Any], components: Iterable[dict[str, Any]]
) -> list[dict[str, Any]]:
    holders = [*config.get("ProductionVariants", ()), *config.get("ShadowProductionVariants", ())]
    for component in components:
        holders += _specifications(component)
    return holders


def _chosen(described: Mapping[str, Any], names: tuple[str, ...]) -> dict[str, Any]:
    return {name: described[name] for name in names if name in described}


def _resource(kind: str, properties: Mapping[str, Any]) -> dict[str, Any]:
    return {"Type": f"AWS::SageMaker::{kind}", "Properties": properties}


def _attribute(logical_id: str, name: str) -> dict[str, Any]:
    return {"Fn::GetAtt": [logical_id, name]}

"""State of SageMaker's hosting: models, endpoint configs, endpoints and inference components.

moto's own hosting resources keep a few fields of a request, cannot update an endpoint and know no
inference components. Here every request is kept as it was given. The operations that lead here are
in `operations`; everything else that moto's SageMaker does is inherited.
"""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from moto.applicationautoscaling.models import applicationautoscaling_backends
from moto.cloudwatch.models import cloudwatch_backends
from moto.core.utils import utcnow
from moto.sagemaker import urls as moto_urls
from moto.sagemaker.exceptions import AWSValidationException
from moto.sagemaker.models import SageMakerModelBackend

from lmi_constructs.local import operations, rules
from lmi_constructs.local.records import (
    COMPONENT,
    ENDPOINT,
    ENDPOINT_CONFIG,
    KINDS,
    MODEL,
    Kind,
    Record,
)
from lmi_constructs.local.runtime import STREAM_PATH, RuntimeResponse


class LocalSageMakerBackend(SageMakerModelBackend):
    """moto's SageMaker with complete hosting resources."""

    def __init__(self, region_name: str, account_id: str) -> None:
        super().__init__(region_name, account_id)
        self._records: dict[Kind, dict[str, Record]] = {kind: {} for kind in KINDS}

    @property
    def _url_module(self) -> SimpleNamespace:
        """Moto's place for the addresses of a service; streaming shares the API's host there."""
        return SimpleNamespace(
            url_bases=moto_urls.url_bases,
            url_paths={
                "{0}/$": operations.LocalSageMakerResponse.dispatch,
                STREAM_PATH: RuntimeResponse.dispatch,
            },
        )

    def records(self, kind: Kind) -> list[Record]:
        """Return all resources of a kind, oldest first."""
        return list(self._records[kind].values())

    def find(self, kind: Kind, name: str) -> Record | None:
        """Return the resource of that name, if there is one."""
        return self._records[kind].get(name)

    def get(self, kind: Kind, name: str) -> Record:
        """Return the resource of that name.

        Raises:
            AWSValidationException: If there is none, in the service's words.
        """
        record = self.find(kind, name)
        if record is None:
            raise AWSValidationException(f'Could not find {kind.label} "{self.arn(kind, name)}".')
        return record

    def create(self, kind: Kind, given: dict[str, Any]) -> Record:
        """Create a resource from a request that fits the API's model.

        Raises:
            AWSValidationException: If the name is taken or the request breaks a rule.
        """
        name = given[kind.name_member]
        if any(name.lower() == taken.lower() for taken in self._records[kind]):
            arn = self.arn(kind, name)
            raise AWSValidationException(f'Cannot create already existing {kind.label} "{arn}".')
        self._refuse(rules.create_faults(self, kind, given))
        state = self._initial_state(kind, given)
        record = Record(kind, name, self.arn(kind, name), given, state)
        self._records[kind][name] = record
        return record

    def delete(self, kind: Kind, name: str) -> Record:
        """Delete a resource.

        Raises:
            AWSValidationException: If there is none of that name.
        """
        record = self.get(kind, name)
        del self._records[kind][name]
        if kind is ENDPOINT:
            for component in self.components_of(name):
                self.delete(COMPONENT, component.name)
        if kind in (ENDPOINT, COMPONENT):
            self._deregister_targets(f"{kind.arn_type}/{name}")
        return record

    def _deregister_targets(self, resource_id: str) -> None:
        """Deregister what scales a deleted resource, as the service does.

        See https://docs.aws.amazon.com/sagemaker/latest/dg/endpoint-delete-with-scaling.html
        """
        scaling = applicationautoscaling_backends[self.account_id][self.region_name]
        for dimension, targets in scaling.targets.items():
            for found in [item for item in targets if f"{item}/".startswith(f"{resource_id}/")]:
                scaling.deregister_scalable_target("sagemaker", found, dimension)

    def update_endpoint(self, given: dict[str, Any]) -> Record:
        """Move an endpoint to another config, in place: same ARN, same creation time.

        Raises:
            AWSValidationException: If endpoint or config are missing or may not be combined.
        """
        endpoint = self.get(ENDPOINT, given["EndpointName"])
        config = self.get(ENDPOINT_CONFIG, given["EndpointConfigName"])
        self._refuse(rules.update_faults(endpoint, config.given, given))
        sounding = self._alarms_on(given.get("DeploymentConfig", {}))
        if sounding and config.name != endpoint.given["EndpointConfigName"]:
            # SageMaker takes the call, and goes back during the update.
            endpoint.state["LastRollback"] = f"rolled back: in alarm: {', '.join(sounding)}"
            return endpoint
        endpoint.state.pop("LastRollback", None)
        kept = _retained_properties(given)
        before = {item["VariantName"]: item for item in endpoint.state["ProductionVariants"]}
        variants = self.running_variants(config.given)
        for variant in variants:
            for name in kept & before.get(variant["VariantName"], {}).keys():
                variant[name] = before[variant["VariantName"]][name]
        endpoint.given = {**endpoint.given, "EndpointConfigName": config.name}
        endpoint.state["ProductionVariants"] = variants
        if "DeploymentConfig" in given:
            endpoint.state["LastDeploymentConfig"] = given["DeploymentConfig"]
        endpoint.last_modified_time = utcnow()
        return endpoint

    def _alarms_on(self, deployment: dict[str, Any]) -> list[str]:
        """Return the alarms of an update that sound, which takes it back."""
        rollback = deployment.get("AutoRollbackConfiguration", {})
        alarms = cloudwatch_backends[self.account_id][self.region_name].alarms
        names = [item["AlarmName"] for item in rollback.get("Alarms", ())]
        return [name for name in names if name in alarms and alarms[name].state_value == "ALARM"]

    def scale_endpoint(self, endpoint_name: str, wanted: list[dict[str, Any]]) -> Record:
        """Set counts and weights of variants, as UpdateEndpointWeightsAndCapacities does.

        Raises:
            AWSValidationException: If the endpoint or one of the variants is missing.
        """
        endpoint = self.get(ENDPOINT, endpoint_name)
        variants = {item["VariantName"]: item for item in endpoint.state["ProductionVariants"]}
        missing = [item["VariantName"] for item in wanted if item["VariantName"] not in variants]
        if missing:
            raise AWSValidationException(
                f'The variant name(s) "{", ".join(missing)}" is/are not present within endpoint '
                f'configuration "{endpoint.given["EndpointConfigName"]}".'
            )
        for item in wanted:
            variant = variants[item["VariantName"]]
            for what in ("Weight", "InstanceCount"):
                if f"Desired{what}" in item:
                    variant[f"Desired{what}"] = variant[f"Current{what}"] = item[f"Desired{what}"]
        endpoint.last_modified_time = utcnow()
        return endpoint

    def update_component(self, given: dict[str, Any]) -> Record:
        """Change a component's specification or copy count in place.

        Raises:
            AWSValidationException: If there is none of that name or the request breaks a rule.
        """
        component = self.get(COMPONENT, given["InferenceComponentName"])
        changed = {**component.given, **given}
        self._refuse(list(rules.component_faults(self, changed)))
        component.given = changed
        component.state = self._initial_state(COMPONENT, changed)
        component.last_modified_time = utcnow()
        return component

    def components_of(self, endpoint_name: str) -> list[Record]:
        """Return the inference components on an endpoint."""
        return [
            component
            for component in self.records(COMPONENT)
            if component.given["EndpointName"] == endpoint_name
        ]

    def _initial_state(self, kind: Kind, given: dict[str, Any]) -> dict[str, Any]:
        if kind is ENDPOINT:
            config = self.get(ENDPOINT_CONFIG, given["EndpointConfigName"]).given
            state = {
                "EndpointStatus": "InService",
                "ProductionVariants": self.running_variants(config),
            }
            if "DataCaptureConfig" in config:
                state["DataCaptureConfig"] = config["DataCaptureConfig"]
            if "AsyncInferenceConfig" in config:
                state["AsyncInferenceConfig"] = config["AsyncInferenceConfig"]
            return state
        if kind is COMPONENT:
            copies = given.get("RuntimeConfig", {}).get("CopyCount", 1)
            return {
                "InferenceComponentStatus": "InService",
                "RuntimeConfig": {"DesiredCopyCount": copies, "CurrentCopyCount": copies},
                **_described_specifications(given),
            }
        return {}

    def running_variants(self, config: dict[str, Any]) -> list[dict[str, Any]]:
        """Return the variants an endpoint runs once a config is deployed, as Describe shows."""
        return [self._running_variant(variant) for variant in config["ProductionVariants"]]

    def _running_variant(self, variant: dict[str, Any]) -> dict[str, Any]:
        model = self.find(MODEL, variant.get("ModelName", ""))
        count = variant.get("InitialInstanceCount")
        weight = variant.get("InitialVariantWeight", 1.0)
        running = {
            "VariantName": variant["VariantName"],
            "CurrentWeight": weight,
            "DesiredWeight": weight,
            "CurrentInstanceCount": count,
            "DesiredInstanceCount": count,
            "DeployedImages": _deployed_images(model),
            "ManagedInstanceScaling": variant.get("ManagedInstanceScaling"),
            "RoutingConfig": variant.get("RoutingConfig"),
            "CurrentServerlessConfig": variant.get("ServerlessConfig"),
        }
        return {key: value for key, value in running.items() if value is not None}

    def arn(self, kind: Kind, name: str) -> str:
        """Return the ARN of a resource of that name."""
        where = f"{self.region_name}:{self.account_id}"
        return f"arn:{self.partition}:sagemaker:{where}:{kind.arn_type}/{name}"

    def _get_resource_from_arn(self, arn: str) -> Any:
        """Let moto's tag operations find the resources kept here."""
        resource_type, name = arn.split(":")[-1].split("/")
        for kind in KINDS:
            if resource_type == kind.arn_type:
                return self.get(kind, name)
        return super()._get_resource_from_arn(arn)

    @staticmethod
    def _refuse(faults: list[str]) -> None:
        if faults:
            raise AWSValidationException(" ".join(faults))


RETAINABLE = {
    "DesiredInstanceCount": ("DesiredInstanceCount", "CurrentInstanceCount"),
    "DesiredWeight": ("DesiredWeight", "CurrentWeight"),
}


def _retained_properties(given: dict[str, Any]) -> set[str]:
    """Return the properties of running variants that an update leaves as they are."""
    if not given.get("RetainAllVariantProperties"):
        return set()
    excluded = {
        item["VariantPropertyType"] for item in given.get("ExcludeRetainedVariantProperties", [])
    }
    return {name for kind, names in RETAINABLE.items() if kind not in excluded for name in names}


def _described_specifications(given: dict[str, Any]) -> dict[str, Any]:
    """Return the specifications of a component as Describe shows them: with the deployed image."""
    described: dict[str, Any] = {}
    if "Specification" in given:
        described["Specification"] = _described_specification(given["Specification"])
    if "Specifications" in given:
        described["Specifications"] = list(map(_described_specification, given["Specifications"]))
    return described


def _described_specification(specification: dict[str, Any]) -> dict[str, Any]:
    container = specification.get("Container")
    if not container:
        return specification
    image = (
        {"DeployedImage": {"SpecifiedImage": container["Image"]}} if "Image" in container else {}
    )
    return {**specification, "Container": {**container, **image}}


def _deployed_images(model: Record | None) -> list[dict[str, str]]:
    if model is None:
        return []
    primary = model.given.get("PrimaryContainer")
    containers = [primary] if primary else model.given.get("Containers", [])
    return [
        {"SpecifiedImage": container["Image"]} for container in containers if "Image" in container
    ]

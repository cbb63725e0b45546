"""Application Auto Scaling that knows SageMaker's endpoints and inference components."""

from __future__ import annotations

import json
import time
import uuid
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, cast

from moto.applicationautoscaling import urls as moto_urls
from moto.applicationautoscaling.exceptions import AWSValidationException
from moto.applicationautoscaling.models import (
    ApplicationAutoscalingBackend,
    FakeApplicationAutoscalingPolicy,
    FakeScalableTarget,
)
from moto.applicationautoscaling.responses import ApplicationAutoScalingResponse
from moto.core.exceptions import JsonRESTError

from lmi_constructs.local.hosting_state import hosting
from lmi_constructs.local.records import COMPONENT, ENDPOINT
from lmi_constructs.local.shapes import input_shape, validation_message

if TYPE_CHECKING:
    from lmi_constructs.local.sagemaker import LocalSageMakerBackend

VARIANT = "sagemaker:variant:DesiredInstanceCount"
COPIES = "sagemaker:inference-component:DesiredCopyCount"


class LocalScalingBackend(ApplicationAutoscalingBackend):
    """Registers only what exists, and policies only on what is registered; step policies act."""

    def __init__(self, region_name: str, account_id: str) -> None:
        super().__init__(region_name, account_id)
        self.activities: list[dict[str, Any]] = []
        """What policies have changed, newest first."""

    @property
    def _url_module(self) -> SimpleNamespace:
        """Moto's place for the addresses of a service."""
        paths = dict.fromkeys(moto_urls.url_paths, LocalScalingResponse.dispatch)
        return SimpleNamespace(url_bases=moto_urls.url_bases, url_paths=paths)

    def register_scalable_target(
        self,
        namespace: str,
        r_id: str,
        dimension: str,
        min_capacity: int | None,
        max_capacity: int | None,
        role_arn: str,
        suspended_state: str,
    ) -> FakeScalableTarget:
        """Register a target that exists.

        Raises:
            AWSValidationException: If it does not, or if the capacities are the wrong way round.
        """
        if namespace != "sagemaker":
            return super().register_scalable_target(
                namespace, r_id, dimension, min_capacity, max_capacity, role_arn, suspended_state
            )
        self._require_target(r_id, dimension)
        if min_capacity is not None and max_capacity is not None and min_capacity > max_capacity:
            raise AWSValidationException(
                f"Maximum capacity cannot be less than minimum capacity: {max_capacity} and "
                f"{min_capacity}"
            )
        known = self.targets.get(dimension, {}).get(r_id)
        if known is not None:
            known.update(min_capacity, max_capacity, suspended_state)
            return known
        if min_capacity is None or max_capacity is None:
            raise AWSValidationException(
                "MinCapacity and MaxCapacity are required when a scalable target is registered "
                "for the first time"
            )
        return self._add_scalable_target(
            FakeScalableTarget(
                self,
                namespace,
                r_id,
                dimension,
                min_capacity,
                max_capacity,
                role_arn,
                suspended_state,
            )
        )

    def deregister_scalable_target(self, namespace: str, r_id: str, dimension: str) -> None:
        """Forget a target and, as the service does, its policies."""
        super().deregister_scalable_target(namespace, r_id, dimension)
        for key, policy in list(self.policies.items()):
            if (policy.resource_id, policy.scalable_dimension) == (r_id, dimension):
                del self.policies[key]

    def put_scaling_policy(
        self,
        policy_name: str,
        service_namespace: str,
        resource_id: str,
        scalable_dimension: str,
        policy_body: dict[str, Any],
        policy_type: str | None,
    ) -> FakeApplicationAutoscalingPolicy:
        """Keep a policy of a registered target.

        Raises:
            JsonRESTError: If the target is not registered.
        """
        if resource_id not in self.targets.get(scalable_dimension, {}):
            raise JsonRESTError(
                "ObjectNotFoundException",
                f"No scalable target registered for service namespace: {service_namespace}, "
                f"resource ID: {resource_id}, scalable dimension: {scalable_dimension}",
            )
        return super().put_scaling_policy(
            policy_name,
            service_namespace,
            resource_id,
            scalable_dimension,
            policy_body,
            policy_type,
        )

    def run_policy(self, policy_arn: str, alarm_name: str) -> None:
        """Do what a step policy of SageMaker says for the first of its steps.

        Anything else that an alarm may set off is left alone: target tracking has no metrics here.
        """
        policy = next(
            (item for item in self.policies.values() if item.policy_arn == policy_arn), None
        )
        steps = policy.step_scaling_policy_configuration if policy is not None else None
        if policy is None or not steps or policy.service_namespace != "sagemaker":
            return
        target = self.targets[policy.scalable_dimension][policy.resource_id]
        change = steps["StepAdjustments"][0]["ScalingAdjustment"]
        before = self._capacity(policy.scalable_dimension, policy.resource_id)
        wanted = change if steps["AdjustmentType"] == "ExactCapacity" else before + change
        after = min(max(wanted, target.min_capacity), target.max_capacity)
        if after != before:
            self._set_capacity(policy.scalable_dimension, policy.resource_id, after)
            self.activities.insert(0, _activity(policy, alarm_name, after))

    def _capacity(self, dimension: str, resource_id: str) -> int:
        name, variant_name = _names(resource_id)
        if dimension == COPIES:
            copies: int = self._sagemaker.get(COMPONENT, name).state["RuntimeConfig"][
                "DesiredCopyCount"
            ]
            return copies
        variants = self._sagemaker.get(ENDPOINT, name).state["ProductionVariants"]
        count: int = next(
            item["DesiredInstanceCount"] for item in variants if item["VariantName"] == variant_name
        )
        return count

    def _set_capacity(self, dimension: str, resource_id: str, capacity: int) -> None:
        name, variant_name = _names(resource_id)
        if dimension == COPIES:
            runtime = {"CopyCount": capacity}
            self._sagemaker.update_component(
                {"InferenceComponentName": name, "RuntimeConfig": runtime}
            )
        else:
            wanted = {"VariantName": variant_name, "DesiredInstanceCount": capacity}
            self._sagemaker.scale_endpoint(name, [wanted])

    @property
    def _sagemaker(self) -> LocalSageMakerBackend:
        return hosting(self.account_id, self.region_name)

    def _require_target(self, resource_id: str, dimension: str) -> None:
        sagemaker = self._sagemaker
        kind, _, rest = resource_id.partition("/")
        name, _, variant_part = rest.partition("/")
        if dimension == COPIES and kind == "inference-component":
            found = sagemaker.find(COMPONENT, name) is not None
        elif dimension == VARIANT and kind == "endpoint":
            endpoint = sagemaker.find(ENDPOINT, name)
            variants = endpoint.state["ProductionVariants"] if endpoint else []
            found = variant_part in {f"variant/{item['VariantName']}" for item in variants}
        else:
            raise AWSValidationException(
                "Unsupported service namespace, resource type or scalable dimension"
            )
        if not found:
            raise AWSValidationException(
                f"SageMaker resource does not exist, resource ID: {resource_id}"
            )


class LocalScalingResponse(ApplicationAutoScalingResponse):
    """Checks requests against the API's own model: moto's tables lack inference components."""

    def _validate_params(self) -> None:
        given = json.loads(self.body)
        message = validation_message(
            input_shape("application-autoscaling", self._get_action()), given
        )
        if message:
            raise AWSValidationException(message)

    def describe_scaling_activities(self) -> str:
        """Answer DescribeScalingActivities, which moto lacks."""
        asked = ("ServiceNamespace", "ResourceId", "ScalableDimension")
        wanted = {name: value for name in asked if (value := self._get_param(name)) is not None}
        backend = cast("LocalScalingBackend", self.applicationautoscaling_backend)
        found = [item for item in backend.activities if wanted.items() <= item.items()]
        return json.dumps({"ScalingActivities": found})


def _names(resource_id: str) -> tuple[str, str]:
    """Return the names of component, or of endpoint and variant, in a resource id."""
    _, name, *variant = resource_id.split("/")
    return name, variant[-1] if variant else ""


def _activity(
    policy: FakeApplicationAutoscalingPolicy, alarm_name: str, capacity: int
) -> dict[str, Any]:
    what = "copy count" if policy.scalable_dimension == COPIES else "instance count"
    return {
        "ActivityId": str(uuid.uuid4()),
        "ServiceNamespace": policy.service_namespace,
        "ResourceId": policy.resource_id,
        "ScalableDimension": policy.scalable_dimension,
        "Description": f"Setting desired {what} to {capacity}.",
        "Cause": f"monitor alarm {alarm_name} in state ALARM triggered policy {policy.policy_name}",
        "StartTime": time.time(),
        "EndTime": time.time(),
        "StatusCode": "Successful",
        "StatusMessage": f"Successfully set desired {what} to {capacity}.",
    }

"""Application Auto Scaling that knows SageMaker's endpoints and inference components."""

from __future__ import annotations

import json
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
from moto.sagemaker.models import sagemaker_backends

from lmi_constructs.local.records import COMPONENT, ENDPOINT
from lmi_constructs.local.shapes import input_shape, validation_message

if TYPE_CHECKING:
    from lmi_constructs.local.sagemaker import LocalSageMakerBackend

VARIANT = "sagemaker:variant:DesiredInstanceCount"
COPIES = "sagemaker:inference-component:DesiredCopyCount"


class LocalScalingBackend(ApplicationAutoscalingBackend):
    """Registers only what exists, and policies only on what is registered."""

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

    def _require_target(self, resource_id: str, dimension: str) -> None:
        sagemaker = cast(
            "LocalSageMakerBackend", sagemaker_backends[self.account_id][self.region_name]
        )
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

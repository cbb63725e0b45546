"""SageMaker's hosting operations, each checked against the API's own model."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from moto.core.responses import ActionResult, EmptyResult
from moto.sagemaker.exceptions import AWSValidationException
from moto.sagemaker.responses import SageMakerResponse

from lmi_constructs.local.hosting_state import hosting
from lmi_constructs.local.records import COMPONENT, ENDPOINT, ENDPOINT_CONFIG, MODEL, Kind, Record
from lmi_constructs.local.shapes import input_shape, validation_message

if TYPE_CHECKING:
    from lmi_constructs.local.sagemaker import LocalSageMakerBackend


class LocalSageMakerResponse(SageMakerResponse):
    """The operations of hosting; all others are moto's."""

    @property
    def backend(self) -> LocalSageMakerBackend:
        """State of the caller's account and region."""
        return hosting(self.current_account, self.region)

    def create_model(self) -> ActionResult:
        """Answer CreateModel."""
        return self._create(MODEL)

    def describe_model(self) -> ActionResult:
        """Answer DescribeModel."""
        return self._describe(MODEL)

    def list_models(self) -> ActionResult:
        """Answer ListModels."""
        return self._list(MODEL)

    def delete_model(self) -> ActionResult:
        """Answer DeleteModel."""
        return self._delete(MODEL)

    def create_endpoint_config(self) -> ActionResult:
        """Answer CreateEndpointConfig."""
        return self._create(ENDPOINT_CONFIG)

    def describe_endpoint_config(self) -> ActionResult:
        """Answer DescribeEndpointConfig."""
        return self._describe(ENDPOINT_CONFIG)

    def list_endpoint_configs(self) -> ActionResult:
        """Answer ListEndpointConfigs."""
        return self._list(ENDPOINT_CONFIG)

    def delete_endpoint_config(self) -> ActionResult:
        """Answer DeleteEndpointConfig."""
        return self._delete(ENDPOINT_CONFIG)

    def create_endpoint(self) -> ActionResult:
        """Answer CreateEndpoint."""
        return self._create(ENDPOINT)

    def describe_endpoint(self) -> ActionResult:
        """Answer DescribeEndpoint."""
        return self._describe(ENDPOINT)

    def list_endpoints(self) -> ActionResult:
        """Answer ListEndpoints."""
        return self._list(ENDPOINT)

    def update_endpoint(self) -> ActionResult:
        """Answer UpdateEndpoint."""
        return _arn_of(self.backend.update_endpoint(self._given()))

    def update_endpoint_weights_and_capacities(self) -> ActionResult:
        """Answer UpdateEndpointWeightsAndCapacities."""
        given = self._given()
        wanted = given["DesiredWeightsAndCapacities"]
        return _arn_of(self.backend.scale_endpoint(given["EndpointName"], wanted))

    def delete_endpoint(self) -> ActionResult:
        """Answer DeleteEndpoint."""
        return self._delete(ENDPOINT)

    def create_inference_component(self) -> ActionResult:
        """Answer CreateInferenceComponent."""
        return self._create(COMPONENT)

    def describe_inference_component(self) -> ActionResult:
        """Answer DescribeInferenceComponent."""
        return self._describe(COMPONENT)

    def list_inference_components(self) -> ActionResult:
        """Answer ListInferenceComponents."""
        return self._list(COMPONENT)

    def update_inference_component(self) -> ActionResult:
        """Answer UpdateInferenceComponent."""
        return _arn_of(self.backend.update_component(self._given()))

    def update_inference_component_runtime_config(self) -> ActionResult:
        """Answer UpdateInferenceComponentRuntimeConfig."""
        given = self._given()
        runtime = {"CopyCount": given["DesiredRuntimeConfig"]["CopyCount"]}
        changes = {
            "InferenceComponentName": given["InferenceComponentName"],
            "RuntimeConfig": runtime,
        }
        return _arn_of(self.backend.update_component(changes))

    def delete_inference_component(self) -> ActionResult:
        """Answer DeleteInferenceComponent."""
        return self._delete(COMPONENT)

    def _create(self, kind: Kind) -> ActionResult:
        return _arn_of(self.backend.create(kind, self._given()))

    def _describe(self, kind: Kind) -> ActionResult:
        return ActionResult(self.backend.get(kind, self._given()[kind.name_member]).describe())

    def _delete(self, kind: Kind) -> ActionResult:
        self.backend.delete(kind, self._given()[kind.name_member])
        return EmptyResult()

    def _list(self, kind: Kind) -> ActionResult:
        given = self._given()
        found = [
            record.describe()
            for record in self.backend.records(kind)
            if given.get("NameContains", "").lower() in record.name.lower()
            and _same(given.get("EndpointNameEquals"), record.given.get("EndpointName"))
            and _same(given.get("VariantNameEquals"), record.given.get("VariantName"))
            and _same(given.get("StatusEquals"), record.state.get(f"{kind.noun}Status"))
        ]
        sort_member = kind.name_member if given.get("SortBy") == "Name" else "CreationTime"
        descending = given.get("SortOrder", "Descending") == "Descending"
        found.sort(key=lambda item: item[sort_member], reverse=descending)
        start = int(given.get("NextToken", 0))
        end = start + given.get("MaxResults", 100)
        page: dict[str, Any] = {f"{kind.noun}s": found[start:end]}
        if end < len(found):
            page["NextToken"] = str(end)
        return ActionResult(page)

    def _given(self) -> dict[str, Any]:
        given = dict(self.params)
        message = validation_message(input_shape("sagemaker", self._get_action()), given)
        if message:
            raise AWSValidationException(message)
        return given


def _arn_of(record: Record) -> ActionResult:
    return ActionResult({f"{record.kind.noun}Arn": record.arn})


def _same(wanted: str | None, value: object) -> bool:
    return wanted is None or wanted == value

"""Putting the local additions into moto and taking them out again.

The one module that changes moto's state. Where moto has a place for another class (a service's
`BackendDict`, the map of CloudFormation types) that place is used. Three things are patched:

- `moto.cloudformation.models` names its `Stack` class directly, and `moto.cloudformation.parsing` its
  class of custom resources.
- `BaseResponse.call_action` answers an operation or region that moto lacks with a server error in
  HTML, which the CDK CLI cannot read and repeats for half a minute (it looks failures up in
  CloudTrail).
"""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from moto.applicationautoscaling.models import applicationautoscaling_backends
from moto.cloudformation import models as cloudformation_models
from moto.cloudformation import parsing
from moto.cloudformation.parsing import get_model_map
from moto.cloudwatch.models import cloudwatch_backends
from moto.core.base_backend import BackendDict
from moto.core.exceptions import ServiceException
from moto.core.responses import ActionResult, BaseResponse
from moto.sagemaker.models import sagemaker_backends
from moto.sagemakerruntime.models import sagemakerruntime_backends

from lmi_constructs.local.alarms import LocalCloudWatchBackend
from lmi_constructs.local.cloudformation import LocalCloudFormationBackend
from lmi_constructs.local.functions import LocalCustomResource
from lmi_constructs.local.resources import ApiResource
from lmi_constructs.local.runtime import LocalRuntimeBackend
from lmi_constructs.local.sagemaker import LocalSageMakerBackend
from lmi_constructs.local.scaling import LocalScalingBackend
from lmi_constructs.local.stacks import LocalStack
from lmi_constructs.local.types import TYPES

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from lmi_constructs.local.engines import Engine

BACKENDS: tuple[tuple[BackendDict[Any], type[Any]], ...] = (
    (sagemaker_backends, LocalSageMakerBackend),
    (sagemakerruntime_backends, LocalRuntimeBackend),
    (applicationautoscaling_backends, LocalScalingBackend),
    (cloudwatch_backends, LocalCloudWatchBackend),
    (cloudformation_models.cloudformation_backends, LocalCloudFormationBackend),
)

NOT_IMPLEMENTED = 501
"""A status that AWS tools do not try again."""


@contextmanager
def extensions(endpoint_url: str, engine: Engine) -> Iterator[None]:
    """Extend moto for as long as the context lasts; all state of moto is dropped at both ends.

    Args:
        endpoint_url: Address that CloudFormation's resource handlers call.
        engine: What answers invocations.
    """
    types, stack_class = get_model_map(), cloudformation_models.Stack
    call_action, custom_resource = BaseResponse.call_action, vars(parsing)["CustomModel"]
    replaced_types, replaced_backends = dict(types), [place.backend for place, _ in BACKENDS]
    BackendDict.reset()
    ApiResource.endpoint_url = endpoint_url
    LocalRuntimeBackend.engine = engine
    for place, backend in BACKENDS:
        place.backend = backend
    types.update({kind.cfn_type: kind for kind in TYPES})
    cloudformation_models.Stack = LocalStack  # type: ignore[misc]
    vars(parsing)["CustomModel"] = LocalCustomResource
    BaseResponse.call_action = _with_refusal(call_action)  # type: ignore[assignment,method-assign]
    try:
        yield
    finally:
        BackendDict.reset()
        BaseResponse.call_action = call_action  # type: ignore[method-assign]
        vars(parsing)["CustomModel"] = custom_resource
        cloudformation_models.Stack = stack_class  # type: ignore[misc]
        types.clear()
        types.update(replaced_types)
        for (place, _), backend in zip(BACKENDS, replaced_backends, strict=True):
            place.backend = backend


class NotKnownHere(ServiceException):
    """The local AWS does not know an operation, or a region."""

    code = "ValidationException"
    """Moto warns of a code that neither the service's model nor its own short list knows."""


def _with_refusal(call_action: Callable[[BaseResponse], Any]) -> Callable[[BaseResponse], Any]:
    """Return moto's `call_action`, answering what is not known as AWS answers errors."""

    def answer(self: BaseResponse) -> Any:
        try:
            return call_action(self)
        except NotImplementedError as error:
            return refuse(self, f"{error} in the local AWS.")
        except KeyError as error:
            if error.args != (self.region,):
                raise
            return refuse(self, f"no region {self.region} is known in the local AWS.")

    def refuse(self: BaseResponse, words: str) -> Any:
        _, headers, body = self.serialized(ActionResult(NotKnownHere(words)))
        return NOT_IMPLEMENTED, {**headers, "status": NOT_IMPLEMENTED}, body

    return answer

"""Where on an endpoint a request goes."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from lmi_constructs.runtime.errors import RequestError

_NAME: Final = re.compile(r"[a-zA-Z0-9](-*[a-zA-Z0-9]){0,62}")  # botocore 1.44.8 EndpointName
_PARAMETERS: Final = {
    "inference_component": "InferenceComponentName",
    "session_id": "SessionId",
    "prefix_id": "PrefixAwareId",
    "target_variant": "TargetVariant",
}


def check_endpoint_name(name: str) -> None:
    """Refuse what no endpoint can be named, such as an ARN.

    Raises:
        RequestError: If it is none.
    """
    if not _NAME.fullmatch(name):
        raise RequestError(
            f"{name!r} is no name of an endpoint",
            "give the name alone: letters, digits and hyphens, at most 63",
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Routing:
    """Where on the endpoint requests go; every field can be left out.

    Attributes:
        inference_component: Component to call; needed on endpoints that have components. A LoRA
            adapter that is deployed as a component is called by its component's name.
        adapter: LoRA adapter inside the container, one name.
        session_id: Sticky session to go on with; see [`LmiClient.session`][].
        prefix_id: Requests of one id go to the same instance if possible, so that they find their
            common prefix in its cache; needs prefix-aware routing in the endpoint configuration.
        target_variant: Production variant to call.
    """

    inference_component: str | None = None
    adapter: str | None = None
    session_id: str | None = None
    prefix_id: str | None = None
    target_variant: str | None = None

    def parameters(self) -> dict[str, str]:
        """Return the parameters of InvokeEndpoint; the adapter is part of the body instead."""
        given = {parameter: getattr(self, name) for name, parameter in _PARAMETERS.items()}
        return {parameter: value for parameter, value in given.items() if value is not None}

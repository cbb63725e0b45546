"""The hosting resources the local SageMaker keeps: each as the request that created it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

from moto.core.utils import utcnow

if TYPE_CHECKING:
    from datetime import datetime


class Kind(NamedTuple):
    """One kind of hosting resource and the names the API gives to it."""

    noun: str
    """Name in operations and members, such as `EndpointConfig`."""
    label: str
    """Name in messages, such as `endpoint configuration`."""
    arn_type: str

    @property
    def name_member(self) -> str:
        """Member that carries the name, such as `EndpointConfigName`."""
        return f"{self.noun}Name"


MODEL = Kind("Model", "model", "model")
ENDPOINT_CONFIG = Kind("EndpointConfig", "endpoint configuration", "endpoint-config")
ENDPOINT = Kind("Endpoint", "endpoint", "endpoint")
COMPONENT = Kind("InferenceComponent", "inference component", "inference-component")
KINDS = (MODEL, ENDPOINT_CONFIG, ENDPOINT, COMPONENT)


@dataclass(eq=False)
class Record:
    """One resource: the request it was created with, and what has become of it since."""

    kind: Kind
    name: str
    arn: str
    given: dict[str, Any]
    state: dict[str, Any] = field(default_factory=dict)
    creation_time: datetime = field(default_factory=utcnow)
    last_modified_time: datetime = field(default_factory=utcnow)

    @property
    def tags(self) -> list[dict[str, str]]:
        """Tags, as the list that moto's tag operations change."""
        tags: list[dict[str, str]] = self.given.setdefault("Tags", [])
        return tags

    @tags.setter
    def tags(self, tags: list[dict[str, str]]) -> None:
        self.given["Tags"] = tags

    def describe(self) -> dict[str, Any]:
        """Return what Describe and List answer; the model of the API picks its members."""
        return {
            **self.given,
            f"{self.kind.noun}Arn": self.arn,
            "CreationTime": self.creation_time,
            "LastModifiedTime": self.last_modified_time,
            **self.state,
        }

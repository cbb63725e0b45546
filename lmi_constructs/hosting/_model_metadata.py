"""What stands beside a model in the template, so that a cloud assembly is planned as synth did."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lmi_constructs.checks.metadata import (
    ARCHITECTURE_METADATA,
    MODEL_METADATA,
    PROPERTIES_METADATA,
    RELEASE_METADATA,
    is_secret,
)
from lmi_constructs.container.serving_properties import read_serving_properties
from lmi_constructs.hosting._cdk_tokens import is_token

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from lmi_constructs.container import LmiContainer
    from lmi_constructs.hosting.model_data import BoundModelData
    from lmi_constructs.planner import Architecture


def model_metadata(
    architecture: Architecture | str | None,
    data: BoundModelData,
    environment: Mapping[str, str],
    release: LmiContainer | None,
) -> Iterator[tuple[str, Any]]:
    """Yield keys and values of a model's metadata: only what the template does not say itself.

    Args:
        architecture: The model that was planned.
        data: Its files.
        environment: The container's environment, which names a model of the hub.
        release: The release that an image of the user's own behaves like, `None` if the image says it.

    Raises:
        LmiError: If the `serving.properties` among the files cannot be read (LMI011).
    """
    named = environment.get("HF_MODEL_ID")
    if architecture is not None and not is_token(architecture):
        yield from _shape(architecture, data, named)
    if data.serving_properties is not None and not is_token(data.serving_properties):
        given = read_serving_properties(data.serving_properties)
        shown = {name: value for name, value in given.items() if not is_secret(name)}
        if shown:
            yield PROPERTIES_METADATA, shown
    if release is not None:
        yield RELEASE_METADATA, release.name


def _shape(
    architecture: Architecture | str, data: BoundModelData, named: str | None
) -> Iterator[tuple[str, Any]]:
    from lmi_constructs.planner import Architecture
    from lmi_constructs.planner.architecture_record import record_of

    if isinstance(architecture, str):
        if data.is_mounted or architecture != named:
            yield MODEL_METADATA, architecture
        return
    if data.is_mounted:
        yield MODEL_METADATA, architecture.name
    if Architecture.known(architecture.name if data.is_mounted else named or "") != architecture:
        yield ARCHITECTURE_METADATA, record_of(architecture)

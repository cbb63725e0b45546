"""Host images (`InferenceAmiVersion`) of SageMaker real-time inference."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from lmi_constructs.facts._data import table


@dataclass(frozen=True, slots=True)
class HostImage:
    """One host image.

    Attributes:
        name: Value of `InferenceAmiVersion`.
        accelerator_kind: `gpu` or `neuron`.
        driver: Major version of the NVIDIA driver.
        cuda: CUDA version that the driver brings.
        mounts_cuda_compatibility: Whether the host mounts CUDA compatibility libraries itself.
        neuron_driver: Version of the Neuron driver.
        source: Public source of the row.
        as_of: ISO date of the research.
    """

    name: str
    accelerator_kind: str
    driver: int | None
    cuda: str | None
    mounts_cuda_compatibility: bool | None
    neuron_driver: str | None
    source: str
    as_of: str


@cache
def host_images() -> dict[str, HostImage]:
    """Return the known host images by name."""
    return table(HostImage, "host_images", "name")

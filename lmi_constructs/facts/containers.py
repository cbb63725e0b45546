"""Released container images of DJL Serving: the LMI line and the two specialized images."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from lmi_constructs.facts._data import load, table


@dataclass(frozen=True, slots=True)
class ContainerRelease:
    """One published image tag of the `djl-inference` repository.

    Attributes:
        name: Short name, such as `v27`, `trtllm-0.33.0` or `neuronx-0.30.0`.
        lmi: LMI number, `None` for the TensorRT-LLM and Neuron images.
        djl: Version of DJL Serving.
        repository: Repository name in the registry.
        tag: Full image tag.
        released: ISO date on which the image appeared, if known.
        cuda: CUDA version in the image, if it has one and it is known.
        engine: `vllm`, `tensorrt-llm` or `neuronx`.
        engine_version: Version of the engine, if known.
        backends: Back ends the image can serve with.
        default_backend: Back end that serves a text-generation model when nothing is set.
        behavior: How its behavior was studied: `executed`, `read in source` or `inferred`.
        source: Public source of the row.
        as_of: ISO date of the research.
    """

    name: str
    lmi: int | None
    djl: str
    repository: str
    tag: str
    released: str | None
    cuda: str | None
    engine: str
    engine_version: str | None
    backends: tuple[str, ...]
    default_backend: str
    behavior: str
    source: str
    as_of: str


@cache
def container_releases() -> dict[str, ContainerRelease]:
    """Return all known releases by name, oldest LMI release first."""
    return table(ContainerRelease, "containers", "name")


def default_release_name() -> str:
    """Return the newest release whose behavior has been verified by running its code."""
    name: str = load("containers")["meta"]["default"]
    return name

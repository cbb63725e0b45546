"""What is true of the world: data files with a source and a date on every row, and look-ups."""

from lmi_constructs.facts.accelerators import Accelerator, accelerators, find_accelerator
from lmi_constructs.facts.containers import (
    ContainerRelease,
    container_releases,
    default_release_name,
)
from lmi_constructs.facts.host_images import HostImage, host_images
from lmi_constructs.facts.instances import InstanceType, instance_types
from lmi_constructs.facts.models import ModelFacts, ModelFamily, model_families, models
from lmi_constructs.facts.registries import Registry, registries

__all__ = [
    "Accelerator",
    "ContainerRelease",
    "HostImage",
    "InstanceType",
    "ModelFacts",
    "ModelFamily",
    "Registry",
    "accelerators",
    "container_releases",
    "default_release_name",
    "find_accelerator",
    "host_images",
    "instance_types",
    "model_families",
    "models",
    "registries",
]

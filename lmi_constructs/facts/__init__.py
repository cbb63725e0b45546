"""What is true of the world: data files with a source and a date on every row, and look-ups."""

from lmi_constructs.facts.containers import (
    ContainerRelease,
    container_releases,
    default_release_name,
)
from lmi_constructs.facts.host_images import HostImage, host_images
from lmi_constructs.facts.instances import InstanceType, instance_types
from lmi_constructs.facts.registries import Registry, registries

__all__ = [
    "ContainerRelease",
    "HostImage",
    "InstanceType",
    "Registry",
    "container_releases",
    "default_release_name",
    "host_images",
    "instance_types",
    "registries",
]

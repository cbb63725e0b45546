"""Scaling: of a variant's instances and of an inference component's copies."""

from lmi_constructs.hosting.scaling.copy_count import ScalableCopyCount
from lmi_constructs.hosting.scaling.instance_count import ScalableInstanceCount

__all__ = ["ScalableCopyCount", "ScalableInstanceCount"]

"""What the container is told and what it does with it."""

from lmi_constructs.container.release import LmiContainer

__all__ = ["LmiContainer"]

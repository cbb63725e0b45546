"""What the container is told and what it does with it."""

from lmi_constructs.container.release import LmiContainer
from lmi_constructs.container.verdict import Verdict, verdict

__all__ = ["LmiContainer", "Verdict", "verdict"]

"""What a platform team adds to the library: its own defaults, in one place."""

from our_platform.endpoint import OurEndpoint
from our_platform.roles import RolesUnderOurPath

__all__ = ["OurEndpoint", "RolesUnderOurPath"]

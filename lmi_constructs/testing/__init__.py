"""Help for tests of stacks that use this library."""

from lmi_constructs.testing.snapshot import stable_template

__all__ = ["stable_template"]

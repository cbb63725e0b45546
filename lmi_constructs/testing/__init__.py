"""Help for the tests of a repository that uses this library (extra `testing`).

With the extra installed, pytest loads [`lmi_constructs.testing.plugin`][] by itself: fixtures for
snapshots and for deployments onto the local AWS, and the choice of CDK's own validator.
"""

from typing import TYPE_CHECKING

from lmi_constructs._exports import lazy

if TYPE_CHECKING:
    from lmi_constructs.testing.assertions import (
        assert_fits,
        assert_no_findings,
        assert_updates_in_place,
    )
    from lmi_constructs.testing.replacement import Replacement, replacements
    from lmi_constructs.testing.stability import stable_template

__all__ = [
    "Replacement",
    "assert_fits",
    "assert_no_findings",
    "assert_updates_in_place",
    "replacements",
    "stable_template",
]

__getattr__, __dir__ = lazy(
    __name__,
    {
        "Replacement": "lmi_constructs.testing.replacement",
        "assert_fits": "lmi_constructs.testing.assertions",
        "assert_no_findings": "lmi_constructs.testing.assertions",
        "assert_updates_in_place": "lmi_constructs.testing.assertions",
        "replacements": "lmi_constructs.testing.replacement",
        "stable_template": "lmi_constructs.testing.stability",
    },
)

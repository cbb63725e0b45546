"""The pytest plugin: snapshots, deployments onto the local AWS, and CDK's own validator.

pytest loads it by itself where the package is installed. It imports nothing but pytest until one of
its fixtures is used.

Configuration:
    lmi_cdk_validation: `on` or `off` in pytest's configuration: whether the CDK validates templates
        inside `app.synth()`, which takes two seconds and 360 MB a process and says nothing that
        `cdk synth` does not say. Not set, the environment decides. `--lmi-cdk-validation` overrides
        it for one run.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from lmi_constructs._extras import needed

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    import aws_cdk as cdk
    from syrupy.assertion import SnapshotAssertion

    from lmi_constructs.local import LocalAws

_OPTION = "lmi_cdk_validation"
_VALUES = {"on": "true", "off": "false"}


def pytest_addoption(parser: pytest.Parser) -> None:
    """Register the choice of CDK's validator."""
    help = "whether the CDK validates templates in app.synth(): on or off"
    parser.addini(_OPTION, help, default="")
    parser.getgroup("lmi").addoption("--lmi-cdk-validation", choices=tuple(_VALUES), help=help)


def pytest_configure(config: pytest.Config) -> None:
    """Set what the CDK reads when its Node process starts, which is before the first test."""
    chosen = config.getoption("--lmi-cdk-validation") or config.getini(_OPTION)
    if not chosen:
        return
    if chosen not in _VALUES:
        raise pytest.UsageError(f"{_OPTION} is {chosen!r}; write one of {', '.join(_VALUES)}")
    os.environ["CDK_VALIDATION"] = _VALUES[chosen]


@pytest.fixture
def lmi_snapshot(request: pytest.FixtureRequest) -> SnapshotAssertion:
    """Compare a stack with its snapshot: `assert stack == lmi_snapshot`.

    The snapshot is the template without what changes by itself (see `stable_template`).
    `pytest --snapshot-update` writes it.
    """
    with needed("lmi_snapshot", "testing"):
        from syrupy.assertion import SnapshotAssertion

        from lmi_constructs.testing.template_snapshot import TemplateSnapshotExtension

    if not request.config.pluginmanager.has_plugin("syrupy"):
        raise pytest.UsageError("lmi_snapshot needs pytest's plugin syrupy, which is turned off")
    snapshot = request.getfixturevalue("snapshot")
    if not isinstance(snapshot, SnapshotAssertion):
        raise pytest.UsageError(
            "lmi_snapshot builds on the fixture `snapshot` of syrupy, and another one stands in its"
            " place: rename yours, or turn off the plugin that brings it"
        )
    return snapshot.use_extension(TemplateSnapshotExtension)


@pytest.fixture(scope="session")
def lmi_running_aws() -> Iterator[LocalAws]:
    """The one local AWS of a test process; use `local_aws`."""
    from lmi_constructs.local import LocalAws

    with LocalAws() as aws:
        yield aws


@pytest.fixture
def local_aws(lmi_running_aws: LocalAws) -> LocalAws:
    """An empty local AWS."""
    lmi_running_aws.reset()
    return lmi_running_aws


@pytest.fixture
def lmi_deploy(
    local_aws: LocalAws, tmp_path: Path
) -> Callable[[cdk.Stage | cdk.Stack], dict[str, str]]:
    """Deploy for real: a function from an app, stage or stack to the outputs of its stacks.

    The real CDK CLI deploys the synthesized app onto `local_aws`, each region bootstrapped first. A
    stack that names an account must name that of the local AWS, 123456789012. The outputs of a stack
    are its own, without those of stacks that it needs. Where several stacks have an output of the same
    name, deploy them one by one.
    """

    def deploy(of: cdk.Stage | cdk.Stack) -> dict[str, str]:
        __tracebackhide__ = True  # pytest shows the line of the test
        from lmi_constructs.testing.deployment import deployed

        return deployed(of, local_aws, tmp_path)

    return deploy

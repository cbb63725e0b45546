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
from typing import TYPE_CHECKING, Any

import pytest

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
def lmi_snapshot(snapshot: SnapshotAssertion) -> SnapshotAssertion:
    """Compare a stack with its snapshot: `assert stack == lmi_snapshot`.

    The snapshot is the template without what changes by itself (see `stable_template`).
    `pytest --snapshot-update` writes it.
    """
    from lmi_constructs.testing.template_snapshot import TemplateSnapshotExtension

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
) -> Callable[[cdk.App | cdk.Stack], dict[str, str]]:
    """Deploy for real: a function from an app or stack to the outputs of its stacks.

    The real CDK CLI deploys the synthesised app onto `local_aws`. A stack that names an account must
    name that of the local AWS, 123456789012.
    """

    def deploy(of: cdk.App | cdk.Stack) -> dict[str, str]:
        import aws_cdk as cdk

        from lmi_constructs.local import CdkCli

        root: Any = of if isinstance(of, cdk.App) else of.node.root
        assembly = root.synth()
        stacks = [of.stack_name] if isinstance(of, cdk.Stack) else []
        cli = CdkCli(local_aws, app=assembly.directory, directory=tmp_path)
        cli.bootstrap()
        cli.deploy(*stacks)
        described = local_aws.client("cloudformation").describe_stacks()["Stacks"]
        return {
            output["OutputKey"]: output["OutputValue"]
            for stack in described
            if stack["StackName"] in {item.stack_name for item in assembly.stacks}
            for output in stack.get("Outputs", ())
        }

    return deploy

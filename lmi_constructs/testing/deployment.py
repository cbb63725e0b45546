"""Deploying an app under test onto the local AWS."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lmi_constructs.testing.templates import app_of

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    import aws_cdk as cdk

    from lmi_constructs.local import LocalAws

__tracebackhide__ = True  # pytest shows the line of the test


def deployed(of: cdk.Stage | cdk.Stack, aws: LocalAws, directory: Path) -> dict[str, str]:
    """Deploy an app, a stage or a stack, and return the outputs of its stacks.

    Args:
        of: What to deploy; stacks that it needs are deployed with it.
        aws: Where to.
        directory: Folder to run the CDK CLI in.

    Raises:
        CdkError: If a deployment fails, with what the CDK CLI printed.
        TypeError: If it is none of these.
        ValueError: If there is no stack in it, a stack names another account, or two stacks have an
            output of the same name.
    """
    import aws_cdk as cdk

    from lmi_constructs.local import CdkCli

    if not isinstance(of, cdk.Stack | cdk.Stage):
        raise TypeError(f"an app, a stage or a stack is needed, not {type(of).__name__}")
    stacks = [
        item
        for item in of.node.find_all()
        if isinstance(item, cdk.Stack) and item.nested_stack_parent is None
    ]
    if not stacks:
        raise ValueError(f"there is no stack in {of.node.path or 'the app'}")
    account = aws.environment()["CDK_DEFAULT_ACCOUNT"]
    _require_account(stacks, account)
    assembly: Any = app_of(of).synth()
    cli = CdkCli(aws, app=assembly.directory, directory=directory)
    for region in dict.fromkeys(_region(stack, aws) for stack in assembly.stacks_recursively):
        cli.run("bootstrap", f"aws://{account}/{region}")
    cli.deploy(*(stack.node.path for stack in stacks))
    return _outputs(stacks, aws)


def _require_account(stacks: Iterable[cdk.Stack], account: str) -> None:
    import aws_cdk as cdk

    for stack in stacks:
        if not cdk.Token.is_unresolved(stack.account) and stack.account != account:
            raise ValueError(
                f"{stack.node.path} names the account {stack.account}, and the local AWS is"
                f" {account}: make the stack with env=cdk.Environment(account={account!r}, ...)"
            )


def _region(stack: Any, aws: LocalAws) -> str:
    """Return where a stack goes: to the local AWS's own region if it does not say."""
    import aws_cdk as cdk

    region = str(stack.region if isinstance(stack, cdk.Stack) else stack.environment.region)
    return aws.region if region == "unknown-region" or "${Token[" in region else region


def _outputs(stacks: Iterable[cdk.Stack], aws: LocalAws) -> dict[str, str]:
    found: dict[str, str] = {}
    for stack in stacks:
        client = aws.client("cloudformation", _region(stack, aws))
        (described,) = client.describe_stacks(StackName=stack.stack_name)["Stacks"]
        for output in described.get("Outputs", ()):
            name = output["OutputKey"]
            if name in found:
                raise ValueError(
                    f"several stacks have an output {name}: deploy them one by one, each with an"
                    " lmi_deploy(stack) of its own"
                )
            found[name] = output["OutputValue"]
    return found

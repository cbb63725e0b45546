"""A smoke test that is part of the deployment: what does not answer is rolled back."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Literal, get_args

import aws_cdk as cdk
from aws_cdk import aws_iam as iam
from constructs import Construct

from lmi_constructs.findings import Finding
from lmi_constructs.hosting._report import report
from lmi_constructs.hosting._tokens import is_token

if TYPE_CHECKING:
    from collections.abc import Sequence

    from aws_cdk import aws_lambda as lambda_
    from aws_cdk import aws_logs as logs

    from lmi_constructs.hosting.endpoint_operations import EndpointOperations

SmokeCheck = Literal[
    "readiness",
    "chat",
    "completion",
    "inputs",
    "streamed-chat",
    "streamed-completion",
    "streamed-inputs",
    "structured-output",
]
"""Name of a check, as `lmi smoke` prints it."""

_PACKAGE = Path(__file__).parents[1]
_HANDLER = "lmi_constructs.runtime.deployment_check.handler"
_LONGEST_MINUTES = 15
"""What Lambda allows."""


class LmiSmokeTest(Construct):
    """Tries every way to call an endpoint at the end of a deployment.

    A Lambda function runs what `lmi smoke` runs: readiness, chat, completion and `inputs`, each also
    streamed, structured output, and adapters. If a check fails, the custom resource fails, and
    CloudFormation takes the whole deployment back: a changed endpoint returns to the configuration
    before, a new one is deleted. It runs again whenever the endpoint's configuration changes.

    See `LmiEndpoint.add_smoke_test`.

    Attributes:
        resource: The custom resource.
        function: The function.
        log_group: What the function says, kept for a month.
    """

    resource: cdk.CustomResource
    function: lambda_.Function
    log_group: logs.LogGroup

    def __init__(
        self,
        scope: Construct,
        id: str,
        *,
        endpoint: EndpointOperations,
        adapters: Sequence[str] = (),
        skip: Sequence[SmokeCheck] = (),
        max_tokens: int = 32,
        inference_component_name: str | None = None,
        timeout: cdk.Duration | None = None,
    ) -> None:
        """Add a smoke test.

        Args:
            scope: Parent.
            id: Id within the parent.
            endpoint: The endpoint.
            adapters: Names of LoRA adapters that must answer; an unknown one must be refused.
            skip: Checks to leave out; a base model without a chat template has no chat.
            max_tokens: Most tokens of an answer.
            inference_component_name: Component to call, on an endpoint that has some.
            timeout: How long all checks together may take. Default: 15 minutes, the most that
                Lambda allows.

        Raises:
            LmiError: If a check of `skip` does not exist, or the endpoint answers to S3 (LMI012).
        """
        from aws_cdk import aws_lambda as lambda_
        from aws_cdk import aws_logs as logs

        super().__init__(scope, id)
        report(self, _check(skip, max_tokens, is_async=endpoint.endpoint_config.is_async))
        self.log_group = logs.LogGroup(
            self,
            "Logs",
            retention=logs.RetentionDays.ONE_MONTH,
            removal_policy=cdk.RemovalPolicy.DESTROY,
        )
        role = iam.Role(
            self,
            "Role",
            assumed_by=iam.ServicePrincipal("lambda.amazonaws.com"),
            description="Calls the endpoint once at the end of each deployment",
        )
        with tempfile.TemporaryDirectory() as folder:
            _stage(Path(folder))
            self.function = lambda_.Function(
                self,
                "Function",
                code=lambda_.Code.from_asset(folder),
                runtime=lambda_.Runtime.PYTHON_3_12,
                handler=_HANDLER,
                role=role,
                log_group=self.log_group,
                memory_size=256,
                timeout=timeout or cdk.Duration.minutes(_LONGEST_MINUTES),
                description="Smoke test of an LLM endpoint",
            )
        properties = {
            "EndpointName": endpoint.endpoint_name,
            "EndpointConfigName": endpoint.endpoint_config.endpoint_config_name,
            "Adapters": list(adapters),
            "Skip": list(skip),
            "MaxTokens": max_tokens,
        }
        if inference_component_name is not None:
            properties["InferenceComponentName"] = inference_component_name
        self.resource = cdk.CustomResource(
            self,
            "Resource",
            resource_type="Custom::LmiSmokeTest",
            service_token=self.function.function_arn,
            properties=properties,
        )
        describe = iam.Grant.add_to_principal(
            grantee=role,
            actions=["sagemaker:DescribeEndpoint"],
            resource_arns=[endpoint.endpoint_arn],
        )
        grants = (self.log_group.grant_write(role), endpoint.grant_invoke(role), describe)
        for grant in grants:
            grant.apply_before(self.resource)


def _stage(folder: Path) -> None:
    """Copy the client into a folder: pure Python, with nothing but boto3 to import."""
    target = folder / _PACKAGE.name
    shutil.copytree(
        _PACKAGE / "runtime", target / "runtime", ignore=shutil.ignore_patterns("__pycache__")
    )
    for name in ("__init__.py", "_exports.py", "_version.py"):
        shutil.copy(_PACKAGE / name, target / name)


def _check(skip: Sequence[str], max_tokens: int, *, is_async: bool) -> list[Finding]:
    findings = []
    if is_async:
        findings.append(
            Finding(
                rule="LMI012",
                message="a smoke test of an asynchronous endpoint",
                why="it answers to S3, so that every check would fail and roll the deployment back",
                fix="leave it out, and queue a request with the runtime's client after deploying",
                where="async_inference",
            )
        )
    known = get_args(SmokeCheck)
    findings += [
        Finding(
            rule="LMI012",
            message=f"{name!r} is no check of the smoke test",
            why="nothing would be left out, and the test run that was not wanted",
            fix="use " + ", ".join(known),
            where="skip",
        )
        for name in skip
        if not is_token(name) and name not in known
    ]
    if not is_token(max_tokens) and max_tokens < 1:
        findings.append(
            Finding(
                rule="LMI012",
                message=f"max_tokens is {max_tokens}",
                why="an answer without tokens is empty, which is a failure",
                fix="give 1 or more",
                where="max_tokens",
            )
        )
    return findings

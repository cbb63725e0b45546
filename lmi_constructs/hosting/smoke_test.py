"""A smoke test that is part of the deployment: what does not answer is rolled back."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Literal, get_args

import aws_cdk as cdk
from aws_cdk import aws_iam as iam

from lmi_constructs.findings import Finding
from lmi_constructs.hosting._cdk_tokens import is_token
from lmi_constructs.hosting._grants import INVOKING
from lmi_constructs.hosting._keywords import check_keywords, keywords_of
from lmi_constructs.hosting._report_findings import report
from lmi_constructs.hosting._resource_names import check_name
from lmi_constructs.hosting._scope_and_id import CheckedConstruct
from lmi_constructs.hosting._stack_environment import StackEnvironment
from lmi_constructs.hosting._units import seconds
from lmi_constructs.hosting.components.model_component import ModelComponent
from lmi_constructs.hosting.endpoint_operations import EndpointOperations

if TYPE_CHECKING:
    from collections.abc import Sequence

    from aws_cdk import aws_lambda as lambda_
    from aws_cdk import aws_logs as logs
    from constructs import Construct

    from lmi_constructs.container import Verdict
    from lmi_constructs.hosting.components.component_base import ComponentBase
    from lmi_constructs.hosting.endpoint_base import EndpointBase
    from lmi_constructs.hosting.endpoint_config import LmiEndpointConfig
    from lmi_constructs.hosting.model import LmiModel

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


class LmiSmokeTest(CheckedConstruct):
    """Tries every way to call an endpoint at the end of a deployment.

    A Lambda function runs what `lmi smoke` runs: readiness, chat, completion and `inputs`, each also
    streamed, structured output, and adapters. If a check fails, the custom resource fails, and
    CloudFormation takes the whole deployment back: a changed endpoint returns to the configuration
    before, a new one is deleted. It runs again whenever the endpoint's configuration changes.

    A component that sleeps is woken and waited for; one that does not wake in time is not tested,
    and the deployment stays.

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
        endpoint: EndpointBase,
        component: ComponentBase | None = None,
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
            component: Component or adapter to call, on an endpoint that has some. The test may call
                it and no other, comes after it, and runs again when it changes.
            adapters: Names of LoRA adapters that must answer; an unknown one must be refused.
            skip: Checks to leave out; a base model without a chat template has no chat.
            max_tokens: Most tokens of an answer.
            inference_component_name: Name of a component that was made elsewhere, instead of
                `component`.
            timeout: How long all checks together may take. Default: 15 minutes, the most that
                Lambda allows.

        Raises:
            LmiError: If a check of `skip` does not exist, the endpoint answers to S3, or it has
                components and none is named (LMI012).
        """
        super().__init__(scope, id)
        report(self, check_keywords(keywords_of(locals())))
        config = endpoint.endpoint_config if isinstance(endpoint, EndpointOperations) else None
        name = inference_component_name if component is None else component.component_name
        report(
            self,
            [
                *_check(skip, max_tokens, is_async=config is not None and config.is_async),
                *check_name(inference_component_name, "inference_component_name"),
                *_check_component(config, component, inference_component_name),
                *_check_adapters(*_tested(config, component), adapters),
                *_check_timeout(seconds(timeout, "timeout")),
            ],
        )
        role = self._add_function(timeout)
        properties: dict[str, object] = {
            "EndpointName": endpoint.endpoint_name,
            "Adapters": list(adapters),
            "Skip": list(skip),
            "MaxTokens": max_tokens,
        }
        if config is not None:
            properties["EndpointConfigName"] = config.endpoint_config_name
        if name is not None:
            properties["InferenceComponentName"] = name
        if component is not None and component.served is not None:
            properties["Served"] = component.served
        self.resource = cdk.CustomResource(
            self,
            "Resource",
            resource_type="Custom::LmiSmokeTest",
            service_token=self.function.function_arn,
            properties=properties,
        )
        for grant in (self.log_group.grant_write(role), *_grants(role, endpoint, name)):
            grant.apply_before(self.resource)
        if component is not None and component.resource is not None:
            self.resource.node.add_dependency(component.resource)

    def _add_function(self, timeout: cdk.Duration | None) -> iam.Role:
        """Add the function and its log group, and return the function's role."""
        from aws_cdk import aws_lambda as lambda_
        from aws_cdk import aws_logs as logs

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
                timeout=cdk.Duration.minutes(_LONGEST_MINUTES) if timeout is None else timeout,
                description="Smoke test of an LLM endpoint",
            )
        return role


def _grants(role: iam.IRole, endpoint: EndpointBase, component_name: str | None) -> list[iam.Grant]:
    """Let the function call and describe the endpoint and, of its components, the one named."""
    actions, arns = ["sagemaker:DescribeEndpoint", *INVOKING], [endpoint.endpoint_arn]
    if component_name is not None:
        actions.append("sagemaker:DescribeInferenceComponent")
        arns.append(StackEnvironment.of(endpoint).component_arn(component_name))
    return [iam.Grant.add_to_principal(grantee=role, actions=actions, resource_arns=arns)]


def _stage(folder: Path) -> None:
    """Copy the client into a folder: pure Python, with nothing but boto3 to import."""
    target = folder / _PACKAGE.name
    shutil.copytree(
        _PACKAGE / "runtime", target / "runtime", ignore=shutil.ignore_patterns("__pycache__")
    )
    for file in _PACKAGE.glob("_*.py"):
        shutil.copy(file, target)


def _check_component(
    config: LmiEndpointConfig | None, component: ComponentBase | None, name: str | None
) -> list[Finding]:
    """Check that exactly one model is tested: the endpoint's own, or one component's."""
    is_named = component is not None or name is not None
    is_fleet = config is not None and any(one.variant.model is None for one in config.variants)
    if component is not None and name is not None:
        message = "component and inference_component_name are both given"
        why = "one test calls one component"
        fix = "leave inference_component_name out"
    elif is_fleet and not is_named:
        message = "the endpoint is a fleet, which has no model of its own to test"
        why = "SageMaker rejects requests that name no component, so the deployment is rolled back"
        fix = "test each component instead: component.add_smoke_test()"
    elif config is not None and not is_fleet and is_named:
        message = "a component is given, but the endpoint serves a model of its own"
        why = "such an endpoint has no components, so the deployment is rolled back"
        fix = "leave the component out"
    else:
        return []
    return [Finding(rule="LMI012", message=message, why=why, fix=fix, where="component")]


def _tested(
    config: LmiEndpointConfig | None, component: ComponentBase | None
) -> tuple[LmiModel | None, Verdict | None]:
    """Return the model that is tested and what its container does with it, as far as known."""
    if isinstance(component, ModelComponent):
        return component.model, None if component.resolved is None else component.resolved.verdict
    if component is not None or config is None:
        return None, None
    return config.variants[0].variant.model, config.variants[0].verdict


def _check_adapters(
    model: LmiModel | None, verdict: Verdict | None, adapters: Sequence[str]
) -> list[Finding]:
    """Check that the model takes adapters; a file beside a mounted one may still say so."""
    if not adapters or model is None or verdict is None or verdict.starts is None:
        return []
    if verdict.effective.get("enable_lora"):
        return []
    mounted = model.data.is_mounted
    return [
        Finding(
            rule="LMI012",
            message="adapters are tested of a model that nothing sets up for them"
            + (", unless a serving.properties beside it does" if mounted else ""),
            why="the container knows none, so that the test fails and the deployment is taken back",
            fix="give LmiSettings(enable_lora=True, ...), or leave adapters out",
            severity="warning" if mounted else "error",
            where="adapters",
            source="https://docs.vllm.ai/en/latest/features/lora/",
        )
    ]


def _check_timeout(given: int | None) -> list[Finding]:
    if given is None or is_token(given) or 1 <= given <= _LONGEST_MINUTES * 60:
        return []
    return [
        Finding(
            rule="LMI012",
            message=f"timeout is {given} seconds",
            why=f"Lambda functions run 1 second to {_LONGEST_MINUTES} minutes",
            fix=f"give up to cdk.Duration.minutes({_LONGEST_MINUTES})",
            where="timeout",
            source="https://docs.aws.amazon.com/lambda/latest/dg/configuration-timeout.html",
        )
    ]


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

"""What the execution role may do."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, TypedDict

from lmi_constructs._near_names import SURE, nearest
from lmi_constructs.checks.examples import REMOVED, Example
from lmi_constructs.checks.queries.resource_arns import (
    addresses,
    arns,
    is_declared,
    is_of_aws,
    is_open,
    repository_arn,
    spoken,
)
from lmi_constructs.checks.queries.role_permissions import FULL_ACCESS, allows, denial, givers
from lmi_constructs.checks.queries.variants import config_of
from lmi_constructs.checks.resources import Statement, UpdatePolicy
from lmi_constructs.checks.rules.base import Rule
from lmi_constructs.checks.rules.image_registries import is_elsewhere
from lmi_constructs.checks.rules.published_images import is_in_other_repository
from lmi_constructs.checks.values import (
    UNKNOWN,
    String,
    literal,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lmi_constructs.checks.deployment import Deployment
    from lmi_constructs.checks.resources import Container, Model, Role
    from lmi_constructs.findings import Finding, Severity

_STATEMENTS: Final = "Role/Properties/Policies/0/PolicyDocument/Statement"
_S3_URI: Final = "Model/Properties/PrimaryContainer/ModelDataSource/S3DataSource/S3Uri"
_PULL: Final = "ecr:BatchGetImage"
_LAYERS: Final = ("ecr:GetDownloadUrlForLayer", "ecr:BatchCheckLayerAvailability")
_LOGIN: Final = "ecr:GetAuthorizationToken"
_READ: Final = "s3:GetObject"
_LIST: Final = "s3:ListBucket"
_WRITE: Final = "s3:PutObject"
_GUIDE: Final = "https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-roles.html"
_CREATE_MODEL: Final = f"{_GUIDE}#sagemaker-roles-createmodel-perms"
_POLICY: Final = {
    "Type": "AWS::IAM::Policy",
    "Properties": {
        "PolicyName": "Read",
        "Roles": [{"Ref": "Role"}],
        "PolicyDocument": {
            "Statement": [
                {
                    "Effect": "Allow",
                    "Action": ["s3:GetObject", "s3:ListBucket"],
                    "Resource": ["arn:aws:s3:::example-models", "arn:aws:s3:::example-models/*"],
                }
            ]
        },
    },
}
_WIDE: Final = frozenset(
    {"*", "s3:*", "s3:put*", "s3:putobject", "s3:putobject*", "s3:delete*", "s3:deleteobject"}
    | {"s3:deleteobject*", "sagemaker:*", "iam:*", "iam:passrole"}
)


class RoleCannotRead(Rule):
    """LMI091."""

    id = "LMI091"
    title = "the role may not read the model data"
    why = "CreateModel or the endpoint fails: the data cannot be read with this role"
    fix = "allow s3:GetObject on the prefix and s3:ListBucket on the bucket"
    source = "https://github.com/awslabs/generative-ai-cdk-constructs/issues/432"
    failing = Example(
        {"Bucket": {"Type": "AWS::S3::Bucket"}, _S3_URI: {"Fn::Sub": "s3://${Bucket}/llama/"}}
    )
    passing = Example({f"{_STATEMENTS}/2/Action": "s3:Get*"})

    def check(self, deployment: Deployment) -> Iterator[Finding]:
        """Yield model data that nothing here lets the role read; an error if nobody else can."""
        for model, role in _models_with_role(deployment):
            for container in model.containers:
                for path, address, prefix in addresses(container):
                    bucket, objects = arns(address, prefix)
                    if bucket is None or _may_be_opened(deployment, role, _READ, bucket, objects):
                        continue
                    if allows(role, _READ, objects) is False:
                        sure = _is_made_with(model, role) and is_declared(bucket)
                        yield self.found(model, path, **_lacking(role, _READ, objects, sure=sure))
                    elif prefix and allows(role, _LIST, bucket) is False:
                        yield self.found(model, path, **_lacking(role, _LIST, bucket, sure=False))


class RoleCannotPull(Rule):
    """LMI092."""

    id = "LMI092"
    title = "the role may not pull the image"
    why = "SageMaker pulls the image with this role, and CreateModel fails if it may not"
    fix = (
        "allow ecr:BatchGetImage, ecr:GetDownloadUrlForLayer and ecr:BatchCheckLayerAvailability"
        " on the repository of the image's own account, and ecr:GetAuthorizationToken on *"
    )
    source = "https://github.com/aws/sagemaker-python-sdk/issues/2002"
    failing = Example(
        {
            f"{_STATEMENTS}/1/Resource": {
                "Fn::Sub": "arn:aws:ecr:us-east-1:${AWS::AccountId}:repository/*"
            }
        }
    )
    passing = Example({f"{_STATEMENTS}/1/Resource": "arn:*:ecr:*:763104351884:repository/djl-*"})

    def check(self, deployment: Deployment) -> Iterator[Finding]:
        """Yield images that nothing here lets the role pull; an error if nobody else can.

        Where the image is in the wrong place, the right is not looked for: that would help nobody.
        """
        for model, role in _models_with_role(deployment):
            for container in model.containers:
                elsewhere = is_elsewhere(model, container) or is_in_other_repository(container)
                arn = None if elsewhere else repository_arn(container)
                yield from self._besides(model, role, container, arn)
                if arn is not None and allows(role, _PULL, arn) is False:
                    sure = _is_made_with(model, role) and is_of_aws(container)
                    lacking = _lacking(role, _PULL, arn, sure=sure)
                    yield self.found(model, f"{container.path}/Image", **lacking)

    def _besides(
        self, model: Model, role: Role, container: Container, arn: String | None
    ) -> Iterator[Finding]:
        """Yield what AWS's guide wants besides, where the image itself may be read."""
        if arn is None or allows(role, _PULL, arn) is False:
            return
        rights = [(action, arn) for action in _LAYERS] + [(_LOGIN, "*")]
        denied = [(action, on) for action, on in rights if _is_denied(role, action, on)]
        for action, on in denied:
            said = _lacking(role, action, on, sure=False)
            yield self.found(model, f"{container.path}/Image", **said)
        rest = [one for one in rights if one not in denied]
        lacking = [action for action, on in rest if allows(role, action, on) is False]
        if not lacking:
            return
        given = [action for one in role.statements for action in one.actions]
        slips = [(action, nearest(action, given, likeness=SURE)) for action in lacking]
        meant = " and ".join(f"{action} instead of {near}" for action, near in slips if near)
        message = f"nothing in these templates lets {role.logical_id} do {', '.join(lacking)}"
        fix = f"write {meant}" if meant else None
        yield self.found(
            model,
            f"{container.path}/Image",
            message,
            fix=fix,
            severity="warning",
            source=_CREATE_MODEL,
        )


class ModelBeforePolicy(Rule):
    """LMI093."""

    id = "LMI093"
    title = "the model does not wait for the role's policy"
    why = (
        "CloudFormation creates the policy and the model at once, and CreateModel fails when the"
        " role does not have its rights yet"
    )
    fix = "add DependsOn for the policy to the model, or write the policy inline on the role"
    source = "https://github.com/aws-samples/generative-ai-sagemaker-cdk-demo/issues/2"
    failing = Example({f"{_STATEMENTS}/2": REMOVED, "Read": _POLICY})
    passing = Example({f"{_STATEMENTS}/2": REMOVED, "Read": _POLICY, "Model/DependsOn": "Read"})

    def check(self, deployment: Deployment) -> Iterator[Finding]:
        """Yield models whose rights come only from policies that may be attached later."""
        for model, role in _models_with_role(deployment):
            late = None
            for container in model.containers:
                needs = [(_PULL, repository_arn(container))]
                needs += [(_READ, arns(uri, prefix)[1]) for _, uri, prefix in addresses(container)]
                for action, arn in needs:
                    late = late or _too_late(deployment, model, role, action, arn)
            if late is not None:
                message = (
                    f"the model needs rights that {late} attaches, but does not wait for {late}"
                )
                fix = f"add DependsOn: {late} to the model, or write the policy inline on the role"
                yield self.found(model, "ExecutionRoleArn", message, fix=fix)


class RoleNotForSageMaker(Rule):
    """LMI094."""

    id = "LMI094"
    title = "SageMaker may not assume the role"
    why = "CreateModel fails: the role cannot be assumed by sagemaker.amazonaws.com"
    fix = "let sagemaker.amazonaws.com assume the role in AssumeRolePolicyDocument"
    source = "botocore 1.44.8 sagemaker 2017-07-24 CreateModel"
    failing = Example(
        {
            "Role/Properties/AssumeRolePolicyDocument/Statement/0/Principal": {
                "Service": "lambda.amazonaws.com"
            }
        }
    )
    passing = Example(
        {
            "Role/Properties/AssumeRolePolicyDocument/Statement/0/Principal": {
                "Service": ["lambda.amazonaws.com", "sagemaker.amazonaws.com"]
            }
        }
    )

    def check(self, deployment: Deployment) -> Iterator[Finding]:
        """Yield roles of models that are for other services."""
        for model, role in _models_with_role(deployment):
            services = role.services
            if services is UNKNOWN or not services:
                continue
            if not any(service.startswith("sagemaker.") for service in services):
                message = f"only {', '.join(services)} may assume {role.logical_id}"
                yield self.found(model, "ExecutionRoleArn", message)


class RoleTooBroad(Rule):
    """LMI095."""

    id = "LMI095"
    title = "the role may do far more than serving needs"
    severity = "warning"
    why = "whoever breaks into the container may use all of it"
    fix = "allow reading the model's prefix, pulling the image, logs and metrics, and no more"
    source = _GUIDE
    failing = Example(
        {"Role/Properties/ManagedPolicyArns": [f"arn:aws:iam::aws:policy/{FULL_ACCESS}"]}
    )
    passing = Example()

    def check(self, deployment: Deployment) -> Iterator[Finding]:
        """Yield roles with full access, or with every right on all buckets."""
        seen = set()
        for _, role in _models_with_role(deployment):
            if role.key in seen:
                continue
            seen.add(role.key)
            for name in role.managed_policies:
                if name in (FULL_ACCESS, "AdministratorAccess", "AmazonS3FullAccess"):
                    yield self.found(role, "ManagedPolicyArns", f"the role has {name}")
            for one in role.statements:
                wide = _WIDE & set(one.actions)
                everything = {"*", "arn:aws:s3:::*"} & {literal(item) for item in one.resources}
                if wide and everything:
                    message = f"the role allows {', '.join(sorted(wide))} on everything"
                    yield self.found(role, "Policies", message)


class RoleCannotSeeAlarms(Rule):
    """LMI097."""

    id = "LMI097"
    title = "the role may not see the rollback alarms"
    severity = "warning"
    why = "SageMaker reads the alarms with the execution role; without the right nothing rolls back"
    fix = "allow cloudwatch:DescribeAlarms"
    source = (
        "https://docs.aws.amazon.com/sagemaker/latest/dg/deployment-guardrails-configuration.html"
    )
    failing = Example(
        {
            "Endpoint/Properties/DeploymentConfig/AutoRollbackConfiguration": {
                "Alarms": [{"AlarmName": "llama-errors"}]
            }
        }
    )
    passing = Example(
        {
            **failing.change,
            f"{_STATEMENTS}/5/Action": ["cloudwatch:PutMetricData", "cloudwatch:DescribeAlarms"],
        }
    )

    def check(self, deployment: Deployment) -> Iterator[Finding]:
        """Yield endpoints with rollback alarms that no role of theirs may describe."""
        for endpoint in deployment.endpoints:
            policy, config = endpoint.update_policy, config_of(deployment, endpoint)
            if not isinstance(policy, UpdatePolicy) or not policy.alarms or config is None:
                continue
            models = [deployment.model(variant.model) for variant in config.variants]
            roles = [deployment.role(config.role)]
            roles += [deployment.role(model.role) for model in models if model]
            known = [role for role in roles if role]
            answers = [allows(role, "cloudwatch:DescribeAlarms", UNKNOWN) for role in known]
            if answers and all(answer is False for answer in answers):
                name = known[0].logical_id
                message = f"nothing in these templates lets {name} do cloudwatch:DescribeAlarms"
                path = "DeploymentConfig/AutoRollbackConfiguration"
                yield self.found(endpoint, path, message)


class RoleCannotWrite(Rule):
    """LMI098."""

    id = "LMI098"
    title = "the role may not write the results"
    severity = "warning"
    why = "results and captured data are written with the execution role"
    fix = "allow s3:PutObject on the output prefix"
    source = _GUIDE
    failing = Example({f"{_STATEMENTS}/6/Action": "s3:GetObject"}, base="asynchronous")
    passing = Example(base="asynchronous")

    def check(self, deployment: Deployment) -> Iterator[Finding]:
        """Yield outputs that no role of the endpoint may write."""
        for config in deployment.endpoint_configs:
            models = [deployment.model(variant.model) for variant in config.variants]
            roles = [deployment.role(model.role) for model in models if model]
            if not roles:  # a fleet, whose components' models stand elsewhere
                roles = [deployment.role(config.role)]
            for path, address in config.output_paths:
                bucket, objects = arns(address, True)
                for role in roles:
                    if bucket is None or role is None:
                        continue
                    if _may_be_opened(deployment, role, _WRITE, bucket, objects):
                        continue
                    if allows(role, _WRITE, objects) is False:
                        lacking = _lacking(role, _WRITE, objects, sure=False)
                        yield self.found(config, path, **lacking)


def _is_made_with(model: Model, role: Role) -> bool:
    """Tell whether one template makes both, so that nobody else gives the role rights between."""
    return role.template == model.template


def _may_be_opened(
    deployment: Deployment, role: Role, action: str, bucket: String, objects: String
) -> bool:
    """Tell whether the bucket's own policy may allow what the role's do not; never what they deny."""
    return not _is_denied(role, action, objects) and is_open(deployment, bucket)


def _is_denied(role: Role, action: str, resource: String) -> bool:
    """Tell whether a right is surely denied, so that nothing else can give it."""
    return isinstance(denial(role, action, resource), Statement)


class _Lacking(TypedDict):
    """Words about a right that a role has not, and how sure they are."""

    message: str
    severity: Severity
    fix: str | None


def _lacking(role: Role, action: str, resource: String, *, sure: bool) -> _Lacking:
    """Say what a role lacks: it is denied, or nobody gives it here, though others may yet do so."""
    name, what = role.logical_id, f"{action} on {spoken(resource)}"
    denied = denial(role, action, resource)
    if isinstance(denied, Statement):
        by = denied.given_by[1]
        fix = f"take the Deny of {action} out of {by}: no other policy can allow it"
        message = f"a Deny in {by} takes {what} from {name}"
        return {"message": message, "severity": "error", "fix": fix}
    if sure:
        return {"message": f"{name} does not allow {what}", "severity": "error", "fix": None}
    message = f"nothing in these templates lets {name} do {what}"
    return {"message": message, "severity": "warning", "fix": None}


def _models_with_role(deployment: Deployment) -> Iterator[tuple[Model, Role]]:
    for model in deployment.models:
        role = deployment.role(model.role)
        if role is not None:
            yield model, role


def _too_late(
    deployment: Deployment, model: Model, role: Role, action: str, arn: String | None
) -> str | None:
    """Return the policy that alone gives a right, if the model may be created before it."""
    statements = givers(role, action, arn) if arn is not None else []
    if not statements or role.managed_policies:
        return None
    policies = {statement.given_by for statement in statements}
    if role.key in policies or any(policy[0] != model.template for policy in policies):
        return None
    if any(deployment.depends(model, policy) for policy in policies):
        return None
    return sorted(policies)[0][1]

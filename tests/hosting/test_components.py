"""Several models on one fleet, and tenants' adapters on one model."""

from __future__ import annotations

import json
from typing import Any

import aws_cdk as cdk
import pytest
from aws_cdk import aws_iam as iam
from aws_cdk import aws_s3 as s3
from aws_cdk import aws_sns as sns

from lmi_constructs import (
    AdapterData,
    LmiAdapter,
    LmiContainer,
    LmiEndpoint,
    LmiError,
    LmiFleet,
    LmiInferenceComponent,
    LmiModel,
    LmiSettings,
    ManagedInstanceScaling,
    ModelData,
    S3Location,
)

COMPONENT = "AWS::SageMaker::InferenceComponent"
QWEN = ModelData.s3_prefix("my-models", "qwen3-8b/", architecture="Qwen/Qwen3-8B")
MEMORY = cdk.Size.gibibytes(16)
WITH_ADAPTERS = LmiSettings(
    tensor_parallel_degree=1, max_model_len=8192, enable_lora=True, max_lora_rank=32
)


@pytest.fixture
def fleet(stack: cdk.Stack) -> LmiFleet:
    return LmiFleet(
        stack,
        "Fleet",
        instance_type="ml.g6.12xlarge",
        managed_instance_scaling=ManagedInstanceScaling(0, 2),
    )


def component(fleet: LmiFleet, id: str = "Chat", **keywords: Any) -> LmiInferenceComponent:
    """Return a component of one accelerator."""
    wanted = {
        "model_data": QWEN,
        "settings": LmiSettings(tensor_parallel_degree=1, max_model_len=8192),
        "min_memory": MEMORY,
        **keywords,
    }
    wanted = {name: value for name, value in wanted.items() if value is not None}
    return LmiInferenceComponent(cdk.Stack.of(fleet), id, fleet=fleet, **wanted)


def with_adapters(fleet: LmiFleet, **keywords: Any) -> LmiInferenceComponent:
    """Return a component that takes adapters."""
    return component(fleet, settings=WITH_ADAPTERS, component_name="base", **keywords)


def rules(of: pytest.ExceptionInfo[LmiError]) -> set[str]:
    """Return the rules of an error."""
    return {finding.rule for finding in of.value.findings}


def test_a_fleet_has_a_role_and_no_model(fleet: LmiFleet, stack: cdk.Stack, resources: Any) -> None:
    component(fleet)
    (config,) = resources(stack, "AWS::SageMaker::EndpointConfig")
    assert config["ExecutionRoleArn"] == stack.resolve(fleet.role.role_arn)
    (variant,) = config["ProductionVariants"]
    assert variant == {
        "VariantName": "AllTraffic",
        "InstanceType": "ml.g6.12xlarge",
        "InitialInstanceCount": 1,
        "InitialVariantWeight": 1,
        "InferenceAmiVersion": "al2023-ami-sagemaker-inference-gpu-4-1",
        "ManagedInstanceScaling": {
            "Status": "ENABLED",
            "MinInstanceCount": 0,
            "MaxInstanceCount": 2,
        },
        "RoutingConfig": {"RoutingStrategy": "LEAST_OUTSTANDING_REQUESTS"},
    }


def test_a_component_takes_accelerators_and_memory_of_an_instance(
    fleet: LmiFleet, stack: cdk.Stack, resources: Any
) -> None:
    chat = component(fleet, cpu_count=2, cache_on_instances=True)
    (made,) = resources(stack, COMPONENT)
    assert made == {
        "EndpointName": stack.resolve(fleet.endpoint_name),
        "VariantName": "AllTraffic",
        "InferenceComponentName": chat.component_name,
        "RuntimeConfig": {"CopyCount": 1},
        "Specification": {
            "ModelName": stack.resolve(chat.model.model_name),
            "ComputeResourceRequirements": {
                "NumberOfAcceleratorDevicesRequired": 1,
                "NumberOfCpuCoresRequired": 2,
                "MinMemoryRequiredInMb": 16384,
            },
            "StartupParameters": {
                "ContainerStartupHealthCheckTimeoutInSeconds": 1800,
                "ModelDataDownloadTimeoutInSeconds": 900,
            },
            "DataCacheConfig": {"EnableCaching": True},
        },
    }
    assert not cdk.Token.is_unresolved(chat.component_name)


def test_it_is_planned_on_its_own_accelerators(fleet: LmiFleet) -> None:
    alone = LmiEndpoint(
        cdk.Stack.of(fleet), "Alone", model_data=QWEN, instance_type="ml.g6.12xlarge"
    )
    chat = component(fleet)
    assert chat.plan is not None
    assert alone.plan is not None
    assert chat.plan.weights_gib > 3 * alone.plan.weights_gib


def test_what_does_not_fit_on_its_accelerators_is_refused(fleet: LmiFleet) -> None:
    large = ModelData.s3_prefix("my-models", "qwen3-32b/", architecture="Qwen/Qwen3-32B")
    with pytest.raises(LmiError) as error:
        component(fleet, model_data=large)
    assert rules(error) == {"LMI050"}


def test_two_models_share_an_instance_and_three_of_two_gpus_do_not(
    fleet: LmiFleet, reported: Any, stack: cdk.Stack
) -> None:
    component(fleet, "Chat")
    component(fleet, "Code")
    assert "LMI077" not in {rule for rule, _ in reported(stack)}


def test_more_copies_than_the_fleet_may_hold_are_reported(stack: cdk.Stack, reported: Any) -> None:
    small = LmiFleet(stack, "Fleet", instance_type="ml.g6.12xlarge")
    component(small, "Chat", initial_copy_count=3)
    component(small, "Code", initial_copy_count=2)
    assert "LMI077" in {rule for rule, _ in reported(stack)}


def test_the_accelerators_must_be_known(fleet: LmiFleet) -> None:
    with pytest.raises(LmiError) as error:
        component(fleet, settings=LmiSettings(max_model_len=8192))
    assert rules(error) == {"LMI046"}
    with pytest.raises(LmiError) as error:
        component(fleet, "Zero", accelerator_count=0)
    assert "LMI046" in rules(error)
    assert component(fleet, "Given", settings=None, accelerator_count=2).accelerator_count == 2


@pytest.mark.parametrize(
    ("keywords", "rule"),
    [
        ({"model_data": None}, "LMI068"),
        ({"component_name": "not a name"}, "LMI065"),
        ({"min_memory": 16}, "LMI010"),
        ({"min_memory": None}, None),
        ({"initial_copy_count": "1"}, "LMI010"),
        ({"accelerator_count": "1"}, "LMI010"),
        ({"startup_timeout": 1800}, "LMI010"),
        ({"model": "chat"}, "LMI010"),
    ],
)
def test_wrong_keywords_are_refused(
    fleet: LmiFleet, keywords: dict[str, Any], rule: str | None
) -> None:
    with pytest.raises(TypeError if rule is None else LmiError) as error:
        component(fleet, **keywords)
    if isinstance(error.value, LmiError):
        assert rule in rules(error)  # type: ignore[arg-type]


def test_a_model_in_the_environment_of_a_component_is_said_to_be_model_data(
    fleet: LmiFleet,
) -> None:
    with pytest.raises(LmiError) as error:
        component(fleet, model_data=None, environment={"HF_MODEL_ID": "Qwen/Qwen3-8B"})
    (finding,) = error.value.findings
    assert 'model_data=ModelData.hub("Qwen/Qwen3-8B")' in finding.fix


def test_a_model_of_ones_own_takes_the_place_of_its_keywords(fleet: LmiFleet) -> None:
    stack = cdk.Stack.of(fleet)
    model = LmiModel(stack, "Own", model_data=QWEN, container=LmiContainer.V27)
    made = LmiInferenceComponent(
        stack, "Chat", fleet=fleet, model=model, accelerator_count=1, min_memory=MEMORY
    )
    assert made.model is model
    with pytest.raises(LmiError) as error:
        component(fleet, "Both", model=model)
    assert rules(error) == {"LMI068"}


def test_the_fleet_may_read_what_its_models_read_before_they_come(
    fleet: LmiFleet, stack: cdk.Stack, template: Any
) -> None:
    component(fleet)
    made = template(stack)["Resources"]
    ((name, policy),) = (
        (name, item)
        for name, item in made.items()
        if item["Type"] == "AWS::IAM::Policy"
        and item["Properties"]["Roles"] == [stack.resolve(fleet.role.role_name)]
    )
    read = [
        statement["Resource"]
        for statement in policy["Properties"]["PolicyDocument"]["Statement"]
        if statement["Action"] == "s3:GetObject"
    ]
    assert read == ["arn:aws:s3:::my-models/qwen3-8b/*"]
    (one,) = (item for item in made.values() if item["Type"] == COMPONENT)
    assert name in one["DependsOn"]


def test_both_roles_may_write_the_log_and_the_metrics_of_this_component(
    fleet: LmiFleet, stack: cdk.Stack, template: Any
) -> None:
    chat = component(fleet, component_name="chat")
    made = template(stack)["Resources"]
    (one,) = (item for item in made.values() if item["Type"] == COMPONENT)
    group = "arn:aws:logs:us-west-2:111122223333:log-group:/aws/sagemaker/InferenceComponents/chat"
    for role in (fleet.role, chat.model.role):
        ((name, policy),) = (
            (name, item)
            for name, item in made.items()
            if item["Type"] == "AWS::IAM::Policy"
            and item["Properties"]["Roles"] == [stack.resolve(role.role_name)]
        )
        statements = policy["Properties"]["PolicyDocument"]["Statement"]
        assert [group, f"{group}:*"] in [statement["Resource"] for statement in statements]
        assert {"StringEquals": {"cloudwatch:namespace": "/aws/sagemaker/InferenceComponents"}} in [
            statement.get("Condition") for statement in statements
        ]
        assert name in one["DependsOn"]


def test_a_grant_reaches_one_component_and_no_other(
    fleet: LmiFleet, stack: cdk.Stack, resources: Any
) -> None:
    chat, user = component(fleet), iam.User(stack, "User")
    chat.grant_invoke(user)
    granted = [
        statement
        for policy in resources(stack, "AWS::IAM::Policy")
        if "Users" in policy
        for statement in policy["PolicyDocument"]["Statement"]
    ]
    assert granted == [
        {
            "Effect": "Allow",
            "Action": [
                "sagemaker:InvokeEndpoint",
                "sagemaker:InvokeEndpointWithResponseStream",
            ],
            "Resource": [
                stack.resolve(fleet.endpoint_arn),
                f"arn:aws:sagemaker:us-west-2:111122223333:inference-component/{chat.component_name}",
            ],
        }
    ]


def test_copies_scale_to_zero_in_one_call(
    fleet: LmiFleet, stack: cdk.Stack, resources: Any, reported: Any
) -> None:
    chat = component(fleet)
    scaling = chat.auto_scale_copy_count(min_capacity=0, max_capacity=4)
    scaling.scale_to_zero()
    (target,) = resources(stack, "AWS::ApplicationAutoScaling::ScalableTarget")
    assert target["ResourceId"] == f"inference-component/{chat.component_name}"
    policies = resources(stack, "AWS::ApplicationAutoScaling::ScalingPolicy")
    assert {policy["PolicyName"] for policy in policies} == {"ScaleToZero", "WakeUp"}
    assert {rule for rule, _ in reported(stack)}.isdisjoint({"LMI080", "LMI082", "LMI083"})


def test_an_alarm_hears_of_requests_that_go_on_finding_no_copy(
    fleet: LmiFleet, stack: cdk.Stack, resources: Any
) -> None:
    topic = sns.Topic(stack, "Operators")
    chat = component(fleet)
    chat.add_no_capacity_alarm(topic=topic)
    (alarm,) = resources(stack, "AWS::CloudWatch::Alarm")
    assert alarm["MetricName"] == "NoCapacityInvocationFailures"
    assert (alarm["Period"], alarm["EvaluationPeriods"]) == (300, 3)
    assert alarm["Dimensions"] == [{"Name": "InferenceComponentName", "Value": chat.component_name}]
    assert alarm["AlarmActions"] == [stack.resolve(topic.topic_arn)]
    with pytest.raises(LmiError) as error:
        chat.metric("GpuTemperature")
    assert rules(error) == {"LMI085"}


def test_an_adapter_runs_on_its_base_and_takes_nothing(
    fleet: LmiFleet, stack: cdk.Stack, resources: Any, reported: Any
) -> None:
    base = with_adapters(fleet)
    archive = AdapterData.s3_archive("tenants", "adapters/a.tar.gz", rank=16)
    tenant = base.add_adapter("TenantA", archive, component_name="tenant-a")
    made = next(
        item
        for item in resources(stack, COMPONENT)
        if item["InferenceComponentName"] == tenant.component_name
    )
    assert made == {
        "EndpointName": stack.resolve(fleet.endpoint_name),
        "InferenceComponentName": "tenant-a",
        "Specification": {
            "BaseInferenceComponentName": "base",
            "Container": {"ArtifactUrl": "s3://tenants/adapters/a.tar.gz"},
        },
    }
    assert not {rule for rule, _ in reported(stack)} & {"LMI059", "LMI077"}


def test_a_new_tenant_changes_nothing_of_the_others() -> None:
    def deployed(tenants: str) -> dict[str, Any]:
        stack = cdk.Stack(
            cdk.App(), "Stack", env=cdk.Environment(account="111122223333", region="us-west-2")
        )
        fleet = LmiFleet(stack, "Fleet", instance_type="ml.g6.12xlarge")
        base = with_adapters(fleet)
        for tenant in tenants:
            archive = AdapterData.s3_archive("tenants", f"adapters/{tenant}.tar.gz")
            base.add_adapter(f"Tenant{tenant}", archive)
        rendered: dict[str, Any] = cdk.assertions.Template.from_stack(stack).to_json()["Resources"]
        return rendered

    before, after = deployed("A"), deployed("AB")
    assert {name: after[name] for name in before} == before
    added = {name: after[name]["Type"] for name in after.keys() - before.keys()}
    assert sorted(added.values()) == ["AWS::IAM::Policy", "AWS::IAM::Policy", COMPONENT]
    assert all("TenantB" in name for name in added)


def test_adapters_below_a_place_given_once_need_no_policy_each(
    fleet: LmiFleet, stack: cdk.Stack, resources: Any
) -> None:
    base = with_adapters(fleet, adapter_location=S3Location("tenants", "adapters/"))
    base.add_adapter("TenantA", AdapterData.s3_archive("tenants", "adapters/a.tar.gz"))
    base.add_adapter("TenantB", AdapterData.s3_archive("tenants", "elsewhere/b.tar.gz"))
    policies = resources(stack, "AWS::IAM::Policy")
    own = [policy for policy in policies if policy["PolicyName"].startswith("ChatTenant")]
    assert {policy["PolicyName"][:11] for policy in own} == {"ChatTenantB"}
    assert "arn:aws:s3:::tenants/adapters/*" in json.dumps(policies)


def test_an_adapter_of_a_larger_rank_is_refused(fleet: LmiFleet) -> None:
    base = with_adapters(fleet)
    with pytest.raises(LmiError) as error:
        base.add_adapter("A", AdapterData.s3_archive("tenants", "a.tar.gz", rank=64))
    assert rules(error) == {"LMI059"}
    assert "max_lora_rank=64" in str(error.value)


def test_an_adapter_on_a_base_without_them_is_refused(fleet: LmiFleet) -> None:
    base = component(fleet)
    with pytest.raises(LmiError, match="enable_lora=True") as error:
        base.add_adapter("A", AdapterData.s3_archive("tenants", "a.tar.gz"))
    assert rules(error) == {"LMI059"}


def test_an_adapter_is_one_archive(fleet: LmiFleet) -> None:
    for key in ("adapters/a/", "a.zip", "", "s3://tenants/a.tar.gz", "/a.tar.gz"):
        with pytest.raises(LmiError) as error:
            AdapterData.s3_archive("tenants", key)
        assert rules(error) == {"LMI059"}
    with pytest.raises(LmiError) as error:
        AdapterData.s3_archive("Not A Bucket", "a.tar.gz")
    assert rules(error) == {"LMI025"}
    with pytest.raises(LmiError) as error:
        with_adapters(fleet).add_adapter("A", "s3://tenants/a.tar.gz")  # type: ignore[arg-type]
    assert rules(error) == {"LMI010"}


def test_a_tenant_may_live_in_a_stack_of_its_own(fleet: LmiFleet, template: Any) -> None:
    app = fleet.node.root
    stack = cdk.Stack(
        app,  # type: ignore[arg-type]
        "Tenant",
        env=cdk.Environment(account="111122223333", region="us-west-2"),
    )
    imported = LmiInferenceComponent.from_component_name(
        stack, "Base", "base", fleet=LmiEndpoint.from_endpoint_name(stack, "Fleet", "chat")
    )
    bucket = s3.Bucket(stack, "Bucket")
    tenant = LmiAdapter(
        stack, "Adapter", base=imported, data=AdapterData.s3_archive(bucket, "a.tar.gz")
    )
    tenant.grant_invoke(iam.User(stack, "User"))
    made = template(stack)["Resources"]
    (adapter,) = (item for item in made.values() if item["Type"] == COMPONENT)
    assert adapter["Properties"]["EndpointName"] == "chat"
    assert adapter["Properties"]["Specification"]["BaseInferenceComponentName"] == "base"


def test_a_role_looked_up_as_immutable_is_left_alone(stack: cdk.Stack, resources: Any) -> None:
    role = iam.Role.from_role_arn(
        stack, "Role", "arn:aws:iam::111122223333:role/fleet", mutable=False
    )
    fleet = LmiFleet(stack, "Fleet", instance_type="ml.g6.12xlarge", role=role)
    chat = component(fleet)
    (policy,) = resources(stack, "AWS::IAM::Policy")
    assert policy["Roles"] == [stack.resolve(chat.model.role.role_name)]
    (config,) = resources(stack, "AWS::SageMaker::EndpointConfig")
    assert config["ExecutionRoleArn"] == "arn:aws:iam::111122223333:role/fleet"

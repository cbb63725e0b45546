"""Adapters of tenants, each a component on the component of its base model."""

from __future__ import annotations

import json
from typing import Any

import aws_cdk as cdk
import pytest
from aws_cdk import aws_iam as iam
from aws_cdk import aws_s3 as s3

from lmi_constructs import (
    AdapterData,
    LmiAdapter,
    LmiEndpoint,
    LmiError,
    LmiFleet,
    LmiInferenceComponent,
    LmiSettings,
    S3Location,
)
from tests.hosting.fleets import COMPONENT, component_on, fleet_in, refused


@pytest.fixture
def fleet(stack: cdk.Stack) -> LmiFleet:
    return fleet_in(stack)


def with_adapters(fleet: LmiFleet, **keywords: Any) -> LmiInferenceComponent:
    """Return a component that takes adapters up to rank 32."""
    settings = LmiSettings(
        tensor_parallel_degree=1, max_model_len=8192, enable_lora=True, max_lora_rank=32
    )
    made: LmiInferenceComponent = component_on(
        fleet, settings=settings, component_name="base", **keywords
    )
    return made


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
    with pytest.raises(LmiError, match=r"LMI059(.|\n)*max_lora_rank=64"):
        base.add_adapter("A", AdapterData.s3_archive("tenants", "a.tar.gz", rank=64))


def test_an_adapter_on_a_base_without_them_is_refused(fleet: LmiFleet) -> None:
    base = component_on(fleet, settings=LmiSettings(tensor_parallel_degree=1))
    with pytest.raises(LmiError, match=r"LMI059(.|\n)*enable_lora=True"):
        base.add_adapter("A", AdapterData.s3_archive("tenants", "a.tar.gz"))


def test_an_adapter_is_one_archive(fleet: LmiFleet) -> None:
    for key in ("adapters/a/", "a.zip", "", "s3://tenants/a.tar.gz", "/a.tar.gz"):
        found = refused(lambda key=key: AdapterData.s3_archive("tenants", key))  # type: ignore[misc]
        assert found == {("LMI059", "key")}
    assert refused(lambda: AdapterData.s3_archive("Not A Bucket", "a.tar.gz")) == {
        ("LMI025", "bucket")
    }
    base, wrong = with_adapters(fleet), "s3://tenants/a.tar.gz"
    assert refused(lambda: base.add_adapter("A", wrong)) == {("LMI010", "data")}  # type: ignore[arg-type]


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

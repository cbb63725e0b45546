"""What templates show of a model's network: certain faults are found, everything else is not."""

from __future__ import annotations

from typing import Any

import pytest

from lmi_constructs.checks import check_template
from lmi_constructs.checks.examples import REMOVED, Example
from lmi_constructs.checks.rules.network import S3OutOfReach
from tests.checks.support import findings

CONTAINER = "Model/Properties/PrimaryContainer"
ROLE = "Role/Properties/Policies/0/PolicyDocument/Statement"
CLOSED = dict(S3OutOfReach.failing.change)
HUB = {
    **CLOSED,
    "Model/Properties/EnableNetworkIsolation": False,
    f"{CONTAINER}/Environment/HF_MODEL_ID": "Qwen/Qwen3-8B",
    f"{CONTAINER}/ModelDataSource": REMOVED,
}
ROUTE = {
    "Type": "AWS::EC2::Route",
    "Properties": {
        "RouteTableId": {"Ref": "Routes"},
        "DestinationCidrBlock": "0.0.0.0/0",
        "NatGatewayId": "nat-1",
    },
}
S3 = dict(S3OutOfReach.passing.change["S3"])


def with_properties(resource: dict[str, Any], **properties: Any) -> dict[str, Any]:
    return {**resource, "Properties": {**resource["Properties"], **properties}}


def found(change: dict[str, Any], rule: str) -> list[Any]:
    return [finding for finding in findings(Example(change)) if finding.rule == rule]


def test_finds_a_model_of_the_hub_in_a_closed_subnet() -> None:
    (finding,) = found(HUB, "LMI090")
    assert finding.severity == "warning"
    assert "nothing in these templates" in finding.message
    assert "acknowledge" in finding.fix
    assert (finding.resource, finding.path) == ("Model", "VpcConfig/Subnets")
    assert "Subnet" in finding.message
    assert "Qwen/Qwen3-8B" in finding.message
    assert "lmi stage" in finding.fix


def test_finds_a_draft_model_of_the_hub_beside_a_mounted_model() -> None:
    change = {
        **CLOSED,
        "S3": S3,
        "Model/Properties/EnableNetworkIsolation": False,
        f"{CONTAINER}/Environment/OPTION_SPECULATIVE_DRAFT_MODEL": "Qwen/Qwen3-0.6B",
    }
    (finding,) = found(change, "LMI090")
    assert "OPTION_SPECULATIVE_DRAFT_MODEL" in finding.message


def test_says_isolation_first_where_both_are_wrong() -> None:
    (finding,) = found({**HUB, "Model/Properties/EnableNetworkIsolation": True}, "LMI090")
    assert finding.path == "PrimaryContainer/Environment/HF_MODEL_ID"


@pytest.mark.parametrize("isolated", [True, False])
def test_finds_mounted_data_out_of_reach_isolated_or_not(isolated: bool) -> None:
    (finding,) = found({**CLOSED, "Model/Properties/EnableNetworkIsolation": isolated}, "LMI099")
    assert finding.severity == "warning"
    assert "nothing in these templates" in finding.message
    assert "acknowledge" in finding.fix
    assert "add_gateway_endpoint" in finding.fix


def test_finds_a_bucket_that_the_container_would_read_itself() -> None:
    change = {**HUB, f"{CONTAINER}/Environment/HF_MODEL_ID": "s3://example-models/llama/"}
    assert found(change, "LMI099")
    assert not found(change, "LMI090")
    assert not found({**change, "S3": S3}, "LMI099")


def test_names_only_the_subnets_that_lack_a_way() -> None:
    subnets = [{"Ref": "Subnet"}, "subnet-2"]
    change = {"Model/Properties/VpcConfig": {"SecurityGroupIds": ["sg-1"], "Subnets": subnets}}
    for base, rule in ((HUB, "LMI090"), (CLOSED, "LMI099")):
        (finding,) = found({**base, **change}, rule)
        assert "leads from Subnet to" in finding.message


def test_an_image_of_ones_own_may_hold_the_model() -> None:
    change = {
        f"{CONTAINER}/Environment/HF_MODEL_ID": "Qwen/Qwen3-8B",
        f"{CONTAINER}/ModelDataSource": REMOVED,
    }
    (of_aws,) = found(change, "LMI090")
    own = {f"{CONTAINER}/Image": "123456789012.dkr.ecr.us-east-1.amazonaws.com/llm:1"}
    (of_ones_own,) = found({**change, **own}, "LMI090")
    assert (of_aws.severity, of_ones_own.severity) == ("error", "warning")
    assert "unless the image holds it" in of_ones_own.message


@pytest.mark.parametrize("rule", ["LMI090", "LMI099"])
@pytest.mark.parametrize(
    "change",
    [
        pytest.param({"Way": ROUTE}, id="a route to a NAT gateway"),
        pytest.param(
            {"Way": with_properties(ROUTE, DestinationCidrBlock="10.0.0.0/8")},
            id="a route to another network, where a proxy may be",
        ),
        pytest.param(
            {"Way": with_properties(ROUTE, RouteTableId={"Ref": "Given"})},
            id="a route of a table that is not known",
        ),
        pytest.param(
            {
                "Way": {
                    "Type": "AWS::EC2::VPNGatewayRoutePropagation",
                    "Properties": {"RouteTableIds": [{"Ref": "Routes"}], "VpnGatewayId": "vgw-1"},
                }
            },
            id="routes that a VPN propagates",
        ),
        pytest.param({"Routes": REMOVED}, id="a route table made elsewhere"),
        pytest.param({"SubnetRoutes": REMOVED}, id="a subnet with the main route table"),
        pytest.param(
            {"SubnetRoutes/Condition": "Sometimes"}, id="an association that may not exist"
        ),
        pytest.param(
            {"Model/Properties/VpcConfig/Subnets": {"Ref": "Given"}}, id="subnets of a parameter"
        ),
        pytest.param({"Model/Properties/VpcConfig/Subnets": ["subnet-1"]}, id="subnets elsewhere"),
        pytest.param({"Model/Properties/VpcConfig": REMOVED}, id="no network of one's own"),
    ],
)
def test_is_silent_about_what_the_templates_do_not_show(change: dict[str, Any], rule: str) -> None:
    for base in (HUB, CLOSED):
        assert not found({**base, **change}, rule)


@pytest.mark.parametrize("name", ["HF_ENDPOINT", "HTTPS_PROXY", "HF_HUB_OFFLINE"])
def test_is_silent_where_the_container_asks_a_mirror_a_proxy_or_nobody(name: str) -> None:
    assert not found({**HUB, f"{CONTAINER}/Environment/{name}": "https://hub.internal"}, "LMI090")


@pytest.mark.parametrize(
    ("endpoint", "reached"),
    [
        pytest.param(S3, True, id="a gateway of this table"),
        pytest.param(with_properties(S3, RouteTableIds=["rtb-1"]), False, id="of another table"),
        pytest.param(
            with_properties(S3, RouteTableIds={"Ref": "Given"}), True, id="of tables not known"
        ),
        pytest.param(
            with_properties(S3, VpcEndpointType="Interface", RouteTableIds=[]),
            True,
            id="an interface",
        ),
        pytest.param(
            with_properties(S3, ServiceName="com.amazonaws.us-east-1.dynamodb"),
            False,
            id="of another service",
        ),
        pytest.param(
            with_properties(S3, ServiceName={"Ref": "Given"}), True, id="of a service not known"
        ),
    ],
)
def test_looks_at_vpc_endpoints_for_s3(endpoint: dict[str, Any], reached: bool) -> None:
    assert bool(found({**CLOSED, "S3": endpoint}, "LMI099")) is not reached


def test_sees_through_exports_into_the_stack_of_the_network() -> None:
    from lmi_constructs.checks.run import check_sources
    from lmi_constructs.checks.template import TemplateSource

    whole = Example(CLOSED).template()["Resources"]
    network = {name: whole.pop(name) for name in ("Vpc", "Subnet", "Routes", "SubnetRoutes")}
    whole["Model"]["Properties"]["VpcConfig"]["Subnets"] = [{"Fn::ImportValue": "subnet"}]
    output = {"Value": {"Ref": "Subnet"}, "Export": {"Name": "subnet"}}
    sources = [
        TemplateSource("network", {"Resources": network, "Outputs": {"Subnet": output}}),
        TemplateSource("model", {"Resources": whole}, region="us-east-1"),
    ]
    assert "LMI099" in {finding.rule for finding in check_sources(sources)}
    assert "LMI099" not in {
        finding.rule for finding in check_template({"Resources": whole}, region="us-east-1")
    }


IN_FLEET = {
    "Config/Properties/VpcConfig": CLOSED["Model/Properties/VpcConfig"],
    **{name: CLOSED[name] for name in ("Vpc", "Subnet", "Routes", "SubnetRoutes")},
    f"{ROLE}/0/Action": ["ecr:*", "ec2:*"],
}


def in_fleet(change: dict[str, Any], rule: str) -> list[Any]:
    example = Example({**IN_FLEET, **change}, base="components")
    return [finding for finding in findings(example) if finding.rule == rule]


def test_looks_at_the_network_that_the_endpoint_of_components_carries() -> None:
    (finding,) = in_fleet({}, "LMI099")
    assert (finding.resource, finding.path) == ("Config", "VpcConfig/Subnets")
    assert not in_fleet({"S3": S3}, "LMI099")
    hub = {key: value for key, value in HUB.items() if key not in CLOSED}
    (finding,) = in_fleet(hub, "LMI090")
    assert (finding.resource, finding.severity) == ("Config", "warning")


def test_counts_the_groups_of_an_endpoint_of_components() -> None:
    (finding,) = in_fleet({"Config/Properties/VpcConfig/SecurityGroupIds": []}, "LMI096")
    assert (finding.resource, finding.path) == ("Config", "VpcConfig/SecurityGroupIds")

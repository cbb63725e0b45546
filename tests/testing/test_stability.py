"""The stable form of a template."""

from __future__ import annotations

from lmi_constructs._version import __version__
from lmi_constructs.testing import stable_template


def test_leaves_out_what_changes_by_itself() -> None:
    template = {
        "Parameters": {"BootstrapVersion": {"Type": "String"}},
        "Rules": {"CheckBootstrapVersion": {"Assertions": []}},
        "Resources": {
            "CDKMetadata": {"Type": "AWS::CDK::Metadata", "Properties": {"Analytics": "x"}},
            "Model": {
                "Type": "AWS::SageMaker::Model",
                "Properties": {"Uri": [f"s3://assets/{'0af' * 21}0.gz", "s3://models/m/"]},
            },
        },
        "Description": f"made with lmi-constructs {__version__}",
    }
    assert stable_template(template) == {
        "Resources": {
            "Model": {
                "Type": "AWS::SageMaker::Model",
                "Properties": {"Uri": ["s3://assets/<asset-hash>.gz", "s3://models/m/"]},
            }
        },
        "Description": "made with lmi-constructs <version>",
    }


def test_keeps_parameters_and_rules_of_the_author() -> None:
    template = {"Parameters": {"Mine": {"Type": "String"}, "BootstrapVersion": {}}}
    assert stable_template(template) == {"Parameters": {"Mine": {"Type": "String"}}}


def test_keeps_the_digest_of_an_image_as_its_author_wrote_it() -> None:
    image = f"account.dkr.ecr.us-east-1.amazonaws.com/mine@sha256:{'0af1' * 16}"
    template = {"Resources": {"Model": {"Properties": {"Image": image}}}}
    assert stable_template(template) == template


def test_leaves_out_the_condition_of_the_metadata_resource() -> None:
    template = {"Conditions": {"CDKMetadataAvailable": {"Fn::Or": []}, "Mine": {"Fn::Not": []}}}
    assert stable_template(template) == {"Conditions": {"Mine": {"Fn::Not": []}}}

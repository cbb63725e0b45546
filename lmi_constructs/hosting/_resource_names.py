"""Names that SageMaker takes for its resources."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import aws_cdk as cdk

from lmi_constructs.findings import Finding
from lmi_constructs.hosting._cdk_tokens import is_token

if TYPE_CHECKING:
    from constructs import Construct

_NAME = re.compile(r"[a-zA-Z0-9](-*[a-zA-Z0-9]){0,62}")


def check_name(name: str | None, where: str) -> list[Finding]:
    """Check the name of an endpoint, variant or component; `None` is a generated one."""
    if name is None or is_token(name) or _NAME.fullmatch(name):
        return []
    return [
        Finding(
            rule="LMI065",
            message=f"{where} {name!r} is not a valid name",
            why="SageMaker accepts only letters, digits and hyphens, and rejects the request",
            fix="use 1 to 63 letters, digits and hyphens, with no hyphen at either end",
            where=where,
            source="botocore 1.44.8 sagemaker 2017-07-24 EndpointName, VariantName and"
            " InferenceComponentName",
        )
    ]


def literal_name(scope: Construct) -> str:
    """Return a name from the construct's path: known at synth, unique in the account and region."""
    return cdk.Names.unique_resource_name(scope, max_length=63, separator="-")

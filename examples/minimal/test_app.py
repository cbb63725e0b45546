"""What a user of the smallest app may rely on."""

from __future__ import annotations

import runpy
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from lmi_constructs.testing import assert_fits, assert_no_findings

if TYPE_CHECKING:
    from collections.abc import Callable


@pytest.fixture
def stack() -> Any:
    return runpy.run_path(str(Path(__file__).with_name("app.py")))["stack"]


def test_fits_and_has_no_findings(stack: Any) -> None:
    assert_fits(stack)
    assert_no_findings(stack)


@pytest.mark.deploy
def test_is_deployed_and_answers(
    stack: Any, lmi_deploy: Callable[[Any], dict[str, str]], local_aws: Any
) -> None:
    name = lmi_deploy(stack)["EndpointName"]
    answer = local_aws.client("sagemaker-runtime").invoke_endpoint(
        EndpointName=name, ContentType="application/json", Body=b'{"inputs": "Hello"}'
    )
    assert b"generated_text" in answer["Body"].read()

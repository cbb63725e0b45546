"""What the package gives, and what importing it costs."""

from __future__ import annotations

import subprocess
import sys

import pytest

from lmi_constructs import runtime
from lmi_constructs.runtime import LmiRuntimeError, errors


@pytest.mark.parametrize("name", runtime.__all__)
def test_every_public_name_is_there(name: str) -> None:
    assert getattr(runtime, name) is not None


def test_every_error_is_public() -> None:
    defined = {
        name
        for name, value in vars(errors).items()
        if isinstance(value, type) and issubclass(value, LmiRuntimeError)
    }
    assert defined <= set(runtime.__all__)


def test_a_client_application_loads_neither_cdk_nor_pydantic_nor_openai() -> None:
    heavy = "{'aws_cdk', 'jsii', 'pydantic', 'openai', 'httpx2', 'moto', 'click', 'boto3'}"
    code = (
        "import sys, lmi_constructs.runtime, lmi_constructs.runtime.diagnosis;"
        f"print(sorted({heavy} & set(sys.modules)))"
    )
    loaded = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert loaded.stdout.strip() == "[]"

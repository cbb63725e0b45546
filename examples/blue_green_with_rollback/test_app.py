"""An update that sets an alarm off is taken back, and the deployment fails."""

from __future__ import annotations

import os
import runpy
import sys
from pathlib import Path
from typing import Any

import pytest

from lmi_constructs.local import CdkCli, CdkError
from lmi_constructs.testing import assert_fits, assert_no_findings, assert_updates_in_place

FOLDER = Path(__file__).parent
ROOT = FOLDER.parents[1]


def stack_of(monkeypatch: pytest.MonkeyPatch, **context: str) -> Any:
    settings = ",".join(f'"{name}": "{value}"' for name, value in context.items())
    monkeypatch.setenv("CDK_CONTEXT_JSON", f"{{{settings}}}")
    return runpy.run_path(str(FOLDER / "app.py"))["stack"]


def test_fits_has_no_findings_and_updates_in_place(monkeypatch: pytest.MonkeyPatch) -> None:
    old, new = stack_of(monkeypatch), stack_of(monkeypatch, max_model_len="8192")
    assert_fits(old)
    assert_no_findings(old)
    assert_updates_in_place(old, new)


@pytest.mark.deploy
def test_an_alarm_takes_an_update_back(local_aws: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    path = f"{ROOT}{os.pathsep}{os.environ.get('PYTHONPATH', '')}"
    monkeypatch.setenv("PYTHONPATH", path)
    monkeypatch.chdir(FOLDER)
    cli = CdkCli(local_aws, app=f"{sys.executable} app.py", directory=FOLDER)
    cli.bootstrap()
    cli.deploy()
    (stack,) = local_aws.client("cloudformation").describe_stacks(StackName="Guarded")["Stacks"]
    outputs = {output["OutputKey"]: output["OutputValue"] for output in stack["Outputs"]}
    sagemaker = local_aws.client("sagemaker")
    before = sagemaker.describe_endpoint(EndpointName=outputs["EndpointName"])
    local_aws.client("cloudwatch").set_alarm_state(
        AlarmName=outputs["ErrorAlarm"], StateValue="ALARM", StateReason="the new version fails"
    )
    changed = CdkCli(
        local_aws,
        app=f"{sys.executable} app.py",
        directory=FOLDER,
        context={"max_model_len": "8192"},
    )
    with pytest.raises(CdkError):
        changed.deploy()
    after = sagemaker.describe_endpoint(EndpointName=outputs["EndpointName"])
    assert after["EndpointConfigName"] == before["EndpointConfigName"]
    assert after["EndpointStatus"] == "InService"

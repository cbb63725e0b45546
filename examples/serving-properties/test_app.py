"""The example configures by its file alone, and the file is planned."""

from __future__ import annotations

import runpy
from pathlib import Path

from aws_cdk import assertions


def test_sets_no_variable_and_plans_what_the_file_says() -> None:
    names = runpy.run_path(str(Path(__file__).with_name("app.py")))
    template = assertions.Template.from_stack(names["stack"])
    (model,) = template.find_resources("AWS::SageMaker::Model").values()
    assert "Environment" not in model["Properties"]["PrimaryContainer"]
    plan = names["endpoint"].plan
    assert plan.grade == "fits"
    assert plan.setup.context == 8192

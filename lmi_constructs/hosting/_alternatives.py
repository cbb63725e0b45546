"""An endpoint is made from one model's keywords, or from a configuration: never from both."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lmi_constructs.findings import Finding
from lmi_constructs.hosting._tokens import is_token

if TYPE_CHECKING:
    from collections.abc import Mapping

    from lmi_constructs.hosting.endpoint_config import LmiEndpointConfig
    from lmi_constructs.hosting.model_data import ModelData


def check_alternatives(
    endpoint_config: LmiEndpointConfig | None,
    model_data: ModelData | None,
    given: list[str],
    environment: Mapping[str, str] | None,
) -> list[Finding]:
    """Check that there is one way, and that no keyword would be ignored."""
    findings = []
    if endpoint_config is not None and given:
        findings.append(
            Finding(
                rule="LMI068",
                message=f"{', '.join(given)}: given beside an endpoint_config",
                why="the configuration is complete, so that they would have no effect",
                fix="give them to the LmiModel, LmiVariant or LmiEndpointConfig it is made of",
                where="endpoint_config",
            )
        )
    if (endpoint_config is None) == (model_data is None):
        findings.append(
            Finding(
                rule="LMI068",
                message="an endpoint takes either model_data, or an endpoint_config of your own",
                why="there would be nothing to deploy, or two things",
                fix="give one of the two" if model_data else give_model_data(environment),
                where="endpoint_config",
            )
        )
    return findings


def give_model_data(environment: Mapping[str, str] | None) -> str:
    """Return what to write where model data is missing, after a model named in the environment."""
    for name in ("HF_MODEL_ID", "OPTION_MODEL_ID"):
        model = (environment or {}).get(name)
        if not model:
            continue
        bucket, _, prefix = model.removeprefix("s3://").partition("/")
        folder = prefix and f"{prefix.rstrip('/')}/"
        data = f'ModelData.hub("{model}")'
        if is_token(model):
            data = f"ModelData.hub(...) with what {name} holds"
        elif model.startswith("s3://"):
            data = f'ModelData.s3_prefix("{bucket}", "{folder}")'
        elif model.startswith("/"):
            data = "ModelData.s3_prefix(...), whose files SageMaker mounts there,"
        return f"give model_data={data} and remove {name} from environment"
    return "give one of the two"

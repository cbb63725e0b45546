"""An endpoint is made from one model's keywords, or from a configuration: never from both."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from lmi_constructs.findings import Finding
from lmi_constructs.hosting._cdk_tokens import is_token

if TYPE_CHECKING:
    from collections.abc import Mapping


_BESIDE_A_CONFIG: Final = frozenset(
    {"model_data", "endpoint_config", "endpoint_name", "deployment", "retain_deployment"}
)
"""Keywords of the endpoint itself; all others describe its configuration."""

_DEFAULTS: Final = {
    "variant_name": "AllTraffic",
    "initial_instance_count": 1,
    "instance_pools": (),
}


def check_exclusive_keywords(given: Mapping[str, Any]) -> list[Finding]:
    """Check that an endpoint is described in one way, and that no keyword would be ignored.

    Args:
        given: All keywords of the endpoint.
    """
    findings = []
    model_data, endpoint_config = given["model_data"], given["endpoint_config"]
    ignored = [
        name
        for name, value in given.items()
        if name not in _BESIDE_A_CONFIG and value != _DEFAULTS.get(name)
    ]
    if endpoint_config is not None and ignored:
        findings.append(
            Finding(
                rule="LMI068",
                message=f"{', '.join(ignored)} and endpoint_config are both given",
                why="the endpoint takes everything from endpoint_config and would ignore the others",
                fix="pass them to the LmiModel, LmiVariant or LmiEndpointConfig instead",
                where="endpoint_config",
            )
        )
    if (endpoint_config is None) == (model_data is None):
        findings.append(
            Finding(
                rule="LMI068",
                message="model_data and endpoint_config are both given"
                if model_data
                else "neither model_data nor endpoint_config is given",
                why="an endpoint is made from exactly one of them",
                fix="give one of the two" if model_data else give_model_data(given["environment"]),
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
        return f"give model_data={_model_data(name, model)} and remove {name} from environment"
    return "give one of the two"


def _model_data(name: str, model: str) -> str:
    """Return the model data that a variable stands for, as code."""
    if is_token(model):
        return f"ModelData.hub(...) with the value of {name}"
    if model.startswith("/"):
        return "ModelData.s3_prefix(...), whose files SageMaker mounts there,"
    if not model.startswith("s3://"):
        return f'ModelData.hub("{model}")'
    bucket, _, prefix = model.removeprefix("s3://").partition("/")
    folder = prefix and f"{prefix.rstrip('/')}/"
    return f'ModelData.s3_prefix("{bucket}", "{folder}")'

"""An endpoint is made from one model's keywords, or from a configuration: never from both."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lmi_constructs.findings import Finding

if TYPE_CHECKING:
    from lmi_constructs.hosting.endpoint_config import LmiEndpointConfig
    from lmi_constructs.hosting.model_data import ModelData


def check_alternatives(
    endpoint_config: LmiEndpointConfig | None,
    model_data: ModelData | None,
    given: list[str],
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
                fix="give one of the two",
                where="endpoint_config",
            )
        )
    return findings

"""Number formats that the accelerators cannot compute with."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from lmi_constructs.checks.examples import Example
from lmi_constructs.checks.rules.base import Rule
from lmi_constructs.checks.rules.memory import all_plans, findings_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lmi_constructs.checks.deployment import Deployment
    from lmi_constructs.findings import Finding

_ENVIRONMENT: Final = "Model/Properties/PrimaryContainer/Environment"
_TYPE: Final = "Config/Properties/ProductionVariants/0/InstanceType"


class FormatNotSupported(Rule):
    """LMI054."""

    id = "LMI054"
    title = "the accelerator cannot compute in this number format"
    why = "the engine stops at start, or computes in another format than the setting says"
    fix = (
        "use OPTION_DTYPE=fp16 before Ampere, and weights and a cache that the GPU has kernels for"
    )
    source = "https://docs.vllm.ai/en/latest/features/quantization/"
    failing = Example({_TYPE: "ml.g4dn.12xlarge", f"{_ENVIRONMENT}/OPTION_DTYPE": "bf16"})
    passing = Example({_TYPE: "ml.g4dn.12xlarge", f"{_ENVIRONMENT}/OPTION_DTYPE": "fp16"})

    def check(self, deployment: Deployment) -> Iterator[Finding]:
        """Yield what the plan of each model, known or not, says of formats."""
        for planned in all_plans(deployment):
            yield from findings_of(planned, self.id, self.source)

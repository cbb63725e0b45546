"""Number formats that the accelerators cannot compute with."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from lmi_constructs.checks.examples import Example
from lmi_constructs.checks.rules.base import Rule, placed
from lmi_constructs.checks.rules.common import instance
from lmi_constructs.checks.rules.engine import judged_runs
from lmi_constructs.checks.rules.memory import plans
from lmi_constructs.checks.values import literal

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lmi_constructs.checks.deployment import Deployment
    from lmi_constructs.findings import Finding

_ENVIRONMENT: Final = "Model/Properties/PrimaryContainer/Environment"
_BF16_FROM: Final = (8, 0)
_FP8_FROM: Final = (8, 9)
_BF16_SOURCE: Final = "https://github.com/vllm-project/vllm/issues/1157"
_BF16_NAMES: Final = frozenset({"bf16", "bfloat16"})


class FormatNotSupported(Rule):
    """LMI054."""

    id = "LMI054"
    title = "the accelerator cannot compute in this number format"
    severity = "warning"
    why = "the engine stops at start, or computes in another format than the setting says"
    fix = "use OPTION_DTYPE=fp16 before Ampere, and fp8 on L4, L40S, H100 or later"
    source = "https://docs.vllm.ai/en/latest/features/quantization/"
    failing = Example({f"{_ENVIRONMENT}/OPTION_QUANTIZE": "fp8"})
    passing = Example(
        {
            f"{_ENVIRONMENT}/OPTION_QUANTIZE": "fp8",
            "Config/Properties/ProductionVariants/0/InstanceType": "ml.g6.12xlarge",
        }
    )

    def check(self, deployment: Deployment) -> Iterator[Finding]:
        """Yield bf16 before compute capability 8.0, fp8 before 8.9, and what the plan says."""
        own = list(self._of_settings(deployment))
        yield from own
        for planned in plans(deployment) if not own else ():
            for finding in planned.plan.findings:
                if finding.rule == self.id:
                    yield placed(finding, planned.run.config, planned.path, self.source)

    def _of_settings(self, deployment: Deployment) -> Iterator[Finding]:
        for one, judged in judged_runs(deployment):
            dtype = str(judged.effective.get("dtype", "")).lower()
            quantization = str(judged.effective.get("quantization", "")).lower()
            for _, name in one.variant.instance_types:
                kind = instance(name)
                if kind is None or kind.compute_capability is None:
                    continue
                capability = tuple(int(part) for part in kind.compute_capability.split("."))
                path = f"{one.container.path}/Environment"
                has = f"{kind.accelerator} ({literal(name)}) has {kind.compute_capability}"
                if dtype in _BF16_NAMES and capability < _BF16_FROM:
                    message = f"bf16 needs compute capability 8.0, {has}"
                    fix = "use OPTION_DTYPE=fp16, or an instance with A10G, L4 or later"
                    yield self.found(
                        one.resource, path, message, fix=fix, severity="error", source=_BF16_SOURCE
                    )
                if quantization == "fp8" and capability < _FP8_FROM:
                    message = f"fp8 needs compute capability 8.9 to be computed in, {has}"
                    fix = (
                        "use AWQ, GPTQ or bf16 weights, or an instance with L4, L40S, H100 or later;"
                        " below that fp8 saves memory only"
                    )
                    yield self.found(one.resource, path, message, fix=fix)

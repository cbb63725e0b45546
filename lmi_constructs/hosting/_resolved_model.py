"""A model on accelerators, with everything that follows: verdict, memory plan, time-outs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from lmi_constructs.hosting._planning import (
    findings_of,
    judge,
    loading_timeout_seconds,
    plan_memory,
)
from lmi_constructs.hosting._timeouts import (
    SHORTEST_SECONDS,
    check_against_loading,
    check_range,
    download_timeout_seconds,
    longest_start_seconds,
    startup_timeout_seconds,
)
from lmi_constructs.hosting._units import seconds

if TYPE_CHECKING:
    import aws_cdk as cdk

    from lmi_constructs.container import Verdict
    from lmi_constructs.findings import Finding
    from lmi_constructs.hosting.model import LmiModel
    from lmi_constructs.planner import Plan


@dataclass(frozen=True, slots=True)
class ResolvedModel:
    """A model as it will start.

    Attributes:
        verdict: What the container does with the environment on these accelerators.
        plan: The memory plan, `None` if model or instance are not known.
        startup_seconds: Start-up time-out.
        download_seconds: Download time-out, `None` if SageMaker downloads nothing.
        longest_start_seconds: The longest that a copy may take to start.
        findings: All that should be said about it and was not said by the model itself.
    """

    verdict: Verdict | None
    plan: Plan | None
    startup_seconds: int | None
    download_seconds: int | None
    longest_start_seconds: int | None
    findings: tuple[Finding, ...]

    @classmethod
    def of(
        cls,
        model: LmiModel,
        instance_type: str | None,
        *,
        accelerator_count: int | None = None,
        startup_timeout: cdk.Duration | None = None,
        download_timeout: cdk.Duration | None = None,
    ) -> ResolvedModel:
        """Work out what is left open, and check it.

        Args:
            model: The model.
            instance_type: Instance type it runs on.
            accelerator_count: Accelerators it sees. Default: all of the instance.
            startup_timeout: Default: from the model's size.
            download_timeout: Default: from the model's size, if SageMaker downloads.
        """
        container = model.container
        verdict = judge(
            model.environment,
            container,
            model.data,
            instance_type=instance_type,
            accelerator_count=accelerator_count,
        )
        plan = plan_memory(
            model.model_data.architecture,
            instance_type,
            verdict,
            container,
            accelerator_count=accelerator_count,
        )
        loading = loading_timeout_seconds(model.environment) if container else None
        startup = seconds(startup_timeout, "startup_timeout")
        download = seconds(download_timeout, "download_timeout")
        if startup_timeout is None:
            startup = startup_timeout_seconds(
                plan, loading, container_downloads=not model.data.is_mounted
            )
        if download_timeout is None and model.data.is_mounted:
            download = download_timeout_seconds(plan)
        findings = (
            *_judged(verdict, plan),
            *check_range(startup, "startup_timeout", "LMI060", SHORTEST_SECONDS),
            *check_range(download, "download_timeout", "LMI061", SHORTEST_SECONDS),
            *check_against_loading(startup, loading),
        )
        is_assumed = startup_timeout is None and (plan is None or plan.repository_bytes is None)
        reported = {_words(finding) for finding in model.findings}
        return cls(
            verdict=verdict,
            plan=plan,
            startup_seconds=startup,
            download_seconds=download,
            longest_start_seconds=longest_start_seconds(startup, loading, is_assumed=is_assumed),
            findings=tuple(finding for finding in findings if _words(finding) not in reported),
        )


def _judged(verdict: Verdict | None, plan: Plan | None) -> list[Finding]:
    """Return the findings of the verdict, and those of the plan that the verdict does not have."""
    of_verdict = verdict.findings if verdict else ()
    rules = {finding.rule for finding in of_verdict}
    return [*of_verdict, *(finding for finding in findings_of(plan) if finding.rule not in rules)]


def _words(finding: Finding) -> tuple[str, str]:
    """Return what makes a finding the same to a reader, whichever keyword it is traced to."""
    return finding.rule, finding.message

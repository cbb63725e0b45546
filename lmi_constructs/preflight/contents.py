"""What the files say: settings beside the model, and whether the model that is there fits."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lmi_constructs.checks.queries.container_images import release
from lmi_constructs.checks.queries.instance_types import instance
from lmi_constructs.checks.rules.engine import judged_runs, verdicts
from lmi_constructs.checks.rules.memory import plans
from lmi_constructs.checks.values import UNKNOWN, literal, shown
from lmi_constructs.findings import LmiError
from lmi_constructs.planner import Architecture, advised_findings, is_planned
from lmi_constructs.presets.layout import PROPERTIES

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lmi_constructs.checks.deployment import Deployment
    from lmi_constructs.checks.queries.containers import Running
    from lmi_constructs.checks.resources import Container, Resource
    from lmi_constructs.checks.rules.memory import PlannedRun
    from lmi_constructs.container import Verdict
    from lmi_constructs.findings import Finding
    from lmi_constructs.preflight.outcome import Outcome
    from lmi_constructs.preflight.place import Place


def judged(deployment: Deployment, resource: Resource, container: Container) -> Verdict | None:
    """Return what the release does with a container's settings, `None` for a foreign image."""
    for one, its, found in verdicts(deployment):
        if one.key == resource.key and its.path == container.path:
            return found
    return None


def settings(
    place: Place,
    before: Deployment,
    after: Deployment,
    resource: Resource,
    container: Container,
    is_there: bool,
) -> Iterator[Outcome]:
    """Yield what the release does with the `serving.properties` beside the model, if there is one.

    What is wrong with the environment alone is said by `lmi check`.

    Args:
        place: Where it goes.
        before: The deployment as the templates have it.
        after: The same, with what lies beside the models.
        resource: The model.
        container: Its container.
        is_there: Whether the file is listed.
    """
    if after.facts.properties_of(resource) is None:
        if is_there:
            detail = f"not known: {PROPERTIES} lies beside the model, and cannot be read"
            fix = "allow s3:GetObject to who runs this: it wins over the environment"
            yield place.outcome("settings", "unknown", detail, fix)
        return
    whole = judged(after, resource, container)
    if whole is None:
        detail = f"what the image does with {PROPERTIES} is not known"
        yield place.outcome("settings", "unknown", detail)
        return
    alone = judged(before, resource, container)
    known = set(alone.findings) if alone else set()
    found = [one for one in whole.findings if one not in known]
    errors = [one for one in found if one.severity == "error"]
    for one in errors:
        detail = f"{PROPERTIES} beside the model: {one.message}"
        yield place.outcome("settings", "fail", detail, one.fix, one.rule)
    if not errors:
        detail = f"the release takes {PROPERTIES}, which wins over the environment"
        yield place.outcome("settings", "pass", detail + _notes(found))


def memory(place: Place, deployment: Deployment, run: Running) -> Iterator[Outcome]:
    """Yield whether a model fits on each instance type that runs it."""
    planned = [one for one in plans(deployment) if one.run is run]
    for one in planned:
        yield from _planned(place, deployment, one)
    if not planned:
        why, fix = _why_not(deployment, run)
        yield place.outcome("memory", "unknown", f"not planned: {why}", fix)


def _planned(place: Place, deployment: Deployment, planned: PlannedRun) -> Iterator[Outcome]:
    plan = planned.plan
    found = advised_findings(plan, place.region, door="environment")
    errors = [one for one in found if one.severity == "error"]
    for one in errors:
        yield place.outcome("memory", "fail", one.message, one.fix, one.rule)
    if errors:
        return
    by = (
        "" if deployment.facts.config_of(planned.run.resource) else ", by the published config.json"
    )
    if plan.grade == "fits":
        size = f"{plan.weights_gib or 0:.1f} GiB of weights on each accelerator"
        detail = f"fits {plan.instance_type}: {size}{by}{_notes(found)}"
        yield place.outcome("memory", "pass", detail)
    else:
        detail = (
            plan.doubt
            or f"marginal: it may start on {plan.instance_type} or not{by}{_notes(found)}"
        )
        fix = "" if plan.doubt else "lmi plan says what would surely fit"
        yield place.outcome("memory", "unknown", detail, fix)


def _why_not(deployment: Deployment, run: Running) -> tuple[str, str]:
    """Return why there is no plan, and what to do."""
    if release(deployment, run.container) is None:
        fix = "say which release the image behaves like: --image URI=RELEASE"
        return f"what the image {shown(run.container.image)} does is not known", fix
    if run.container.environment is UNKNOWN:
        return "the environment is known only when it is deployed", ""
    config = deployment.facts.config_of(run.resource)
    if config is None:
        return "no config.json of the model is known", "give it: --model-config MODEL=FILE"
    try:
        Architecture.from_config_json(config)
    except LmiError as error:
        return error.findings[0].message, error.findings[0].fix
    for one, found in judged_runs(deployment):
        if one is run and not is_planned(found.backend):
            return f"memory of the back end {found.backend} is not planned", ""
    names = [name for _, name in run.variant.instance_types if instance(name) is None]
    if names:
        words = ", ".join(literal(name) or shown(name) for name in names)
        return f"the accelerators of {words} are not known", ""
    return "the variant names no instance type", ""


def _notes(findings: list[Finding] | tuple[Finding, ...]) -> str:
    return "".join(f"; note: {one.message} ({one.fix})" for one in findings)

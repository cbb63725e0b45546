"""Looking at everything that a set of templates needs from the account."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from lmi_constructs.checks.deployment import Facts
from lmi_constructs.checks.resources import S3DataSource
from lmi_constructs.checks.rules.common import environment, running
from lmi_constructs.checks.rules.memory import plans
from lmi_constructs.checks.template.read import read_deployment
from lmi_constructs.checks.values import literal
from lmi_constructs.preflight import surroundings
from lmi_constructs.preflight.account import Account, Missing, NotTold
from lmi_constructs.preflight.model_files import Prefix, adapters, completeness, config_of
from lmi_constructs.preflight.outcome import Outcome

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from lmi_constructs.checks.deployment import Deployment
    from lmi_constructs.checks.resources import Model, Resource
    from lmi_constructs.checks.rules.common import Running
    from lmi_constructs.checks.template import TemplateSource


def preflight(
    sources: Iterable[TemplateSource], account: Account | None = None, facts: Facts | None = None
) -> Iterator[Outcome]:
    """Look at what the endpoints of some templates need, and yield what is seen as it comes.

    Nothing is changed. What the caller may not ask is `unknown`.

    Args:
        sources: The templates, such as `read_path("cdk.out")`.
        account: The account. Default: that of the AWS configuration.
        facts: What the user knows better than the library.
    """
    account = account or Account()
    sources = list(sources)
    deployment = read_deployment(sources, facts or Facts())
    configs: dict[str, Mapping[str, object]] = {}
    for model in deployment.models:
        yield from _of_model(model, account, configs)
        written = _properties(sources, model)
        yield from surroundings.secrets(_subject(model), written, account, model.region)
    known = replace(deployment.facts, model_configs={**configs, **deployment.facts.model_configs})
    yield from _memory(read_deployment(sources, known), configs)
    seen: set[tuple[object, ...]] = set()
    for run in running(deployment):
        yield from _of_run(run, account, seen)
    for config in deployment.endpoint_configs:
        found = surroundings.key_usable(_subject(config), config, account)
        yield from [found] if found else []
    for endpoint in deployment.endpoints:
        found = surroundings.name_is_free(_subject(endpoint), endpoint, account)
        yield from [found] if found else []


def _of_model(
    model: Model,
    account: Account,
    configs: dict[str, Mapping[str, object]],
) -> Iterator[Outcome]:
    subject = _subject(model)
    for container in model.containers:
        source = container.s3_data_source
        uri = literal(source.uri) if isinstance(source, S3DataSource) else None
        if uri is not None and isinstance(source, S3DataSource) and source.data_type == "S3Prefix":
            yield from _of_prefix(subject, model, uri, account, configs, environment(container))


def _of_prefix(
    subject: str,
    model: Model,
    uri: str,
    account: Account,
    configs: dict[str, Mapping[str, object]],
    given: Mapping[str, object],
) -> Iterator[Outcome]:
    try:
        prefix = Prefix.listed(uri, account, model.region)
        yield from completeness(subject, prefix)
        config = config_of(prefix)
        if config is not None:
            configs[model.logical_id] = config
        rank = str(given.get("OPTION_MAX_LORA_RANK", ""))
        yield from adapters(subject, prefix, int(rank) if rank.isdecimal() else None)
    except NotTold as silence:
        detail = f"not known: {silence}"
        yield Outcome(subject=subject, check="files", status="unknown", detail=detail)
    except Missing as missing:
        yield Outcome(
            subject=subject,
            check="files",
            status="fail",
            detail=f"{uri}: {missing}",
            fix=f"lmi stage MODEL {uri}",
        )
    found = surroundings.role_may_read(subject, model, uri, account)
    if found is not None:
        yield found


def _memory(
    deployment: Deployment, configs: Mapping[str, Mapping[str, object]]
) -> Iterator[Outcome]:
    """Yield whether each model fits, by the config.json that really lies in its prefix."""
    for planned in plans(deployment):
        if planned.run.resource.logical_id not in configs:
            continue
        subject = _subject(planned.run.resource)
        plan = planned.plan
        detail = f"{plan.grade} on {plan.instance_type}"
        if plan.grade == "unknown":
            yield Outcome(
                subject=subject, check="memory", status="unknown", detail=plan.doubt or detail
            )
            continue
        errors = [finding for finding in plan.findings if finding.severity == "error"]
        for finding in errors:
            yield Outcome(
                subject=subject,
                check="memory",
                status="fail",
                detail=finding.message,
                fix=finding.fix,
            )
        if not errors:
            yield Outcome(subject=subject, check="memory", status="pass", detail=detail)


def _of_run(run: Running, account: Account, seen: set[tuple[object, ...]]) -> Iterator[Outcome]:
    subject, region = _subject(run.resource), run.config.region
    place = _subject(run.config)
    found = [surroundings.image_exists(subject, run, account)]
    variant = (place, run.variant.path)
    if variant not in seen:
        seen.add(variant)
        found += [
            surroundings.offered(place, run.variant, region),
            surroundings.quota(place, run.variant, account, region),
        ]
    yield from filter(None, found)


def _properties(sources: Iterable[TemplateSource], resource: Resource) -> object:
    """Return a resource's properties as the template has them, references unresolved."""
    for source in sources:
        if source.name == resource.template:
            return source.body.get("Resources", {}).get(resource.logical_id, {}).get("Properties")
        found = _properties(source.nested.values(), resource)
        if found is not None:
            return found
    return None


def _subject(resource: Resource) -> str:
    path = resource.construct_path or resource.logical_id
    return path.removesuffix("/Resource")

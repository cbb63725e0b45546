"""Looking at everything that a set of templates needs from the account."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from lmi_constructs.checks.deployment import Facts, key_of
from lmi_constructs.checks.queries.containers import running
from lmi_constructs.checks.queries.variants import config_of
from lmi_constructs.checks.template.read import read_deployment, with_nested
from lmi_constructs.checks.values import as_mapping
from lmi_constructs.operations.aws import AwsError, DeniedError, NoAnswerError
from lmi_constructs.preflight import instances, keys, model_files
from lmi_constructs.preflight.access import role_may
from lmi_constructs.preflight.account import Account
from lmi_constructs.preflight.adapters import adapters
from lmi_constructs.preflight.archives import archived_adapter
from lmi_constructs.preflight.contents import memory, settings
from lmi_constructs.preflight.image import image_exists
from lmi_constructs.preflight.name import name_is_free
from lmi_constructs.preflight.place import Place, path_of
from lmi_constructs.presets.layout import PROPERTIES

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from lmi_constructs.checks.queries.containers import Running
    from lmi_constructs.checks.resources import Container, Endpoint, EndpointConfig, Model, Resource
    from lmi_constructs.checks.template import TemplateSource
    from lmi_constructs.checks.values import String
    from lmi_constructs.operations.s3_files import S3Files
    from lmi_constructs.preflight.outcome import Outcome

_Target = tuple[str | None, str | None]


def preflight(
    sources: Iterable[TemplateSource], account: Account | None = None, facts: Facts | None = None
) -> Iterator[Outcome]:
    """Look at what the endpoints of some templates need, and yield what is seen as it comes.

    Nothing is changed. What the caller may not ask is `unknown`.

    Args:
        sources: The templates, such as `read_path("cdk.out")`.
        account: The account. Default: that of the AWS configuration.
        facts: What the user knows better than the library. What lies in a bucket wins over it.
    """
    yield from _Inspection(sources, account or Account(), facts or Facts()).outcomes()


class _Inspection:
    """One look at a set of templates.

    Args:
        sources: The templates.
        account: The account.
        facts: What the user knows better.
    """

    def __init__(self, sources: Iterable[TemplateSource], account: Account, facts: Facts) -> None:
        self._sources = [_placed(source, account.own_region) for source in sources]
        self._account = account
        self._own_ids: dict[_Target, str] = {}
        self._templates = {source.name: source for source in with_nested(self._sources)}
        self._before = self._after = read_deployment(self._sources, facts)
        self._closed: set[_Target] = set()

    def outcomes(self) -> Iterator[Outcome]:
        """Yield all that is seen, endpoint by endpoint."""
        yield from self._accounts()
        self._read_files()
        deployment = self._after
        seen: set[tuple[str, str]] = set()
        for endpoint in deployment.endpoints:
            label = path_of(endpoint)
            config = config_of(deployment, endpoint)
            seen |= {config.key} if config else set()
            yield from _once(self._endpoint(label, endpoint, config))
        for config in deployment.endpoint_configs:
            if config.key not in seen:
                yield from _once(self._config(None, config))
        used = {run.resource.key for run in running(deployment)}
        for model in deployment.models:
            if model.key not in used:
                yield from _once(self._model(model))

    def _accounts(self) -> Iterator[Outcome]:
        """Yield, once, in which accounts nothing can be asked, and remember them."""
        deployment = self._before
        about: dict[_Target, list[str]] = {}
        for resource in (
            *deployment.endpoints,
            *deployment.endpoint_configs,
            *deployment.models,
        ):
            about.setdefault(self._target(resource), []).append(path_of(resource))
        said: dict[Outcome, None] = {}
        for target in about:
            problem = self._problem(target)
            if problem is not None:
                self._closed.add(target)
                said[problem] = None
        yield from said

    def _problem(self, target: _Target) -> Outcome | None:
        """Return why nothing can be asked about an account, if so."""
        wanted, region = target
        subject = wanted or "the account of the AWS configuration"
        place = Place(None, subject, self._account, region, wanted)
        try:
            own = self._account.id(region)
        except DeniedError:
            return None  # other questions may be answered
        except NoAnswerError as error:
            detail = f"nothing could be asked: {error.message}"
            return place.outcome("account", "unknown", detail, error.advice)
        except AwsError:
            return None  # each question says itself what AWS answers
        self._own_ids[target] = own
        if wanted is None or own == wanted:
            return None
        detail = f"nothing was asked: the credentials are those of account {own}"
        fix = f"sign in to account {wanted} (AWS_PROFILE), or look at its own assembly only"
        return place.outcome("account", "unknown", detail, fix)

    def _read_files(self) -> None:
        """Let the deployment know what lies beside the models."""
        facts = self._before.facts
        configs, properties = dict(facts.model_configs), dict(facts.serving_properties)
        for model in self._before.models:
            place = self._place(None, model)
            for container in model.containers if self._is_open(model) else ():
                location = model_files.locate(place, container)
                if location.has_files:
                    config, text = model_files.contents(place, location)
                    configs.update({key_of(model): config} if config else {})
                    properties.update({key_of(model): text} if text is not None else {})
        known = replace(facts, model_configs=configs, serving_properties=properties)
        self._after = read_deployment(self._sources, known)

    def _endpoint(
        self, label: str, endpoint: Endpoint, config: EndpointConfig | None
    ) -> Iterator[Outcome]:
        place = self._place(label, endpoint)
        if self._is_open(endpoint):
            source = self._templates[endpoint.template]
            root, nested = self._stack(source.name)
            stack = self._templates[root].stack_name
            yield from place.asked(
                "name",
                partial(
                    name_is_free,
                    place,
                    endpoint,
                    stack,
                    nested,
                    self._beside(endpoint, root),
                ),
            )
        if config is None:
            detail = "its configuration is not part of what was read"
            yield place.outcome("configuration", "unknown", detail)
        else:
            yield from self._config(label, config)

    def _beside(self, endpoint: Endpoint, root: str) -> list[tuple[str, str | None]]:
        """Return the endpoints that surely go to the same account and region, and their names.

        Stacks for any account may go to two of them, but for those of one stack.
        """
        target = self._target(endpoint)
        return [
            (path_of(one), self._place(None, one).known(one.name))
            for one in self._after.endpoints
            if one.key != endpoint.key
            and self._target(one) == target
            and (target[0] is not None or self._stack(one.template)[0] == root)
        ]

    def _config(self, label: str | None, config: EndpointConfig) -> Iterator[Outcome]:
        place, is_open = self._place(label, config), self._is_open(config)
        yield from instances.offered(place, config)
        if is_open:
            same = [
                one
                for one in self._after.endpoint_configs
                if self._target(one) == self._target(config)
            ]
            together = instances.wanted(same)
            yield from place.asked("quota", lambda: instances.quota(place, config, together))
            yield from place.asked(
                "key", lambda: keys.key_usable(place, config.kms_key, "the volumes")
            )
        for run in running(self._after):
            if run.config.key == config.key:
                yield from self._run(label, run)

    def _run(self, label: str | None, run: Running) -> Iterator[Outcome]:
        place = self._place(label, run.resource)
        if run.specification is not None and run.specification.base_component is not None:
            yield from self._adapter(place, run, run.specification.base_component)
            return
        if self._is_open(run.resource):
            role = run.model.role if run.model else run.config.role
            yield from self._container(place, run.resource, run.container, role)
        yield from memory(place, self._after, run)

    def _adapter(self, place: Place, run: Running, base: String) -> Iterator[Outcome]:
        if not self._is_open(run.resource):
            return
        deployment, container = self._after, run.container
        found = deployment.component(base)
        yield from place.asked(
            "files", lambda: archived_adapter(place, deployment, container, found)
        )
        yield from place.asked(
            "role", lambda: role_may(place, deployment, run.config.role, container, None)
        )

    def _model(self, model: Model) -> Iterator[Outcome]:
        place = self._place(None, model)
        for container in model.containers if self._is_open(model) else ():
            yield from self._container(place, model, container, model.role)

    def _container(
        self, place: Place, resource: Resource, container: Container, role: String | None
    ) -> Iterator[Outcome]:
        location = model_files.locate(place, container)
        yield from place.asked("image", lambda: image_exists(place, container))
        yield from place.asked("files", lambda: model_files.files_complete(place, location))
        files = self._listed(place, location) if location.has_files else None
        is_there = files is not None and PROPERTIES in files.sizes
        yield from settings(place, self._before, self._after, resource, container, is_there)
        key = None
        if files is not None:
            yield from place.asked(
                "adapters", lambda: adapters(place, self._after, resource, container, files)
            )
            yield from place.asked("key", lambda: keys.key_of_files(place, location))
            key = self._key(place, location)
        declared = self._templates[resource.template].body["Resources"]
        properties = as_mapping(declared.get(resource.logical_id)).get("Properties")
        yield from keys.secrets(place, properties, declared)
        yield from place.asked("role", lambda: role_may(place, self._after, role, container, key))

    def _listed(self, place: Place, location: model_files.Location) -> S3Files | None:
        try:
            return model_files.listed(place, location)
        except AwsError:
            return None  # the check of the files has said so

    def _key(self, place: Place, location: model_files.Location) -> str | None:
        try:
            return model_files.key_of(place, location)
        except AwsError:
            return None  # the check of the key has said so

    def _place(self, label: str | None, resource: Resource) -> Place:
        target = self._target(resource)
        account_id = target[0] or self._own_ids.get(target)
        return Place(label, path_of(resource), self._account, target[1], account_id)

    def _target(self, resource: Resource) -> _Target:
        """Return the account and the region that a resource goes to."""
        return self._templates[resource.template].account, resource.region

    def _is_open(self, resource: Resource) -> bool:
        return self._target(resource) not in self._closed

    def _stack(self, template: str) -> tuple[str, list[str]]:
        """Return the template of a stack, and the logical ids of the nested ones down from there."""
        above = {
            child.name: (source.name, logical_id)
            for source in self._templates.values()
            for logical_id, child in source.nested.items()
        }
        nested: list[str] = []
        while template in above:
            template, logical_id = above[template]
            nested.insert(0, logical_id)
        return template, nested


def _placed(source: TemplateSource, region: str | None) -> TemplateSource:
    """Return a template that goes to the region where it says none."""
    nested = {name: _placed(child, region) for name, child in source.nested.items()}
    return replace(source, region=source.region or region, nested=nested)


def _once(outcomes: Iterator[Outcome]) -> Iterator[Outcome]:
    """Yield each outcome once, as a model may run on several variants."""
    seen: set[Outcome] = set()
    for one in outcomes:
        if one not in seen:
            seen.add(one)
            yield one

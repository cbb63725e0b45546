"""What several rules ask of a deployment."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache, wraps
from typing import TYPE_CHECKING, TypeVar
from weakref import WeakKeyDictionary

from lmi_constructs.checks.resources import Model
from lmi_constructs.checks.values import (
    UNKNOWN,
    String,
    is_same,
    join,
    literal,
    number,
    shown,
    split,
)
from lmi_constructs.container.release import LmiContainer
from lmi_constructs.facts import InstanceType, instance_types
from lmi_constructs.findings import LmiError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from lmi_constructs.checks.deployment import Deployment
    from lmi_constructs.checks.resources import (
        Component,
        ComponentSpecification,
        Container,
        Endpoint,
        EndpointConfig,
        Resource,
        Variant,
    )

Answer = TypeVar("Answer")
_BUILD = re.compile(r"-v\d+(\.\d+)*\Z")
_CUDA = re.compile(r"(?:^|[-_.])cu(?:da)?(1[0-9])\.?([0-9])(?![0-9])")


@dataclass(frozen=True)
class Image:
    """An image in a private registry, its parts as far as they are known."""

    account: String
    region: String
    domain: String
    repository: String
    tag: String | None

    @property
    def cuda(self) -> tuple[int, int] | None:
        """CUDA version that the tag names."""
        match = _CUDA.search(literal(self.tag) or "")
        return (int(match[1]), int(match[2])) if match else None


def image(container: Container) -> Image | None:
    """Return the parts of a container's image, if it is in a private registry."""
    return _parts(container.image)


@lru_cache(maxsize=1024)
def _parts(uri: String | None) -> Image | None:
    fields = split(uri, "/")
    if fields is None or len(fields) < 2:
        return None
    host = split(fields[0], ".")
    if host is None or len(host) < 5 or host[1] != "dkr":
        return None
    name = split(_with_slashes(fields[1:]), "@") or ("",)
    address = split(name[0], ":") or (UNKNOWN,)
    return Image(
        account=host[0],
        region=host[3],
        domain=join(piece for field in host[4:] for piece in (".", field)),
        repository=address[0],
        tag=address[1] if len(address) == 2 else None,
    )


def _with_slashes(fields: Iterable[String]) -> String:
    parts = [piece for field in fields for piece in ("/", field)]
    return join(parts[1:])


def release(deployment: Deployment, container: Container) -> LmiContainer | None:
    """Return the LMI release that a container runs, `None` for a foreign or unknown image."""
    spoken = shown(container.image)
    for beginning, name in deployment.facts.images.items():
        if spoken.startswith(beginning):
            return _named(name)
    if container.behaves_like is not None:
        return _named(container.behaves_like)
    parts = image(container)
    if parts is None:
        return None
    repository, tag = literal(parts.repository), literal(parts.tag)
    if repository is None or tag is None:
        return None
    return _released(repository, tag)


def _named(name: str) -> LmiContainer | None:
    try:
        return LmiContainer.of(name)
    except LmiError:
        return None


@lru_cache(maxsize=1024)
def _released(repository: str, tag: str) -> LmiContainer | None:
    """Return the release of a repository and tag, in whatever registry they are.

    A build of a release may have its number behind the tag (djl-serving's notes of LMI 20: `-v1.0`).
    """
    released = _BUILD.sub("", tag)
    return LmiContainer.from_image_uri(
        f"000000000000.dkr.ecr.us-east-1.amazonaws.com/{repository}:{released}"
    )


def containers(deployment: Deployment) -> Iterator[tuple[Resource, Container]]:
    """Yield all containers of models and of inference components."""
    for model in deployment.models:
        for container in model.containers:
            yield model, container
    for component in deployment.components:
        for specification in component.specifications:
            if specification.container is not None:
                yield component, specification.container


def variants(deployment: Deployment) -> Iterator[tuple[EndpointConfig, Variant]]:
    """Yield all production and shadow variants."""
    for config in deployment.endpoint_configs:
        for variant in (*config.variants, *config.shadow_variants):
            yield config, variant


@dataclass(frozen=True)
class Running:
    """A container on the variant that runs it."""

    resource: Resource
    model: Model | None
    container: Container
    config: EndpointConfig
    variant: Variant
    component: Component | None = None
    specification: ComponentSpecification | None = None

    @property
    def accelerator_count(self) -> int | None:
        """How many accelerators a component asks for; `None` if it is none, or asks for none."""
        asked = number(self.specification.accelerators) if self.specification else None
        return None if asked is None else int(asked)


def once(
    function: Callable[[Deployment], Iterator[Answer]],
) -> Callable[[Deployment], list[Answer]]:
    """Ask a deployment once, since many rules ask the same."""
    answers: WeakKeyDictionary[Deployment, list[Answer]] = WeakKeyDictionary()

    @wraps(function)
    def remembered(deployment: Deployment) -> list[Answer]:
        found = answers.get(deployment)
        if found is None:
            found = answers[deployment] = list(function(deployment))
        return found

    return remembered


@once
def running(deployment: Deployment) -> Iterator[Running]:
    """Return each container together with each variant that runs it."""
    for config, whole in variants(deployment):
        for variant in whole.by_model:
            model = deployment.model(variant.model)
            for container in model.containers if model else ():
                yield Running(model, model, container, config, variant)  # type: ignore[arg-type]
    for component in deployment.components:
        for config, variant in deployment.hosts(component):
            for one in component.specifications:
                model = deployment.model(one.model)
                for container in model.containers if model else ():
                    yield Running(model, model, container, config, variant, component, one)  # type: ignore[arg-type]
                if one.container is not None:
                    yield Running(component, None, one.container, config, variant, component, one)


def instance(name: object) -> InstanceType | None:
    """Return the accelerated instance type of a name, if it is known."""
    return instance_types().get(literal(name) or "")


def has_no_accelerator(deployment: Deployment, name: object) -> bool:
    """Tell whether an instance type surely has no accelerator."""
    spoken = literal(name) or ""
    if spoken in instance_types() or spoken in deployment.facts.instance_types:
        return False
    return bool(re.match(r"ml\.[cmrt]\d", spoken))


def environment(container: Container) -> Mapping[str, String]:
    """Return the environment of a container as far as it is known."""
    known = container.environment
    return {} if known is None or known is UNKNOWN else known


def serving_properties(
    deployment: Deployment, resource: Resource
) -> str | Mapping[str, object] | None:
    """Return the `serving.properties` beside a model, as the user or our constructs tell it."""
    written = resource.serving_properties if isinstance(resource, Model) else None
    return deployment.facts.properties_of(resource) or written


def count_of(value: object, otherwise: int) -> int | float:
    """Return a known count, or another if it is absent or unknown."""
    known = number(value)
    return otherwise if known is None else known


@dataclass(frozen=True)
class Scaled:
    """What a scalable target scales, as far as it is known."""

    kind: str
    endpoint: Endpoint | None = None
    variant: String | None = None
    component: Component | None = None


def scaled(deployment: Deployment, resource_id: object) -> Scaled | None:
    """Return what a resource id of Application Auto Scaling means."""
    fields = split(resource_id, "/")
    if fields is None:
        return None
    if len(fields) == 4 and fields[0] == "endpoint" and fields[2] == "variant":
        return Scaled("variant", deployment.endpoint(fields[1]), fields[3])
    if len(fields) == 2 and fields[0] == "inference-component":
        return Scaled("inference-component", component=deployment.component(fields[1]))
    return None


def config_of(deployment: Deployment, endpoint: Endpoint | None) -> EndpointConfig | None:
    """Return the configuration of an endpoint, if it is one of the deployment."""
    return deployment.endpoint_config(endpoint.config) if endpoint else None


def variant_of(config: EndpointConfig | None, name: object) -> Variant | None:
    """Return the variant of a name, which may be a shadow variant."""
    among = (*config.variants, *config.shadow_variants) if config else ()
    matching = [variant for variant in among if is_same(variant.name, name)]
    return matching[0] if len(matching) == 1 else None


def lacks_variant(config: EndpointConfig | None, name: object) -> bool:
    """Tell whether a configuration surely has no variant of a name, nor a shadow variant."""
    if config is None or literal(name) is None or not config.variants_complete:
        return False
    names = [literal(one.name) for one in (*config.variants, *config.shadow_variants)]
    return bool(names) and None not in names and name not in names

"""The variants of a deployment: all of them, and by name."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lmi_constructs.checks.values import is_same, literal

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lmi_constructs.checks.deployment import Deployment
    from lmi_constructs.checks.resources import Endpoint, EndpointConfig, Variant


def variants(deployment: Deployment) -> Iterator[tuple[EndpointConfig, Variant]]:
    """Yield all production and shadow variants."""
    for config in deployment.endpoint_configs:
        for variant in (*config.variants, *config.shadow_variants):
            yield config, variant


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

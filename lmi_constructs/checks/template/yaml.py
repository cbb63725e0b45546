"""YAML as CloudFormation reads it: short forms of intrinsics, and dates that stay strings."""

from __future__ import annotations

from typing import Any, Final

from lmi_constructs._extras import needed

with needed("lmi_constructs.checks", "cli"):
    import yaml

_LONG_NAMES: Final = {"Ref": "Ref", "Condition": "Condition"}


class _Loader(yaml.SafeLoader):
    """A loader of its own, so that nobody else's YAML changes."""


def parse_yaml(text: str) -> Any:
    """Return a YAML document as JSON values, short forms as their long forms.

    Raises:
        ValueError: If the text is not YAML.
    """
    try:
        return yaml.load(text, Loader=_Loader)  # noqa: S506 -- derived from the safe loader
    except yaml.YAMLError as error:
        raise ValueError(f"not YAML: {error}") from error
    except (TypeError, AttributeError, OverflowError) as error:
        raise ValueError(f"not a template in YAML: {error}") from error


def _short_form(loader: yaml.SafeLoader, suffix: str, node: yaml.Node) -> dict[str, Any]:
    name = _LONG_NAMES.get(suffix, f"Fn::{suffix}")
    value: Any
    if isinstance(node, yaml.ScalarNode):
        value = loader.construct_scalar(node)
    elif isinstance(node, yaml.SequenceNode):
        value = loader.construct_sequence(node, deep=True)
    else:
        value = loader.construct_mapping(node, deep=True)  # type: ignore[arg-type]
    return {name: value}


_Loader.add_multi_constructor("!", _short_form)
_Loader.yaml_implicit_resolvers = {
    first: [(tag, pattern) for tag, pattern in rows if tag != "tag:yaml.org,2002:timestamp"]
    for first, rows in yaml.SafeLoader.yaml_implicit_resolvers.items()
}

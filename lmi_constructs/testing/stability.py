"""A template as it reads from one release of CDK and library to the next."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from lmi_constructs._version import __version__
from lmi_constructs.testing.templates import NESTED

if TYPE_CHECKING:
    from collections.abc import Mapping

ASSET_HASH = "<asset-hash>"
"""What a snapshot has for the hash of an asset."""

METADATA_TYPE = "AWS::CDK::Metadata"
"""Type of the resource that the CDK CLI adds to count what is used."""

# The digest of an image is what its author wrote, not the hash of an asset.
_HASH = re.compile(r"(?<!sha256:)\b[0-9a-f]{64}\b")
_OF_THE_CDK = {
    "Parameters": "BootstrapVersion",
    "Rules": "CheckBootstrapVersion",
    "Conditions": "CDKMetadataAvailable",
}


def stable_template(template: Mapping[str, Any]) -> dict[str, Any]:
    """Return a template without what changes by itself.

    Left out are CDK's metadata resource and bootstrap check; replaced are hashes of assets and the
    version of this library. What remains is what the author of the stack wrote.

    Args:
        template: A CloudFormation template, such as `Template.from_stack(stack).to_json()`. If it has
            the templates of nested stacks in a section `NestedStacks`, they are made stable too.

    Example:
        ```python
        assert stable_template(Template.from_stack(stack).to_json()) == snapshot
        ```
    """
    kept: dict[str, Any] = {}
    for section, entries in template.items():
        if section == NESTED:
            kept[section] = {name: stable_template(inner) for name, inner in entries.items()}
            continue
        if isinstance(entries, dict):
            entries = {
                name: entry
                for name, entry in entries.items()
                if name != _OF_THE_CDK.get(section)
                and not (isinstance(entry, dict) and entry.get("Type") == METADATA_TYPE)
            }
            if not entries:
                continue
        kept[section] = stable(entries)
    return kept


def stable(value: Any) -> Any:
    """Return part of a template without hashes of assets and the version of this library."""
    if isinstance(value, dict):
        return {key: stable(item) for key, item in value.items()}
    if isinstance(value, list):
        return [stable(item) for item in value]
    if isinstance(value, str):
        return _HASH.sub(ASSET_HASH, value).replace(
            f"lmi-constructs {__version__}", "lmi-constructs <version>"
        )
    return value

"""A template as it reads from one release of CDK and library to the next."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from lmi_constructs._version import __version__

if TYPE_CHECKING:
    from collections.abc import Mapping

_ASSET_HASH = re.compile(r"\b[0-9a-f]{64}\b")
_METADATA_TYPE = "AWS::CDK::Metadata"
_BOOTSTRAP = {"Parameters": "BootstrapVersion", "Rules": "CheckBootstrapVersion"}


def stable_template(template: Mapping[str, Any]) -> dict[str, Any]:
    """Return a template without what changes by itself.

    Left out are CDK's metadata resource and bootstrap check; replaced are hashes of assets and the
    version of this library. What remains is what the author of the stack wrote.

    Args:
        template: A CloudFormation template, such as `Template.from_stack(stack).to_json()`.

    Example:
        ```python
        assert stable_template(Template.from_stack(stack).to_json()) == snapshot
        ```
    """
    kept: dict[str, Any] = {}
    for section, entries in template.items():
        if isinstance(entries, dict):
            entries = {
                name: entry
                for name, entry in entries.items()
                if name != _BOOTSTRAP.get(section)
                and not (isinstance(entry, dict) and entry.get("Type") == _METADATA_TYPE)
            }
            if not entries:
                continue
        kept[section] = _stable(entries)
    return kept


def _stable(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _stable(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_stable(item) for item in value]
    if isinstance(value, str):
        return _ASSET_HASH.sub("<asset-hash>", value).replace(
            f"lmi-constructs {__version__}", "lmi-constructs <version>"
        )
    return value

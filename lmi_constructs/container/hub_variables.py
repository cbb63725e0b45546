"""Variables that decide which hub the container downloads a model from, or that it asks none."""

from __future__ import annotations

from typing import Final

OFFLINE: Final = frozenset({"HF_HUB_OFFLINE", "TRANSFORMERS_OFFLINE"})
"""Variables with which the container asks no hub at all."""

OTHER_HUBS: Final = frozenset(
    {"HF_ENDPOINT", "HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy"}
)
"""Variables that lead the container to a mirror or proxy, which may be within the VPC."""

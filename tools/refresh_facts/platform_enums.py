"""What the platform's own packages list: instance types, host images, images by region."""

from __future__ import annotations

import gzip
import json
from typing import Any

from tools.refresh_facts.packages import version_of, wheel

_SERVICE = "botocore/data/sagemaker/2017-07-24/service-2.json.gz"
# Families with an accelerator that a known image can use; P2 and Inferentia 1 are older than all.
ACCELERATED = ("ml.p", "ml.g", "ml.inf", "ml.trn")
TOO_OLD = ("ml.p2.", "ml.inf1.")
_OLDEST_DJL = (0, 27)


def platform_names() -> dict[str, set[str]]:
    """Return all instance types, those with accelerators, and host images, from botocore's model."""
    with wheel("botocore") as archive:
        shapes: dict[str, Any] = json.loads(gzip.decompress(archive.read(_SERVICE)))["shapes"]
    types = set(shapes["ProductionVariantInstanceType"]["enum"])
    return {
        "hosting_instance_types": types,
        "instances": {
            name for name in types if name.startswith(ACCELERATED) and not name.startswith(TOO_OLD)
        },
        "host_images": set(shapes["ProductionVariantInferenceAmiVersion"]["enum"]),
    }


def image_maps() -> tuple[str, set[str], dict[str, str]]:
    """Return package version, image tags and registry accounts of the SageMaker SDK's maps."""
    tags: set[str] = set()
    accounts: dict[str, str] = {}
    with wheel("sagemaker-core") as archive:
        for name in archive.namelist():
            if "image_uri_config/djl-" in name:
                for djl, entry in json.loads(archive.read(name))["versions"].items():
                    if tuple(map(int, djl.split(".")[:2])) < _OLDEST_DJL:
                        continue
                    suffix = entry.get("container_version") or entry.get("tag_prefix", "")
                    tags.add(entry.get("tag_prefix") or f"{djl}-{suffix}")
                    if name.endswith("djl-lmi.json"):
                        accounts.update(entry["registries"])
        return version_of(archive), tags, accounts

"""The files under a model's prefix: complete, uncompressed, and what they say of the model."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from lmi_constructs.preflight.account import answers
from lmi_constructs.preflight.outcome import Outcome
from lmi_constructs.presets.layout import ADAPTERS, CONFIG, PROPERTIES, check_layout

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from lmi_constructs.preflight.account import Account

_INDEX: Final = ".safetensors.index.json"
_LARGEST_TEXT: Final = 64 * 1024 * 1024
_MOST_NAMED: Final = 3


@dataclass(frozen=True, slots=True)
class Prefix:
    """What lies under a prefix.

    Attributes:
        uri: The prefix, ending in a slash.
        sizes: Bytes of each file, by its name relative to the prefix.
        account: Where to read the files from.
        region: Region to read from.
    """

    uri: str
    sizes: Mapping[str, int]
    account: Account
    region: str | None = None

    @classmethod
    def listed(cls, uri: str, account: Account, region: str | None = None) -> Prefix:
        """List a prefix.

        Raises:
            NotTold: If it may not be listed.
            Missing: If there is no such bucket.
        """
        bucket, _, prefix = uri.removeprefix("s3://").partition("/")
        client = account.client("s3", region)
        sizes: dict[str, int] = {}
        with answers():
            pages = client.get_paginator("list_objects_v2").paginate(Bucket=bucket, Prefix=prefix)
            for page in pages:
                for item in page.get("Contents", ()):
                    sizes[item["Key"].removeprefix(prefix)] = item["Size"]
        return cls(uri, sizes, account, region)

    def json(self, name: str) -> Any:
        """Return a parsed file, `None` if it is no JSON.

        Raises:
            NotTold: If it may not be read.
            Missing: If it is not there.
        """
        try:
            return json.loads(self.text(name))
        except ValueError:
            return None

    def text(self, name: str) -> str:
        """Return a small file as text.

        Raises:
            NotTold: If it may not be read.
            Missing: If it is not there.
        """
        bucket, _, prefix = self.uri.removeprefix("s3://").partition("/")
        with answers():
            answer = self.account.client("s3", self.region).get_object(
                Bucket=bucket, Key=prefix + name
            )
            content: bytes = answer["Body"].read(_LARGEST_TEXT)
        return content.decode("utf-8", "replace")


def completeness(subject: str, prefix: Prefix) -> Iterator[Outcome]:
    """Yield whether the files of a model are all there."""
    if not prefix.sizes:
        yield _failed(subject, f"nothing lies under {prefix.uri}", f"lmi stage MODEL {prefix.uri}")
        return
    properties = prefix.text(PROPERTIES) if PROPERTIES in prefix.sizes else None
    faults = check_layout(prefix.sizes, properties)
    for fault in faults:
        if fault.severity == "error":
            yield _failed(subject, fault.message, fault.fix)
    empty = [name for name, size in prefix.sizes.items() if not size and not name.endswith("/")]
    if empty:
        yield _failed(subject, f"{_named(empty)} is empty", "upload it again")
    lacking, indexed = _shards(prefix)
    if lacking:
        yield _failed(
            subject,
            f"{_named(lacking)} is named by the index, and not there",
            "upload the missing files; lmi stage goes on where it stopped",
        )
    if indexed is not None and not lacking:
        held = sum(
            size
            for name, size in prefix.sizes.items()
            if name.endswith(".safetensors") and "/" not in name
        )
        if held < indexed:
            yield _failed(
                subject,
                f"the weights have {held} bytes, the index speaks of {indexed}",
                "upload the cut-off file again",
            )
    if not empty and not lacking and not any(fault.severity == "error" for fault in faults):
        total = sum(prefix.sizes.values()) / 1e9
        yield Outcome(
            subject=subject,
            check="files",
            status="pass",
            detail=f"{len(prefix.sizes)} files, {total:.1f} GB under {prefix.uri}",
        )


def adapters(subject: str, prefix: Prefix, largest_rank: int | None) -> Iterator[Outcome]:
    """Yield whether each adapter has a rank that the engine takes, and a base model."""
    names = {name.split("/")[1] for name in prefix.sizes if name.startswith(f"{ADAPTERS}/")}
    bases = set()
    for name in sorted(filter(None, names)):
        file = f"{ADAPTERS}/{name}/adapter_config.json"
        config = prefix.json(file) if file in prefix.sizes else None
        if not isinstance(config, dict):
            yield _failed(subject, f"adapter {name} has no readable adapter_config.json", "add it")
            continue
        bases.add(config.get("base_model_name_or_path"))
        rank = config.get("r")
        if largest_rank is not None and isinstance(rank, int) and rank > largest_rank:
            yield Outcome(
                subject=subject,
                check="adapters",
                status="fail",
                detail=f"adapter {name} has rank {rank}, the engine takes {largest_rank}",
                fix=f"set max_lora_rank to {rank} or more",
            )
    if len(bases) > 1:
        told = ", ".join(sorted(map(str, bases)))
        yield Outcome(
            subject=subject,
            check="adapters",
            status="fail",
            detail=f"the adapters are made for different base models: {told}",
            fix="keep the adapters of one base model under a prefix",
        )


def config_of(prefix: Prefix) -> Mapping[str, object] | None:
    """Return the model's own config.json, `None` if it has none that can be read."""
    config = prefix.json(CONFIG) if CONFIG in prefix.sizes else None
    return config if isinstance(config, dict) else None


def _shards(prefix: Prefix) -> tuple[list[str], int | None]:
    """Return the shards that the index names and the prefix lacks, and the bytes it speaks of."""
    index = next((name for name in prefix.sizes if name.endswith(_INDEX) and "/" not in name), None)
    read = prefix.json(index) if index else None
    if not isinstance(read, dict):
        return [], None
    named = read.get("weight_map")
    shards = set(named.values()) if isinstance(named, dict) else set()
    total = (read.get("metadata") or {}).get("total_size")
    lacking = sorted(str(shard) for shard in shards if str(shard) not in prefix.sizes)
    return lacking, total if isinstance(total, int) else None


def _named(names: list[str]) -> str:
    more = f" and {len(names) - _MOST_NAMED} more" if len(names) > _MOST_NAMED else ""
    return ", ".join(names[:_MOST_NAMED]) + more


def _failed(subject: str, detail: str, fix: str) -> Outcome:
    return Outcome(subject=subject, check="files", status="fail", detail=detail, fix=fix)

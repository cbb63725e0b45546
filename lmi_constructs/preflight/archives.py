"""Adapters that are components of their own: a `.tar.gz` each."""

from __future__ import annotations

import json
import tarfile
import zlib
from contextlib import closing
from typing import IO, TYPE_CHECKING, Any, Final, cast

from botocore.exceptions import BotoCoreError

from lmi_constructs.operations.aws import asking
from lmi_constructs.operations.completeness import ADAPTER_CONFIG, LARGEST_JSON_BYTES
from lmi_constructs.preflight.adapters import taken
from lmi_constructs.preflight.model_files import locate, parsed, size_of
from lmi_constructs.preflight.place import path_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lmi_constructs.checks.deployment import Deployment
    from lmi_constructs.checks.resources import Component, Container
    from lmi_constructs.preflight.model_files import Location
    from lmi_constructs.preflight.outcome import Outcome
    from lmi_constructs.preflight.place import Place

_Config = tuple[dict[str, Any] | None, str]
_LARGEST_READ_BYTES: Final = 64 * 1024 * 1024
"""Of an archive: where adapter_config.json does not come before the weights, it is not looked for."""


def archived_adapter(
    place: Place, deployment: Deployment, container: Container, base: Component | None
) -> Iterator[Outcome]:
    """Yield whether an adapter's archive is there, and the base's container takes it.

    Args:
        place: Where it goes.
        deployment: The deployment, with what lies beside the models.
        container: Container of the adapter's component, which has only the address.
        base: The base component, `None` if it is not of these templates.

    Raises:
        AwsError: If S3 does not tell.
    """
    location = locate(place, container)
    if location.problem:
        yield place.outcome("files", "unknown", location.problem, location.fix)
        return
    size = size_of(place, location)
    config, fault = _config(place, location) if size else (None, "is empty")
    if fault:
        fix = f"pack {ADAPTER_CONFIG} and the weights: tar -czf NAME.tar.gz -C FOLDER ."
        yield place.outcome("files", "fail", f"{location.address} {fault}", fix)
        return
    yield place.outcome("files", "pass", f"{location.address}, {size / 1e6:.1f} MB")
    if config is None:
        detail = f"its {ADAPTER_CONFIG} is not at the beginning of {location.address}"
        yield place.outcome("adapters", "unknown", detail)
    else:
        yield from _compared(place, deployment, base, config)


def _compared(
    place: Place, deployment: Deployment, base: Component | None, config: dict[str, Any]
) -> Iterator[Outcome]:
    specifications = base.specifications if base else ()
    model = deployment.model(specifications[0].model) if specifications else None
    if model is None or not model.containers:
        name = path_of(base) if base else "elsewhere"
        detail = f"the model of the base component ({name}) is not part of what was read"
        yield place.outcome("adapters", "unknown", detail)
        return
    name = place.subject.rsplit("/", 1)[-1]
    yield from taken(place, deployment, model, model.containers[0], name, config)


def _config(place: Place, location: Location) -> _Config:
    """Return an archive's `adapter_config.json`, or what is wrong with the archive.

    Neither is there if the first part of the archive does not hold it.

    Raises:
        AwsError: If S3 does not tell.
    """
    bucket, key = parsed(location)
    client = place.client("s3")
    with (
        asking(location.address, "s3:GetObject"),
        closing(client.get_object(Bucket=bucket, Key=key)["Body"]) as body,
    ):
        return _found(_Beginning(body))


def _found(body: _Beginning) -> _Config:
    try:
        with tarfile.open(fileobj=cast("IO[bytes]", body), mode="r|gz") as archive:
            for member in archive:
                if member.isfile() and member.name.rsplit("/", 1)[-1] == ADAPTER_CONFIG:
                    file = archive.extractfile(member)
                    return _parsed(file.read(LARGEST_JSON_BYTES) if file else b"")
    except BotoCoreError:
        raise  # some are OSErrors as well
    except (tarfile.TarError, EOFError, OSError, zlib.error):
        return None, "" if body.is_cut else "is no .tar.gz that can be unpacked"
    return None, f"holds no {ADAPTER_CONFIG}"


def _parsed(text: bytes) -> _Config:
    try:
        content = json.loads(text)
    except (ValueError, RecursionError):
        content = None
    known = isinstance(content, dict)
    return (content, "") if known else (None, f"has an {ADAPTER_CONFIG} that is no JSON object")


class _Beginning:
    """The first part of a stream.

    Attributes:
        is_cut: Whether more was asked for than that.
    """

    def __init__(self, body: Any) -> None:
        self._body, self._left, self.is_cut = body, _LARGEST_READ_BYTES, False

    def read(self, size: int) -> bytes:
        """Return the next bytes, none after the first part."""
        self.is_cut = self.is_cut or self._left <= 0
        content: bytes = self._body.read(min(size, self._left)) if self._left > 0 else b""
        self._left -= len(content)
        return content

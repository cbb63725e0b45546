"""Reading templates and cloud assemblies from files."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from lmi_constructs.checks.acknowledged import Acknowledgment, is_at
from lmi_constructs.checks.template.read import TemplateSource
from lmi_constructs.checks.values import as_mapping, as_sequence, literal

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

_LARGEST_BYTES: Final = 64 * 1024 * 1024
_MOST_NESTED: Final = 8
_NESTED_STACK: Final = ".NestedStackResource"
_ACCEPTED: Final = "suppressedViolations"
_Target = tuple[str | None, str | None]
_Paths = tuple[tuple[str, str], ...]


class UnreadableError(Exception):
    """A path that holds no template that can be read; the message says why."""


class NoTemplateError(UnreadableError):
    """A file that can be read and is something else."""


def read_stack(
    path: str | Path, *, name: str, region: str | None, account: str | None
) -> TemplateSource:
    """Return the template of a stack in a cloud assembly.

    Args:
        path: The stack's template.
        name: Path of the stack in the construct tree.
        region: Region it is deployed to, if known.
        account: Account it is deployed to, if known.

    Raises:
        UnreadableError: If the template cannot be read.
    """
    place = Path(path)
    return _stack(place, name, (region, account), _construct_paths_beside(place))


def read_file(
    place: Path,
    region: str | None = None,
    account: str | None = None,
    *,
    name: str | None = None,
    content: bytes | None = None,
) -> TemplateSource:
    """Return the template in a file, as its cloud assembly deploys it if it is in one.

    Args:
        place: The file.
        region: Region it goes to if it does not say it itself.
        account: Account it goes to if it does not say it itself.
        name: Name of the template; the file's by default.
        content: What is in the file, if it was read already.

    Raises:
        UnreadableError: If the file cannot be read, or is no template.
    """
    artifact = _artifact_beside(place) if content is None else {}
    metadata = _metadata(artifact, place.parent)
    own_account, own_region = _environment(artifact.get("environment"))
    reported = _reported(place.parent) if artifact else ()
    return _stack(
        place,
        name or place.name,
        (own_region or region, own_account or account),
        _construct_paths(metadata),
        _stack_name(artifact),
        body=read_template(place, of_assembly=bool(artifact), content=content),
        acknowledgments=_acknowledgments(artifact, metadata, reported),
    )


def read_template(
    path: Path, *, of_assembly: bool = False, content: bytes | None = None
) -> Mapping[str, Any]:
    """Return a parsed template.

    Args:
        path: The file.
        of_assembly: Whether the CDK wrote it, which leaves `Resources` out of an empty stack.
        content: What is in the file, if it was read already.

    Raises:
        UnreadableError: If the file cannot be read, or is no template.
    """
    body = _parse(path, content)
    if isinstance(body, dict):
        resources = body.get("Resources", {} if of_assembly else None)
        if isinstance(resources, dict):
            return {**body, "Resources": resources}
        if "Resources" in body or "AWSTemplateFormatVersion" in body:
            raise UnreadableError(f"{path}: a template must have Resources, a mapping")
    raise NoTemplateError(f"{path}: no CloudFormation template (it has no Resources)")


def read_content(path: Path) -> bytes:
    """Return what is in a file.

    Raises:
        UnreadableError: If it cannot be read, or is larger than any template.
    """
    try:
        with path.open("rb") as file:
            content = file.read(_LARGEST_BYTES + 1)
    except OSError as error:
        raise UnreadableError(f"{path}: {error.strerror or error}") from error
    if len(content) > _LARGEST_BYTES:
        raise UnreadableError(f"{path}: larger than any template")
    return content


def _parse(path: Path, content: bytes | None = None) -> object:
    content = read_content(path) if content is None else content
    try:
        text = content.decode("utf-8-sig")
        if not text.strip():
            raise UnreadableError(f"{path}: the file is empty")
        if path.suffix == ".json" or text.lstrip().startswith("{"):
            try:
                return json.loads(text)
            except ValueError as error:
                if path.suffix == ".json":
                    raise UnreadableError(f"{path}: not JSON: {error}") from error
        from lmi_constructs.checks.template.yaml import parse_yaml

        return parse_yaml(text)
    except RecursionError as error:
        raise UnreadableError(f"{path}: nested too deeply to be a template") from error
    except UnicodeDecodeError as error:
        byte = f"byte {error.object[error.start]:#04x} at {error.start}"
        raise UnreadableError(f"{path}: not in UTF-8 ({byte}); save it in UTF-8") from error
    except ValueError as error:
        raise UnreadableError(f"{path}: {error}") from error


def artifacts_of(place: Path) -> Mapping[str, Any] | None:
    """Return what a cloud assembly is made of; `None` if a folder is none."""
    manifest = place / "manifest.json"
    known = as_mapping(_parse(manifest)).get("artifacts") if manifest.is_file() else None
    return known if isinstance(known, dict) else None


def read_assembly(
    place: Path,
    artifacts: Mapping[str, Any],
    region: str | None,
    account: str | None,
    depth: int = 0,
) -> Iterator[TemplateSource]:
    """Yield the templates of a cloud assembly and of the assemblies in it.

    Args:
        place: Its folder.
        artifacts: What it is made of.
        region: Region that stacks go to which do not say it themselves.
        account: Account that stacks go to which do not say it themselves.
        depth: How many assemblies it is in.
    """
    reported = _reported(place)
    for name, artifact in artifacts.items():
        kind = as_mapping(artifact).get("type")
        properties = as_mapping(as_mapping(artifact).get("properties"))
        inner = literal(properties.get("directoryName"))
        file = literal(properties.get("templateFile"))
        if kind == "cdk:cloud-assembly" and inner and depth < _MOST_NESTED:
            within = artifacts_of(place / inner)
            if within is not None:
                yield from read_assembly(place / inner, within, region, account, depth + 1)
        elif kind == "aws:cloudformation:stack" and file:
            own_account, own_region = _environment(as_mapping(artifact).get("environment"))
            own_region, own_account = own_region or region, own_account or account
            metadata = _metadata(as_mapping(artifact), place)
            yield _stack(
                place / file,
                name,
                (own_region, own_account),
                _construct_paths(metadata),
                _stack_name(as_mapping(artifact)) or name,
                acknowledgments=_acknowledgments(as_mapping(artifact), metadata, reported),
            )


def _stack_name(artifact: Mapping[str, Any]) -> str | None:
    return literal(as_mapping(artifact.get("properties")).get("stackName"))


def _stack(
    file: Path,
    name: str,
    target: _Target,
    paths: _Paths,
    stack_name: str | None = None,
    *,
    body: Mapping[str, Any] | None = None,
    acknowledgments: tuple[Acknowledgment, ...] = (),
) -> TemplateSource:
    body = read_template(file, of_assembly=True) if body is None else body
    return TemplateSource(
        name=name,
        body=body,
        region=target[0],
        account=target[1],
        nested=_nested(body, file.parent, name, target, paths, (file,)),
        construct_paths=_outside_nested_stacks(paths),
        file=str(file),
        stack_name=stack_name,
        acknowledgments=acknowledgments,
    )


def _environment(environment: object) -> tuple[str | None, str | None]:
    """Return account and region of `aws://account/region`, where they are known."""
    fields = (literal(environment) or "").removeprefix("aws://").split("/")
    if len(fields) != 2:
        return None, None
    account, region = (None if field.startswith("unknown-") else field for field in fields)
    return account, region


def _nested(
    body: Mapping[str, Any],
    place: Path,
    parent: str,
    target: _Target,
    paths: _Paths,
    above: tuple[Path, ...],
) -> dict[str, TemplateSource]:
    """Return the templates of nested stacks that lie beside the parent's, each but once in a line."""
    found: dict[str, TemplateSource] = {}
    for logical_id, resource in body["Resources"].items() if len(above) < _MOST_NESTED else ():
        if as_mapping(resource).get("Type") != "AWS::CloudFormation::Stack":
            continue
        file = _nested_file(as_mapping(resource), place)
        if file is None or place / file in above:
            continue
        inner = read_template(place / file, of_assembly=True)
        name = f"{parent}/{logical_id}"
        own = _inside_nested_stack(paths, str(logical_id))
        found[logical_id] = TemplateSource(
            name=name,
            body=inner,
            region=target[0],
            account=target[1],
            nested=_nested(inner, (place / file).parent, name, target, own, (*above, place / file)),
            construct_paths=_outside_nested_stacks(own),
            file=str(place / file),
        )
    return found


def _nested_file(resource: Mapping[str, Any], place: Path) -> str | None:
    """Return the file of a nested stack: as CDK wrote it down, by its URL, or by its hash in that."""
    url = as_mapping(resource.get("Properties")).get("TemplateURL")
    file = literal(as_mapping(resource.get("Metadata")).get("aws:asset:path")) or literal(url)
    if file is None:
        hashes = re.findall(r"[0-9a-f]{64}", json.dumps(url, default=str))
        file = _asset(place, hashes[0]) if hashes else None
    known = file is not None and "://" not in file and "\x00" not in file
    return file if file is not None and known and (place / file).is_file() else None


def _asset(place: Path, fingerprint: str) -> str | None:
    """Return the file of an asset of the assembly."""
    for manifest in place.glob("*.assets.json"):
        asset = as_mapping(as_mapping(as_mapping(_parse(manifest)).get("files")).get(fingerprint))
        path = literal(as_mapping(asset.get("source")).get("path"))
        if path:
            return path
    return None


def _construct_paths_beside(template: Path) -> _Paths:
    """Return construct paths from the manifest of the assembly that a template is in."""
    return _construct_paths(_metadata(_artifact_beside(template), template.parent))


def _artifact_beside(template: Path) -> Mapping[str, Any]:
    """Return what the manifest of the assembly says of a template that is in it."""
    manifest = template.parent / "manifest.json"
    try:
        known = as_mapping(_parse(manifest)) if manifest.is_file() else {}
    except UnreadableError:
        return {}  # a manifest of something else, which a template needs not
    for artifact in as_mapping(known.get("artifacts")).values():
        properties = as_mapping(as_mapping(artifact).get("properties"))
        if properties.get("templateFile") == template.name:
            return as_mapping(artifact)
    return {}


def _metadata(artifact: Mapping[str, Any], place: Path) -> Mapping[str, Any]:
    """Return what the CDK notes of a stack and its nested ones, by construct path."""
    metadata = dict(as_mapping(artifact.get("metadata")))
    beside = literal(artifact.get("additionalMetadataFile"))
    if beside and (place / beside).is_file():
        metadata.update(as_mapping(_parse(place / beside)))
    return metadata


def _noted(metadata: Mapping[str, Any], kind: str) -> Iterator[tuple[str, object]]:
    """Yield the construct paths that have metadata of a kind, and what it says."""
    for path, entries in metadata.items():
        for entry in as_sequence(entries):
            if as_mapping(entry).get("type") == kind:
                yield path.lstrip("/"), as_mapping(entry).get("data")


def _construct_paths(metadata: Mapping[str, Any]) -> _Paths:
    """Return logical ids and construct paths."""
    return tuple((str(data), path) for path, data in _noted(metadata, "aws:cdk:logicalId"))


def _acknowledgments(
    artifact: Mapping[str, Any],
    metadata: Mapping[str, Any],
    reported: Iterable[Acknowledgment],
) -> tuple[Acknowledgment, ...]:
    """Return what is acknowledged in a stack, and above it in its stage or app.

    The CDK writes the former beside the template. The latter it writes nowhere but in the report of
    the assembly that everything is in, with the findings that were acknowledged.
    """
    inside = (
        Acknowledgment(str(id), path, str(reason))
        for path, data in _noted(metadata, "aws:cdk:acknowledged-rules")
        for id, reason in as_mapping(data).items()
    )
    stack = literal(artifact.get("displayName")) or ""
    above = (one for one in reported if stack and not is_at(one.scope, stack))
    return tuple(dict.fromkeys((*inside, *above)))


def _reported(place: Path) -> tuple[Acknowledgment, ...]:
    """Return what the report of an assembly, or of the one that it is in, calls acknowledged."""
    for folder in (place.resolve(), *place.resolve().parents):
        file = folder / "validation-report.json"
        if file.is_file():
            reports = map(as_mapping, as_sequence(as_mapping(_parse(file)).get("pluginReports")))
            found = (one for report in reports for one in as_sequence(report.get(_ACCEPTED)))
            return tuple(map(_reported_one, map(as_mapping, found)))
        if not (folder / "manifest.json").is_file():
            break
    return ()


def _reported_one(finding: Mapping[str, Any]) -> Acknowledgment:
    id, scope, reason = (
        literal(finding.get(name)) or "" for name in ("acknowledgedId", "acknowledgedAt", "reason")
    )
    return Acknowledgment(id, scope, reason)


def _outside_nested_stacks(paths: _Paths) -> dict[str, str]:
    inner = tuple(_below(path) for _, path in paths if path.endswith(_NESTED_STACK))
    return {name: path for name, path in paths if not path.startswith(inner)}


def _inside_nested_stack(paths: _Paths, logical_id: str) -> _Paths:
    stacks = [path for name, path in paths if name == logical_id and path.endswith(_NESTED_STACK)]
    return tuple(row for row in paths if row[1].startswith(_below(stacks[0]))) if stacks else ()


def _below(nested_stack: str) -> str:
    """Return the beginning of what stands in a nested stack, from the path of its resource."""
    return nested_stack.rsplit("/", 1)[0].removesuffix(".NestedStack") + "/"

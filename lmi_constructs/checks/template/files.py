"""Reading templates and cloud assemblies from files."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from lmi_constructs.checks.template.read import TemplateSource
from lmi_constructs.checks.values import as_mapping, as_sequence, literal

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

_SUFFIXES: Final = (".json", ".yaml", ".yml", ".template")
_LARGEST_BYTES: Final = 64 * 1024 * 1024
_MOST_NESTED: Final = 20


class UnreadableError(Exception):
    """A path that holds no template that can be read; the message says why."""


def read_path(
    path: str | Path, region: str | None = None, account: str | None = None
) -> list[TemplateSource]:
    """Return the templates at a path.

    Args:
        path: A template (JSON or YAML), a cloud assembly (`cdk.out`), or a folder of templates.
        region: Region that templates go to which do not say it themselves.
        account: Account that templates go to which do not say it themselves.

    Raises:
        UnreadableError: If there is nothing at the path that can be read.
    """
    place = Path(path)
    if place.is_dir():
        if (place / "manifest.json").is_file():
            return list(_assembly(place, region, account, 0))
        return _folder(place, region, account)
    body = read_template(place)
    nested = _nested(body, place.parent, place.name, region, account, 0)
    return [TemplateSource(place.name, body, region, account, nested, file=str(place))]


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
    body = read_template(place)
    return TemplateSource(
        name=name,
        body=body,
        region=region,
        account=account,
        nested=_nested(body, place.parent, name, region, account, 0),
        construct_paths=_construct_paths_beside(place),
        file=str(place),
    )


def read_template(path: Path) -> Mapping[str, Any]:
    """Return a parsed template.

    Raises:
        UnreadableError: If the file cannot be read, or is no template.
    """
    body = _parse(path)
    if not isinstance(body, dict) or not isinstance(body.get("Resources"), dict):
        raise UnreadableError(f"{path}: no CloudFormation template (it has no Resources)")
    return body


def _parse(path: Path) -> object:
    try:
        if path.stat().st_size > _LARGEST_BYTES:
            raise UnreadableError(f"{path}: larger than any template")
        text = path.read_text(encoding="utf-8-sig")
        if path.suffix == ".json" or text.lstrip().startswith("{"):
            try:
                return json.loads(text)
            except ValueError:
                if path.suffix == ".json":
                    raise
        from lmi_constructs.checks.template.yaml import parse_yaml

        return parse_yaml(text)
    except OSError as error:
        raise UnreadableError(f"{path}: {error.strerror or error}") from error
    except RecursionError as error:
        raise UnreadableError(f"{path}: nested too deeply to be a template") from error
    except ValueError as error:
        raise UnreadableError(f"{path}: {error}") from error


def _folder(place: Path, region: str | None, account: str | None) -> list[TemplateSource]:
    sources = []
    for file in sorted(place.iterdir()):
        if file.is_file() and file.suffix in _SUFFIXES:
            try:
                sources += read_path(file, region, account)
            except UnreadableError:
                continue
    if not sources:
        raise UnreadableError(f"{place}: neither a cloud assembly nor a folder with templates")
    return sources


def _assembly(
    place: Path, region: str | None, account: str | None, depth: int
) -> Iterator[TemplateSource]:
    artifacts = as_mapping(as_mapping(_parse(place / "manifest.json")).get("artifacts"))
    for name, artifact in artifacts.items():
        kind = as_mapping(artifact).get("type")
        properties = as_mapping(as_mapping(artifact).get("properties"))
        inner = literal(properties.get("directoryName"))
        file = literal(properties.get("templateFile"))
        if kind == "cdk:cloud-assembly" and inner and depth < _MOST_NESTED:
            if (place / inner / "manifest.json").is_file():
                yield from _assembly(place / inner, region, account, depth + 1)
        elif kind == "aws:cloudformation:stack" and file:
            own_account, own_region = _environment(as_mapping(artifact).get("environment"))
            own_region, own_account = own_region or region, own_account or account
            body = read_template(place / file)
            yield TemplateSource(
                name=name,
                body=body,
                region=own_region,
                account=own_account,
                nested=_nested(body, place, name, own_region, own_account, 0),
                construct_paths=_construct_paths(as_mapping(artifact), place),
                file=str(place / file),
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
    region: str | None,
    account: str | None,
    depth: int,
) -> dict[str, TemplateSource]:
    """Return the templates of nested stacks that lie beside the parent's."""
    found: dict[str, TemplateSource] = {}
    for logical_id, resource in body["Resources"].items() if depth < _MOST_NESTED else ():
        if as_mapping(resource).get("Type") != "AWS::CloudFormation::Stack":
            continue
        metadata = as_mapping(as_mapping(resource).get("Metadata"))
        properties = as_mapping(as_mapping(resource).get("Properties"))
        file = literal(metadata.get("aws:asset:path")) or literal(properties.get("TemplateURL"))
        if not file or "://" in file or not (place / file).is_file():
            continue
        try:
            inner = read_template(place / file)
        except UnreadableError:
            continue
        name = f"{parent}/{logical_id}"
        below = _nested(inner, (place / file).parent, name, region, account, depth + 1)
        found[logical_id] = TemplateSource(
            name, inner, region, account, below, file=str(place / file)
        )
    return found


def _construct_paths_beside(template: Path) -> dict[str, str]:
    """Return construct paths from the manifest of the assembly that a template is in."""
    manifest = template.parent / "manifest.json"
    if not manifest.is_file():
        return {}
    for artifact in as_mapping(as_mapping(_parse(manifest)).get("artifacts")).values():
        properties = as_mapping(as_mapping(artifact).get("properties"))
        if properties.get("templateFile") == template.name:
            return _construct_paths(artifact, template.parent)
    return {}


def _construct_paths(artifact: Mapping[str, Any], place: Path) -> dict[str, str]:
    """Return construct paths by logical id from the metadata of a stack's artifact."""
    paths: dict[str, str] = {}
    metadata = dict(as_mapping(artifact.get("metadata")))
    beside = literal(artifact.get("additionalMetadataFile"))
    if beside and (place / beside).is_file():
        metadata.update(as_mapping(_parse(place / beside)))
    for path, entries in metadata.items():
        for entry in as_sequence(entries):
            logical_id = as_mapping(entry).get("data")
            if as_mapping(entry).get("type") == "aws:cdk:logicalId" and literal(logical_id):
                paths[str(logical_id)] = path.lstrip("/")
    return paths

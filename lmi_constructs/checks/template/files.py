"""Reading templates and cloud assemblies from files."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from lmi_constructs.checks.template.read import TemplateSource, with_nested
from lmi_constructs.checks.values import as_mapping, as_sequence, literal

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

_SUFFIXES: Final = (".json", ".yaml", ".yml", ".template")
_LARGEST_BYTES: Final = 64 * 1024 * 1024
_MOST_NESTED: Final = 8
_NESTED_STACK: Final = ".NestedStackResource"
_Target = tuple[str | None, str | None]
_Paths = tuple[tuple[str, str], ...]


class UnreadableError(Exception):
    """A path that holds no template that can be read; the message says why."""


class _NoTemplateError(UnreadableError):
    """A file that can be read and is something else."""


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
    if not str(path).strip():
        raise UnreadableError("the path is empty")
    try:
        return _read_place(Path(path), region, account)
    except OSError as error:  # a name that is too long, a folder that is forbidden
        raise UnreadableError(f"{path}: {error.strerror or error}") from error


def _read_place(place: Path, region: str | None, account: str | None) -> list[TemplateSource]:
    if place.is_dir():
        artifacts = _artifacts(place)
        if artifacts is None:
            return _folder(place, region, account)
        return list(_assembly(place, artifacts, region, account, 0))
    artifact = _artifact_beside(place)
    paths = _construct_paths(artifact, place.parent) if artifact else ()
    own_account, own_region = _environment(artifact.get("environment"))
    target = (own_region or region, own_account or account)
    stack_name = _stack_name(artifact)
    return [_stack(place, place.name, target, paths, stack_name, of_assembly=bool(artifact))]


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


def read_template(path: Path, *, of_assembly: bool = False) -> Mapping[str, Any]:
    """Return a parsed template.

    Args:
        path: The file.
        of_assembly: Whether the CDK wrote it, which leaves `Resources` out of an empty stack.

    Raises:
        UnreadableError: If the file cannot be read, or is no template.
    """
    body = _parse(path)
    if isinstance(body, dict):
        resources = body.get("Resources", {} if of_assembly else None)
        if isinstance(resources, dict):
            return {**body, "Resources": resources}
    raise _NoTemplateError(f"{path}: no CloudFormation template (it has no Resources)")


def _parse(path: Path) -> object:
    try:
        with path.open("rb") as file:
            content = file.read(_LARGEST_BYTES + 1)
        if len(content) > _LARGEST_BYTES:
            raise UnreadableError(f"{path}: larger than any template")
        text = content.decode("utf-8-sig")
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
    except UnicodeDecodeError as error:
        byte = f"byte {error.object[error.start]:#04x} at {error.start}"
        raise UnreadableError(f"{path}: not in UTF-8 ({byte}); save it in UTF-8") from error
    except ValueError as error:
        raise UnreadableError(f"{path}: {error}") from error


def _folder(place: Path, region: str | None, account: str | None) -> list[TemplateSource]:
    sources = []
    for file in sorted(place.iterdir()):
        if file.is_file() and file.suffix in _SUFFIXES:
            try:
                sources += read_path(file, region, account)
            except _NoTemplateError:
                continue
            except UnreadableError:
                if (
                    b"AWS::" in file.read_bytes()
                ):  # a broken template, whose faults nobody would see
                    raise
    if not sources:
        raise UnreadableError(f"{place}: neither a cloud assembly nor a folder with templates")
    nested = with_nested(one for source in sources for one in source.nested.values())
    inner = set(map(_real, nested))  # which are read with the parameters of their parents
    return [source for source in sources if _real(source) not in inner] or sources


def _real(source: TemplateSource) -> Path:
    return Path(source.file or source.name).resolve()


def _artifacts(place: Path) -> Mapping[str, Any] | None:
    """Return what a cloud assembly is made of; `None` if a folder is none."""
    manifest = place / "manifest.json"
    known = as_mapping(_parse(manifest)).get("artifacts") if manifest.is_file() else None
    return known if isinstance(known, dict) else None


def _assembly(
    place: Path,
    artifacts: Mapping[str, Any],
    region: str | None,
    account: str | None,
    depth: int,
) -> Iterator[TemplateSource]:
    for name, artifact in artifacts.items():
        kind = as_mapping(artifact).get("type")
        properties = as_mapping(as_mapping(artifact).get("properties"))
        inner = literal(properties.get("directoryName"))
        file = literal(properties.get("templateFile"))
        if kind == "cdk:cloud-assembly" and inner and depth < _MOST_NESTED:
            within = _artifacts(place / inner)
            if within is not None:
                yield from _assembly(place / inner, within, region, account, depth + 1)
        elif kind == "aws:cloudformation:stack" and file:
            own_account, own_region = _environment(as_mapping(artifact).get("environment"))
            own_region, own_account = own_region or region, own_account or account
            paths = _construct_paths(as_mapping(artifact), place)
            stack_name = _stack_name(as_mapping(artifact)) or name
            yield _stack(place / file, name, (own_region, own_account), paths, stack_name)


def _stack_name(artifact: Mapping[str, Any]) -> str | None:
    return literal(as_mapping(artifact.get("properties")).get("stackName"))


def _stack(
    file: Path,
    name: str,
    target: _Target,
    paths: _Paths,
    stack_name: str | None = None,
    *,
    of_assembly: bool = True,
) -> TemplateSource:
    body = read_template(file, of_assembly=of_assembly)
    return TemplateSource(
        name=name,
        body=body,
        region=target[0],
        account=target[1],
        nested=_nested(body, file.parent, name, target, paths, (file,)),
        construct_paths=_outside_nested_stacks(paths),
        file=str(file),
        stack_name=stack_name,
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
    artifact = _artifact_beside(template)
    return _construct_paths(artifact, template.parent) if artifact else ()


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


def _construct_paths(artifact: Mapping[str, Any], place: Path) -> _Paths:
    """Return logical ids and construct paths from the metadata of a stack and its nested ones."""
    metadata = dict(as_mapping(artifact.get("metadata")))
    beside = literal(artifact.get("additionalMetadataFile"))
    if beside and (place / beside).is_file():
        metadata.update(as_mapping(_parse(place / beside)))
    return tuple(
        (str(as_mapping(entry).get("data")), path.lstrip("/"))
        for path, entries in metadata.items()
        for entry in as_sequence(entries)
        if as_mapping(entry).get("type") == "aws:cdk:logicalId"
    )


def _outside_nested_stacks(paths: _Paths) -> dict[str, str]:
    inner = tuple(_below(path) for _, path in paths if path.endswith(_NESTED_STACK))
    return {name: path for name, path in paths if not path.startswith(inner)}


def _inside_nested_stack(paths: _Paths, logical_id: str) -> _Paths:
    stacks = [path for name, path in paths if name == logical_id and path.endswith(_NESTED_STACK)]
    return tuple(row for row in paths if row[1].startswith(_below(stacks[0]))) if stacks else ()


def _below(nested_stack: str) -> str:
    """Return the beginning of what stands in a nested stack, from the path of its resource."""
    return nested_stack.rsplit("/", 1)[0].removesuffix(".NestedStack") + "/"

"""Finding templates: in a file, from a pipe, in a cloud assembly or anywhere in a folder."""

from __future__ import annotations

import os
import re
import sys
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Final, NoReturn

from lmi_constructs.checks.template.files import (
    NoTemplateError,
    UnreadableError,
    artifacts_of,
    read_assembly,
    read_content,
    read_file,
)
from lmi_constructs.checks.template.read import TemplateSource, with_nested

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from typing import Any

STDIN: Final = "-"
_SUFFIXES: Final = (".json", ".yaml", ".yml", ".template")
_OF_THE_CDK: Final = ".template.json"
_SIGN: Final = re.compile(
    rb"""AWS::|AWSTemplateFormatVersion|(^|[\s"'{,])Resources["']?\s*:""", re.MULTILINE
)
_NOT_ENTERED: Final = ("node_modules", "__pycache__")


@dataclass(frozen=True)
class SkippedFile:
    """A file of a folder that is no template.

    Attributes:
        file: Its path from the folder.
        why: What it lacks.
    """

    file: str
    why: str


@dataclass
class FoundTemplates:
    """What was found at a path.

    Attributes:
        groups: Templates by what is deployed together: an assembly, or the templates of one folder.
        skipped: Files of a folder that could have been templates and are none.
    """

    groups: list[list[TemplateSource]] = field(default_factory=list)
    skipped: list[SkippedFile] = field(default_factory=list)


def read_path(
    path: str | Path, region: str | None = None, account: str | None = None
) -> list[TemplateSource]:
    """Return the templates at a path, all together.

    Args:
        path: A template (JSON or YAML), `-` for one from standard input, a cloud assembly
            (`cdk.out`), or a folder of any of these.
        region: Region that templates go to which do not say it themselves.
        account: Account that templates go to which do not say it themselves.

    Raises:
        UnreadableError: If there is nothing at the path that can be read.
    """
    return [source for group in find_templates(path, region, account).groups for source in group]


def find_templates(
    path: str | Path, region: str | None = None, account: str | None = None
) -> FoundTemplates:
    """Return the templates at a path by what is deployed together, and what was passed over.

    A folder is read with the folders in it, except hidden ones, `node_modules`, Python environments
    and assets of the CDK. A cloud assembly in it is read as one.

    Args:
        path: As `read_path` takes it.
        region: Region that templates go to which do not say it themselves.
        account: Account that templates go to which do not say it themselves.

    Raises:
        UnreadableError: If there is nothing at the path that can be read, or a file in it is a
            broken template.
    """
    if not str(path).strip():
        raise UnreadableError("the path is empty")
    if path == STDIN:
        content = sys.stdin.buffer.read()
        return FoundTemplates(
            [[read_file(Path("standard input"), region, account, content=content)]]
        )
    try:
        return _read(Path(path), region, account)
    except OSError as error:  # a name that is too long, a folder that is forbidden
        raise UnreadableError(f"{path}: {error.strerror or error}") from error


def with_own_names(groups: Iterable[Iterable[TemplateSource]]) -> list[list[TemplateSource]]:
    """Return templates so that none has the name of another: the later ones get their file's."""
    taken: set[str] = set()
    found = []
    for group in groups:
        found.append([_with_own_name(source, taken) for source in group])
        taken.update(source.name for source in found[-1])
    return found


def _with_own_name(source: TemplateSource, taken: set[str]) -> TemplateSource:
    return _named(source, source.file) if source.name in taken and source.file else source


def _named(source: TemplateSource, name: str) -> TemplateSource:
    nested = {id: _named(inner, f"{name}/{id}") for id, inner in source.nested.items()}
    return replace(source, name=name, nested=nested)


def _read(path: Path, region: str | None, account: str | None) -> FoundTemplates:
    if not path.is_dir():
        return FoundTemplates([[read_file(path, region, account)]])
    artifacts = artifacts_of(path)
    if artifacts is not None:
        return FoundTemplates([list(read_assembly(path, artifacts, region, account))])
    return _folder(path, region, account)


def _folder(path: Path, region: str | None, account: str | None) -> FoundTemplates:
    found, broken = FoundTemplates(), []
    for name, folders, files in os.walk(path, onerror=_refuse):
        folder = Path(name)
        artifacts = _artifacts_inside(folder) if folder != path else None
        if artifacts is not None:
            folders.clear()
            found.groups.append(list(read_assembly(folder, artifacts, region, account)))
            continue
        folders[:] = sorted(inner for inner in folders if _is_entered(folder / inner))
        group = []
        for file in sorted(folder / file for file in files):
            told = file.relative_to(path).as_posix()
            try:
                if file.suffix in _SUFFIXES and file.is_file():
                    _require_template(file)
                    group.append(read_file(file, region, account, name=told))
            except NoTemplateError as error:
                found.skipped.append(SkippedFile(told, str(error).removeprefix(f"{file}: ")))
            except UnreadableError as error:
                broken.append(str(error))
        found.groups.append(group)
    if broken:
        raise UnreadableError("\n".join(broken))
    if not any(found.groups):
        more = f" ({described_skipped(found.skipped)})" if found.skipped else ""
        raise UnreadableError(f"{path}: neither a cloud assembly nor a folder with templates{more}")
    found.groups = with_own_names(_without_nested(found.groups))
    return found


def described_skipped(skipped: Iterable[SkippedFile], most: int = 5) -> str:
    """Return in a line which files are no templates, and why."""
    rows = [f"{one.file}: {one.why}" for one in skipped]
    more = [f"and {len(rows) - most} more"] if len(rows) > most else []
    number = "1 file that is no template" if len(rows) == 1 else f"{len(rows)} files that are none"
    return f"passed over {number}: " + "; ".join([*rows[:most], *more])


def _require_template(file: Path) -> None:
    """Refuse what does not look like a template.

    Nothing else is parsed, so that a large folder takes no time, and a broken template is told from
    a broken file of another kind.

    Raises:
        NoTemplateError: If nothing in the file looks like a template.
    """
    content = read_content(file)
    if content[:2] in (b"\xff\xfe", b"\xfe\xff"):  # UTF-16, which is refused with a reason
        content = content.replace(b"\x00", b"")
    if not _SIGN.search(content) and not file.name.endswith(_OF_THE_CDK):
        why = "it has no Resources" if content.strip() else "it is empty"
        raise NoTemplateError(f"{file}: {why}")


def _is_entered(folder: Path) -> bool:
    hidden = folder.name.startswith((".", "asset."))
    return not (hidden or folder.name in _NOT_ENTERED or (folder / "pyvenv.cfg").is_file())


def _artifacts_inside(folder: Path) -> Mapping[str, Any] | None:
    """Return what a cloud assembly within a folder is made of; `None` if it is none."""
    try:
        return artifacts_of(folder)
    except UnreadableError:
        if (folder / "cdk.out").is_file():  # the mark of an assembly
            raise
        return None


def _refuse(error: OSError) -> NoReturn:
    raise error


def _without_nested(groups: list[list[TemplateSource]]) -> list[list[TemplateSource]]:
    """Leave out nested stacks, which are read with the parameters of their parents."""
    every = [source for group in groups for source in group]
    nested = with_nested(one for source in every for one in source.nested.values())
    inner = set(map(_real, nested))
    found = [[source for source in group if _real(source) not in inner] for group in groups]
    return [group for group in found if group] or [group for group in groups if group]


def _real(source: TemplateSource) -> Path:
    return Path(source.file or source.name).resolve()

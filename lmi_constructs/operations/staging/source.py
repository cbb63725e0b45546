"""Where a model is copied from: a folder, or a snapshot of a hub's repository."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from glob import escape
from pathlib import Path
from typing import TYPE_CHECKING, Final

from lmi_constructs._extras import install
from lmi_constructs.findings import Finding, LmiError
from lmi_constructs.operations.staging.selection import select

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

_HUB_ID: Final = re.compile(r"([\w.-]+/[\w.-]+)(?:@([^@\s]+))?")
LONGEST_KEY_BYTES: Final = 1024
"""Of an object in S3, prefix and name together."""

_A_SOURCE: Final = "give a folder, or a hub id such as Qwen/Qwen3-8B"
_WHY: Final = "nothing was copied"


class UnusableArgumentError(LmiError):
    """What was given names no source, no destination or no addition that could be used."""


class LocalFiles:
    """Files of a model on this machine, by the name they will have below the prefix."""

    def __init__(self, paths: Mapping[str, Path]) -> None:
        """Take the size of every file."""
        self.paths = dict(paths)
        self.sizes: Mapping[str, int] = {
            name: _readable(path).stat().st_size for name, path in self.paths.items()
        }

    def read(self, name: str, start: int = 0, length: int | None = None) -> bytes:
        """Return a part of a file.

        Raises:
            LmiError: If it cannot be read.
        """
        try:
            with self.paths[name].open("rb") as file:
                file.seek(start)
                return file.read(-1 if length is None else length)
        except OSError as error:
            raise cannot(f"{self.paths[name]}: {error.strerror or error}") from error


@dataclass(frozen=True)
class Source:
    """A model's files, chosen.

    Attributes:
        sizes: Sizes in bytes of the chosen files, by name.
        left_out: Why each of the other files is left out.
        revision: Commit of the hub's repository, `None` for a folder.
        fetch: Returns the files on this machine, after downloading them if need be.
    """

    sizes: Mapping[str, int]
    left_out: Mapping[str, str]
    revision: str | None
    fetch: Callable[[], LocalFiles]


def find_source(source: str | Path) -> Source:
    """Return the files of a folder, or of a hub id such as `Qwen/Qwen3-8B@main`.

    Raises:
        UnusableArgumentError: If it is neither.
        LmiError: If there are no files.
    """
    if not str(source).strip():
        raise unusable("source", "the source is empty", _A_SOURCE)
    folder = local_path(source, "source")
    if folder.is_dir():
        return _folder(folder)
    spoken = str(source)
    match = _HUB_ID.fullmatch(spoken)
    if folder.exists() or not match or spoken.startswith((".", "/", "~")):
        what = "is a file, not the folder of a model" if folder.exists() else "does not exist"
        raise unusable("source", f"{spoken} {what}", _A_SOURCE)
    return _snapshot(match[1], match[2])


def local_path(given: str | Path, where: str) -> Path:
    """Return a path of this machine, which may lead nowhere, with `~` replaced.

    Args:
        given: What the user wrote.
        where: The argument it was given in.

    Raises:
        UnusableArgumentError: If the system refuses to look there.
    """
    try:
        path = Path(given).expanduser()
        path.exists()
    except (OSError, RuntimeError, ValueError) as error:  # too long, forbidden; no such home; NUL
        reason = getattr(error, "strerror", None) or error
        raise unusable(where, f"{given}: {reason}", "give a path that can be read") from error
    return path


def folder_files(folder: Path) -> dict[str, Path]:
    """Return all files below a folder by their names; links are followed.

    Raises:
        LmiError: If there are none, or a name or a link is impossible.
    """
    found = {path.relative_to(folder).as_posix(): path for path in _walk(folder, ())}
    problems = [problem for name in found if (problem := impossible(name))]
    if problems:
        raise LmiError(problems)
    if not found:
        raise cannot(f"{folder} holds no files", "give the folder that config.json is in")
    return found


def cannot(message: str, fix: str = "give files that can be read", why: str = _WHY) -> LmiError:
    """Return the error for something that cannot be staged."""
    return LmiError(_finding(message, fix, why))


def unusable(
    where: str, message: str, fix: str, *, why: str = _WHY, rule: str = "LMI028"
) -> UnusableArgumentError:
    """Return the error for an argument that must be written in another way."""
    return UnusableArgumentError(Finding(rule=rule, message=message, why=why, fix=fix, where=where))


def _folder(folder: Path) -> Source:
    paths = folder_files(folder)
    taken, left_out = select(paths)
    files = LocalFiles({name: paths[name] for name in taken})
    return Source(files.sizes, left_out, None, lambda: files)


def _walk(folder: Path, above: tuple[str, ...]) -> Iterator[Path]:
    """Yield files, following links to folders but never in a circle."""
    real = os.path.realpath(folder)
    if real in above:
        return
    try:
        entries = sorted(folder.iterdir())
    except OSError as error:
        raise cannot(f"{folder}: {error.strerror or error}") from error
    for entry in entries:
        if entry.is_dir():
            if not entry.name.startswith("."):
                yield from _walk(entry, (*above, real))
        else:
            yield entry


def _readable(path: Path) -> Path:
    if not path.exists():
        raise cannot(f"{path} is a link to a file that does not exist", "download it again")
    if not path.is_file():
        raise cannot(f"{path} is no file", "move it out of the folder")
    if not os.access(path, os.R_OK):
        raise cannot(f"{path} may not be read", "change its permissions")
    return path


def impossible(name: str) -> Finding | None:
    """Return why S3 or what mounts it cannot have a file of this name, if so."""
    try:
        size = len(name.encode())
    except UnicodeEncodeError:
        return _finding(f"{name!r} is no name that S3 can have", "rename it to UTF-8")
    if not name.isprintable():
        return _finding(
            f"{name!r} has a sign that cannot be printed",
            "rename it: tools and mounts stumble over it",
        )
    if size > LONGEST_KEY_BYTES:
        return _finding(f"{name[:60]}...: the name has more than 1024 bytes", "shorten it")
    return None


def _snapshot(hub_id: str, revision: str | None) -> Source:
    try:
        from huggingface_hub import HfApi, snapshot_download
    except ModuleNotFoundError as missing:
        fix = f"give a folder, or {install('hub')}"
        raise cannot(f"{hub_id} is no folder, and the hub needs {missing.name}", fix) from missing
    name = f"{hub_id}@{revision}" if revision else hub_id
    try:
        info = HfApi().model_info(hub_id, revision=revision, files_metadata=True)
    except Exception as error:  # its HTTP client's errors have no common public class
        raise _no_hub(name, error) from error
    sizes = {file.rfilename: file.size or 0 for file in info.siblings or ()}
    taken, left_out = select(sizes)

    def fetch() -> LocalFiles:
        try:
            place = snapshot_download(
                hub_id, revision=info.sha, allow_patterns=[escape(file) for file in taken]
            )
        except Exception as error:
            raise _no_hub(name, error) from error
        return LocalFiles({file: Path(place, file) for file in taken})

    return Source({file: sizes[file] for file in taken}, left_out, info.sha, fetch)


def _no_hub(name: str, error: Exception) -> LmiError:
    lines = str(error).strip().splitlines() or [type(error).__name__]
    fix = (
        "accept the model's terms on the hub and set HF_TOKEN"
        if type(error).__name__ == "GatedRepoError"
        else "check the id, the revision, HF_TOKEN and the network; ./NAME would mean a folder"
    )
    return cannot(f"{name} cannot be read from the hub: {lines[0]}", fix)


def _finding(message: str, fix: str, why: str = _WHY) -> Finding:
    return Finding(rule="LMI028", message=message, why=why, fix=fix, where="source")

"""`python -m tools.refresh_facts`: derive the facts again and print what differs.

Nothing is installed; packages are downloaded with pip, read and deleted. The exit status is 1 if
something differs, so that a scheduled job notices. With `--write`, the table of engine arguments is
replaced, or with `--engine` one new version is added to it; rows of the other files carry researched
columns and are edited by hand.
"""

from __future__ import annotations

import argparse
import datetime
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lmi_constructs.facts._data import load
from lmi_constructs.facts.containers import container_releases
from tools.refresh_facts import engine_arguments, platform_enums

if TYPE_CHECKING:
    from collections.abc import Iterator

DATA = Path(__file__).resolve().parents[2] / "lmi_constructs" / "facts" / "data"


def main() -> int:
    """Print the differences of the chosen parts."""
    parser = argparse.ArgumentParser(description=__doc__)
    parts = ["platform", "images", "engines"]
    parser.add_argument("--only", choices=parts, action="append", help="derive only this part")
    parser.add_argument("--engine", action="append", help="derive only this vLLM version")
    parser.add_argument("--write", action="store_true", help="replace the engine table")
    arguments = parser.parse_args()
    chosen = arguments.only or parts
    found: list[str] = []
    fault = _fault(arguments.engine or [], write=arguments.write)
    if fault:
        parser.error(fault)
    if "platform" in chosen:
        found += _platform()
    if "images" in chosen:
        found += _images()
    if "engines" in chosen:
        found += _engines(arguments.engine, write=arguments.write)
    sys.stdout.write("".join(f"{line}\n" for line in found) or "nothing differs\n")
    return 1 if found else 0


def _platform() -> Iterator[str]:
    for kind, published in platform_enums.platform_names().items():
        yield from _sets(kind, published, {row["name"] for row in load(kind)["rows"]})


def _images() -> Iterator[str]:
    version, tags, accounts = platform_enums.image_maps()
    known = {row["tag"] for row in load("containers")["rows"]}
    for tag in sorted(tag for tag in tags if not any(_same(tag, name) for name in known)):
        yield f"containers: sagemaker-core {version} maps {tag}, which is not shipped"
    shipped = {row["region"]: row["account"] for row in load("registries")["rows"]}
    for region in sorted({*accounts, *shipped}):
        if accounts.get(region) != shipped.get(region):
            yield (
                f"registries: {region} is {accounts.get(region)} in sagemaker-core {version},"
                f" {shipped.get(region)} here"
            )


def _same(tag: str, shipped: str) -> bool:
    return tag == shipped or shipped.startswith(f"{tag}-")


def _carried() -> list[str]:
    """Return the vLLM versions that releases carry, oldest first."""
    versions = [
        release.engine_version
        for release in container_releases().values()
        if release.engine == "vllm" and release.engine_version and (release.lmi or 0) >= 15
    ]
    return list(dict.fromkeys(versions))


def _fault(engines: list[str], *, write: bool) -> str | None:
    """Return why the chosen versions cannot be derived, or not be added to the table."""
    carried, shipped = _carried(), load("engine_arguments")["engines"]
    for version in engines:
        if version not in carried:
            return f"no release carries vLLM {version}: add its row to containers.json first"
    if write and engines and engines != carried[len(shipped) :]:
        newer = ", ".join(carried[len(shipped) :]) or "none is"
        return (
            f"only versions newer than the table can be added to it ({newer}), oldest first; leave"
            " --engine out to derive all of it again"
        )
    return None


def _engines(only: list[str] | None, *, write: bool) -> list[str]:
    shipped, today = load("engine_arguments"), datetime.date.today().isoformat()
    versions = _carried() if only is None else only
    tables = {version: engine_arguments.derive(version) for version in versions}
    derived = engine_arguments.merge(tables, today)
    found = [line for version in versions for line in _engine(version, derived, shipped)]
    if write:
        table = derived if only is None else shipped
        for version in only or ():
            table = engine_arguments.extended(table, version, tables[version], today)
        (DATA / "engine_arguments.json").write_text(engine_arguments.dump(table), "utf-8")
    return found


def _engine(version: str, derived: dict[str, Any], shipped: dict[str, Any]) -> Iterator[str]:
    if version not in shipped["engines"]:
        yield f"engines: vLLM {version} is carried by a release and not shipped"
        return
    for kind in engine_arguments.KINDS:
        new = {name for name, row in derived[kind].items() if version in row["engines"]}
        old = {name for name, row in shipped[kind].items() if version in row["engines"]}
        yield from _sets(f"vLLM {version} {kind}", new, old)
    new_rows, old_rows = _rows(version, derived), _rows(version, shipped)
    yield from _sets(f"vLLM {version} arguments", set(new_rows), set(old_rows))
    for name in sorted(set(new_rows) & set(old_rows)):
        if new_rows[name] != old_rows[name]:
            yield f"vLLM {version} {name}: {old_rows[name]} here, {new_rows[name]} published"


def _rows(version: str, table: dict[str, Any]) -> dict[str, Any]:
    """Return what a table says of each argument of a version, with its schema written out."""
    position = table["engines"].index(version)
    found: dict[str, Any] = {}
    for name, argument in table["arguments"].items():
        for span in argument["spans"]:
            ends = table["engines"].index(span["since"]), table["engines"].index(span["until"])
            if ends[0] <= position <= ends[1]:
                row = dict(span["is"])
                if "schema" in row:
                    row["schema"] = table["schemas"][row["schema"]]
                found[name] = row
    return found


def _sets(kind: str, published: set[str], shipped: set[str]) -> Iterator[str]:
    for name in sorted(published - shipped):
        yield f"{kind}: {name} is published and not shipped"
    for name in sorted(shipped - published):
        yield f"{kind}: {name} is shipped and no longer published"


if __name__ == "__main__":
    sys.exit(main())

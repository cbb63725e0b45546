"""Compare the library's verdicts with recorded ones: `container_verdicts.py FILE`.

The file maps case names to an environment and to the recorded verdict of each release. A pair of
case and release agrees if the class is the same and, where keys are ignored, the same keys are.
The last line is `agreed N of M`; the exit status is 0 only if all pairs agree.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from typing import TYPE_CHECKING

from lmi_constructs.container import LmiContainer, Verdict, verdict

if TYPE_CHECKING:
    from collections.abc import Iterator

GPUS = 8


def main() -> int:
    """Print the disagreements and the count."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("file", type=Path)
    cases = json.loads(parser.parse_args().file.read_text(encoding="utf-8"))["cases"]
    results = list(compare(cases))
    for case, release, recorded, found in results:
        if recorded != found:
            print(f"{case} on {release}: recorded {recorded}, found {found}")
    agreed = sum(recorded == found for _, _, recorded, found in results)
    print(f"agreed {agreed} of {len(results)}")
    return 0 if agreed == len(results) else 1


def compare(cases: dict[str, dict[str, dict[str, str]]]) -> Iterator[tuple[str, str, str, str]]:
    """Yield case, release, recorded verdict and found verdict of every pair."""
    for name, case in cases.items():
        for release, recorded in case["verdict"].items():
            found = verdict(case["env"], LmiContainer.of(release), GPUS)
            yield name, release, _sorted(recorded), recorded_form(found)


def recorded_form(found: Verdict) -> str:
    """Return a verdict in the words of the recording."""
    if found.arguments == "accepted-ignoring":
        return f"accepted-ignoring:{','.join(sorted(found.ignored))}"
    return found.arguments


def _sorted(recorded: str) -> str:
    kind, separator, keys = recorded.partition(":")
    names = sorted(key.strip() for key in keys.split(",") if key.strip())
    return kind + separator + ",".join(names)


if __name__ == "__main__":
    sys.exit(main())

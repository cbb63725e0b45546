"""Ids of the model hub that are nearly those of known models."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from lmi_constructs.checks.examples import REMOVED, Example
from lmi_constructs.checks.queries.containers import containers, environment
from lmi_constructs.checks.rules.base import Rule
from lmi_constructs.checks.values import literal
from lmi_constructs.facts import models

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lmi_constructs.checks.deployment import Deployment
    from lmi_constructs.findings import Finding

_CONTAINER: Final = "Model/Properties/PrimaryContainer"
_FROM_HUB: Final = {
    f"{_CONTAINER}/ModelDataSource": REMOVED,
    "Model/Properties/EnableNetworkIsolation": REMOVED,
}
_VARIABLES: Final = ("HF_MODEL_ID", "OPTION_MODEL_ID")
_HUB_ID: Final = re.compile(r"[\w.-]+/[\w.-]+\Z", re.ASCII)


class HubIdSlip(Rule):
    """LMI103."""

    id = "LMI103"
    title = "a model's id is nearly that of a known one"
    severity = "warning"
    why = (
        "if it is a slip, the container finds no such model and stops at start; and nothing is"
        " planned for a model that is not known"
    )
    fix = "write the id as the hub does"
    source = "https://huggingface.co/ibm-granite/granite-guardian-3.0-2b/discussions/1"
    failing = Example({**_FROM_HUB, f"{_CONTAINER}/Environment/HF_MODEL_ID": "Qwen/Qwen3-32BB"})
    passing = Example({**_FROM_HUB, f"{_CONTAINER}/Environment/HF_MODEL_ID": "Qwen/Qwen3-32B"})

    def check(self, deployment: Deployment) -> Iterator[Finding]:
        """Yield ids that differ from a known one by one sign that is no digit, or a gated one's case.

        The hub finds a model whatever the case of its id; the rights to a gated one it may not find.
        """
        for resource, container in containers(deployment):
            for variable in _VARIABLES:
                written = literal(environment(container).get(variable)) or ""
                meant = _meant(written) if _HUB_ID.match(written) else None
                if meant is not None:
                    path = f"{container.path}/Environment/{variable}"
                    message = f"{variable} is {written!r}, which no known model is called"
                    yield self.found(resource, path, message, fix=f"did you mean {meant}?")


def _meant(written: str) -> str | None:
    """Return the known id that a slip stands for; other digits are another model, and no slip."""
    known = models()
    folded = written.lower()
    if folded in known:
        found = known[folded]
        return found.hub_id if found.gated and found.hub_id != written else None
    near = (
        name for name in known if _digits(name) == _digits(folded) and _is_one_edit(name, folded)
    )
    return next((known[name].hub_id for name in near), None)


def _digits(text: str) -> str:
    return "".join(sign for sign in text if sign.isdigit())


def _is_one_edit(left: str, right: str) -> bool:
    """Tell whether one sign more, less, changed or swapped makes a text of another."""
    short, long = sorted((left, right), key=len)
    if len(long) - len(short) > 1:
        return False
    same = next((at for at, sign in enumerate(short) if sign != long[at]), len(short))
    if len(long) != len(short):
        return short[same:] == long[same + 1 :]
    swapped = long[same : same + 2][::-1] == short[same : same + 2]
    return short[same + 1 :] == long[same + 1 :] or (
        swapped and short[same + 2 :] == long[same + 2 :]
    )

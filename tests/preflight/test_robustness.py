"""A preflight has an answer to everything that can stand in a template."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from lmi_constructs.checks import TemplateSource
from lmi_constructs.preflight import CHECKS, Account, Outcome, preflight
from tests.checks.test_robustness import BASES, GOOD, JSON, PLACES, replaced
from tests.preflight.support import ACCOUNT, REGION, Canned, Refusing

QUICK = settings(max_examples=100, deadline=None, suppress_health_check=list(HealthCheck))


class Unanswering(Account):
    """An account that is the right one, and tells nothing."""

    def __init__(self) -> None:
        super().__init__(REGION)
        self.identity = Canned(get_caller_identity={"Account": ACCOUNT})

    def client(self, service: str, region: str | None = None) -> Any:
        return self.identity if service == "sts" else Refusing("AccessDenied")


def look(body: dict[str, Any]) -> list[Outcome]:
    return list(preflight([TemplateSource("t", body, REGION, ACCOUNT)], Unanswering()))


@pytest.mark.parametrize("base", BASES)
def test_nothing_fails_for_lack_of_permissions(base: str) -> None:
    """But for what the templates themselves say: a role without a right, a region."""
    found = look(GOOD[base])
    assert {one.check for one in found} <= set(CHECKS)
    own = ("region", "role", "memory")
    assert [one for one in found if one.status == "fail" and one.check not in own] == []


@given(data=st.data())
@QUICK
def test_answers_when_any_node_is_replaced_by_any_json(data: Any) -> None:
    base = data.draw(st.sampled_from(BASES))
    path = data.draw(st.sampled_from(PLACES[base]))
    changed = replaced(GOOD[base], path, data.draw(JSON))
    if isinstance(changed, dict) and isinstance(changed.get("Resources"), dict):
        look(changed)

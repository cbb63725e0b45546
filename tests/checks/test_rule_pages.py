import re
from pathlib import Path

from lmi_constructs.checks.rules import all_rules
from tools.rule_pages import FOLDER, WITHOUT_TEMPLATE, pages

LIBRARY = FOLDER.parents[1] / "lmi_constructs"


def test_pages_are_those_of_the_rules():
    """Run `python -m tools.rule_pages` if this fails."""
    written = {file.name: file.read_text(encoding="utf-8") for file in FOLDER.glob("*.md")}
    assert written == pages()


def test_every_id_that_a_user_can_meet_is_explained_once():
    code = "".join(map(Path.read_text, LIBRARY.rglob("*.py")))
    said = set(re.findall(r'rule="(LMI\d{3})"', code))
    rules = {rule.id for rule in all_rules()}
    assert said <= rules | WITHOUT_TEMPLATE.keys()
    assert WITHOUT_TEMPLATE.keys().isdisjoint(rules)
    assert WITHOUT_TEMPLATE.keys() <= set(re.findall(r"LMI\d{3}", code))

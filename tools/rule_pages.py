"""Write one page a rule into docs/rules, from the rules themselves.

Run `python -m tools.rule_pages` after a change of a rule; a test compares.
"""

from __future__ import annotations

import json
import textwrap
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lmi_constructs.checks.examples import REMOVED, Example, good_templates
from lmi_constructs.checks.rules import all_rules, rule_families

if TYPE_CHECKING:
    from collections.abc import Mapping

    from lmi_constructs.checks.rules import Rule

WITHOUT_TEMPLATE = {
    "LMI010": "a keyword, setting or option has the wrong type, or would do nothing",
    "LMI011": "`serving.properties` cannot be read, or has a value that overrides another one given",
    "LMI012": "a smoke test that could not pass: nothing can be called this way, or it names no component",
    "LMI013": "an environment variable is set twice, by keywords that disagree",
    "LMI017": "the release's engine is older than the first one that supports the model's class",
    "LMI019": "settings are given for an image, but no release that it behaves like",
    "LMI028": "files next to the model are missing, archived or in the way",
    "LMI029": "`config.json` cannot be read, so nothing can be planned",
    "LMI038": "the image's repository is not known, so no permission to pull can be granted",
    "LMI046": "the accelerators, CPUs or memory of a component's copy are missing or out of range",
    "LMI048": "a variant has neither or both of `instance_type` and `instance_pools`",
    "LMI049": "a warning: SageMaker accepts the instance type, but nothing is known about its accelerators",
    "LMI068": "keywords are mutually exclusive, or one of them is required",
    "LMI069": "a variant, region or account is not the one it is meant for",
}
"""What constructs and commands report about their own input, where no template shows the fault."""

VALID_TEMPLATES = "valid-templates.md"

FOLDER = Path(__file__).parent.parent / "docs" / "rules"


def pages() -> dict[str, str]:
    """Return all pages by file name."""
    return {
        "index.md": _index(),
        VALID_TEMPLATES: _valid_templates(),
        **{f"{rule.id}.md": _page(rule) for rule in all_rules()},
    }


def _index() -> str:
    lines = [
        "# Rules",
        "",
        "Every rule has an id that never changes. An error makes `app.synth()` raise and `lmi check` exit",
        "with code 1; a warning is printed. Acknowledge either at the resource or above it:",
        "",
        "```python",
        'Validations.of(endpoint).acknowledge(Acknowledgment(id="lmi::LMI043", reason="..."))',
        "```",
        "",
        "Acknowledged findings count neither at synth nor in `lmi check cdk.out`. Only what a construct",
        "raises itself, when it is created, cannot be acknowledged: there is nothing to deploy yet",
        "([more on that](../checks.md#our-constructs)).",
        "",
        "`lmi check --rule-off LMI043` turns a rule off, `--raise LMI043` makes its warnings errors. A rule",
        "abstains from what it cannot know: a parameter without a default, a token, a foreign image.",
        f"The examples change [valid templates]({VALID_TEMPLATES}).",
    ]
    for family, kinds in rule_families().items():
        lines += ["", f"## {family}", "", "| Rule | Severity | What is wrong |", "|---|---|---|"]
        lines += [
            f"| [{kind.id}]({kind.id}.md) | {kind.severity} | {kind.title} |"
            for kind in sorted(kinds, key=lambda kind: kind.id)
        ]
    lines += [
        "",
        "## About your own input",
        "",
        "Constructs, the planner and commands report these about their own input. They show in no template,",
        "so they have no page with an example: the message says what to write.",
        "",
        "| Id | What is wrong |",
        "|---|---|",
        *(f"| {id} | {what} |" for id, what in WITHOUT_TEMPLATE.items()),
    ]
    return "\n".join(lines) + "\n"


def _valid_templates() -> str:
    """Show the templates that the examples of the rules change."""
    parts = [
        "# Valid templates",
        "No rule has anything to say about them; the examples change one value.",
    ]
    for name, template in good_templates().items():
        shown = json.dumps(template, indent=2, ensure_ascii=False)
        parts += [f"## {name}", f"```json\n{shown}\n```"]
    return "\n\n".join([*parts, "[All rules](index.md)"]) + "\n"


def _page(rule: Rule) -> str:
    source = f"<{rule.source}>" if rule.source.startswith("https://") else rule.source
    parts = [
        f"# {rule.id}: {rule.title}",
        f"Severity: {rule.severity}",
        f"**Why it fails.** {_sentence(rule.why)}",
        f"**What to write instead.** {_sentence(rule.fix)}",
        f"**Source.** {source}",
        "## Reported",
        _example(rule.failing),
        "## Not reported",
        _example(rule.passing),
        "[All rules](index.md)",
    ]
    return "\n\n".join(parts) + "\n"


def _example(example: Example) -> str:
    """Show a change of a good template, the values by their paths, and what is known of the model."""
    where = f" in {example.region}" if example.region and example.change else ""
    good = f"The valid template [{example.base}]({VALID_TEMPLATES}#{example.base}){where}"
    parts = [f"{good} unchanged"]
    if example.change:
        parts = [f"{good} with", f"```yaml\n{_changes(example.change)}\n```"]
    if example.model_config is not None:
        parts[-1] += "\n\nand" if example.change else ", with"
        parts[-1] += " this `config.json` of the model:"
        config = json.dumps(example.model_config, indent=2, ensure_ascii=False)
        parts += [f"```json\n{config}\n```"]
    elif not example.change:
        parts[-1] += "."
    return "\n\n".join(parts)


def _changes(change: Mapping[str, Any]) -> str:
    lines = []
    for path, value in change.items():
        if value == REMOVED:
            lines.append(f"{path}:  # removed")
        elif isinstance(value, (dict, list)):
            shown = json.dumps(value, indent=2, ensure_ascii=False)
            lines += [f"{path}:", textwrap.indent(shown, "  ")]
        else:
            lines.append(f"{path}: {json.dumps(value, ensure_ascii=False)}")
    return "\n".join(lines)


def _sentence(text: str) -> str:
    """Return a message as a sentence of its own."""
    return text[:1].upper() + text[1:].rstrip(".") + ("" if text.endswith("?") else ".")


def main() -> None:
    """Write the pages, and remove those of rules that are no more."""
    written = pages()
    FOLDER.mkdir(parents=True, exist_ok=True)
    for old in FOLDER.glob("*.md"):
        if old.name not in written:
            old.unlink()
    for name, text in written.items():
        (FOLDER / name).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()

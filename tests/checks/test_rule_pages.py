from tools.rule_pages import FOLDER, pages


def test_pages_are_those_of_the_rules():
    """Run `python -m tools.rule_pages` if this fails."""
    written = {file.name: file.read_text(encoding="utf-8") for file in FOLDER.glob("*.md")}
    assert written == pages()

"""The documentation builds without a network, and every link in it leads somewhere."""

from __future__ import annotations

import os
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the built site."""
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(folder)]
    environment = {**os.environ, "NO_MKDOCS_2_WARNING": "1"}
    done = subprocess.run(
        command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert "zensical" not in done.stderr.lower()
    return folder


def test_the_reference_holds_methods_and_keywords(site: Path) -> None:
    page = (site / "reference" / "constructs.html").read_text("utf-8")
    assert "auto_scale_instance_count" in page
    assert "retain_deployment" in page, "the reference lacks the keywords of constructors"
    assert 'href="../stylesheets/tables.css"' in page, "names in tables would be broken"


class _References(HTMLParser):
    """What a page loads, and where it leads."""

    def __init__(self) -> None:
        super().__init__()
        self.loaded: list[str] = []
        self.linked: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        found = dict(attrs)
        if tag == "a" or (tag == "link" and found.get("rel") == "canonical"):
            self.linked += [found["href"]] if found.get("href") else []
        else:
            self.loaded += [value for name in ("src", "href") if (value := found.get(name))]


def test_the_site_reads_from_its_folder_alone_and_works_without_a_server(site: Path) -> None:
    pages = [page for page in site.rglob("*.html") if page.name != "404.html"]
    assert len(pages) > 150
    for page in pages:
        references = _References()
        references.feed(page.read_text("utf-8"))
        for reference in references.loaded:
            assert not urlsplit(reference).netloc, f"{page} loads {reference}"
        for reference in (*references.loaded, *references.linked):
            parts = urlsplit(reference)
            if not parts.scheme and not parts.netloc and parts.path:
                target = page.parent / unquote(parts.path)
                assert target.is_file(), f"{page} leads to {reference}, which is no file"

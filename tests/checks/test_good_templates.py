"""Good templates of many styles: no error, with the region known and without."""

from pathlib import Path

import pytest

from lmi_constructs.checks import check_sources
from lmi_constructs.checks.template import read_path
from tests.checks.support import errors

TEMPLATES = sorted(path for path in (Path(__file__).parent / "good").iterdir() if path.is_file())


def region_of(source):
    metadata = source.body.get("Metadata", {})
    return metadata.get("Region", "us-east-1")


def test_has_forty_templates_and_more():
    assert len(TEMPLATES) >= 40


@pytest.mark.parametrize("path", TEMPLATES, ids=lambda path: path.stem)
def test_finds_no_error_with_the_region(path):
    (source,) = read_path(path)
    assert errors(check_sources(read_path(path, region_of(source)))) == []


@pytest.mark.parametrize("path", TEMPLATES, ids=lambda path: path.stem)
def test_finds_no_error_without_a_region(path):
    assert errors(check_sources(read_path(path))) == []

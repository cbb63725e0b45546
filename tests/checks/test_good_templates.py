"""Good templates of many styles: no error, with the region known and without."""

from pathlib import Path

import pytest

from lmi_constructs.checks import check_sources
from lmi_constructs.checks.template import read_path
from tests.checks.support import errors

TEMPLATES = sorted(path for path in (Path(__file__).parent / "good").iterdir() if path.is_file())
FULL_ACCESS = {"LMI095"}
NOT_EXAMINED = {"LMI016"}
WARNINGS = {
    "alpha_l2_scaled": FULL_ACCESS | {"LMI074"},
    "alpha_l2_tar_archive": FULL_ACCESS,
    "async_from_zero": {"LMI074"},
    "components_with_adapter": {"LMI059"},
    "conditional_environment": {"LMI074"},
    "generative_ai_jumpstart_tgi": FULL_ACCESS,
    "inference_pipeline": FULL_ACCESS,
    "literal_role_and_names": {"LMI074"},
    "marketplace_model_package": FULL_ACCESS,
    "names_by_ref_and_conditional_role": FULL_ACCESS,
    "neuron_inf2": NOT_EXAMINED,
    "neuron_tgi_and_lmi": NOT_EXAMINED,
    "old_lmi_archive": NOT_EXAMINED | {"LMI062"},
    "serverless_huggingface": FULL_ACCESS,
    "serverless_sklearn": FULL_ACCESS,
    "trtllm_archive": NOT_EXAMINED,
}
"""What may be said of a good template: rights that are too broad, capacity that an update takes."""


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


@pytest.mark.parametrize("path", TEMPLATES, ids=lambda path: path.stem)
def test_warns_only_of_what_is_worth_a_warning(path):
    (source,) = read_path(path)
    found = check_sources(read_path(path, region_of(source)))
    assert {finding.rule for finding in found} == WARNINGS.get(path.stem, set())

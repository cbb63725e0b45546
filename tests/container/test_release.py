from __future__ import annotations

import pytest

from lmi_constructs.container import LmiContainer
from lmi_constructs.facts import container_releases, registries
from lmi_constructs.findings import LmiError


def test_every_lmi_release_is_a_constant() -> None:
    for release in container_releases().values():
        if release.lmi is not None:
            assert getattr(LmiContainer, f"V{release.lmi}").release is release


def test_the_default_is_a_release_that_was_executed() -> None:
    assert LmiContainer.default() == LmiContainer.V27
    assert LmiContainer.default().release.behavior == "executed"


@pytest.mark.parametrize("name", ["v27", "V27", "27", "0.36.0-lmi27.0.0-cu130"])
def test_a_release_is_found_by_name_number_or_tag(name: str) -> None:
    assert LmiContainer.of(name) is not None
    assert LmiContainer.of(name) == LmiContainer.V27


def test_an_unknown_release_names_the_known_ones() -> None:
    with pytest.raises(LmiError, match=r"LMI016.*'v99'.*(?s:.)*v29"):
        LmiContainer.of("v99")


@pytest.mark.parametrize(
    ("region", "host"),
    [
        ("us-east-1", "763104351884.dkr.ecr.us-east-1.amazonaws.com"),
        ("cn-north-1", "727897471807.dkr.ecr.cn-north-1.amazonaws.com.cn"),
        ("us-gov-west-1", "442386744353.dkr.ecr.us-gov-west-1.amazonaws.com"),
        ("us-iso-east-1", "886529160074.dkr.ecr.us-iso-east-1.c2s.ic.gov"),
        ("ca-west-1", "204538143572.dkr.ecr.ca-west-1.amazonaws.com"),
        ("eusc-de-east-1", "204133271717.dkr.ecr.eusc-de-east-1.amazonaws.eu"),
    ],
)
def test_the_image_uri_has_the_account_and_domain_of_its_region(region: str, host: str) -> None:
    assert LmiContainer.V27.image_uri(region) == f"{host}/djl-inference:0.36.0-lmi27.0.0-cu130"


def test_a_region_without_registry_is_refused() -> None:
    with pytest.raises(LmiError, match="LMI030"):
        LmiContainer.V27.image_uri("mars-north-1")


@pytest.mark.parametrize("region", sorted(registries()))
def test_image_uri_and_from_image_uri_are_inverse(region: str) -> None:
    for container in LmiContainer.all():
        assert LmiContainer.from_image_uri(container.image_uri(region)) == container


@pytest.mark.parametrize(
    "uri",
    [
        "",
        "djl-inference:0.36.0-lmi27.0.0-cu130",
        "763104351884.dkr.ecr.us-east-1.amazonaws.com/djl-inference:0.99.0-lmi99.0.0-cu200",
        "763104351884.dkr.ecr.us-east-1.amazonaws.com/huggingface-tgi:3",
    ],
)
def test_other_images_are_not_taken_for_a_release(uri: str) -> None:
    assert LmiContainer.from_image_uri(uri) is None


def test_versions_are_numbers() -> None:
    assert LmiContainer.V27.engine_version == (0, 23, 0)
    assert LmiContainer.V13.engine_version == (0, 6, 3)
    assert LmiContainer.V9.engine_version is None

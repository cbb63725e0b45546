"""Constraints read from the API's own models."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lmi_constructs.local.shapes import coerce, input_shape, validation_message

CONFIG = input_shape("sagemaker", "CreateEndpointConfig")
MODEL = input_shape("sagemaker", "CreateModel")


def config(**changes: object) -> dict[str, Any]:
    return {
        "EndpointConfigName": "one",
        "ProductionVariants": [{"VariantName": "AllTraffic", **changes}],
    }


def test_a_request_that_fits_has_no_message() -> None:
    assert validation_message(CONFIG, config(InstanceType="ml.g6.48xlarge")) is None


def test_all_faults_are_counted_and_named_with_their_path() -> None:
    message = validation_message(CONFIG, config(InitialInstanceCount=0, VariantName=None))
    assert message == (
        "2 validation errors detected: "
        "Value null at 'productionVariants.1.member.variantName' failed to satisfy constraint: "
        "Member must not be null; "
        "Value '0' at 'productionVariants.1.member.initialInstanceCount' failed to satisfy "
        "constraint: Member must have value greater than or equal to 1"
    )


def test_a_wrong_type_is_a_fault() -> None:
    message = validation_message(CONFIG, config(InitialInstanceCount="one"))
    assert message is not None
    assert "Member must be of type integer" in message


def test_a_long_value_is_abbreviated() -> None:
    message = validation_message(MODEL, {"ModelName": "x" * 500})
    assert message is not None
    assert "(500 characters)" in message
    assert len(message) < 300


@given(st.integers(-(2**31), 2**31), st.sampled_from([str, int]))
def test_a_number_is_a_number_however_a_template_writes_it(number: int, form: Any) -> None:
    typed = coerce(CONFIG, config(InitialInstanceCount=form(number)))
    assert typed["ProductionVariants"][0]["InitialInstanceCount"] == number


@pytest.mark.parametrize(
    ("value", "typed"), [(8, "8"), (True, "true"), (0.9, "0.9"), ("fp8", "fp8")]
)
def test_an_environment_value_becomes_text(value: object, typed: str) -> None:
    request = {"PrimaryContainer": {"Environment": {"A": value}}}
    assert coerce(MODEL, request)["PrimaryContainer"]["Environment"]["A"] == typed


@given(st.integers(0, 120), st.integers(0, 1200))
def test_environment_limits_are_those_of_the_api(entries: int, length: int) -> None:
    environment = {f"K{number}": "v" * length for number in range(entries)}
    request = {"ModelName": "m", "PrimaryContainer": {"Environment": environment}}
    allowed = entries <= 100 and (length <= 1024 or entries == 0)
    assert (validation_message(MODEL, request) is None) is allowed


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(max_size=8),
        lambda inner: st.lists(inner) | st.dictionaries(st.text(max_size=8), inner),
        max_leaves=8,
    )
)
def test_no_value_crashes_the_check(value: Any) -> None:
    message = validation_message(CONFIG, coerce(CONFIG, config(RoutingConfig=value)))
    assert message is None or "validation error" in message

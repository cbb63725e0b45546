"""Numbers that the server reads in Java, before any Python does."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lmi_constructs.container import LmiContainer, Verdict, verdict
from lmi_constructs.container.value_parsers import java_integer

V27 = LmiContainer.V27


def judged(container: LmiContainer = V27, **environment: object) -> Verdict:
    return verdict({"HF_MODEL_ID": "Qwen/Qwen3-8B", **environment}, container, gpus=8)


@pytest.mark.parametrize("container", [V27, LmiContainer.V9, LmiContainer.TRTLLM])
@pytest.mark.parametrize("value", ["x", "", "1000.0", "1_000", " 1000", "4K", "2147483648"])
def test_the_server_does_not_start_with_a_number_it_cannot_read(
    container: LmiContainer, value: str
) -> None:
    found = judged(container, SERVING_JOB_QUEUE_SIZE=value)
    assert found.starts is False
    (error,) = [one for one in found.errors if one.where == "SERVING_JOB_QUEUE_SIZE"]
    assert error.rule == "LMI004"
    assert "write a whole number in digits" in error.fix


@pytest.mark.parametrize("value", ["1000", "0001000", "+8", "-1", 1000])
def test_what_java_reads_is_fine(value: object) -> None:
    assert not judged(SERVING_JOB_QUEUE_SIZE=value).findings


def test_the_variable_that_was_written_is_named() -> None:
    (error,) = judged(MAX_CONCURRENT_REQUESTS="many").errors
    assert error.where == "MAX_CONCURRENT_REQUESTS"


@pytest.mark.parametrize("value", ["4.0", " 4", "0_4"])
@pytest.mark.parametrize("name", ["OPTION_TENSOR_PARALLEL_DEGREE", "TENSOR_PARALLEL_DEGREE"])
def test_a_degree_is_read_in_java_before_python_is_more_patient(name: str, value: str) -> None:
    (error,) = judged(**{name: value}).errors
    assert (error.rule, error.where) == ("LMI004", name)


def test_a_pipeline_degree_of_1_point_0_is_one_for_python_alone() -> None:
    assert [one.rule for one in judged(OPTION_PIPELINE_PARALLEL_DEGREE="1.0").errors] == ["LMI004"]
    assert not judged(OPTION_PIPELINE_PARALLEL_DEGREE="1").errors


def test_what_python_refuses_is_told_once() -> None:
    (error,) = judged(OPTION_TENSOR_PARALLEL_DEGREE="four").errors
    assert error.rule == "LMI001"


@pytest.mark.parametrize("name", ["OPTION_MODEL_LOADING_TIMEOUT", "SAGEMAKER_STARTUP_TIMEOUT"])
def test_a_time_out_that_is_no_number_is_passed_over(name: str) -> None:
    (warning,) = judged(**{name: "30m"}).findings
    assert (warning.rule, warning.severity, warning.where) == ("LMI002", "warning", name)
    assert not judged(**{name: "1800"}).findings


@given(st.integers(-(2**31), 2**31 - 1))
def test_every_integer_of_32_bits_is_read(number: int) -> None:
    assert java_integer(str(number)) == number


@given(st.text())
def test_anything_at_all_can_be_asked(text: str) -> None:
    number = java_integer(text)
    assert number is None or number == int(text)

"""The benchmark compares like with like."""

from benchmarks.synth import check_same_template


def test_our_endpoint_is_the_template_one_would_write_by_hand():
    check_same_template()

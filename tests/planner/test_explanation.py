"""What a plan says in words."""

from __future__ import annotations

import pytest

from lmi_constructs.container import LmiContainer
from lmi_constructs.planner.explanation import copies
from tests.planner.support import in_container


@pytest.mark.parametrize(
    ("told", "said"),
    [
        ({"tensor_parallel_degree": 4}, []),
        (
            {"tensor_parallel_degree": 1},
            [
                "the container starts 4 copies of the model, each on 1 of the 4 L4: the figures are"
                " those of one copy"
            ],
        ),
        ({"tensor_parallel_degree": 3}, ["1 of the 4 L4 stay idle"]),
        ({"tensor_parallel_degree": 1, "enable_lora": True}, ["3 of the 4 L4 stay idle"]),
    ],
)
def test_what_other_accelerators_are_for_is_said(told, said):
    p = in_container(
        "Qwen/Qwen3-8B", "ml.g6.12xlarge", LmiContainer.V27, max_model_len=4096, **told
    )
    assert copies(p) == said

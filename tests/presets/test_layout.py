"""What lies under the prefix is checked before it is uploaded."""

from __future__ import annotations

import pytest

from lmi_constructs.presets import check_layout

GOOD = ["serving.properties", "config.json", "tokenizer.json", "model-00001-of-00002.safetensors"]


def test_lets_the_layout_of_the_guide_pass() -> None:
    assert check_layout(GOOD) == ()
    adapters = [f"adapters/fr/{name}" for name in ("adapter_config.json", "adapter_model.bin")]
    assert check_layout([*GOOD, *adapters]) == ()


@pytest.mark.parametrize(
    ("files", "words"),
    [
        (["model.safetensors"], "config.json is not in the root"),
        (["m/config.json", "m/model.safetensors"], "give m/ below it instead"),
        (["config.json"], "no weights"),
        (["config.json", "m.safetensors", "conf/serving.properties"], "nothing reads it"),
        ([*GOOD, "model.tar.gz"], "mounted without unpacking"),
        ([*GOOD, "MODEL.ZIP"], "mounted without unpacking"),
        ([*GOOD, "adapters/"], "stands for a folder"),
        ([*GOOD, "adapters/fr/weights/adapter_config.json"], "has no adapter_config.json"),
    ],
)
def test_refuses_what_the_container_could_not_use(files: list[str], words: str) -> None:
    found = check_layout(files)
    assert any(words in str(finding) for finding in found)
    assert found[0].severity == "error"


def test_only_warns_of_copies_that_cost_time() -> None:
    (finding,) = check_layout([*GOOD, "original/consolidated.00.pth"])
    assert finding.severity == "warning"
    assert "original/" in finding.message


def test_expects_no_weights_beside_a_file_that_names_a_model_elsewhere() -> None:
    text = "engine=Python\noption.model_id=s3://my-models/llama/\n"
    assert check_layout(["serving.properties"], text) == ()
    assert check_layout(["serving.properties"], "option.model_id=/opt/ml/model\n") != ()

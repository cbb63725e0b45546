"""Remedies change what helps on the release, one step at a time."""

from __future__ import annotations

import pytest

from lmi_constructs.container import LmiContainer, LmiSettings

V16, V27 = LmiContainer.of("v16"), LmiContainer.of("v27")
STUDIED = [c for c in LmiContainer.all() if 15 <= (c.release.lmi or 0) <= 29]


def changed(remedy) -> dict[str, tuple[object, object]]:
    return {change.field: (change.before, change.after) for change in remedy.changes}


def test_out_of_memory_lowers_what_takes_memory():
    settings = LmiSettings(tensor_parallel_degree=4, max_model_len=8192, gpu_memory_utilization=0.9)
    remedy = settings.remedy.out_of_memory(V27)
    assert changed(remedy) == {
        "tensor_parallel_degree": (4, "max"),
        "max_rolling_batch_size": (32, 16),
        "max_model_len": (8192, 4096),
        "gpu_memory_utilization": (0.9, 0.85),
    }
    assert remedy.settings.max_model_len == 4096
    assert all(change.why for change in remedy.changes)


def test_out_of_memory_goes_on_step_by_step_to_an_end():
    settings = LmiSettings(max_model_len=8192)
    for _ in range(20):
        remedy = settings.remedy.out_of_memory(V27)
        if not remedy.changes:
            break
        settings = remedy.settings
    assert settings.given() == {
        "max_model_len": 1024,
        "max_rolling_batch_size": 4,
        "gpu_memory_utilization": 0.8,
        "enforce_eager": True,
    }


def test_loading_time_is_doubled_up_to_the_hour_that_the_platform_allows():
    first = LmiSettings().remedy.loading_timeout(V27)
    assert changed(first) == {"model_loading_timeout": (None, 2400)}
    second = first.settings.remedy.loading_timeout(V27)
    assert changed(second) == {"model_loading_timeout": (2400, 3600)}
    assert second.settings.remedy.loading_timeout(V27).changes == ()
    assert "container_startup_health_check_timeout" in first.notes[0]


def test_slow_leaves_rolling_batch_and_raises_the_default_of_32():
    remedy = LmiSettings(rolling_batch="vllm", enable_chunked_prefill=False).remedy.slow(V27)
    assert remedy.settings.async_mode is True
    assert remedy.settings.rolling_batch is None
    assert remedy.settings.enable_chunked_prefill is None
    assert changed(LmiSettings().remedy.slow(V27))["max_rolling_batch_size"] == (32, 64)


def test_nccl_names_no_network_interface():
    remedy = LmiSettings(environment={"A": "1"}).remedy.nccl(V27)
    assert remedy.settings.environment == {"A": "1", "NCCL_DEBUG": "INFO"}
    assert remedy.settings.disable_custom_all_reduce is True
    assert remedy.settings.remedy.nccl(V27).changes == ()


def test_tokenizer_keeps_a_mode_that_was_chosen():
    assert changed(LmiSettings(tokenizer_mode="mistral").remedy.tokenizer(V27)) == {
        "trust_remote_code": (None, True)
    }


@pytest.mark.parametrize("container", STUDIED, ids=lambda container: container.name)
@pytest.mark.parametrize("name", ["out_of_memory", "loading_timeout", "slow", "nccl", "tokenizer"])
def test_each_remedy_is_accepted_by_each_release(name, container):
    settings = LmiSettings(tensor_parallel_degree=2, max_model_len=8192, enforce_eager=True)
    remedy = getattr(settings.remedy, name)(container)
    assert remedy.settings.to_environment(container)
    assert remedy.settings.check(container, gpus=8) == ()

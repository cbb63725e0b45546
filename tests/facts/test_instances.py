"""Instance types take what is true of an accelerator from its row."""

from __future__ import annotations

import pytest

from lmi_constructs.facts import accelerators, instance_types


@pytest.mark.parametrize("instance", instance_types().values(), ids=lambda found: found.name)
def test_an_instance_has_the_memory_of_its_accelerator(instance):
    accelerator = accelerators()[instance.accelerator]
    assert instance.usable_accelerator_memory_gib == accelerator.usable_memory_gib
    assert instance.accelerator_memory_gib == accelerator.memory_gib
    assert instance.compute_capability == accelerator.compute_capability
    assert instance.accelerator_count >= 1


@pytest.mark.parametrize(
    ("name", "count", "usable", "capability"),
    [
        ("ml.g4dn.12xlarge", 4, 14.56, "7.5"),
        ("ml.g5.12xlarge", 4, 22.0, "8.6"),
        ("ml.g6.48xlarge", 8, 22.0, "8.9"),
        ("ml.g6e.12xlarge", 4, 44.39, "8.9"),
        ("ml.p4d.24xlarge", 8, 39.38, "8.0"),
        ("ml.p5.48xlarge", 8, 79.11, "9.0"),
        ("ml.p5en.48xlarge", 8, 139.8, "9.0"),
    ],
)
def test_memory_is_what_the_driver_shows(name, count, usable, capability):
    instance = instance_types()[name]
    assert instance.accelerator_count == count
    assert instance.usable_accelerator_memory_gib == usable
    assert instance.compute_capability == capability


def test_neuron_devices_have_no_compute_capability():
    assert instance_types()["ml.inf2.48xlarge"].accelerator_kind == "neuron"
    assert instance_types()["ml.g6.xlarge"].accelerator_kind == "gpu"

"""Public names: all there, imported when they are used."""

from __future__ import annotations

import importlib

import pytest


@pytest.mark.parametrize(
    "package",
    [
        "lmi_constructs",
        "lmi_constructs.hosting",
        "lmi_constructs.monitoring",
        "lmi_constructs.presets",
    ],
)
def test_exports_what_it_promises(package: str) -> None:
    module = importlib.import_module(package)
    for name in module.__all__:
        assert getattr(module, name) is not None
        assert name in dir(module)


def test_knows_no_other_names() -> None:
    import lmi_constructs

    with pytest.raises(AttributeError, match="no attribute 'LmiEndpiont'"):
        _ = lmi_constructs.LmiEndpiont  # type: ignore[attr-defined]


def test_gives_the_same_class_from_every_door() -> None:
    import lmi_constructs
    from lmi_constructs import hosting, presets

    assert lmi_constructs.LmiEndpoint is hosting.LmiEndpoint
    assert issubclass(presets.GptOss120B, lmi_constructs.LmiEndpoint)

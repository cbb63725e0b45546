"""Public names of a package, imported only when they are used."""

from __future__ import annotations

import sys
from contextlib import nullcontext
from importlib import import_module
from typing import TYPE_CHECKING, Any

from lmi_constructs._extras import needed

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping


def lazy(
    package: str, modules: Mapping[str, str], extra: str | None = None
) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """Return `__getattr__` and `__dir__` of a package.

    Args:
        package: Name of the package.
        modules: Module that each public name comes from; a sub-package comes from itself.
        extra: Extra that brings what they import, if the package cannot do without.
    """

    def get(name: str) -> Any:
        if name not in modules:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        with needed(package, extra) if extra else nullcontext():
            module = import_module(modules[name])
        value = module if module.__name__ == f"{package}.{name}" else getattr(module, name)
        setattr(sys.modules[package], name, value)
        return value

    def names() -> list[str]:
        return sorted({*vars(sys.modules[package]), *modules})

    return get, names

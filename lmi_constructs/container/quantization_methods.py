"""What to write instead of a quantization method that an engine does not have."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from lmi_constructs._near_names import did_you_mean

if TYPE_CHECKING:
    from collections.abc import Collection

_WITHDRAWN: Final = {
    "squeezellm": ("take a checkpoint of the model in", ("awq", "gptq")),
    "bitsandbytes": ("to quantize while loading, too, write", ("fp8",)),
}
"""Methods that vLLM once had: what serves the same end (djl-serving user guides)."""


def successor(method: str, known: Collection[str]) -> str:
    """Return what to do instead of a method that was withdrawn, as the beginning of a fix.

    Args:
        method: The method that is given.
        known: Methods that the engine has.

    Returns:
        Such as `take a checkpoint of the model in awq or gptq, `; empty for all other methods.
    """
    advice, methods = _WITHDRAWN.get(method, ("", ()))
    living = [name for name in methods if name in known]
    return f"{advice} {' or '.join(living)}, " if living else ""


def fix_of_unknown_method(method: str, known: Collection[str]) -> str:
    """Return how to mend a method that the engine looks for only when it starts, in vain."""
    otherwise = (
        f"remove it for a checkpoint that is already quantized, {successor(method, known)}"
        f"or use one of {', '.join(sorted(known))}"
    )
    return did_you_mean(method, known, otherwise, most=3)

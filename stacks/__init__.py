"""Stacks to deploy as they are, or to copy."""

from stacks.preset_stack import PresetStack

__all__ = ["PresetStack"]

"""The CDK app: `cdk deploy -c preset=gpt-oss-120b -c model_bucket=my-models`.

Context:
    preset: Name of the preset.
    model_bucket: Bucket with the model's files. Default: the container downloads from the hub.
    model_prefix: Prefix of the files within the bucket, such as `gpt-oss-120b/`. Default: the
        preset's name.
    max_capacity: Most instances. Default: 2.
    any setting: A field of `LmiSettings`, such as `-c max_model_len=16384`.
"""

from __future__ import annotations

import os
import sys
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any

import aws_cdk as cdk

from lmi_constructs import LmiError, LmiSettings
from lmi_constructs.presets import PRESETS
from stacks import PresetStack

if TYPE_CHECKING:
    from collections.abc import Mapping

DEFAULT_PRESET = "gpt-oss-120b"


def main() -> None:
    """Synthesise the stack that the context of the CDK CLI asks for."""
    app = cdk.App()
    try:
        build(app)
    except (LmiError, UnknownPresetError) as error:
        sys.exit(f"\n{error}\n")
    app.synth()


def build(app: cdk.App) -> PresetStack:
    """Add the stack that an app's context asks for.

    Raises:
        UnknownPresetError: If there is no preset of the name.
        LmiError: If the endpoint would fail at deploy time.
    """
    context: Mapping[str, Any] = app.node.get_all_context()
    preset = str(context.get("preset", DEFAULT_PRESET))
    return PresetStack(
        app,
        stack_name(preset),
        preset=preset,
        model_bucket=text(context.get("model_bucket")),
        model_prefix=text(context.get("model_prefix")),
        settings=settings(context),
        max_capacity=int(context.get("max_capacity", 2)),
        env=environment(),
    )


class UnknownPresetError(Exception):
    """The context names a preset that does not exist."""


def stack_name(preset: str) -> str:
    """Return the name of a preset's stack: the name of its construct."""
    if preset not in PRESETS:
        near = get_close_matches(preset, list(PRESETS), n=1)
        hint = f"did you mean {near[0]}? " if near else ""
        raise UnknownPresetError(
            f"there is no preset {preset!r}; {hint}known are: " + ", ".join(PRESETS)
        )
    return PRESETS[preset].__name__


def settings(context: Mapping[str, Any]) -> LmiSettings | None:
    """Return the settings that the context replaces, `None` if there are none."""
    replaced = {name: context[name] for name in LmiSettings.model_fields if name in context}
    return LmiSettings(**replaced) if replaced else None


def text(value: object) -> str | None:
    """Return a context value as text, and an empty one as nothing."""
    return str(value) if value else None


def environment() -> cdk.Environment:
    """Return account and region of the CDK CLI's credentials, if it has some."""
    return cdk.Environment(
        account=os.environ.get("CDK_DEFAULT_ACCOUNT"), region=os.environ.get("CDK_DEFAULT_REGION")
    )


if __name__ == "__main__":
    main()

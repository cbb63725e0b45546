"""The CDK app: `cdk deploy -c preset=gpt-oss-120b -c model_bucket=my-models`.

Context:
    preset: Name of the preset.
    model_bucket: Bucket with the model's files. Default: the container downloads from the hub.
    model_prefix: Prefix of the files within the bucket, such as `gpt-oss-120b/`. Default: the
        preset's name.
    instance_type: Default: the preset's.
    container: Release, such as `v27`. Default: the preset's.
    max_capacity: Most instances. Default: 2.
    any setting: A field of `LmiSettings`, such as `-c max_model_len=16384`.
"""

from __future__ import annotations

import os
import sys
from dataclasses import replace
from typing import TYPE_CHECKING, Any

# Read when the CDK starts Node.js, at its import: the age of Node.js is not this app's to report.
os.environ.setdefault(
    "JSII_SILENCE_WARNING_END_OF_LIFE_NODE_VERSION", ",".join(map(str, range(14, 40)))
)

import aws_cdk as cdk

from lmi_constructs import LmiContainer, LmiError, LmiSettings
from lmi_constructs._near_names import SUSPECT, did_you_mean, nearest
from lmi_constructs.presets import PRESETS
from stacks import PresetStack

if TYPE_CHECKING:
    from collections.abc import Mapping

DEFAULT_PRESET = "gpt-oss-120b"
COPY_IN_S3 = "accept the license on the hub, put a copy into a bucket and add -c model_bucket=BUCKET -c model_prefix=PREFIX/"
OF_THE_APP = (
    "preset",
    "model_bucket",
    "model_prefix",
    "instance_type",
    "container",
    "max_capacity",
)
READ = (*OF_THE_APP, *LmiSettings.model_fields)


def main() -> None:
    """Synthesize the stack that the context of the CDK CLI asks for."""
    app = cdk.App()
    try:
        build(app)
    except LmiError as error:
        sys.exit(f"\n{in_words_of_the_context(error)}\n")
    except ContextError as error:
        sys.exit(f"\n{error}\n")
    app.synth()


def build(app: cdk.App) -> PresetStack:
    """Add the stack that an app's context asks for.

    Raises:
        ContextError: If there is no preset of the name, or a name is nearly one that is read.
        LmiError: If the endpoint would fail at deploy time.
    """
    context: Mapping[str, Any] = app.node.get_all_context()
    check_names(context)
    if context.get("model_prefix") and not context.get("model_bucket"):
        raise ContextError(
            "-c model_prefix needs -c model_bucket, the bucket that the prefix is in"
        )
    preset = str(context.get("preset", DEFAULT_PRESET))
    release = text(context.get("container"))
    stack = PresetStack(
        app,
        stack_name(preset),
        preset=preset,
        model_bucket=text(context.get("model_bucket")),
        model_prefix=text(context.get("model_prefix")),
        settings=settings(context),
        instance_type=text(context.get("instance_type")),
        container=LmiContainer.of(release) if release else None,
        max_capacity=whole_number(context, "max_capacity", 2),
        env=environment(),
    )
    for name in unread_names(context):
        cdk.Annotations.of(stack).add_warning_v2(f"lmi:context:{name}", f"nothing reads -c {name}")
    return stack


def in_words_of_the_context(error: LmiError) -> LmiError:
    """Return an error whose advice can be followed on the command line, where there are no keywords."""
    return LmiError(
        replace(finding, fix=COPY_IN_S3) if finding.rule == "LMI014" else finding
        for finding in error.findings
    )


class ContextError(Exception):
    """The context says something that the app cannot read."""


def check_names(context: Mapping[str, Any]) -> None:
    """Refuse a name that is nearly one that is read, and would be ignored without a word."""
    for name in unread_names(context):
        if near := nearest(name, READ, likeness=SUSPECT):
            raise ContextError(f"nothing reads -c {name}; did you mean {near}?")


def unread_names(context: Mapping[str, Any]) -> list[str]:
    """Return the names that this app does not read; those of the CDK have a `:`, `@` or `/`."""
    return [name for name in context if name not in READ and not set(name) & set(":@/")]


def whole_number(context: Mapping[str, Any], name: str, default: int) -> int:
    """Return a context value as a number."""
    value = context.get(name, default)
    try:
        if isinstance(value, (bool, float)):  # which int() would take, of the context in cdk.json
            raise ValueError
        return int(value)
    except (TypeError, ValueError):
        raise ContextError(f"-c {name}={value} is not a whole number") from None


def stack_name(preset: str) -> str:
    """Return the name of a preset's stack: that of its construct, without what no stack may have."""
    if preset not in PRESETS:
        hint = did_you_mean(preset, PRESETS, f"use one of {', '.join(PRESETS)}")
        raise ContextError(f"there is no preset {preset!r}; {hint}")
    return PRESETS[preset].__name__.replace("_", "")


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

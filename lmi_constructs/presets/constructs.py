"""The presets as constructs."""

from __future__ import annotations

from lmi_constructs.presets.preset import LmiPreset
from lmi_constructs.presets.tables import gpt_oss_120b


class GptOss120B(LmiPreset):
    """GPT-OSS-120B on eight L4 GPUs (`ml.g6.48xlarge`).

    Leave `original/` and `metal/` out of the prefix: they hold the weights twice more.

    Example:
        ```python
        presets.GptOss120B(
            stack, "Chat", model_data=ModelData.s3_prefix("my-models", "gpt-oss-120b/")
        )
        ```
    """

    table = gpt_oss_120b.TABLE


PRESETS: dict[str, type[LmiPreset]] = {cls.table.name: cls for cls in (GptOss120B,)}
"""All presets by name."""

"""What our constructs write beside a resource for the checks to read.

A template says where a model's files lie, but not what is in them. Without these keys `lmi check` and
`lmi report` could not plan the memory of a cloud assembly as synth did.
"""

from typing import Final

MODEL_METADATA: Final = "lmi:model"
"""Key of a SageMaker model's metadata that holds the hub id of a mounted model, or of the model that
another one of the hub is planned as."""

ARCHITECTURE_METADATA: Final = "lmi:architecture"
"""Key that holds the shape of a model that was given as an `Architecture`, as
[`record_of`][lmi_constructs.planner.architecture_record.record_of] returns it."""

PROPERTIES_METADATA: Final = "lmi:serving-properties"
"""Key that holds what the `serving.properties` among the files sets, without secrets."""

RELEASE_METADATA: Final = "lmi:container"
"""Key that holds the name of the release that an image of the user's own behaves like."""

_SECRET: Final = ("TOKEN", "SECRET", "PASSWORD", "KEY")


def is_secret(name: str) -> bool:
    """Tell whether a setting's name is that of a secret, whose value is shown nowhere.

    Args:
        name: Name of a variable or option, such as `HF_TOKEN` or `option.hf_token`.
    """
    words = name.upper().replace(".", "_").replace("-", "_").split("_")
    return any(word in words for word in _SECRET)

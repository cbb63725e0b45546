"""What our constructs write beside a resource for the checks to read."""

from typing import Final

MODEL_METADATA: Final = "lmi:model"
"""Key of a SageMaker model's metadata that holds the hub id of a mounted model."""

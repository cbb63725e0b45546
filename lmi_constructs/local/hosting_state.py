"""Where the state of SageMaker's hosting is kept, for the APIs that look into it."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from moto.sagemaker.models import sagemaker_backends

if TYPE_CHECKING:
    from lmi_constructs.local.sagemaker import LocalSageMakerBackend


def hosting(account_id: str, region: str) -> LocalSageMakerBackend:
    """Return SageMaker's hosting in an account and region; `extensions` has put it there."""
    return cast("LocalSageMakerBackend", sagemaker_backends[account_id][region])

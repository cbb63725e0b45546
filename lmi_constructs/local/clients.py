"""boto3 clients of the local AWS, for users and for its own CloudFormation."""

from __future__ import annotations

import os
from functools import cache
from typing import Any

import boto3
import botocore.session
from botocore.config import Config

ACCOUNT_ID = "123456789012"
"""moto's default account, which all local resources belong to."""

ACCESS_KEY = "testing"
SECRET_KEY = "testing"  # noqa: S105 (a dummy: nothing checks it, and no other AWS is called with it)

NO_PROFILE: dict[str, tuple[Any, ...]] = {
    "profile": (None, None, None, None),
    "config_file": (None, None, os.devnull, None),
    "credentials_file": (None, None, os.devnull, None),
}
"""botocore's session variables, none of them read from the user's environment or files."""


@cache
def client(service: str, *, endpoint_url: str, region: str, checked: bool = True) -> Any:
    """Return a client of the local AWS, independent of the user's own AWS configuration.

    Args:
        service: boto3's name of the service, such as `sagemaker`.
        endpoint_url: Address of the local AWS.
        region: Region to call.
        checked: Whether boto3 checks parameters itself; without, the local AWS does alone.
    """
    core = botocore.session.Session(session_vars=NO_PROFILE)
    session: Any = boto3.session.Session(  # Any: its client() has one overload a service
        aws_access_key_id=ACCESS_KEY,
        aws_secret_access_key=SECRET_KEY,
        region_name=region,
        botocore_session=core,
    )
    config = Config(
        parameter_validation=checked,
        proxies={},  # the user's lead away from this machine
        retries={"total_max_attempts": 1},
        s3={"addressing_style": "path"},
    )
    return session.client(service, endpoint_url=endpoint_url, config=config)

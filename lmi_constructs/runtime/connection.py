"""A boto3 client whose time-outs and retries suit LLMs."""

from __future__ import annotations

from typing import Any, Final

from lmi_constructs.runtime.error_translation import translated
from lmi_constructs.runtime.errors import CallerError

# Longer than the service's own limits, so that its answer arrives instead of a guess: 60 s for an
# answer that is not streamed, 120 s between pieces of a stream (the container's
# chunked_read_timeout). Retries are botocore's own.
_READ_TIMEOUT_SECONDS: Final = 130
_CONNECT_TIMEOUT_SECONDS: Final = 10
_ATTEMPTS: Final = 4


def default_client(region: str | None = None) -> Any:
    """Return boto3's client of `sagemaker-runtime` with time-outs and retries for LLMs.

    Args:
        region: Region to call; the default of the environment if left out.

    Raises:
        CallerError: If there is no region, or AWS_ENDPOINT_URL is no address.
    """
    from botocore.config import Config

    config = Config(
        read_timeout=_READ_TIMEOUT_SECONDS,
        connect_timeout=_CONNECT_TIMEOUT_SECONDS,
        retries={"mode": "standard", "total_max_attempts": _ATTEMPTS},
        tcp_keepalive=True,
    )
    return _client("sagemaker-runtime", region, config=config)


def service_client(service: str, region: str | None = None) -> Any:
    """Return boto3's client of a service that describes endpoints, such as `sagemaker` or `logs`.

    Args:
        service: boto3's name of the service.
        region: Region to call; the default of the environment if left out.

    Raises:
        CallerError: If there is no region, or AWS_ENDPOINT_URL is no address.
    """
    return _client(service, region)


def _client(service: str, region: str | None, **options: Any) -> Any:
    import boto3
    from botocore.exceptions import BotoCoreError

    with translated(service):
        session: Any = boto3.Session(region_name=region)  # its client() has an overload a service
        try:
            return session.client(service, **options)
        except BotoCoreError:
            raise  # some are ValueErrors as well
        except ValueError as error:  # an address that is none
            raise CallerError(
                f"{service}: {error}", "correct AWS_ENDPOINT_URL, or unset it"
            ) from error

"""Asking an AWS account, where no answer is an answer too."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Iterator

_DENIED: Final = frozenset(
    {
        "AccessDenied",
        "AccessDeniedException",
        "AllAccessDisabled",
        "ExpiredToken",
        "ExpiredTokenException",
        "InvalidAccessKeyId",
        "InvalidClientTokenId",
        "InvalidSignatureException",
        "NotImplemented",
        "OptInRequired",
        "SignatureDoesNotMatch",
        "UnauthorizedOperation",
        "UnrecognizedClientException",
        "403",
    }
)
"""Codes that say nothing of the thing that was asked for."""


class NotTold(Exception):  # noqa: N818 (no fault)
    """The account does not tell; the text says why."""


class Missing(Exception):  # noqa: N818 (what was asked for, not a fault of asking)
    """There is no such thing; the text is the service's own."""


@dataclass(frozen=True, slots=True)
class Account:
    """The account that the caller's credentials belong to.

    Attributes:
        region: Region for what does not say it itself. Default: that of the AWS configuration.
    """

    region: str | None = None

    def client(self, service: str, region: str | None = None) -> Any:
        """Return a client.

        Raises:
            NotTold: If there is no region.
        """
        import boto3
        from botocore.config import Config

        quick = Config(connect_timeout=5, read_timeout=20, retries={"total_max_attempts": 3})
        with answers():
            session: Any = boto3.Session(region_name=region or self.region)
            return session.client(service, config=quick)


@contextmanager
def answers() -> Iterator[None]:
    """Turn errors of boto3 into what they mean for a question.

    Raises:
        NotTold: If the caller may not ask, or nobody answers.
        Missing: If what was asked for is not there.
    """
    from botocore.exceptions import BotoCoreError, ClientError

    try:
        yield
    except ClientError as error:
        code = str(error.response["Error"].get("Code", ""))
        text = str(error.response["Error"].get("Message", "") or code)
        status = error.response.get("ResponseMetadata", {}).get("HTTPStatusCode", 0)
        if code in _DENIED or status >= 500 or "Throttl" in code:
            raise NotTold(f"{code}: {text}") from error
        raise Missing(text) from error
    except BotoCoreError as error:
        raise NotTold(str(error)) from error

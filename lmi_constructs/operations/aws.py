"""Asking AWS: what it does not answer is an error that says whether that means `no` or `unknown`."""

from __future__ import annotations

import re
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final

from botocore import exceptions as botocore_errors

from lmi_constructs.runtime.error_meanings import (
    CORRECT_CONFIGURATION,
    CORRECT_PROFILE,
    NOT_SIGNED_IN,
    UNREADABLE_CONFIGURATION,
)
from lmi_constructs.runtime.errors import LmiRuntimeError

if TYPE_CHECKING:
    from collections.abc import Iterator

_NOT_THERE: Final = ("NoSuch", "NotFound", "404")
_NOT_THERE_SAID: Final = ("could not find", "does not exist")
"""What SageMaker and CloudFormation say of a missing thing, under a code that means anything."""

_ACTION: Final = re.compile(r"not authorized to perform: ([a-z0-9-]+:[A-Za-z]+)")
"""The action that a denial names, which may be another than was asked for: `kms:Decrypt`."""

_NOT_ALLOWED: Final = (
    "AccessDenied",
    "Unauthorized",
    "NotAuthorized",
    "Forbidden",
    "AllAccessDisabled",
    "403",
)
_SIGN_IN: Final = (
    "ExpiredToken",
    "InvalidClientToken",
    "InvalidAccessKeyId",
    "InvalidSignature",
    "UnrecognizedClient",
    "SignatureDoesNotMatch",
    "OptInRequired",
    "AuthFailure",
)
_TOO_OFTEN: Final = ("Throttl", "TooManyRequests", "RequestLimit", "SlowDown", "Unavailable", "503")
_ELSEWHERE: Final = ("PermanentRedirect", "301", "AuthorizationHeaderMalformed")
_SERVER_ERROR: Final = 500
_NOT_IMPLEMENTED: Final = 501
_SIGN_IN_ADVICE: Final = "sign in to AWS: aws sso login, aws configure, or AWS_PROFILE"
_LOCAL: Final = (
    (NOT_SIGNED_IN, _SIGN_IN_ADVICE),
    ((botocore_errors.NoRegionError,), "give --region, or set AWS_REGION"),
    ((botocore_errors.ProfileNotFound,), CORRECT_PROFILE),
    (UNREADABLE_CONFIGURATION, CORRECT_CONFIGURATION),
    ((botocore_errors.InvalidRegionError,), "write the region as eu-west-1"),
)
_NETWORK_ADVICE: Final = "check the region, the network, proxies and AWS_ENDPOINT_URL"
_LONGEST_WORDS: Final = 300


class AwsError(LmiRuntimeError):
    """AWS did not do what it was asked."""


class NotThereError(AwsError):
    """What was asked for does not exist: an answer, unlike other errors."""


class NoAnswerError(AwsError):
    """Nobody can tell: no credentials, no permission, no network, or too many questions."""


class DeniedError(NoAnswerError):
    """Who asks may not ask this; other questions may be answered."""


@contextmanager
def asking(what: str, action: str) -> Iterator[None]:
    """Raise what botocore raises as an error that says what to do.

    Args:
        what: What is asked for, such as `bucket my-models`.
        action: IAM action that it takes, such as `s3:ListBucket`.

    Raises:
        NotThereError: If it does not exist.
        DeniedError: If the caller may not ask.
        NoAnswerError: If it cannot be told whether it does for another reason.
        AwsError: If the question was refused for another reason.
    """
    try:
        yield
    except botocore_errors.ClientError as error:
        raise _answered(what, action, error.response) from error
    except botocore_errors.BotoCoreError as error:
        advice = next((words for kinds, words in _LOCAL if isinstance(error, kinds)), None)
        raise NoAnswerError(f"{what}: {error}", advice or _NETWORK_ADVICE) from error


def _answered(what: str, action: str, response: Any) -> AwsError:
    code = str(response.get("Error", {}).get("Code", ""))
    words = _in_a_line(str(response.get("Error", {}).get("Message") or code))
    status = response.get("ResponseMetadata", {}).get("HTTPStatusCode", 0)
    if code.startswith(_NOT_ALLOWED):
        lacking = _ACTION.search(words)
        return DeniedError(
            f"{what}: access was denied",
            f"allow {lacking[1] if lacking else action} to who runs this",
        )
    if code.startswith("KMS."):
        return AwsError(f"{what}: {code}: {words}", "name a KMS key that exists and is enabled")
    if code.startswith(_SIGN_IN):
        return NoAnswerError(f"{what}: {words}", _SIGN_IN_ADVICE)
    if code.startswith(_TOO_OFTEN):
        return NoAnswerError(f"{what}: AWS was asked too often", "run it again in a while")
    if code in _ELSEWHERE:
        return NotThereError(f"{what} is in another region", "use a bucket of the same region")
    if code == "NoSuchUpload":
        return NoAnswerError(f"{what}: somebody ended an upload meanwhile", "run it again, alone")
    if _says_not_there(code, words):
        return NotThereError(f"{what} does not exist", "check the name, the region and the account")
    if status == _NOT_IMPLEMENTED:
        return NoAnswerError(
            f"{what}: what answers here does not know {action}",
            "ask AWS itself: a local AWS answers only a part (AWS_ENDPOINT_URL)",
        )
    if status >= _SERVER_ERROR:
        return NoAnswerError(f"{what}: AWS failed: {code}: {words}", "run it again in a while")
    return AwsError(f"{what}: {code}: {words}", "see the AWS documentation of this error")


def _in_a_line(words: str) -> str:
    """Return what AWS says in one line; a page of HTML, as proxies send, says nothing."""
    line = " ".join(words.split())
    return "no reason" if line.startswith("<") else line[:_LONGEST_WORDS]


def _says_not_there(code: str, words: str) -> bool:
    if code.startswith(_NOT_THERE) or code.endswith(("NotFoundException", "NotFound")):
        return True
    return code.startswith("Validation") and any(one in words.lower() for one in _NOT_THERE_SAID)

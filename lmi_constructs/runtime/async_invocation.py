"""Waiting for the answer of an asynchronous invocation, which SageMaker writes to S3."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from botocore.exceptions import ClientError

from lmi_constructs.runtime.answers import read_answer
from lmi_constructs.runtime.connection import service_client
from lmi_constructs.runtime.error_translation import (
    container_error,
    error_in_answer,
    service_error,
    translated,
)
from lmi_constructs.runtime.errors import (
    CallerError,
    ConnectionFailedError,
    NotReadyError,
    RequestError,
    StreamInterruptedError,
    ThrottledError,
)
from lmi_constructs.runtime.json_text import read_json

if TYPE_CHECKING:
    from lmi_constructs.runtime.answers import Answer

_INLINE_BYTES: Final = 128_000
"""Most bytes inside the call (botocore 1.44.8 sagemaker-runtime AsyncBodyBlob)."""

_MISSING: Final = frozenset({"NoSuchKey", "404", "NotFound"})


@dataclass(frozen=True, slots=True, kw_only=True)
class AsyncInvocation:
    """A queued request.

    Attributes:
        output_location: S3 address that the answer will have.
        failure_location: S3 address that an error would have, where the service tells it.
        inference_id: Id of the request.
        region: Region of the bucket; the default of the environment if left out.
        s3_client: A boto3 client of `s3`, to bring your own.
    """

    output_location: str
    failure_location: str | None = None
    inference_id: str | None = None
    region: str | None = field(default=None, repr=False, compare=False)
    s3_client: Any = field(default=None, repr=False, compare=False)

    def result(self, *, timeout_seconds: float = 900, poll_seconds: float = 2) -> Answer:
        """Wait for the answer.

        Args:
            timeout_seconds: How long to wait; by default as long as the service lets a container
                work on a request.
            poll_seconds: Seconds between two looks.

        Raises:
            ContainerError: If the container answered with an error.
            NotReadyError: If there is no answer in time.
            CallerError: If the answer may not be read.
        """
        deadline = time.monotonic() + timeout_seconds
        s3 = self.s3_client if self.s3_client is not None else service_client("s3", self.region)
        answered = False
        while True:
            try:
                if (answer := self._look(s3)) is not None:
                    return answer
                answered = True
            except (ThrottledError, ConnectionFailedError, StreamInterruptedError):
                if not answered:
                    raise  # else S3 is asked again after the pause
            if time.monotonic() + poll_seconds > deadline:
                raise NotReadyError(
                    f"{self._what}: there is no answer after {timeout_seconds:g} seconds",
                    "wait longer, and look at the endpoint's metric ApproximateBacklogSize: an "
                    "endpoint with no instances answers nothing",
                )
            time.sleep(poll_seconds)

    @property
    def _what(self) -> str:
        return f"asynchronous request {self.inference_id or self.output_location}"

    def _look(self, s3: Any) -> Answer | None:
        """Return the answer, or nothing if there is none yet."""
        if (output := self._read(s3, self.output_location)) is not None:
            return self._answer(output)
        failure = self._read(s3, self.failure_location) if self.failure_location else None
        if failure is not None:
            raise container_error(self._what, None, failure.decode(errors="replace"))
        return None

    def _answer(self, output: bytes) -> Answer:
        text = output.decode(errors="replace")
        try:
            body = read_json(text)
        except ValueError:
            body = text
        if isinstance(body, dict) and (error := error_in_answer(self._what, body)):
            raise error
        return read_answer(body)

    def _read(self, s3: Any, location: str) -> bytes | None:
        bucket, _, key = location.removeprefix("s3://").partition("/")
        with translated(self._what):
            try:
                content: bytes = s3.get_object(Bucket=bucket, Key=key)["Body"].read()
            except ClientError as error:
                self._check_missing(error, location)
                return None
        return content

    def _check_missing(self, error: ClientError, location: str) -> None:
        code = error.response.get("Error", {}).get("Code", "")
        if code in _MISSING:
            return
        if code in ("AccessDenied", "403"):
            raise CallerError(
                f"{self._what}: {location} may not be read, or is not there yet",
                "allow s3:GetObject on the output, and s3:ListBucket on its bucket: without that, "
                "S3 answers 'access denied' for an object that does not exist",
            ) from error
        raise service_error(self._what, error) from error


def check_inline_size(body: bytes) -> bytes:
    """Return a body that is small enough to be sent inside the call.

    Raises:
        RequestError: If it is too large.
    """
    if len(body) > _INLINE_BYTES:
        raise RequestError(
            f"the request has {len(body)} bytes, and asynchronous invocation takes {_INLINE_BYTES} "
            "inside the call",
            "put the body into S3 and give its address as input_location",
        )
    return body

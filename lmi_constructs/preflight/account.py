"""The account that is asked, each question once."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeVar

from lmi_constructs.operations.aws import AwsError, NoAnswerError, asking

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable

Answer = TypeVar("Answer")


class Account:
    """The account that the caller's credentials belong to.

    Args:
        region: Region for what does not say it itself. Default: that of the AWS configuration.
    """

    def __init__(self, region: str | None = None) -> None:
        """Ask nothing yet."""
        self.region = region
        self._answers: dict[Hashable, Any] = {}

    @cached_property
    def own_region(self) -> str | None:
        """Region for what does not say it itself; `None` if there is none."""
        if self.region is not None:
            return self.region
        import boto3
        from botocore.exceptions import BotoCoreError

        try:
            return boto3.Session().region_name
        except BotoCoreError:
            return None  # asking says what is wrong with the configuration

    def client(self, service: str, region: str | None = None) -> Any:
        """Return boto3's client of a service.

        Raises:
            NoAnswerError: If there is no region, or the AWS configuration cannot be read.
        """
        return self.once(("client", service, region), lambda: self._client(service, region))

    def id(self, region: str | None = None) -> str:
        """Return the id of the account.

        Raises:
            AwsError: If it cannot be told.
        """

        def ask() -> str:
            with asking("the credentials", "sts:GetCallerIdentity"):
                return str(self.client("sts", region).get_caller_identity()["Account"])

        return self.once(("id", region), ask)

    def once(self, key: Hashable, ask: Callable[[], Answer]) -> Answer:
        """Return the answer to a question, which is asked only the first time.

        Raises:
            AwsError: If AWS did not answer, then or now.
        """
        if key not in self._answers:
            try:
                self._answers[key] = ask()
            except AwsError as error:
                self._answers[key] = error
        found: Answer | AwsError = self._answers[key]
        if isinstance(found, AwsError):
            raise found
        return found

    def _client(self, service: str, region: str | None) -> Any:
        import boto3
        from botocore.config import Config
        from botocore.exceptions import BotoCoreError

        quick = Config(connect_timeout=5, read_timeout=20, retries={"total_max_attempts": 3})
        with asking(service, ""):
            session: Any = self.once(
                ("session", region), lambda: boto3.Session(region_name=region or self.region)
            )
            try:
                return session.client(service, config=quick)
            except BotoCoreError:
                raise  # some are ValueErrors as well
            except ValueError as error:  # an address that is none
                raise NoAnswerError(str(error), "correct AWS_ENDPOINT_URL, or unset it") from error

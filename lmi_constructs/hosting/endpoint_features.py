"""What an endpoint can do besides answering: capture, asynchronous answers, detailed metrics."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from aws_cdk import aws_sagemaker as sagemaker

from lmi_constructs.findings import Finding, LmiError, raise_errors
from lmi_constructs.hosting._cdk_tokens import is_token
from lmi_constructs.hosting._kinds import (
    BUCKET,
    CHOICE,
    COUNT,
    DURATION,
    ENCRYPTION_KEY,
    TOPIC,
    Kind,
    check_bounds,
    check_fields,
    needed,
    refused,
    text,
)
from lmi_constructs.hosting._permissions import Permission, key_permission
from lmi_constructs.hosting._units import seconds
from lmi_constructs.hosting.s3_location import S3Location, check_output

if TYPE_CHECKING:
    from collections.abc import Sequence

    import aws_cdk as cdk
    from aws_cdk import aws_kms as kms
    from aws_cdk import aws_s3 as s3
    from aws_cdk import aws_sns as sns

    from lmi_constructs.hosting._stack_environment import StackEnvironment

_PUBLISH_SECONDS = (10, 30, 60, 120, 180, 240, 300)
_Config = sagemaker.CfnEndpointConfig


@dataclass(frozen=True, slots=True, kw_only=True)
class DataCapture:
    """Recording of requests and responses in S3.

    Attributes:
        bucket: The bucket, or the name of one.
        prefix: Prefix with exactly one trailing slash.
        sampling_percentage: Share of the requests, 0 to 100.
        modes: What is recorded.
        encryption_key: Key of the objects. Default: the key the bucket was given, if any.
    """

    bucket: s3.IBucket | str
    prefix: str = ""
    sampling_percentage: int = 100
    modes: Sequence[Literal["Input", "Output", "InputAndOutput"]] = ("Input", "Output")
    encryption_key: kms.IKey | None = None

    def __post_init__(self) -> None:
        """Refuse values of another kind."""
        kinds = {
            "bucket": BUCKET,
            "prefix": needed(text("captured/")),
            "sampling_percentage": needed(COUNT),
            "modes": Kind(
                'give a list: ["Input", "Output"]',
                (str,),
                many=True,
                required=True,
                words=("Input", "Output", "InputAndOutput"),
            ),
            "encryption_key": ENCRYPTION_KEY,
        }
        check_fields(self, kinds)
        found = check_bounds("sampling_percentage", self.sampling_percentage, 0, 100)
        if not self.modes:
            found += refused("modes", "modes is empty", 'one mode or more, such as ["Input"]')
        raise_errors([*found, *check_output(self.bucket, {"prefix": self.prefix})])

    def render(self) -> sagemaker.CfnEndpointConfig.DataCaptureConfigProperty:
        """Return the L1 property."""
        location = S3Location(self.bucket, self.prefix, self.encryption_key)
        return _Config.DataCaptureConfigProperty(
            enable_capture=True,
            destination_s3_uri=location.uri,
            initial_sampling_percentage=self.sampling_percentage,
            capture_options=[
                _Config.CaptureOptionProperty(capture_mode=mode) for mode in self.modes
            ],
            kms_key_id=None if location.key is None else location.key.key_arn,
        )

    def permissions(self, env: StackEnvironment) -> tuple[Permission, ...]:
        """Return what the execution role needs for it."""
        location = S3Location(self.bucket, self.prefix, self.encryption_key)
        return location.write_permissions(env)


@dataclass(frozen=True, slots=True, kw_only=True)
class AsyncInference:
    """Asynchronous answers: requests are queued, answers are written to S3.

    Attributes:
        bucket: Bucket for answers and failures, or the name of one.
        output_prefix: Prefix for answers, with exactly one trailing slash.
        failure_prefix: Prefix for failures. Default: failures are not written.
        success_topic: Topic that hears of answers.
        error_topic: Topic that hears of failures.
        include_response_in: Topics that get the answer itself.
        max_concurrent_invocations_per_instance: Requests handed to an instance at once. Default:
            SageMaker's own choice.
        encryption_key: Key of the objects. Default: the key the bucket was given, if any.
    """

    bucket: s3.IBucket | str
    output_prefix: str
    failure_prefix: str | None = None
    success_topic: sns.ITopic | None = None
    error_topic: sns.ITopic | None = None
    include_response_in: Sequence[
        Literal["SUCCESS_NOTIFICATION_TOPIC", "ERROR_NOTIFICATION_TOPIC"]
    ] = ()
    max_concurrent_invocations_per_instance: int | None = None
    encryption_key: kms.IKey | None = None

    def __post_init__(self) -> None:
        """Refuse values of another kind."""
        kinds = {
            "bucket": BUCKET,
            "output_prefix": needed(text("answers/")),
            "failure_prefix": text("failures/"),
            "success_topic": TOPIC,
            "error_topic": TOPIC,
            "include_response_in": Kind(
                'give a list: ["SUCCESS_NOTIFICATION_TOPIC"]',
                (str,),
                many=True,
                required=True,
                words=("SUCCESS_NOTIFICATION_TOPIC", "ERROR_NOTIFICATION_TOPIC"),
            ),
            "max_concurrent_invocations_per_instance": COUNT,
            "encryption_key": ENCRYPTION_KEY,
        }
        check_fields(self, kinds)
        most = self.max_concurrent_invocations_per_instance
        prefixes = {"output_prefix": self.output_prefix, "failure_prefix": self.failure_prefix}
        raise_errors(
            [
                *check_bounds("max_concurrent_invocations_per_instance", most, 1, 1000),
                *check_output(self.bucket, prefixes),
                *self._check_topics(),
            ]
        )

    def _check_topics(self) -> list[Finding]:
        """Check that an answer is included in a notification that there is, and once."""
        topics = {
            "SUCCESS_NOTIFICATION_TOPIC": ("success_topic", self.success_topic),
            "ERROR_NOTIFICATION_TOPIC": ("error_topic", self.error_topic),
        }
        included = [word for word in self.include_response_in if word in topics]
        return [
            Finding(
                rule="LMI068",
                message=f"include_response_in has {word}, and there is no {topics[word][0]}",
                why="without the topic there is no notification that the answer could be part of",
                fix=f"give {topics[word][0]}=, or leave include_response_in out",
                where="include_response_in",
            )
            for word in dict.fromkeys(included)
            if topics[word][1] is None
        ] + [
            Finding(
                rule="LMI010",
                message=f"include_response_in has {word} {included.count(word)} times",
                why="there is one topic of each kind",
                fix="name it once",
                where="include_response_in",
            )
            for word in dict.fromkeys(included)
            if included.count(word) > 1
        ]

    def render(self) -> sagemaker.CfnEndpointConfig.AsyncInferenceConfigProperty:
        """Return the L1 property."""
        output, *failure = self._locations()
        notification = client = None
        if self.success_topic is not None or self.error_topic is not None:
            notification = _Config.AsyncInferenceNotificationConfigProperty(
                success_topic=_arn(self.success_topic),
                error_topic=_arn(self.error_topic),
                include_inference_response_in=list(self.include_response_in) or None,
            )
        if self.max_concurrent_invocations_per_instance is not None:
            client = _Config.AsyncInferenceClientConfigProperty(
                max_concurrent_invocations_per_instance=self.max_concurrent_invocations_per_instance
            )
        return _Config.AsyncInferenceConfigProperty(
            client_config=client,
            output_config=_Config.AsyncInferenceOutputConfigProperty(
                s3_output_path=output.uri,
                s3_failure_path=failure[0].uri if failure else None,
                kms_key_id=None if output.key is None else output.key.key_arn,
                notification_config=notification,
            ),
        )

    def permissions(self, env: StackEnvironment) -> tuple[Permission, ...]:
        """Return what the execution role needs for it."""
        permissions = [
            permission
            for location in self._locations()
            for permission in location.write_permissions(env)
        ]
        topics = [topic for topic in (self.success_topic, self.error_topic) if topic is not None]
        if topics:
            arns = tuple(topic.topic_arn for topic in topics)
            permissions.append(Permission(("sns:Publish",), arns))
        keys = (getattr(topic, "master_key", None) for topic in topics)
        permissions += [  # as Topic.grant_publish of the CDK gives them
            key_permission(("kms:Decrypt", "kms:GenerateDataKey*"), key)
            for key in keys
            if key is not None
        ]
        return tuple(dict.fromkeys(permissions))

    def _locations(self) -> list[S3Location]:
        prefixes = [self.output_prefix]
        if self.failure_prefix is not None:
            prefixes.append(self.failure_prefix)
        return [S3Location(self.bucket, prefix, self.encryption_key) for prefix in prefixes]


@dataclass(frozen=True, slots=True, kw_only=True)
class EndpointMetrics:
    """How finely the endpoint's metrics are published.

    Attributes:
        enhanced: Metrics by instance, container and accelerator as well.
        detailed_observability: The container's own metrics, for PromQL. Default: SageMaker's, which
            is on for new configurations.
        publish_frequency: 10, 30, 60, 120, 180, 240 or 300 seconds. Default: 60 seconds.
    """

    enhanced: bool | None = None
    detailed_observability: bool | None = None
    publish_frequency: cdk.Duration | None = None

    def __post_init__(self) -> None:
        """Refuse values of another kind."""
        kinds = {
            "enhanced": CHOICE,
            "detailed_observability": CHOICE,
            "publish_frequency": DURATION,
        }
        check_fields(self, kinds)
        every = seconds(self.publish_frequency, "publish_frequency")
        if every is not None and not is_token(every) and every not in _PUBLISH_SECONDS:
            takes = ", ".join(map(str, _PUBLISH_SECONDS)) + " seconds"
            raise LmiError(
                refused("publish_frequency", f"publish_frequency is {every} seconds", takes)
            )

    def render(self) -> sagemaker.CfnEndpointConfig.MetricsConfigProperty:
        """Return the L1 property."""
        return _Config.MetricsConfigProperty(
            enable_enhanced_metrics=self.enhanced,
            enable_detailed_observability=self.detailed_observability,
            metric_publish_frequency_in_seconds=seconds(
                self.publish_frequency, "publish_frequency"
            ),
        )


def _arn(topic: sns.ITopic | None) -> str | None:
    return None if topic is None else topic.topic_arn

"""A variant of an endpoint and its parts, as frozen values."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from aws_cdk import aws_sagemaker as sagemaker

from lmi_constructs.findings import Finding, LmiError, raise_errors
from lmi_constructs.hosting._cdk_tokens import is_token
from lmi_constructs.hosting._kinds import (
    BUCKET,
    COUNT,
    ENCRYPTION_KEY,
    Kind,
    check_bounds,
    check_fields,
    needed,
    one_of,
    refused,
    text,
)
from lmi_constructs.hosting._permissions import Permission, key_permission
from lmi_constructs.hosting.s3_location import S3Location, check_output

if TYPE_CHECKING:
    from collections.abc import Sequence

    import aws_cdk as cdk
    from aws_cdk import aws_kms as kms
    from aws_cdk import aws_s3 as s3

    from lmi_constructs.container import LmiContainer
    from lmi_constructs.hosting._stack_environment import StackEnvironment
    from lmi_constructs.hosting.model import LmiModel

_Variant = sagemaker.CfnEndpointConfig
_RESERVATION = re.compile(
    r"(?=.{20,258}$)arn:aws[a-z-]*:sagemaker:[a-z0-9-]*:\d{12}:[a-z0-9-]{1,14}/.*"
)
"""botocore 1.44.8 sagemaker 2017-07-24 MlReservationArn."""


@dataclass(frozen=True, slots=True)
class Routing:
    """How requests are spread over the instances of a variant.

    Attributes:
        strategy: Value of `RoutingStrategy`.
        prefix_length: Bytes of the request that are compared, for `PREFIX_AWARE`.
        concurrency_threshold: Requests on an instance above which another is taken.
    """

    strategy: str
    prefix_length: int | None = None
    concurrency_threshold: int | None = None

    def __post_init__(self) -> None:
        """Refuse values of another kind."""
        kinds = {
            "strategy": needed(one_of("LEAST_OUTSTANDING_REQUESTS", "RANDOM", "PREFIX_AWARE")),
            "prefix_length": COUNT,
            "concurrency_threshold": COUNT,
        }
        check_fields(self, kinds)
        raise_errors(
            [
                *check_bounds("prefix_length", self.prefix_length, 1024, 65536),
                *check_bounds("concurrency_threshold", self.concurrency_threshold, 1, 1024),
                *self._check_parts(),
            ]
        )

    def _check_parts(self) -> list[Finding]:
        """Check that prefix-aware routing is told all, and another kind nothing of it."""
        parts = {
            "prefix_length": self.prefix_length,
            "concurrency_threshold": self.concurrency_threshold,
        }
        is_prefix_aware = self.strategy == "PREFIX_AWARE"
        return [
            Finding(
                rule="LMI068",
                message=f"{name} is {'missing' if is_prefix_aware else 'given'} for {self.strategy}",
                why="SageMaker takes both for PREFIX_AWARE, and neither for another strategy",
                fix="use Routing.prefix_aware(prefix_length=..., concurrency_threshold=...), or"
                " Routing.least_outstanding_requests()",
                where=name,
                source="botocore 1.44.8 sagemaker 2017-07-24 ProductionVariantRoutingConfig",
            )
            for name, value in parts.items()
            if not is_token(self.strategy) and (value is None) == is_prefix_aware
        ]

    @classmethod
    def least_outstanding_requests(cls) -> Routing:
        """Send each request to the instance that has the fewest open: right for LLMs."""
        return cls("LEAST_OUTSTANDING_REQUESTS")

    @classmethod
    def random(cls) -> Routing:
        """Send each request to any instance."""
        return cls("RANDOM")

    @classmethod
    def prefix_aware(cls, *, prefix_length: int, concurrency_threshold: int) -> Routing:
        """Send requests that begin alike to the same instance, whose prefix cache knows them.

        Args:
            prefix_length: Bytes that are compared, 1024 to 65536.
            concurrency_threshold: Open requests on an instance above which another one is taken,
                1 to 1024.
        """
        return cls("PREFIX_AWARE", prefix_length, concurrency_threshold)

    def render(self) -> sagemaker.CfnEndpointConfig.RoutingConfigProperty:
        """Return the L1 property."""
        prefix_aware = None
        if self.prefix_length is not None:
            prefix_aware = _Variant.PrefixAwareRoutingConfigProperty(
                prefix_length=self.prefix_length, concurrency_threshold=self.concurrency_threshold
            )
        return _Variant.RoutingConfigProperty(
            routing_strategy=self.strategy, prefix_aware_routing_config=prefix_aware
        )


@dataclass(frozen=True, slots=True)
class InstancePool:
    """One of several instance types that a variant may run on.

    Attributes:
        instance_type: Instance type.
        priority: 1 (tried first) to 5.
        model: Model for this type, if it needs settings of its own. Default: the variant's.
    """

    instance_type: str
    priority: int
    model: LmiModel | None = None

    def __post_init__(self) -> None:
        """Refuse values of another kind."""
        kinds = {
            "instance_type": needed(text("ml.g6.48xlarge")),
            "priority": needed(COUNT),
            "model": Kind("use LmiModel(...)", has="image_uri"),
        }
        check_fields(self, kinds)
        raise_errors(check_bounds("priority", self.priority, 1, 5))

    def render(self) -> sagemaker.CfnEndpointConfig.InstancePoolProperty:
        """Return the L1 property."""
        return _Variant.InstancePoolProperty(
            instance_type=self.instance_type,
            priority=self.priority,
            model_name_override=None if self.model is None else self.model.model_name,
        )


@dataclass(frozen=True, slots=True)
class CapacityReservation:
    """A reservation that a variant takes its instances from, and from nowhere else.

    Attributes:
        arn: ARN of the ML capacity reservation or training plan.
    """

    arn: str

    def __post_init__(self) -> None:
        """Refuse what is no ARN of a reservation."""
        arn = "arn:aws:sagemaker:us-east-1:123456789012:training-plan/NAME"
        check_fields(self, {"arn": needed(text(arn))})
        if not is_token(self.arn) and not _RESERVATION.fullmatch(self.arn):
            raise_errors(refused("arn", f"arn is {self.arn!r}", f"an ARN such as {arn}"))

    def render(self) -> sagemaker.CfnEndpointConfig.CapacityReservationConfigProperty:
        """Return the L1 property."""
        return _Variant.CapacityReservationConfigProperty(
            capacity_reservation_preference="capacity-reservations-only",
            ml_reservation_arn=self.arn,
        )


@dataclass(frozen=True, slots=True)
class ManagedInstanceScaling:
    """SageMaker's own scaling of a fleet that serves inference components.

    Attributes:
        min_instance_count: Fewest instances, 0 or more.
        max_instance_count: Most instances.
        scale_in_strategy: `IDLE_RELEASE` or `CONSOLIDATION`. Default: SageMaker's.
        scale_in_maximum_step_size: Most instances taken away at once.
        scale_in_cooldown_minutes: Minutes between two of these steps.
    """

    min_instance_count: int
    max_instance_count: int
    scale_in_strategy: Literal["IDLE_RELEASE", "CONSOLIDATION"] | None = None
    scale_in_maximum_step_size: int | None = None
    scale_in_cooldown_minutes: int | None = None

    def __post_init__(self) -> None:
        """Refuse values of another kind, and steps of a strategy that is not named.

        Raises:
            LmiError: Of a value of another kind (LMI010), or steps without a strategy (LMI079).
        """
        kinds = {
            "min_instance_count": needed(COUNT),
            "max_instance_count": needed(COUNT),
            "scale_in_strategy": one_of("IDLE_RELEASE", "CONSOLIDATION"),
            "scale_in_maximum_step_size": COUNT,
            "scale_in_cooldown_minutes": COUNT,
        }
        check_fields(self, kinds)
        raise_errors(
            [
                *check_bounds("min_instance_count", self.min_instance_count, 0),
                *check_bounds(
                    "scale_in_maximum_step_size", self.scale_in_maximum_step_size, 1, 100
                ),
                *check_bounds("scale_in_cooldown_minutes", self.scale_in_cooldown_minutes, 5, 1440),
            ]
        )
        steps = (self.scale_in_maximum_step_size, self.scale_in_cooldown_minutes)
        if self.scale_in_strategy is None and steps != (None, None):
            finding = Finding(
                rule="LMI079",
                message="steps of scaling in are given without a strategy",
                why="CreateEndpointConfig takes them only together with one",
                fix="give scale_in_strategy='IDLE_RELEASE' or 'CONSOLIDATION'",
                where="scale_in_strategy",
                source="botocore 1.44.8 sagemaker 2017-07-24"
                " ProductionVariantManagedInstanceScalingScaleInPolicy",
            )
            raise LmiError(finding)

    def render(self) -> sagemaker.CfnEndpointConfig.ManagedInstanceScalingProperty:
        """Return the L1 property."""
        policy = None
        if self.scale_in_strategy is not None:
            policy = _Variant.ScaleInPolicyProperty(
                strategy=self.scale_in_strategy,
                maximum_step_size=self.scale_in_maximum_step_size,
                cooldown_in_minutes=self.scale_in_cooldown_minutes,
            )
        return _Variant.ManagedInstanceScalingProperty(
            status="ENABLED",
            min_instance_count=self.min_instance_count,
            max_instance_count=self.max_instance_count,
            scale_in_policy=policy,
        )


@dataclass(frozen=True, slots=True)
class CoreDump:
    """Where core dumps of the container's processes go.

    Attributes:
        bucket: The bucket, or the name of one.
        prefix: Prefix with exactly one trailing slash.
        encryption_key: Key of the objects. Default: the key the bucket was given, if any.
    """

    bucket: s3.IBucket | str
    prefix: str = ""
    encryption_key: kms.IKey | None = None

    def __post_init__(self) -> None:
        """Refuse values of another kind."""
        kinds = {
            "bucket": BUCKET,
            "prefix": needed(text("core/")),
            "encryption_key": ENCRYPTION_KEY,
        }
        check_fields(self, kinds)
        raise_errors(check_output(self.bucket, {"prefix": self.prefix}))

    @property
    def location(self) -> S3Location:
        """The place in S3."""
        return S3Location(self.bucket, self.prefix, self.encryption_key)

    def permissions(self, env: StackEnvironment) -> tuple[Permission, ...]:
        """Return what the execution role needs for it.

        Source: botocore 1.44.8 sagemaker 2017-07-24 ProductionVariantCoreDumpConfig.KmsKeyId, which
        asks for `kms:Encrypt` besides what writing such an object takes.
        """
        location = self.location
        written = location.write_permissions(env)
        if location.key is None:
            return written
        return (*written, key_permission(("kms:Encrypt",), location.key))

    def render(self) -> sagemaker.CfnEndpointConfig.CoreDumpConfigProperty:
        """Return the L1 property."""
        key = self.location.key
        return _Variant.CoreDumpConfigProperty(
            destination_s3_uri=self.location.uri, kms_key_id=None if key is None else key.key_arn
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class LmiVariant:
    """A model on instances.

    Attributes:
        model: The model. `None` for a fleet that serves inference components.
        instance_type: SageMaker's name of the instance type, such as `ml.g6.48xlarge`.
        variant_name: Name of the variant. Do not change it later: an update that renames a scaled
            variant fails.
        initial_instance_count: Instances at the start, each a complete copy of the model: SageMaker
            does not spread one model over instances.
        weight: Share of the traffic among several variants.
        startup_timeout: How long the container may take until it answers, 60 to 3600 seconds.
            Default: from the model's size if it is known, else 3600 seconds.
        download_timeout: How long SageMaker may take to fetch the model data, 60 to 3600 seconds.
            Default: from the model's size if it is known, else 3600 seconds.
        host_image: `InferenceAmiVersion`. Default: the one that the container's CUDA version needs
            on this instance family.
        volume_size: EBS volume, for instance types without local storage only.
        routing: How requests are spread. Default: least outstanding requests.
        managed_instance_scaling: SageMaker's own scaling, only for inference components.
        capacity_reservation: Reservation that the instances come from.
        instance_pools: Several instance types, tried by priority, instead of `instance_type`.
        instance_provision_timeout: How long SageMaker looks for capacity, 300 to 3600 seconds.
        core_dump: Where core dumps go.
        enable_ssm_access: Whether you may open a shell in the container for debugging.
        container: Release that decides the host image of a fleet. With a model it is the model's.
    """

    model: LmiModel | None
    instance_type: str | None = None
    variant_name: str = "AllTraffic"
    initial_instance_count: int = 1
    weight: float = 1.0
    startup_timeout: cdk.Duration | None = None
    download_timeout: cdk.Duration | None = None
    host_image: str | None = None
    volume_size: cdk.Size | None = None
    routing: Routing | None = None
    managed_instance_scaling: ManagedInstanceScaling | None = None
    capacity_reservation: CapacityReservation | None = None
    instance_pools: Sequence[InstancePool] = ()
    instance_provision_timeout: cdk.Duration | None = None
    core_dump: CoreDump | None = None
    enable_ssm_access: bool | None = None
    container: LmiContainer | None = None

    @property
    def models(self) -> tuple[LmiModel, ...]:
        """All models that may serve: the variant's own, and those of its instance pools."""
        models = (self.model, *(pool.model for pool in self.instance_pools))
        return tuple(model for model in models if model is not None)

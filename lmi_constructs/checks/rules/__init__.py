"""The rules, one small class each, grouped by family."""

from __future__ import annotations

from functools import cache
from typing import Final

from lmi_constructs.checks.rules import (
    accelerators,
    access,
    adapters,
    alarms,
    components,
    engine,
    environment,
    hub_ids,
    image_registries,
    images,
    instances,
    loading_times,
    memory,
    model_data,
    names,
    network,
    published_images,
    references,
    scaling,
    scaling_names,
    timeouts,
    updates,
)
from lmi_constructs.checks.rules.base import PlacedFinding, Rule

__all__ = ["PlacedFinding", "Rule", "all_rules", "rule_families"]


_FAMILIES: Final[dict[str, tuple[type[Rule], ...]]] = {
    "Environment": (
        environment.EnvironmentLimits,
        environment.PlainTextSecret,
        engine.RefusedByRelease,
        engine.NotRead,
        engine.WithoutVllm,
        engine.StopsAtStart,
        engine.MisplacedSetting,
        engine.QuotedValue,
        engine.TwoModels,
        engine.RemovedBackend,
        engine.NotExamined,
        engine.AsyncOnOldServer,
        engine.DegreeAboveGpus,
    ),
    "Model data": (
        model_data.PrefixWithoutSlash,
        model_data.PrefixWithOddSegments,
        model_data.ArchiveAsPrefix,
        model_data.CompressedPrefix,
        model_data.TwoModelDataLocations,
        model_data.ArchiveExpected,
        model_data.IncompleteDataSource,
        model_data.DataSourceNotSupported,
        model_data.CustomCodeNotTrusted,
        model_data.GatedModelWithoutToken,
    ),
    "Images and host images": (
        image_registries.ImageOfAnotherRegion,
        image_registries.WrongRegistryAccount,
        images.DriverTooOld,
        images.DriverTooNew,
        images.HostImageOfAnotherKind,
        images.UnknownHostImage,
        images.ImageForOtherAccelerators,
        images.HostImageNotChosen,
        images.NoHostImageKnown,
        published_images.NotPublished,
    ),
    "Instances": (
        instances.UnknownInstanceType,
        instances.InstanceNotInRegion,
        instances.VolumeSizeNotAllowed,
        instances.KeyWithoutEffect,
        instances.VolumeSizeOutOfRange,
        instances.InstanceCountTooSmall,
        instances.NoGpuInServerless,
    ),
    "Memory and shape": (
        *memory.PLAN_RULES,
        accelerators.FormatNotSupported,
        hub_ids.HubIdSlip,
    ),
    "Time-outs": (
        timeouts.HealthCheckTimeoutOutOfRange,
        timeouts.DownloadTimeoutOutOfRange,
        timeouts.KilledBeforeLoaded,
        loading_times.ShorterThanAnyLoading,
        timeouts.ProvisionTimeoutOutOfRange,
    ),
    "Names": (names.IllegalName, names.FixedName, names.NameTwice),
    "References": (
        references.NameForArn,
        references.ReferenceToNothing,
        references.SecureStringNotTaken,
        references.LoopNotRead,
    ),
    "Updates": (
        updates.PolicyNotUsable,
        updates.StepOutOfRange,
        updates.StepBelowOneInstance,
        updates.RollbackAlarmCycle,
        updates.CapacityLostOnUpdate,
    ),
    "Components": (
        components.ModelAndComponents,
        components.ComponentsWithoutRole,
        components.ComponentDoesNotFit,
        components.NoCopy,
        components.ManagedScalingOutOfRange,
        adapters.ImpossibleAdapter,
    ),
    "Scaling": (
        scaling.MetricOfAnotherDimension,
        scaling.ScaledVariantMissing,
        scaling.CreatedTooEarly,
        scaling.ImpossibleCapacity,
        scaling.MetricWithoutMeaning,
        loading_times.ScaledBeforeLoaded,
        scaling_names.UnknownScalingName,
    ),
    "Alarms": (
        alarms.MetricInAnotherPlace,
        alarms.ThresholdInAnotherUnit,
        alarms.PercentOfOneGpu,
        alarms.NeverFires,
        alarms.AlarmOfMissingVariant,
    ),
    "Access": (
        access.RoleCannotRead,
        access.RoleCannotPull,
        access.ModelBeforePolicy,
        access.RoleNotForSageMaker,
        access.RoleTooBroad,
        access.RoleCannotSeeAlarms,
        access.RoleCannotWrite,
    ),
    "Network": (
        network.NothingToDownloadFrom,
        network.NetworkOutOfRange,
        network.S3OutOfReach,
    ),
}


def rule_families() -> dict[str, tuple[type[Rule], ...]]:
    """Return the rules by family, in the order of their ids."""
    return _FAMILIES


@cache
def all_rules() -> tuple[Rule, ...]:
    """Return one of each rule, in the order of their ids."""
    kinds = [kind for family in rule_families().values() for kind in family]
    return tuple(kind() for kind in sorted(kinds, key=lambda kind: kind.id))

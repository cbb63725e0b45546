"""Reading an endpoint's state, log and settings; only describing and listing calls are made."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from botocore.exceptions import ClientError

from lmi_constructs.container import LmiContainer, LmiSettings, Remedies
from lmi_constructs.findings import LmiError
from lmi_constructs.runtime.diagnosis.recognize import recognize
from lmi_constructs.runtime.error_translation import service_error, translated
from lmi_constructs.runtime.errors import LmiRuntimeError
from lmi_constructs.runtime.readiness import component_state, endpoint_state

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from lmi_constructs.container import Change
    from lmi_constructs.runtime.diagnosis.recognize import Diagnosis
    from lmi_constructs.runtime.readiness import EndpointState

_STREAMS: Final = 5
_EVENTS: Final = 10_000

_NO_LOG: Final = (
    "there is no log: no container has started. If the endpoint has been in Creating for long, the "
    "host image may not fit the image's CUDA (LMI032, LMI033, LMI037), the image may not be "
    "pullable (LMI092), or there may be no capacity: lmi check --endpoint {name}"
)

_NO_LOG_IN_SERVICE: Final = "there is no log to read: it was deleted, or the role may not write one"


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """What is known about an endpoint that does not work.

    Attributes:
        states: The endpoint's state, then those of its components.
        diagnoses: What its state and log tell, the most telling first.
        changes: What to change in its settings, where its settings could be read.
        notes: What could not be seen, and what that may mean.
    """

    states: tuple[EndpointState, ...]
    diagnoses: tuple[Diagnosis, ...]
    changes: tuple[Change, ...]
    notes: tuple[str, ...]

    @property
    def is_in_service(self) -> bool:
        """Whether the endpoint and all its components are in service."""
        return all(state.status == "InService" for state in self.states)


def diagnose_endpoint(name: str, *, sagemaker: Any, logs: Any) -> Report:
    """Find out why an endpoint does not work.

    Args:
        name: Name of the endpoint.
        sagemaker: A boto3 client of `sagemaker`.
        logs: A boto3 client of `logs`.

    Raises:
        LmiRuntimeError: If the endpoint cannot be described.
    """
    notes: list[str] = []
    states = [endpoint_state(name, sagemaker)]
    components = _components(name, sagemaker, notes)
    states += [component_state(component, sagemaker) for component in components]
    groups = [
        f"/aws/sagemaker/Endpoints/{name}",
        *(f"/aws/sagemaker/InferenceComponents/{component}" for component in components),
    ]
    lines = [line for group in groups for line in _log_lines(group, logs, notes)]
    if not lines and not notes:
        in_service = states[0].status == "InService"
        notes.append(_NO_LOG_IN_SERVICE if in_service else _NO_LOG.format(name=name))
    reasons = [state.reason for state in states if state.reason]
    diagnoses = recognize([*lines, *reasons])
    changes = _changes(diagnoses, states[0], components, sagemaker, notes)
    return Report(states=tuple(states), diagnoses=diagnoses, changes=changes, notes=tuple(notes))


def _components(name: str, sagemaker: Any, notes: list[str]) -> list[str]:
    try:
        with translated(f"components of {name}"):
            pages = sagemaker.get_paginator("list_inference_components")
            return [
                row["InferenceComponentName"]
                for page in pages.paginate(EndpointNameEquals=name)
                for row in page["InferenceComponents"]
            ]
    except LmiRuntimeError as error:
        notes.append(f"unknown whether it has components: {error}")
        return []


def _log_lines(group: str, logs: Any, notes: list[str]) -> Iterator[str]:
    try:
        with translated(f"log group {group}"):
            streams = _latest_streams(group, logs)
            for stream in reversed(streams):  # oldest first
                events = logs.get_log_events(
                    logGroupName=group, logStreamName=stream, limit=_EVENTS, startFromHead=False
                )
                yield from (event["message"] for event in events["events"])
    except LmiRuntimeError as error:
        notes.append(f"the log could not be read: {error}")


def _latest_streams(group: str, logs: Any) -> list[str]:
    try:
        found = logs.describe_log_streams(
            logGroupName=group, orderBy="LastEventTime", descending=True, limit=_STREAMS
        )
    except ClientError as error:
        if error.response["Error"]["Code"] == "ResourceNotFoundException":
            return []
        raise service_error(f"log group {group}", error) from error
    return [stream["logStreamName"] for stream in found["logStreams"]]


def _changes(
    diagnoses: Iterable[Diagnosis],
    state: EndpointState,
    components: Sequence[str],
    sagemaker: Any,
    notes: list[str],
) -> tuple[Change, ...]:
    """Return what the remedies change in the settings that the endpoint was deployed with."""
    remedies = dict.fromkeys(
        item.remedy for item in diagnoses if item.remedy and item.weight != "consequence"
    )
    if not remedies:
        return ()
    try:
        container = _container(state, components, sagemaker)
        settings = LmiSettings.from_environment(container.get("Environment", {}))
    except (LmiRuntimeError, LmiError) as error:
        notes.append(f"its settings could not be read, so no change is worked out: {error}")
        return ()
    release = LmiContainer.from_image_uri(container.get("Image", ""))
    found = (getattr(Remedies(settings), name)(release).changes for name in remedies)
    return tuple(change for changes in found for change in changes)


def _container(
    state: EndpointState, components: Sequence[str], sagemaker: Any
) -> Mapping[str, Any]:
    """Return the container of the first variant's model, or of the one component that has its own.

    Raises:
        LmiRuntimeError: If it cannot be described, or several components have one.
    """
    with translated(f"endpoint configuration {state.config}"):
        config = sagemaker.describe_endpoint_config(EndpointConfigName=state.config)
    model = config["ProductionVariants"][0].get("ModelName")
    if model is not None:
        return _of_model(model, sagemaker)
    found = [_specification(component, sagemaker) for component in components]
    own = [one for one in found if "BaseInferenceComponentName" not in one]  # others are adapters
    if len(own) != 1:
        raise LmiRuntimeError(
            f"endpoint {state.name} has {len(own)} components with settings of their own",
            "save the log of one component, and look at it alone: lmi diagnose --log FILE",
        )
    if "ModelName" in own[0]:
        return _of_model(own[0]["ModelName"], sagemaker)
    container: Mapping[str, Any] = own[0].get("Container", {})
    image = container.get("DeployedImage", {}).get("SpecifiedImage", "")
    return {**container, "Image": image}


def _specification(component: str, sagemaker: Any) -> Mapping[str, Any]:
    with translated(f"component {component}"):
        described = sagemaker.describe_inference_component(InferenceComponentName=component)
    specification: Mapping[str, Any] = (
        described.get("Specification") or (described.get("Specifications") or [{}])[0]
    )
    return specification


def _of_model(model: str, sagemaker: Any) -> Mapping[str, Any]:
    with translated(f"model {model}"):
        described = sagemaker.describe_model(ModelName=model)
    container: Mapping[str, Any] = (
        described.get("PrimaryContainer") or (described.get("Containers") or [{}])[0]
    )
    return container

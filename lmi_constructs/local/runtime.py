"""SageMaker's runtime: InvokeEndpoint in its plain, streamed and asynchronous forms."""

from __future__ import annotations

import json
import uuid
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, cast

from moto.cloudwatch.models import cloudwatch_backends
from moto.core.eventstream import EventStreamEncoder
from moto.core.responses import BaseResponse
from moto.s3.models import s3_backends
from moto.sagemakerruntime import urls as moto_urls
from moto.sagemakerruntime.models import SageMakerRuntimeBackend

from lmi_constructs.local.alarms import LocalCloudWatchBackend
from lmi_constructs.local.engines import Invocation, Reply
from lmi_constructs.local.hosting_state import hosting
from lmi_constructs.local.records import COMPONENT, ENDPOINT, ENDPOINT_CONFIG, MODEL, Record

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from lmi_constructs.local.engines import Engine
    from lmi_constructs.local.sagemaker import LocalSageMakerBackend

Answer = tuple[int, dict[str, Any], Any]

HEADER = "X-Amzn-SageMaker"
PASSED_ON = ("Content-Type", "Accept", f"{HEADER}-Custom-Attributes", f"{HEADER}-Session-Id")
STREAM_PATH = "{0}/endpoints/(?P<name>[^/]+)/invocations-response-stream$"


class LocalRuntimeBackend(SageMakerRuntimeBackend):
    """Holds what answers invocations."""

    engine: ClassVar[Engine]

    @property
    def _url_module(self) -> SimpleNamespace:
        """Moto's place for the addresses of a service."""
        paths = dict.fromkeys(moto_urls.url_paths, RuntimeResponse.dispatch)
        return SimpleNamespace(url_bases=moto_urls.url_bases, url_paths=paths)


class _Target(NamedTuple):
    """What a request reaches: a variant, a container, and an adapter in it by its component."""

    variant: str
    container: dict[str, Any]
    adapter: str | None = None
    adapter_files: str | None = None


class _RuntimeError(Exception):
    """An error of the runtime API, with the members its shape has."""

    def __init__(self, code: str, status: int, **members: object) -> None:
        super().__init__(code)
        self.code, self.status, self.members = code, status, members


class RuntimeResponse(BaseResponse):
    """The three operations that call a model."""

    use_raw_body = True

    def __init__(self) -> None:
        super().__init__(service_name="sagemaker-runtime")

    def invoke_endpoint(self) -> Answer:
        """Answer InvokeEndpoint."""
        try:
            variant, reply = self._invoke(self.body)
            body = self._successful(reply).read()
        except _RuntimeError as error:
            return _error(error)
        return _ok({"Content-Type": reply.content_type}, variant, body)

    def invoke_endpoint_with_response_stream(self) -> Answer:
        """Answer InvokeEndpointWithResponseStream in AWS's event-stream framing."""
        try:
            variant, reply = self._invoke(self.body)
            parts = _framed(self._successful(reply).chunks)
        except _RuntimeError as error:
            return _error(error)
        headers = {
            "Content-Type": "application/vnd.amazon.eventstream",
            f"{HEADER}-Content-Type": reply.content_type,
        }
        return _ok(headers, variant, parts)

    def invoke_endpoint_async(self) -> Answer:
        """Answer InvokeEndpointAsync once the output is in S3."""
        try:
            output = self._async_output()
            inference_id = self.headers.get(f"{HEADER}-Inference-Id") or str(uuid.uuid4())
            _, reply = self._invoke(self._async_input())
        except _RuntimeError as error:
            return _error(error)
        result = f"{output['S3OutputPath'].rstrip('/')}/{inference_id}.out"
        failures = output.get("S3FailurePath", output["S3OutputPath"]).rstrip("/")
        failure = f"{failures}/{inference_id}-error.out"
        bucket, key = _bucket_and_key(result if reply.status < 400 else failure)
        self._s3.put_object(bucket, key, reply.read())
        headers = {
            "status": 202,
            f"{HEADER}-OutputLocation": result,
            f"{HEADER}-FailureLocation": failure,
        }
        return 202, headers, json.dumps({"InferenceId": inference_id})

    @property
    def _sagemaker(self) -> LocalSageMakerBackend:
        return hosting(self.current_account, self.region)

    @property
    def _s3(self) -> Any:
        return s3_backends[self.current_account][self.partition]

    @property
    def _endpoint(self) -> Record:
        name = self.path.split("/")[2]
        endpoint = self._sagemaker.find(ENDPOINT, name)
        if endpoint is None:
            raise _invalid(f"Endpoint {name} of account {self.current_account} not found.")
        return endpoint

    def _invoke(self, body: bytes) -> tuple[str, Reply]:
        endpoint = self._endpoint
        target = self._target(endpoint)
        passed_on = {name: self.headers[name] for name in PASSED_ON if name in self.headers}
        if target.adapter is not None:
            passed_on[f"{HEADER}-Adapter-Identifier"] = target.adapter
        if accept := self.headers.get(f"{HEADER}-Accept"):
            passed_on["Accept"] = accept
        invocation = Invocation(body, passed_on, endpoint.name, _deployed_with(target))
        return target.variant, LocalRuntimeBackend.engine.invoke(invocation)

    def _target(self, endpoint: Record) -> _Target:
        """Return what is called."""
        config = self._sagemaker.get(ENDPOINT_CONFIG, endpoint.given["EndpointConfigName"])
        variants = {item["VariantName"]: item for item in config.given["ProductionVariants"]}
        component_name = self.headers.get(f"{HEADER}-Inference-Component")
        if component_name is not None:
            return self._component(endpoint, component_name)
        wanted = self.headers.get(f"{HEADER}-Target-Variant")
        if wanted is not None and wanted not in variants:
            raise _invalid(f"Variant {wanted} not found on endpoint {endpoint.name}.")
        variant = variants[wanted] if wanted else next(iter(variants.values()))
        if "ModelName" not in variant:
            raise _invalid(
                "Inference Component Name header is required for endpoints to which you plan to "
                "deploy inference components."
            )
        return _Target(variant["VariantName"], self._model(variant["ModelName"]))

    def _component(self, endpoint: Record, name: str) -> _Target:
        component = self._sagemaker.find(COMPONENT, name)
        if component is None or component.given["EndpointName"] != endpoint.name:
            raise _invalid(f"Inference Component {name} not found on endpoint {endpoint.name}.")
        given = component.given
        specification = given.get("Specification") or given["Specifications"][0]
        base = specification.get("BaseInferenceComponentName")
        if base is not None:
            files = specification.get("Container", {}).get("ArtifactUrl")
            return self._component(endpoint, base)._replace(adapter=name, adapter_files=files)
        if component.state["RuntimeConfig"]["CurrentCopyCount"] == 0:
            raise self._asleep(name)
        variant = given.get("VariantName", "")
        if "ModelName" in specification:
            return _Target(variant, self._model(specification["ModelName"]))
        return _Target(variant, specification["Container"])

    def _asleep(self, name: str) -> _RuntimeError:
        """Return what a request to a component without copies gets, and count it as the service does."""
        cloudwatch = cloudwatch_backends[self.current_account][self.region]
        if isinstance(cloudwatch, LocalCloudWatchBackend):
            cloudwatch.hear_of("NoCapacityInvocationFailures", {"InferenceComponentName": name})
        return _invalid(
            "Inference Component has no capacity to process this request. ApplicationAutoScaling may "
            "be in-progress (if configured) or try to increase the capacity by invoking "
            "UpdateInferenceComponentRuntimeConfig API."
        )

    def _model(self, name: str) -> dict[str, Any]:
        model = self._sagemaker.find(MODEL, name)
        if model is None:
            raise _invalid(f"Model {name} was deleted.")
        container: dict[str, Any] = (
            model.given.get("PrimaryContainer") or model.given["Containers"][0]
        )
        return container

    def _successful(self, reply: Reply) -> Reply:
        """Return a reply with a good status, or raise what a client sees of a bad one."""
        if reply.status < 400:
            return reply
        text = reply.read().decode(errors="replace")
        side = "client" if reply.status < 500 else "server"
        group = f"/aws/sagemaker/Endpoints/{self._endpoint.name}"
        raise _RuntimeError(
            "ModelError",
            424,
            Message=f'Received {side} error ({reply.status}) from primary with message "{text}".',
            OriginalStatusCode=reply.status,
            OriginalMessage=text,
            LogStreamArn=f"arn:aws:logs:{self.region}:{self.current_account}:log-group:{group}",
        )

    def _async_output(self) -> dict[str, Any]:
        config = self._sagemaker.get(
            ENDPOINT_CONFIG, self._endpoint.given["EndpointConfigName"]
        ).given
        output = config.get("AsyncInferenceConfig", {}).get("OutputConfig", {})
        if "S3OutputPath" not in output:
            raise _invalid(
                f"Endpoint {self._endpoint.name} has no AsyncInferenceConfig with an S3OutputPath."
            )
        return cast("dict[str, Any]", output)

    def _async_input(self) -> bytes:
        location = self.headers.get(f"{HEADER}-InputLocation")
        if location is None:
            return cast("bytes", self.body)
        bucket, key = _bucket_and_key(location)
        found = self._s3.get_object(bucket, key)
        if found is None:
            raise _invalid(f"There is no object at {location}.")
        return cast("bytes", found.value)


def _invalid(message: str) -> _RuntimeError:
    return _RuntimeError("ValidationError", 400, Message=message)


def _error(error: _RuntimeError) -> Answer:
    headers = {
        "status": error.status,
        "x-amzn-ErrorType": error.code,
        "Content-Type": "application/json",
    }
    return error.status, headers, json.dumps(error.members)


def _ok(headers: dict[str, Any], variant: str, body: Any) -> Answer:
    return 200, {**headers, "x-Amzn-Invoked-Production-Variant": variant}, body


def _framed(chunks: Iterable[bytes]) -> Iterator[bytes]:
    headers = {
        ":message-type": "event",
        ":event-type": "PayloadPart",
        ":content-type": "application/octet-stream",
    }
    encoder = EventStreamEncoder()
    for chunk in chunks:
        yield encoder.encode_message(headers, chunk)


def _deployed_with(target: _Target) -> str:
    container = target.container
    source = container.get("ModelDataSource", {}).get("S3DataSource", {}).get("S3Uri")
    environment = container.get("Environment", {})
    data = (
        source
        or container.get("ModelDataUrl")
        or container.get("ArtifactUrl")
        or environment.get("HF_MODEL_ID")
        or "none"
    )
    adapter = f", adapter {target.adapter_files}" if target.adapter else ""
    return f"model data {data}{adapter} and image {container.get('Image', 'none')}"


def _bucket_and_key(uri: str) -> tuple[str, str]:
    bucket, _, key = uri.removeprefix("s3://").partition("/")
    return bucket, key

"""`LocalAws`: a local AWS in this process, good enough to deploy LLM endpoints on."""

from __future__ import annotations

import logging
import os
import socket
import threading
from contextlib import ExitStack, closing, contextmanager
from typing import TYPE_CHECKING, Any
from urllib.request import getproxies_environment

from moto.core.base_backend import BackendDict
from moto.moto_server.werkzeug_app import (
    DomainDispatcherApplication,
    MotoRequestHandler,
    create_backend_app,
)
from moto.sagemaker.models import sagemaker_backends
from werkzeug.serving import make_server

from lmi_constructs._near_names import did_you_mean
from lmi_constructs.local import clients
from lmi_constructs.local.engines import Engine, ForwardingEngine, StubEngine
from lmi_constructs.local.errors import LocalAwsError
from lmi_constructs.local.extensions import extensions

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import TracebackType

DEFAULT_REGION = "us-east-1"
HOST = "localhost"
"""Moto reads the bucket out of an S3 address that names an IP address wrongly: use the name."""

ADDRESS = "127.0.0.1"

_WAITING_CONNECTIONS = 128
"""Connections that may wait to be taken: werkzeug's own number (`LISTEN_QUEUE`, 3.1)."""

_POLL_SECONDS = 0.05
"""How often the server looks whether it is to stop."""

_running = threading.Lock()
"""moto keeps its state in the process: one local AWS at a time."""


class LocalAws:
    """A local AWS with complete SageMaker hosting, CloudFormation that rolls back, and invocation.

    Everything is served at one address and forgotten at the end. No account, no credentials and no
    network are used, and no model runs unless an engine is named.

    Example:
        ```python
        with LocalAws() as aws:
            aws.client("sagemaker").list_endpoints()
        ```

    Args:
        port: Port to serve at. Default: a free one, as for 0.
        engine: What answers invocations: address of a server that takes `POST /invocations`, an
            `Engine`, or by default a stub that says that no model ran.
        region: Region of `client` and `environment`; other regions work too.
    """

    def __init__(
        self,
        port: int | None = None,
        *,
        engine: str | Engine | None = None,
        region: str = DEFAULT_REGION,
    ) -> None:
        self.region = region
        self._wanted_port = port
        self._engine: Engine = (
            ForwardingEngine(engine) if isinstance(engine, str) else engine or StubEngine()
        )
        self._stack = ExitStack()
        self._port = 0

    @property
    def endpoint_url(self) -> str:
        """Address for `AWS_ENDPOINT_URL`."""
        return f"http://{HOST}:{self._port}"

    def environment(self) -> dict[str, str]:
        """Return the variables that make an AWS tool talk to this local AWS and nothing else."""
        return {
            "AWS_ENDPOINT_URL": self.endpoint_url,
            "AWS_ACCESS_KEY_ID": clients.ACCESS_KEY,
            "AWS_SECRET_ACCESS_KEY": clients.SECRET_KEY,
            "AWS_REGION": self.region,
            "AWS_DEFAULT_REGION": self.region,
            "AWS_EC2_METADATA_DISABLED": "true",
            "AWS_CONFIG_FILE": os.devnull,
            "AWS_SHARED_CREDENTIALS_FILE": os.devnull,
            "CDK_DEFAULT_ACCOUNT": clients.ACCOUNT_ID,
            "CDK_DEFAULT_REGION": self.region,
            **_past_proxies(),
        }

    def client(self, service: str, region: str | None = None) -> Any:
        """Return a boto3 client of this local AWS.

        Args:
            service: boto3's name of the service, such as `sagemaker`.
            region: Another region than the local AWS's own.
        """
        return clients.client(service, endpoint_url=self.endpoint_url, region=region or self.region)

    def start(self) -> LocalAws:
        """Serve until `stop`.

        Raises:
            LocalAwsError: If the port is taken, the region is none, or another local AWS runs in this
                process.
        """
        _require_region(self.region)
        if not _running.acquire(blocking=False):
            raise LocalAwsError(
                "a local AWS runs in this process already, and all of a process share one state; "
                "stop it first, or use its endpoint_url"
            )
        self._stack.callback(_running.release)
        try:
            listener = self._stack.enter_context(closing(_listening(self._wanted_port or 0)))
            self._port = int(listener.getsockname()[1])
            self._stack.enter_context(_quiet_log())
            self._stack.enter_context(extensions(self.endpoint_url, self._engine))
            self._stack.enter_context(_serving(listener))
        except BaseException:
            self._stack.close()
            raise
        return self

    def stop(self) -> None:
        """Stop serving and forget everything."""
        self._stack.close()

    def reset(self) -> None:
        """Forget everything that was created, and go on serving."""
        BackendDict.reset()

    def __enter__(self) -> LocalAws:
        """Start serving."""
        return self.start()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """Stop serving."""
        self.stop()


@contextmanager
def _quiet_log() -> Iterator[None]:
    """Keep one line for every request out of the user's terminal."""
    logger = logging.getLogger("werkzeug")
    level = logger.level
    logger.setLevel(logging.ERROR)
    try:
        yield
    finally:
        logger.setLevel(level)


def _require_region(region: str) -> None:
    known = sagemaker_backends[clients.ACCOUNT_ID].regions
    if region in known:
        return
    hint = did_you_mean(region, known, f"use one of {', '.join(sorted(known))}")
    raise LocalAwsError(f"no region {region!r} is known; {hint}")


def _past_proxies() -> dict[str, str]:
    """Return what keeps the user's proxy from being asked for this machine; nothing without one."""
    if not getproxies_environment():
        return {}
    hosts = os.environ.get("no_proxy") or os.environ.get("NO_PROXY")
    excepted = f"{hosts},{HOST}" if hosts else HOST
    return {"NO_PROXY": excepted, "no_proxy": excepted}  # tools read one or the other


def _listening(port: int) -> socket.socket:
    """Return a socket that listens at a port, or at a free one for 0.

    Raises:
        LocalAwsError: If the port is taken, or not for this user to take.
    """
    listener = socket.socket()
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((ADDRESS, port))
        listener.listen(_WAITING_CONNECTIONS)
    except OSError as error:
        listener.close()
        raise LocalAwsError(
            f"the local AWS cannot listen at port {port}: {error.strerror}; name another "
            "port, or 0 to have a free one chosen"
        ) from error
    return listener


@contextmanager
def _serving(listener: socket.socket) -> Iterator[None]:
    """Answer what comes in at a socket, each connection in a thread of its own.

    Moto's own `ThreadedMotoServer` opens the port in its thread, and waits for ever where that fails.
    """
    server = make_server(
        ADDRESS,
        listener.getsockname()[1],
        DomainDispatcherApplication(create_backend_app),
        threaded=True,
        request_handler=MotoRequestHandler,
        fd=listener.fileno(),
    )
    thread = threading.Thread(target=server.serve_forever, args=(_POLL_SECONDS,), daemon=True)
    thread.start()
    try:
        yield
    finally:
        server.shutdown()
        thread.join()

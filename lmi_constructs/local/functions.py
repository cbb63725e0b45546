"""Custom resources whose Python functions really run, in a process of their own.

moto runs Lambda functions in Docker. Here the function's archive is unpacked and its handler called
by this Python, with the local AWS as its AWS. Functions in other languages (the CDK's own helpers
are written for Node) are taken to have succeeded without having run.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import threading
import uuid
import zipfile
from http.server import BaseHTTPRequestHandler, HTTPServer
from io import BytesIO
from pathlib import Path
from typing import Any

from moto.awslambda.utils import get_backend
from moto.core.common_models import CloudFormationModel

from lmi_constructs.local import clients
from lmi_constructs.local.resources import ApiResource, Properties, ResourceFailure
from lmi_constructs.readable import readable

_RUN = """
import importlib, json, sys
module, _, name = sys.argv[1].rpartition(".")
getattr(importlib.import_module(module), name)(json.load(sys.stdin), None)
"""
_INHERITED = ("PATH", "LANG", "LC_ALL", "SYSTEMROOT")
_LAST_LINES = 3


class LocalCustomResource(CloudFormationModel):
    """A custom resource: its function is told, and says whether it worked."""

    def __init__(self, told: Properties, answer: Properties) -> None:
        self.told = told
        self.answer = answer

    @property
    def physical_resource_id(self) -> str:
        """What `Ref` returns."""
        return str(self.answer.get("PhysicalResourceId") or self.told["LogicalResourceId"])

    @staticmethod
    def cloudformation_name_type() -> str:
        """Custom resources have no name property."""
        return ""

    @staticmethod
    def cloudformation_type() -> str:
        """Custom resources are found by their prefix."""
        return "Custom::"

    @classmethod
    def has_cfn_attr(cls, attr: str) -> bool:
        """Return True: what there is to get is known when the function has answered."""
        del attr
        return True

    def get_cfn_attribute(self, attribute_name: str) -> Any:
        """Return what the function has answered."""
        return self.answer.get("Data", {}).get(attribute_name)

    def is_created(self) -> bool:
        """Return True: the function has answered."""
        return True

    @classmethod
    def create_from_cloudformation_json(
        cls,
        resource_name: str,
        cloudformation_json: Properties,
        account_id: str,
        region_name: str,
        **kwargs: Any,
    ) -> LocalCustomResource:
        """Tell the function to create.

        Raises:
            ResourceFailure: If it says that it failed, or says nothing.
        """
        told = {
            "RequestType": "Create",
            "StackId": kwargs["StackId"],
            "LogicalResourceId": kwargs["LogicalId"],
            "ResourceType": kwargs["ResourceType"],
            "ResourceProperties": _as_text(cloudformation_json["Properties"]),
        }
        return cls(told, _run(told, account_id, region_name))

    @classmethod
    def update_from_cloudformation_json(
        cls,
        original_resource: Any,
        new_resource_name: str,
        cloudformation_json: Properties,
        account_id: str,
        region_name: str,
    ) -> LocalCustomResource:
        """Tell the function to update.

        Raises:
            ResourceFailure: If it says that it failed, or says nothing.
        """
        told = {
            **original_resource.told,
            "RequestType": "Update",
            "PhysicalResourceId": original_resource.physical_resource_id,
            "OldResourceProperties": original_resource.told["ResourceProperties"],
            "ResourceProperties": _as_text(cloudformation_json["Properties"]),
        }
        return cls(told, _run(told, account_id, region_name))

    @classmethod
    def delete_from_cloudformation_json(
        cls,
        resource_name: str,
        cloudformation_json: Properties,
        account_id: str,
        region_name: str,
    ) -> None:
        """Not used: a resource deletes itself (`delete`)."""

    def delete(self, account_id: str, region_name: str) -> None:
        """Tell the function to delete.

        Raises:
            ResourceFailure: If it says that it failed, or says nothing.
        """
        told = {
            **self.told,
            "RequestType": "Delete",
            "PhysicalResourceId": self.physical_resource_id,
        }
        _run(told, account_id, region_name)


def _as_text(value: Any) -> Any:
    """Return properties as a function gets them: CloudFormation makes text of every scalar."""
    if isinstance(value, dict):
        return {name: _as_text(item) for name, item in value.items()}
    if isinstance(value, list):
        return [_as_text(item) for item in value]
    if isinstance(value, bool):
        return str(value).lower()
    return str(value)


def _run(told: Properties, account_id: str, region_name: str) -> Properties:
    """Call the function, and return its answer.

    Raises:
        ResourceFailure: If it says that it failed, or says nothing.
    """
    function = get_backend(account_id, region_name).get_function(
        told["ResourceProperties"]["ServiceToken"]
    )
    if not str(function.run_time).startswith("python"):
        return {}
    with tempfile.TemporaryDirectory() as folder, _Listener() as listener:
        with zipfile.ZipFile(BytesIO(function.code_bytes)) as archive:
            archive.extractall(folder)
        event = {
            **told,
            "RequestId": str(uuid.uuid4()),
            "ResponseURL": listener.url,
            "ServiceToken": told["ResourceProperties"]["ServiceToken"],
        }
        command = [sys.executable, "-c", _RUN, str(function.handler)]
        try:
            done = subprocess.run(  # noqa: S603
                command,
                cwd=Path(folder),
                env=_environment(function.environment_vars, folder, region_name),
                input=json.dumps(event),
                capture_output=True,
                text=True,
                timeout=float(function.timeout),
                check=False,
            )
        except subprocess.TimeoutExpired as error:
            raise ResourceFailure(
                f"The function took longer than {readable(error.timeout)} s."
            ) from error
    if listener.answer is None:
        said = " ".join(done.stderr.strip().splitlines()[-_LAST_LINES:])
        raise ResourceFailure(f"The function did not answer. {said}")
    if listener.answer.get("Status") != "SUCCESS":
        raise ResourceFailure(
            f"Received response status [FAILED] from custom resource. Message returned: "
            f"{listener.answer.get('Reason')}"
        )
    return listener.answer


def _environment(own: dict[str, str], folder: str, region_name: str) -> dict[str, str]:
    """Return the variables of a function, whose AWS is the local one."""
    inherited = {name: os.environ[name] for name in _INHERITED if name in os.environ}
    return {
        **inherited,
        **own,
        "PYTHONPATH": folder,
        "AWS_REGION": region_name,
        "AWS_DEFAULT_REGION": region_name,
        "AWS_ENDPOINT_URL": ApiResource.endpoint_url,
        "AWS_ACCESS_KEY_ID": clients.ACCESS_KEY,
        "AWS_SECRET_ACCESS_KEY": clients.SECRET_KEY,
    }


class _Listener:
    """The address that a function puts its answer to."""

    def __init__(self) -> None:
        self.answer: Properties | None = None
        listener = self

        class Handler(BaseHTTPRequestHandler):
            def do_PUT(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                listener.answer = json.loads(body)
                self.send_response(200)
                self.end_headers()

            def log_message(self, *_: object) -> None:
                """Say nothing."""

        self._server = HTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_port}/"

    def __enter__(self) -> _Listener:
        threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()

"""A local folder as model data: packed into the same archive for the same files."""

from __future__ import annotations

import gzip
import tarfile
import tempfile
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING

from lmi_constructs.container.serving_properties import read_serving_properties
from lmi_constructs.findings import Finding, LmiError
from lmi_constructs.hosting._permissions import Permission
from lmi_constructs.hosting.model_data import MOUNT_PATH, BoundModelData, ModelData, s3_source
from lmi_constructs.hosting.s3_location import S3Location

if TYPE_CHECKING:
    from constructs import Construct

    from lmi_constructs.hosting._stack_environment import StackEnvironment
    from lmi_constructs.planner import Architecture

_PROPERTIES_FILE = "serving.properties"
_MODEL_KEY = "option.model_id"


@dataclass(frozen=True, slots=True)
class ModelBundle(ModelData):
    """A folder that is packed at synth.

    Attributes:
        folder: The folder.
        model_location: Prefix that the container downloads with its own role at start, if any.
        needs_network: Whether the bundle names a model that is not in it.
        serving_properties: Text of its `serving.properties`, if it has one.
        architecture: The model for the memory plan.
    """

    folder: Path
    model_location: S3Location | None
    needs_network: bool
    serving_properties: str | None
    architecture: Architecture | str | None

    @classmethod
    def read(
        cls,
        path: str | Path,
        model_location: S3Location | None,
        architecture: Architecture | str | None,
    ) -> ModelBundle:
        """Return the bundle of a folder, and find out where its model is."""
        folder = Path(path)
        if not any(child.is_file() for child in folder.rglob("*")):
            raise LmiError(
                Finding(
                    rule="LMI028",
                    message=f"{str(path)!r} is not a folder with files in it",
                    why="SageMaker would mount nothing, and the container would find no model",
                    fix="give the folder that holds config.json and the weights, or at least"
                    " serving.properties",
                    where="model_data",
                )
            )
        properties_file = folder / _PROPERTIES_FILE
        properties = _text_of(properties_file) if properties_file.is_file() else None
        model_id = _named_model(properties)
        elsewhere = model_id is not None and not model_id.startswith(MOUNT_PATH)
        if model_location is None and model_id is not None and model_id.startswith("s3://"):
            bucket, _, prefix = model_id.removeprefix("s3://").partition("/")
            model_location = S3Location(bucket, prefix)
        is_hub_id = elsewhere and model_location is None
        return cls(
            folder=folder,
            model_location=model_location,
            needs_network=elsewhere,
            serving_properties=properties,
            architecture=architecture or (model_id if is_hub_id else None),
        )

    def bind(self, scope: Construct, env: StackEnvironment) -> BoundModelData:
        """Upload the archive, and let the role read exactly this object."""
        from aws_cdk import aws_s3_assets as assets

        with tempfile.TemporaryDirectory() as scratch:
            archive = Path(scratch) / "model.tar.gz"
            archive.write_bytes(pack(self.folder))
            asset = assets.Asset(scope, "ModelBundle", path=str(archive))
        bucket_arn = env.bucket_arn(asset.s3_bucket_name)
        permissions = [Permission(("s3:GetObject",), (f"{bucket_arn}/{asset.s3_object_key}",))]
        if self.model_location is not None:
            permissions += self.model_location.read_permissions(env)
        return BoundModelData(
            model_data_source=s3_source(asset.s3_object_url, "S3Object", "Gzip"),
            permissions=tuple(permissions),
            needs_network=self.needs_network,
            serving_properties=self.serving_properties,
        )


def pack(folder: Path) -> bytes:
    """Return a `.tar.gz` of a folder that depends on nothing but names and contents of its files."""
    buffer = BytesIO()
    with (
        gzip.GzipFile(fileobj=buffer, mode="wb", filename="", mtime=0) as packed,
        tarfile.open(fileobj=packed, mode="w", format=tarfile.PAX_FORMAT) as archive,
    ):
        for file in sorted(path for path in folder.rglob("*") if path.is_file()):
            member = tarfile.TarInfo(file.relative_to(folder).as_posix())
            content = file.read_bytes()
            member.size = len(content)
            member.mode = 0o644
            archive.addfile(member, BytesIO(content))
    return buffer.getvalue()


def _named_model(properties: str | None) -> str | None:
    """Return the model that a `serving.properties` names, `None` if it names none.

    Raises:
        LmiError: If the server could not read the file (LMI011).
    """
    model_id = read_serving_properties(properties).get(_MODEL_KEY)
    return None if model_id is None else str(model_id)


def _text_of(file: Path) -> str:
    try:
        return file.read_text("utf-8")
    except UnicodeDecodeError as error:
        finding = Finding(
            rule="LMI011",
            message=f"{file} is not UTF-8 text: {error.reason} at byte {error.start}",
            why="the settings in it cannot be read, neither here nor with certainty by the server",
            fix="save the file as UTF-8",
            where="serving.properties",
        )
        raise LmiError(finding) from error

"""Where the model's files come from, as a value that binds to a model."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from aws_cdk import aws_sagemaker as sagemaker

from lmi_constructs.findings import Finding, raise_errors
from lmi_constructs.hosting._cdk_tokens import is_token
from lmi_constructs.hosting._kinds import Kind, check_kinds, needed, text
from lmi_constructs.hosting.s3_location import S3Location

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from aws_cdk import aws_kms as kms
    from aws_cdk import aws_s3 as s3
    from aws_cdk import aws_secretsmanager as secretsmanager
    from constructs import Construct

    from lmi_constructs.hosting._permissions import Permission
    from lmi_constructs.hosting._stack_environment import StackEnvironment
    from lmi_constructs.planner import Architecture

MOUNT_PATH = "/opt/ml/model"
"""Where SageMaker places model data in the container."""

_FIELDS = {
    "architecture": Kind(
        'give a hub id, such as "Qwen/Qwen3-8B", or an Architecture', (str,), has="known"
    ),
    "serving_properties": text("option.model_id=..."),
    "model_id": needed(text("Qwen/Qwen3-8B")),
    "revision": text("main"),
    "token": Kind("give a secret: Secret.from_secret_name_v2(stack, id, name)", has="secret_arn"),
    "token_field": text("token"),
    "path": Kind('give a folder, such as "bundle"', (str,), has="__fspath__", required=True),
    "model_location": Kind("use S3Location(bucket, prefix)", (S3Location,)),
}
_HUB_ID = re.compile(r"[A-Za-z0-9][\w.-]*/[A-Za-z0-9][\w.-]*", re.ASCII)


@dataclass(frozen=True, slots=True)
class BoundModelData:
    """What a model renders for its data.

    Attributes:
        model_data_source: Data in S3 that SageMaker mounts.
        environment: Variables that name the model to the container.
        permissions: What the execution role needs for exactly this data.
        needs_network: Whether the container itself downloads something at start.
        serving_properties: Text of the file in the data, where it is known at synth.
    """

    model_data_source: sagemaker.CfnModel.ModelDataSourceProperty | None = None
    environment: Mapping[str, str] = field(default_factory=dict)
    permissions: tuple[Permission, ...] = ()
    needs_network: bool = False
    serving_properties: str | None = None

    @property
    def is_mounted(self) -> bool:
        """Whether SageMaker places files at `/opt/ml/model`."""
        return self.model_data_source is not None


class ModelData(ABC):
    """Where the model's files come from.

    Make one with [`s3_prefix`][] (recommended), [`hub`][] or [`from_asset`][]. Values are frozen
    and may be used by several models; each model grants its own role exactly what it reads.
    """

    __slots__ = ()
    architecture: Architecture | str | None

    @staticmethod
    def s3_prefix(
        bucket: s3.IBucket | str,
        prefix: str,
        *,
        encryption_key: kms.IKey | None = None,
        architecture: Architecture | str | None = None,
        serving_properties: str | None = None,
    ) -> ModelData:
        """Return uncompressed files under an S3 prefix, mounted at `/opt/ml/model`.

        SageMaker fetches them, so the container needs no network. Everything under the prefix is
        downloaded: leave out copies in other formats (`original/`, `metal/`). Do not make folders
        in the S3 console: the empty objects it creates for them make the deployment fail.

        Args:
            bucket: The bucket, or the name of one.
            prefix: Prefix of the files, with exactly one trailing slash and none in front, such as
                `gpt-oss-120b/`. Empty for a whole bucket.
            encryption_key: Key of the objects. Default: the key the bucket was given, if any.
            architecture: The model, as its hub id or as an `Architecture`, for the memory plan.
                Default: unknown, nothing is planned.
            serving_properties: Text of the `serving.properties` among the files, so that what it
                says is checked and planned as settings are. Default: there is none.

        Raises:
            LmiError: If the prefix could not be mounted (LMI020, LMI021) or the bucket's name is none
                (LMI025).
        """
        keywords = {"architecture": architecture, "serving_properties": serving_properties}
        raise_errors(check_kinds(keywords, _FIELDS))
        location = S3Location(bucket, prefix, encryption_key)
        return _S3Prefix(location, architecture, serving_properties)

    @staticmethod
    def hub(
        model_id: str,
        *,
        revision: str | None = None,
        token: secretsmanager.ISecret | None = None,
        token_field: str | None = None,
        architecture: Architecture | str | None = None,
    ) -> ModelData:
        """Return a model of the Hugging Face hub, downloaded by the container at each start.

        The container needs the network for it, and each new instance downloads everything again:
        prefer [`s3_prefix`][] in production.

        Args:
            model_id: Hub id, such as `Qwen/Qwen3-8B`.
            revision: Commit or tag. Default: whatever is newest at each start.
            token: Secret with an access token, for gated models. CloudFormation resolves it into
                the container's environment, so anyone with `sagemaker:DescribeModel` can read it
                there. Use a read-only token of its own, or copy the model to S3 instead.
            token_field: Field of the secret, if it is JSON.
            architecture: The model for the memory plan. Default: the hub id.

        Raises:
            LmiError: If the id is not one (LMI027) or the token is plain text (LMI006).
        """
        keywords = {"model_id": model_id, "revision": revision, "token_field": token_field}
        raise_errors(check_kinds({**keywords, "architecture": architecture}, _FIELDS))
        raise_errors([*_check_hub_id(model_id), *_check_token(token)])
        return _HubModel(model_id, revision, token, token_field, architecture or model_id)

    @staticmethod
    def from_asset(
        path: str | Path,
        *,
        model_location: S3Location | None = None,
        architecture: Architecture | str | None = None,
    ) -> ModelData:
        """Return a local folder: a small model, or a bundle of `serving.properties` and code.

        The folder is packed into one gzipped tar archive at synth, always the same bytes for the
        same files, uploaded as a CDK asset and unpacked by SageMaker at `/opt/ml/model`. (A CDK
        folder asset would be a zip, which SageMaker cannot mount; copying the files with a bucket
        deployment would add a function, a role and a custom resource. It is named as an `S3Object`
        of type `Gzip`, not as `ModelDataUrl`, which wants a `.tar.gz` suffix that CDK's assets do
        not keep.)

        Args:
            path: The folder. Its files become those under `/opt/ml/model`.
            model_location: Prefix that the bundle's `option.model_id` names, so that the role may
                read it. Default: read from the file where it is an `s3://` address.
            architecture: The model for the memory plan. Default: unknown, nothing is planned.

        Raises:
            LmiError: If there is no such folder, or nothing is in it (LMI028).
        """
        from lmi_constructs.hosting._model_bundle import ModelBundle

        keywords = {"path": path, "model_location": model_location, "architecture": architecture}
        raise_errors(check_kinds(keywords, _FIELDS))
        return ModelBundle.read(path, model_location, architecture)

    def of_model(self, architecture: Architecture | str) -> ModelData:
        """Return the same data, said to be a model's unless it says already whose it is.

        Args:
            architecture: The model, as its hub id or as an `Architecture`, for the memory plan.
        """
        if self.architecture is not None:
            return self
        return replace(self, architecture=architecture)  # type: ignore[type-var]

    @abstractmethod
    def bind(self, scope: Construct, env: StackEnvironment) -> BoundModelData:
        """Return what a model renders for this data."""


@dataclass(frozen=True, slots=True)
class _S3Prefix(ModelData):
    location: S3Location
    architecture: Architecture | str | None = None
    serving_properties: str | None = None

    def bind(self, scope: Construct, env: StackEnvironment) -> BoundModelData:
        return BoundModelData(
            model_data_source=s3_source(self.location.uri, "S3Prefix", "None"),
            permissions=self.location.read_permissions(env),
            serving_properties=self.serving_properties,
        )


@dataclass(frozen=True, slots=True)
class _HubModel(ModelData):
    model_id: str
    revision: str | None
    token: secretsmanager.ISecret | None
    token_field: str | None
    architecture: Architecture | str | None

    def bind(self, scope: Construct, env: StackEnvironment) -> BoundModelData:
        environment = {"HF_MODEL_ID": self.model_id}
        if self.revision is not None:
            environment["HF_REVISION"] = self.revision
        if self.token is not None:
            value = (
                self.token.secret_value
                if self.token_field is None
                else self.token.secret_value_from_json(self.token_field)
            )
            environment["HF_TOKEN"] = value.unsafe_unwrap()
        return BoundModelData(environment=environment, needs_network=True)


def s3_source(
    uri: str, data_type: str, compression: str
) -> sagemaker.CfnModel.ModelDataSourceProperty:
    """Return the L1 property of data in S3."""
    return sagemaker.CfnModel.ModelDataSourceProperty(
        s3_data_source=sagemaker.CfnModel.S3DataSourceProperty(
            s3_uri=uri, s3_data_type=data_type, compression_type=compression
        )
    )


def _check_hub_id(model_id: str) -> list[Finding]:
    if is_token(model_id) or _HUB_ID.fullmatch(model_id):
        return []
    fix = "give the id as it stands in the hub's address, such as Qwen/Qwen3-8B"
    if model_id.startswith("s3://"):
        bucket, _, prefix = model_id.removeprefix("s3://").partition("/")
        prefix = prefix.rstrip("/") + "/"
        fix = f"use ModelData.s3_prefix({bucket!r}, {prefix!r}): SageMaker mounts it"
    return [
        Finding(
            rule="LMI027",
            message=f"{model_id!r} is not the id of a hub model",
            why="the container would look for it on the hub and stop",
            fix=fix,
            where="model_data",
        )
    ]


def _check_token(token: object) -> list[Finding]:
    if token is None:
        return []
    if not isinstance(token, str):
        return check_kinds({"token": token}, _FIELDS)
    return [
        Finding(
            rule="LMI006",
            message="the hub token is given as text",
            why="it would stand in the template, in its history and in every synthesized folder",
            fix="store it in Secrets Manager and give the secret: token=Secret.from_secret_name_v2(...)",
            where="token",
        )
    ]

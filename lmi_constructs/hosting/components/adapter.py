"""LoRA adapters that are components of their own, on a component that hosts the base model."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from aws_cdk import aws_sagemaker as sagemaker

from lmi_constructs.checks.plugin import attach_to
from lmi_constructs.findings import raise_errors
from lmi_constructs.hosting._keywords import check_keywords
from lmi_constructs.hosting._kinds import COUNT, Kind, check_fields
from lmi_constructs.hosting._permissions import own_policy
from lmi_constructs.hosting._report_findings import report
from lmi_constructs.hosting._resource_names import check_name, literal_name
from lmi_constructs.hosting._stack_environment import StackEnvironment
from lmi_constructs.hosting.components._checks import (
    check_archive,
    check_base,
    check_environment,
    check_kind_of_base,
    check_rank,
)
from lmi_constructs.hosting.components.component_base import ComponentBase
from lmi_constructs.hosting.s3_location import S3Object

if TYPE_CHECKING:
    from aws_cdk import aws_iam as iam
    from aws_cdk import aws_kms as kms
    from aws_cdk import aws_s3 as s3
    from constructs import Construct, IDependable

    from lmi_constructs.hosting.components.model_component import ModelComponent

_Component = sagemaker.CfnInferenceComponent
_FIELDS = {
    "archive": Kind("use AdapterData.s3_archive(bucket, key)", (S3Object,), required=True),
    "rank": COUNT,
}


@dataclass(frozen=True, slots=True)
class AdapterData:
    """Where an adapter's files come from: one archive, made by `s3_archive`.

    SageMaker takes the files of an adapter component as one `.tar.gz` only, not as a prefix of
    single files; for those see the adapters that lie beside the model, below `adapters/`. A CDK
    asset will not do either, as its key does not end in `.tar.gz`.

    Attributes:
        archive: The archive.
        rank: Rank of the adapter, if it is known.
    """

    archive: S3Object
    rank: int | None = None

    def __post_init__(self) -> None:
        """Refuse what is no archive, and a rank that there cannot be."""
        check_fields(self, _FIELDS)
        raise_errors([*check_archive(self.archive.key), *check_rank(self.rank)])

    @classmethod
    def s3_archive(
        cls,
        bucket: s3.IBucket | str,
        key: str,
        *,
        encryption_key: kms.IKey | None = None,
        rank: int | None = None,
    ) -> AdapterData:
        """Return an archive in S3 that holds `adapter_config.json` and the adapter's weights.

        Args:
            bucket: The bucket, or the name of one.
            key: Key of the archive, such as `adapters/tenant-a.tar.gz`. A new version of an adapter
                needs a new key, or CloudFormation sees no change.
            encryption_key: Key of the object. Default: the key the bucket was given, if any.
            rank: Rank of the adapter (`r` of its `adapter_config.json`), to check it at synth.

        Raises:
            LmiError: If the key is not that of a `.tar.gz` (LMI059), the rank is none (LMI059), or
                the bucket's name is none (LMI025).
        """
        return cls(S3Object(bucket, key, encryption_key), rank)


class LmiAdapter(ComponentBase):
    """A LoRA adapter on a component's model, under a name of its own.

    Requests name it as their component: `LmiClient(...).using(inference_component=...)`.
    Make it by `component.add_adapter(...)`, or here to place it in a stack of its own.

    Attributes:
        resource: The L1 construct.
        base: The component that hosts the model.
        fleet: The endpoint.
        component_name: Name of the adapter's component, known at synth.
    """

    resource: sagemaker.CfnInferenceComponent

    @property
    def served(self) -> str:
        """Address of the archive."""
        return self._data.archive.uri

    def __init__(
        self,
        scope: Construct,
        id: str,
        *,
        base: ModelComponent,
        data: AdapterData,
        component_name: str | None = None,
    ) -> None:
        """Serve an adapter.

        Args:
            scope: Parent.
            id: Id within the parent.
            base: The component that hosts the model.
            data: Where the adapter is.
            component_name: Name that requests give. Default: from the construct's path.

        Raises:
            LmiError: If the container of the base takes no such adapter (LMI059).
        """
        super().__init__(scope, id)
        report(self, check_kind_of_base(base))
        report(self, check_keywords({"base": base, "data": data, "component_name": component_name}))
        report(self, check_name(component_name, "component_name"))
        attach_to(self, scope)
        report(self, [*check_environment(self, base.fleet), *check_base(data.rank, base.resolved)])
        self.base, self.fleet, self._data = base, base.fleet, data
        self.component_name = component_name or literal_name(self)
        archive = data.archive
        self.resource = _Component(
            self,
            "Resource",
            endpoint_name=self.fleet.endpoint_name,
            inference_component_name=self.component_name,
            specification=_Component.InferenceComponentSpecificationProperty(
                base_inference_component_name=base.component_name,
                container=_Component.InferenceComponentContainerSpecificationProperty(
                    artifact_url=archive.uri
                ),
            ),
        )
        self.resource.node.add_dependency(*self._let_read(archive))
        if base.resource is not None:
            self.resource.node.add_dependency(base.resource)

    def _let_read(self, archive: S3Object) -> list[IDependable]:
        """Let the roles read the archive, unless it lies where they may read all adapters.

        Which role fetches an adapter is not published, so both the fleet's and the model's may.
        """
        place = self.base.adapter_location
        if place is not None and archive.is_below(place):
            return []
        roles: list[iam.IRole | None] = [
            self.fleet.role,
            None if self.base.model is None else self.base.model.role,
        ]
        permissions = archive.read_permissions(StackEnvironment.of(self))
        return [
            dependable
            for number, role in enumerate(dict.fromkeys(role for role in roles if role), start=1)
            for dependable in own_policy(self, f"Access{number}", role, permissions)
        ]

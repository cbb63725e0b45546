"""Which image a model runs, as a value that binds to a model."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING

import aws_cdk as cdk

from lmi_constructs.container import LmiContainer
from lmi_constructs.facts import registries
from lmi_constructs.findings import Finding, raise_errors
from lmi_constructs.hosting._cdk_tokens import is_token
from lmi_constructs.hosting._kinds import Kind, check_kinds, needed, text
from lmi_constructs.hosting._permissions import Permission

if TYPE_CHECKING:
    from aws_cdk import aws_ecr as ecr

    from lmi_constructs.hosting._stack_environment import StackEnvironment

_MAPPING_ID = "LmiImageRegistries"
RELEASE = Kind('use LmiContainer.V27, or LmiContainer.of("v27")', (LmiContainer,))
_FIELDS = {
    "container": needed(RELEASE),
    "behaves_like": RELEASE,
    "uri": needed(text("123456789012.dkr.ecr.us-east-1.amazonaws.com/lmi:1")),
    "repository": Kind(
        "give a repository: ecr.Repository.from_repository_name(stack, id, name)",
        has="repository_arn",
        required=True,
    ),
    "tag": needed(text("v27")),
}
_ECR_URI = re.compile(
    r"^(?P<account>\d{12})\.dkr\.ecr(?:-fips)?\.(?P<region>[a-z0-9-]+)\.[a-z0-9.-]+/(?P<repository>[^:@]+)"
)


@dataclass(frozen=True, slots=True)
class BoundImage:
    """What a model renders for its image.

    Attributes:
        uri: Image URI.
        permissions: What the execution role needs to pull exactly this image.
        container: The release the image is, or behaves like; `None` if nothing is known of it.
        findings: What should be said about it.
    """

    uri: str
    permissions: tuple[Permission, ...]
    container: LmiContainer | None
    findings: tuple[Finding, ...] = ()


class ContainerImage(ABC):
    """Which image a model runs.

    Wherever an image is asked for, an `LmiContainer` can be given as it is.
    """

    __slots__ = ()

    @staticmethod
    def from_lmi(container: LmiContainer) -> ContainerImage:
        """Return AWS's own image of a release, from the registry of the stack's region."""
        raise_errors(check_kinds({"container": container}, _FIELDS))
        return _ReleasedImage(container)

    @staticmethod
    def from_ecr_repository(
        repository: ecr.IRepository, tag: str, *, behaves_like: LmiContainer | None = None
    ) -> ContainerImage:
        """Return an image of your own ECR repository.

        Args:
            repository: The repository.
            tag: Tag or digest.
            behaves_like: Release it is built from or copied from. With it, settings are rendered
                and checked as for that release; without it, nothing is known about the image.
        """
        keywords = {"repository": repository, "tag": tag, "behaves_like": behaves_like}
        raise_errors(check_kinds(keywords, _FIELDS))
        return _RepositoryImage(repository, tag, behaves_like)

    @staticmethod
    def from_uri(uri: str, *, behaves_like: LmiContainer | None = None) -> ContainerImage:
        """Return an image by its URI.

        Args:
            uri: Image URI. The pull permission is for exactly its ECR repository.
            behaves_like: Release it is built from or copied from. Default: the release whose
                repository and tag the URI has, if it is one.
        """
        raise_errors(check_kinds({"uri": uri, "behaves_like": behaves_like}, _FIELDS))
        return _AddressedImage(uri, behaves_like or LmiContainer.from_image_uri(uri))

    @abstractmethod
    def bind(self, env: StackEnvironment) -> BoundImage:
        """Return what a model renders for this image."""


@dataclass(frozen=True, slots=True)
class _ReleasedImage(ContainerImage):
    container: LmiContainer

    def bind(self, env: StackEnvironment) -> BoundImage:
        repository = self.container.release.repository
        if env.region_is_known:
            uri = self.container.image_uri(env.region)
            account = registries()[env.region].account
        else:
            account = _account_by_region(env)
            stack = env.stack
            host = f"{account}.dkr.ecr.{env.region}.{stack.url_suffix}"
            uri = f"{host}/{repository}:{self.container.tag}"
        repository_arn = env.arn("ecr", f"repository/{repository}", account=account)
        return BoundImage(uri, _pull_permissions(repository_arn), self.container)


@dataclass(frozen=True, slots=True)
class _RepositoryImage(ContainerImage):
    repository: ecr.IRepository
    tag: str
    behaves_like: LmiContainer | None

    def bind(self, env: StackEnvironment) -> BoundImage:
        uri = self.repository.repository_uri_for_tag_or_digest(self.tag)
        permissions = _pull_permissions(self.repository.repository_arn)
        return BoundImage(uri, permissions, self.behaves_like)


@dataclass(frozen=True, slots=True)
class _AddressedImage(ContainerImage):
    uri: str
    behaves_like: LmiContainer | None

    def bind(self, env: StackEnvironment) -> BoundImage:
        match = None if is_token(self.uri) else _ECR_URI.match(self.uri)
        if match is None:
            return BoundImage(self.uri, (), self.behaves_like, (_unknown_repository(self.uri),))
        repository_arn = (
            f"arn:{env.partition}:ecr:{match['region']}:{match['account']}"
            f":repository/{match['repository']}"
        )
        return BoundImage(self.uri, _pull_permissions(repository_arn), self.behaves_like)


def as_image(image: ContainerImage | LmiContainer | None) -> ContainerImage:
    """Return an image for whatever a model was given; the default release for nothing."""
    if isinstance(image, ContainerImage):
        return image
    return _ReleasedImage(image or LmiContainer.default())


def _account_by_region(env: StackEnvironment) -> str:
    """Return the registry's account for a region that is only known at deploy time."""
    stack = env.stack
    mapping = stack.node.try_find_child(_MAPPING_ID)
    if not isinstance(mapping, cdk.CfnMapping):
        accounts = {region: {"account": row.account} for region, row in registries().items()}
        mapping = cdk.CfnMapping(stack, _MAPPING_ID, mapping=accounts)
    return mapping.find_in_map(env.region, "account")


def _pull_permissions(repository_arn: str) -> tuple[Permission, ...]:
    return (
        Permission(("ecr:GetAuthorizationToken",)),
        Permission(
            (
                "ecr:BatchCheckLayerAvailability",
                "ecr:BatchGetImage",
                "ecr:GetDownloadUrlForLayer",
            ),
            (repository_arn,),
        ),
    )


def _unknown_repository(uri: str) -> Finding:
    return Finding(
        rule="LMI038",
        message=f"the repository of image {uri!r} is not known at synth",
        why="no permission to pull it could be given to the execution role",
        fix="use ContainerImage.from_ecr_repository(...), or give a role that may pull it",
        severity="warning",
        where="container",
    )

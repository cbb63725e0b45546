"""What an endpoint needs around it: image, region, quota, key, role, secret, and a free name."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any, Final

from lmi_constructs.checks.rules.common import image
from lmi_constructs.checks.values import literal, number
from lmi_constructs.facts import instance_types
from lmi_constructs.preflight.account import Missing, NotTold, answers
from lmi_constructs.preflight.outcome import Outcome

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from lmi_constructs.checks.resources import Endpoint, EndpointConfig, Model, Variant
    from lmi_constructs.checks.rules.common import Running
    from lmi_constructs.preflight.account import Account

_SECRET: Final = re.compile(
    r"\{\{resolve:secretsmanager:"
    r"(arn:[^:}\"]*:secretsmanager:[^:}\"]*:[^:}\"]*:secret:[^:}\"]+|(?!arn:)[^:}\"]+)[:}]"
)
"""Name or ARN of a secret in the JSON of a resource; one made of several parts is not known."""


def told(subject: str, check: str, ask: Callable[[], Outcome]) -> Outcome:
    """Return the outcome of a question, unknown if the account does not tell."""
    try:
        return ask()
    except NotTold as silence:
        detail = f"not known: {silence}"
        return Outcome(subject=subject, check=check, status="unknown", detail=detail)


def image_exists(subject: str, run: Running, account: Account) -> Outcome | None:
    """Return whether the image's tag is in its registry; `None` if the image is not known."""
    parts = image(run.container)
    if parts is None:
        return None
    registry, region = literal(parts.account), literal(parts.region)
    repository, tag = literal(parts.repository), literal(parts.tag)
    if not (registry and region and repository and tag):
        return None

    def ask() -> Outcome:
        client = account.client("ecr", region)
        try:
            with answers():
                answer = client.batch_get_image(
                    registryId=registry, repositoryName=repository, imageIds=[{"imageTag": tag}]
                )
        except Missing as missing:
            # A registry of AWS does not show its repositories to everybody.
            raise NotTold(str(missing)) from missing
        if answer.get("images"):
            return Outcome(
                subject=subject, check="image", status="pass", detail=f"{repository}:{tag} exists"
            )
        return Outcome(
            subject=subject,
            check="image",
            status="fail",
            detail=f"{repository} in {registry} has no tag {tag}",
            fix="take a tag that exists: aws ecr describe-images, or another release",
        )

    return told(subject, "image", ask)


def offered(subject: str, variant: Variant, region: str | None) -> Outcome | None:
    """Return whether the instance type is offered in a region, by the shipped facts."""
    kind = instance_types().get(literal(variant.instance_type) or "")
    if kind is None or region is None or not kind.regions:
        return None
    if region in kind.regions:
        detail = f"{kind.name} is offered in {region}"
        return Outcome(subject=subject, check="region", status="pass", detail=detail)
    return Outcome(
        subject=subject,
        check="region",
        status="fail",
        detail=f"{kind.name} is not offered in {region}",
        fix="deploy to one of " + ", ".join(sorted(kind.regions)[:4]),
    )


def quota(subject: str, variant: Variant, account: Account, region: str | None) -> Outcome | None:
    """Return whether the account may run as many instances as the endpoint begins with."""
    name = literal(variant.instance_type)
    if name is None:
        return None
    wanted = number(variant.initial_instance_count) or 1

    def ask() -> Outcome:
        client = account.client("service-quotas", region)
        title = f"{name} for endpoint usage"
        with answers():
            pages = client.get_paginator("list_service_quotas").paginate(ServiceCode="sagemaker")
            found = [
                item["Value"]
                for page in pages
                for item in page["Quotas"]
                if item["QuotaName"] == title
            ]
        if not found:
            raise NotTold(f"there is no quota named {title!r}")
        detail = f"{found[0]:g} instances allowed, {wanted:g} wanted"
        if found[0] >= wanted:
            return Outcome(subject=subject, check="quota", status="pass", detail=detail)
        return Outcome(
            subject=subject,
            check="quota",
            status="fail",
            detail=detail,
            fix=f"ask for more of {title!r} in Service Quotas; it can take days",
        )

    return _or_missing(subject, "quota", ask)


def key_usable(subject: str, config: EndpointConfig, account: Account) -> Outcome | None:
    """Return whether the key of the volumes exists and is enabled."""
    key = literal(config.kms_key)
    if key is None:
        return None

    def ask() -> Outcome:
        client = account.client("kms", config.region)
        try:
            with answers():
                state = client.describe_key(KeyId=key)["KeyMetadata"]["KeyState"]
        except Missing as missing:
            return Outcome(
                subject=subject, check="key", status="fail", detail=str(missing), fix="name a key"
            )
        status: Any = "pass" if state == "Enabled" else "fail"
        fix = "" if status == "pass" else "enable it, or name another key"
        return Outcome(
            subject=subject, check="key", status=status, detail=f"{key} is {state}", fix=fix
        )

    return told(subject, "key", ask)


def secrets(
    subject: str, properties: object, account: Account, region: str | None
) -> Iterator[Outcome]:
    """Yield whether each secret that a resource's properties refer to exists."""
    names = sorted(set(_SECRET.findall(json.dumps(properties, default=str))))
    for name in names:

        def ask(name: str = name) -> Outcome:
            client = account.client("secretsmanager", region)
            try:
                with answers():
                    client.describe_secret(SecretId=name)
            except Missing as missing:
                return Outcome(
                    subject=subject,
                    check="secret",
                    status="fail",
                    detail=f"{name}: {missing}",
                    fix=f"aws secretsmanager create-secret --name {name}",
                )
            return Outcome(subject=subject, check="secret", status="pass", detail=f"{name} exists")

        yield told(subject, "secret", ask)


def role_may_read(subject: str, model: Model, uri: str, account: Account) -> Outcome | None:
    """Return whether a role that exists already may read the model's files.

    A role of the templates themselves is judged by `lmi check`.
    """
    arn = literal(model.role)
    if arn is None or not arn.startswith("arn:"):
        return None
    partition = arn.split(":")[1]
    files = f"arn:{partition}:s3:::{uri.removeprefix('s3://')}config.json"

    def ask() -> Outcome:
        client = account.client("iam")
        try:
            with answers():
                results = client.simulate_principal_policy(
                    PolicySourceArn=arn, ActionNames=["s3:GetObject"], ResourceArns=[files]
                )["EvaluationResults"]
        except Missing as missing:
            return Outcome(
                subject=subject, check="role", status="fail", detail=str(missing), fix="name a role"
            )
        if all(result["EvalDecision"] == "allowed" for result in results):
            detail = f"{arn} may read {uri}"
            return Outcome(subject=subject, check="role", status="pass", detail=detail)
        return Outcome(
            subject=subject,
            check="role",
            status="fail",
            detail=f"{arn} may not read {uri}",
            fix="let it read the prefix, or leave role out so that one is made",
        )

    return told(subject, "role", ask)


def name_is_free(subject: str, endpoint: Endpoint, account: Account) -> Outcome | None:
    """Return whether the endpoint's own name is free, or this very stack's."""
    name = literal(endpoint.name)
    if name is None:
        return None

    def ask() -> Outcome:
        sagemaker = account.client("sagemaker", endpoint.region)
        try:
            with answers():
                arn = sagemaker.describe_endpoint(EndpointName=name)["EndpointArn"]
        except Missing:
            return Outcome(subject=subject, check="name", status="pass", detail=f"{name} is free")
        cloudformation = account.client("cloudformation", endpoint.region)
        try:
            with answers():
                cloudformation.describe_stack_resources(PhysicalResourceId=arn)
        except Missing:
            return Outcome(
                subject=subject,
                check="name",
                status="fail",
                detail=f"an endpoint {name} exists, and no stack has made it",
                fix="leave endpoint_name out, or delete that endpoint",
            )
        return Outcome(
            subject=subject, check="name", status="pass", detail=f"{name} exists in a stack"
        )

    return told(subject, "name", ask)


def _or_missing(subject: str, check: str, ask: Callable[[], Outcome]) -> Outcome:
    """Take what is missing for what is not told, where a missing thing says nothing."""
    try:
        return told(subject, check, ask)
    except Missing as missing:
        return Outcome(subject=subject, check=check, status="unknown", detail=str(missing))

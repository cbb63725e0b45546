"""The CloudFormation type of a secret, such as the hub token of a gated model.

Ref, attributes and create-only properties are those of CloudFormation's provider schemas as bundled
with cfn-lint 1.58.0 (as of 2026-12-01). A dynamic reference to a secret stays the text that it is.
"""

from __future__ import annotations

import json

from moto.secretsmanager.utils import random_password

from lmi_constructs.local.resources import ApiResource, Properties, ResourceFailure
from lmi_constructs.local.shapes import coerce, input_shape

_LENGTH = 32
"""Characters of a password that says nothing else: the schema's GenerateSecretString."""


class Secret(ApiResource):
    """`AWS::SecretsManager::Secret`, given or generated; deleted for good, as all here is."""

    cfn_type = "AWS::SecretsManager::Secret"
    service = "secretsmanager"
    create_operation = "CreateSecret"
    update_operation = "UpdateSecret"
    delete_operation = "DeleteSecret"
    identifiers = ("Name",)
    name_property = "Name"
    ref = "ARN"
    attributes = {"Id": "ARN"}  # noqa: RUF012
    create_only = frozenset({"Name"})
    template_only = frozenset({"GenerateSecretString", "ReplicaRegions"})

    @classmethod
    def create_request(cls, properties: Properties) -> Properties:
        """Return CreateSecret's request, with the value that is to be generated."""
        request = super().create_request(properties)
        if "ReplicaRegions" in properties:
            request["AddReplicaRegions"] = properties["ReplicaRegions"]
        if "GenerateSecretString" in properties:
            request["SecretString"] = _generated(properties["GenerateSecretString"])
        return request

    @classmethod
    def update_request(cls, properties: Properties) -> Properties:
        """Return UpdateSecret's request; what was generated stays."""
        known = ("Description", "KmsKeyId", "SecretString", "Type")
        request = {name: properties[name] for name in known if name in properties}
        return {**request, "SecretId": properties["Name"]}

    @classmethod
    def delete_request(cls, identity: Properties) -> Properties:
        """Return DeleteSecret's request."""
        return {"SecretId": identity["Name"], "ForceDeleteWithoutRecovery": True}

    @classmethod
    def after_update(
        cls, original: ApiResource, updated: ApiResource, account_id: str, region_name: str
    ) -> None:
        """Generate the value anew if that is told otherwise."""
        told = updated.properties.get("GenerateSecretString")
        if told and told != original.properties.get("GenerateSecretString"):
            value = {"SecretId": updated.request["Name"], "SecretString": _generated(told)}
            cls.call("PutSecretValue", value, region_name)


def _generated(told: Properties) -> str:
    """Return a password, alone or in the JSON object that it belongs to."""
    told = dict(told)
    template, key = told.pop("SecretStringTemplate", None), told.pop("GenerateStringKey", None)
    kinds: Properties = coerce(input_shape("secretsmanager", "GetRandomPassword"), told)
    password: str = random_password(
        kinds.get("PasswordLength", _LENGTH),
        kinds.get("ExcludeCharacters", ""),
        kinds.get("ExcludeNumbers", False),
        kinds.get("ExcludePunctuation", False),
        kinds.get("ExcludeUppercase", False),
        kinds.get("ExcludeLowercase", False),
        kinds.get("IncludeSpace", False),
        kinds.get("RequireEachIncludedType", True),
    )
    if (template is None) != (key is None):
        raise ResourceFailure("SecretStringTemplate and GenerateStringKey must be given together")
    if template is None:
        return password
    try:
        return json.dumps({**json.loads(template), key: password})
    except (TypeError, ValueError) as error:
        raise ResourceFailure(f"SecretStringTemplate is no JSON object: {error}") from error


SECRET_TYPES: tuple[type[ApiResource], ...] = (Secret,)

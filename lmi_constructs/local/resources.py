"""CloudFormation resource types that call the API, as CloudFormation's own handlers do.

A type is a small class of names: the operations that create, update and delete it, and what
identifies it. Requests are the template's properties in the API's types, checked against the API's
model first. moto's own types that are wanting (SageMaker's) are replaced by these.
"""

from __future__ import annotations

import json
from typing import Any, ClassVar

from botocore.exceptions import ClientError
from moto.core.common_models import CloudFormationModel

from lmi_constructs.local import clients
from lmi_constructs.local.shapes import coerce, input_shape, service_model, validation_message

Properties = dict[str, Any]


class ResourceFailure(Exception):  # noqa: N818 (CloudFormation's word for it)
    """A resource could not be created, updated or deleted; the text is the reason."""


class ApiResource(CloudFormationModel):
    """One resource of a stack, made by calling its service's API.

    Attributes:
        cfn_type: Type in a template, such as `AWS::SageMaker::Model`.
        service: botocore's name of the service.
        create_operation: Operation that creates the resource.
        update_operation: Operation that changes it in place, if there is one.
        delete_operation: Operation that deletes it.
        identifiers: Properties that identify the resource to the update and delete operations.
        name_property: Property that carries the name, generated when the template gives none.
        ref: What `Ref` returns: a property or a member of the create operation's answer.
        attributes: What `Fn::GetAtt` knows, each by the property or member that holds it.
        create_only: Properties whose change means a new resource; `None` means all but `Tags`.
        template_only: Properties that are CloudFormation's own and no part of the request.
    """

    endpoint_url: ClassVar[str]

    cfn_type: ClassVar[str] = ""
    service: ClassVar[str]
    create_operation: ClassVar[str]
    update_operation: ClassVar[str | None] = None
    delete_operation: ClassVar[str]
    identifiers: ClassVar[tuple[str, ...]]
    name_property: ClassVar[str] = ""
    ref: ClassVar[str]
    attributes: ClassVar[dict[str, str]] = {}
    create_only: ClassVar[frozenset[str] | None] = None
    template_only: ClassVar[frozenset[str]] = frozenset()

    def __init__(self, properties: Properties, request: Properties, answer: Properties) -> None:
        self.properties = properties
        self.request = request
        self.answer = answer

    @property
    def physical_resource_id(self) -> str:
        """What `Ref` returns."""
        return str(self._value(self.ref))

    def get_cfn_attribute(self, attribute_name: str) -> str:
        """Return what `Fn::GetAtt` returns."""
        return str(self._value(self.attributes[attribute_name]))

    def replaced_by(self, properties: Properties) -> bool:
        """Return whether CloudFormation makes a new resource for these properties."""
        changed = {
            name
            for name in {*self.properties, *properties}
            if self.properties.get(name) != properties.get(name)
        }
        if self.create_only is None:
            return bool(changed - {"Tags"})
        return bool(changed & self.create_only)

    def delete(self, account_id: str, region_name: str) -> None:
        """Delete the resource; one that is gone already is none to complain about."""
        del account_id
        try:
            self.call(self.delete_operation, self.delete_request(self.identity()), region_name)
        except ResourceFailure as failure:
            if not _is_gone(failure):
                raise

    def identity(self) -> Properties:
        """Return what identifies the resource to the operation that deletes it."""
        return {name: self.request[name] for name in self.identifiers}

    @classmethod
    def check_change(cls, original: ApiResource, properties: Properties) -> None:
        """Refuse a change in place that the update operation does not know; here none.

        Raises:
            ResourceFailure: If it is refused.
        """

    @classmethod
    def after_update(
        cls, original: ApiResource, updated: ApiResource, account_id: str, region_name: str
    ) -> None:
        """Do what belongs to a change in place beside the update operation; here nothing.

        Raises:
            ResourceFailure: If the API refuses it.
        """

    @classmethod
    def delete_request(cls, identity: Properties) -> Properties:
        """Return the delete operation's request for a resource."""
        return identity

    @classmethod
    def create_request(cls, properties: Properties) -> Properties:
        """Return the create operation's request for a template's properties."""
        return {name: item for name, item in properties.items() if name not in cls.template_only}

    @classmethod
    def update_request(cls, properties: Properties) -> Properties:
        """Return the update operation's request for a template's properties."""
        return cls.create_request(properties)

    @staticmethod
    def cloudformation_name_type() -> str:
        """Let `ApiResource` name the resource itself, within the API's own limit."""
        return ""

    @classmethod
    def cloudformation_type(cls) -> str:
        """Return the type in a template."""
        return cls.cfn_type

    @classmethod
    def has_cfn_attr(cls, attr: str) -> bool:
        """Return whether `Fn::GetAtt` knows an attribute."""
        return attr in cls.attributes

    @classmethod
    def create_from_cloudformation_json(
        cls,
        resource_name: str,
        cloudformation_json: dict[str, Any],
        account_id: str,
        region_name: str,
        **kwargs: Any,
    ) -> ApiResource:
        """Create the resource; moto's CloudFormation calls this.

        Raises:
            ResourceFailure: If the API refuses it.
        """
        properties = cloudformation_json.get("Properties", {})
        named = dict(properties)
        if cls.name_property:
            named.setdefault(cls.name_property, cls._fitting_name(resource_name))
        request = cls._typed(cls.create_operation, cls.create_request(named))
        return cls(properties, request, cls.call(cls.create_operation, request, region_name))

    @classmethod
    def update_from_cloudformation_json(
        cls,
        original_resource: Any,
        new_resource_name: str,
        cloudformation_json: dict[str, Any],
        account_id: str,
        region_name: str,
    ) -> ApiResource:
        """Change the resource in place; moto's CloudFormation calls this.

        Raises:
            ResourceFailure: If the API refuses it.
        """
        properties = cloudformation_json.get("Properties", {})
        cls.check_change(original_resource, properties)
        identity = {name: original_resource.request[name] for name in cls.identifiers}
        operation = cls.update_operation
        if operation is not None:
            request = cls._typed(operation, cls.update_request({**properties, **identity}))
            cls.call(operation, request, region_name)
        request = {**original_resource.request, **identity}
        updated = cls(properties, request, original_resource.answer)
        cls.after_update(original_resource, updated, account_id, region_name)
        return updated

    @classmethod
    def delete_from_cloudformation_json(
        cls,
        resource_name: str,
        cloudformation_json: dict[str, Any],
        account_id: str,
        region_name: str,
    ) -> None:
        """Not used: a resource deletes itself (`delete`)."""

    def is_created(self) -> bool:
        """Return True: an operation that was answered has been carried out."""
        return True

    @classmethod
    def call(cls, operation: str, request: Properties, region_name: str) -> Properties:
        """Call an operation of the service.

        Raises:
            ResourceFailure: If the request does not fit the API's model or the service refuses it.
        """
        message = validation_message(input_shape(cls.service, operation), request)
        if message:
            raise ResourceFailure(_handler_message(cls.service, message, 400))
        api = clients.client(
            cls.service, endpoint_url=cls.endpoint_url, region=region_name, checked=False
        )
        try:
            answer: Properties = getattr(api, _method(operation))(**request)
        except ClientError as error:
            text = error.response["Error"].get("Message", str(error))
            status = error.response["ResponseMetadata"]["HTTPStatusCode"]
            raise ResourceFailure(_handler_message(cls.service, text, status)) from error
        return answer

    @classmethod
    def _typed(cls, operation: str, request: Properties) -> Properties:
        shape = input_shape(cls.service, operation)
        extraneous = sorted(request.keys() - shape.members.keys())
        if extraneous:
            raise ResourceFailure(
                f"Properties validation failed for resource of type {cls.cfn_type} with message: "
                f"extraneous key [{', '.join(extraneous)}] is not permitted"
            )
        typed: Properties = coerce(shape, request)
        return typed

    @classmethod
    def _fitting_name(cls, generated: str) -> str:
        shape = input_shape(cls.service, cls.create_operation).members[cls.name_property]
        limit = shape.metadata.get("max", len(generated))
        head, _, suffix = generated.rpartition("-")
        return f"{head[: limit - len(suffix) - 1].rstrip('-')}-{suffix}"

    def _value(self, name: str) -> object:
        """Return a member of the answer, or else of the request."""
        return self.answer[name] if name in self.answer else self.request[name]


def _method(operation: str) -> str:
    """Return boto3's method name of an operation."""
    from botocore import xform_name

    return str(xform_name(operation))


def _handler_message(service: str, message: str, status: int) -> str:
    title = service_model(service).metadata["serviceId"].replace(" ", "")
    code = "InvalidRequest" if status < 500 else "GeneralServiceException"
    return (
        f'Resource handler returned message: "{message} (Service: {title}, Status Code: {status})" '
        f"(HandlerErrorCode: {code})"
    )


def _is_gone(failure: ResourceFailure) -> bool:
    text = str(failure)
    return any(words in text for words in ("Could not find", "does not exist", "No scal"))


def text_of(document: object) -> str:
    """Return a policy document as the JSON text that APIs want."""
    return document if isinstance(document, str) else json.dumps(document)

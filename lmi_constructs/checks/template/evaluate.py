"""Evaluating the intrinsic functions of one template, as far as the template alone can tell.

Evaluation is total: every JSON value has a result, cycles and abysses end in `UNKNOWN`. Parameters
count with their defaults, since that is what is deployed unless somebody says otherwise.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final

from lmi_constructs.checks.template.for_each import Loops, has_loops
from lmi_constructs.checks.values import (
    UNKNOWN,
    Reference,
    String,
    Text,
    Unknown,
    as_mapping,
    as_sequence,
    as_string,
    join,
    legible,
    literal,
)
from lmi_constructs.facts.registries import registries

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

_DEEPEST: Final = 80
_MOST_NODES: Final = 500_000
_SUBSTITUTION = re.compile(r"\$\{(!?)([^${}]*)\}")
_NOT_KNOWN_BEFORE_DEPLOYING = re.compile(r"\{\{resolve:[^{}]*\}\}|\$\{Token\[[^\]]*\]\}")
_ABSENT: Final = object()


class Evaluator:
    """Evaluates values of one template.

    Attributes:
        name: Name of the template, unique among those read together.
        region: Region the template is deployed to, if known.
        account: Account the template is deployed to, if known.
        resources: Its resources, those that loops make written out.
        outputs: Its outputs.
        parameters: What it declares of its parameters.
        unread_loops: Names of loops over something that is not known.
    """

    def __init__(
        self,
        template: Mapping[str, Any],
        *,
        name: str,
        region: str | None = None,
        account: str | None = None,
        parameters: Mapping[str, object] | None = None,
        imports: Callable[[str], object] | None = None,
        nested_output: Callable[[str, str], object] | None = None,
    ) -> None:
        """Prepare for a template; nothing is evaluated yet.

        Args:
            template: The parsed template.
            name: Name of the template, unique among those read together.
            region: Region it is deployed to, if known.
            account: Account it is deployed to, if known.
            parameters: Values given to parameters, as a parent stack gives them.
            imports: Finds the value of an export of another template.
            nested_output: Finds an output of a nested stack by its logical id and output name.
        """
        self.name, self.region, self.account = name, region, account
        self.resources = as_mapping(template.get("Resources"))
        self.outputs = as_mapping(template.get("Outputs"))
        self.parameters = as_mapping(template.get("Parameters"))
        self.unread_loops: tuple[str, ...] = ()
        self._conditions = as_mapping(template.get("Conditions"))
        self._mappings = as_mapping(template.get("Mappings"))
        self._given = dict(parameters or {})
        self._imports = imports or (lambda name: UNKNOWN)
        self._nested_output = nested_output or (lambda logical_id, output: UNKNOWN)
        self._truths: dict[str, bool | Unknown] = {}
        self._active: set[str] = set()
        self._depth = 0
        self._nodes = 0
        if has_loops(template):
            self._write_out_loops()

    def _write_out_loops(self) -> None:
        loops = Loops(self.value)
        self._conditions = loops.written_out(self._conditions)
        self.resources = loops.written_out(self.resources)
        self.unread_loops = tuple(loops.unread)
        self.outputs = loops.written_out(self.outputs)

    def value(self, node: object) -> Any:
        """Return the value of any JSON node; `None` if it is absent (`AWS::NoValue`)."""
        result = self._value(node)
        return None if result is _ABSENT else result

    def exists(self, resource: object) -> bool:
        """Tell whether a resource may be created: only a condition known as false denies it."""
        condition = as_mapping(resource).get("Condition")
        return not (isinstance(condition, str) and self.condition(condition) is False)

    def condition(self, name: str) -> bool | Unknown:
        """Return whether a condition holds, by the defaults of the parameters."""
        if name not in self._truths:
            key = f"condition {name}"
            if key in self._active or name not in self._conditions:
                return UNKNOWN
            self._active.add(key)
            self._truths[name] = self._truth(self._conditions[name])
            self._active.discard(key)
        return self._truths[name]

    def type_of(self, logical_id: str) -> str | None:
        """Return the type of a resource, if it is one of this template."""
        return literal(as_mapping(self.resources.get(logical_id)).get("Type"))

    def property_of(self, logical_id: str, name: str) -> Any:
        """Return one evaluated property of a resource."""
        key = f"property {logical_id}.{name}"
        if key in self._active:
            return UNKNOWN
        self._active.add(key)
        properties = as_mapping(as_mapping(self.resources.get(logical_id)).get("Properties"))
        result = self.value(properties.get(name))
        self._active.discard(key)
        return result

    def _value(self, node: object) -> Any:
        self._nodes += 1
        if self._depth > _DEEPEST or self._nodes > _MOST_NODES:
            return UNKNOWN
        self._depth += 1
        try:
            if isinstance(node, dict):
                return self._mapping(node)
            if isinstance(node, list):
                values = (self._value(item) for item in node)
                return [item for item in values if item is not _ABSENT]
            if isinstance(node, str):
                return _dynamic(node)
            if node is None:
                return _ABSENT
            return node if isinstance(node, (bool, int, float, Text, Unknown)) else UNKNOWN
        finally:
            self._depth -= 1

    def _mapping(self, node: dict[Any, Any]) -> Any:
        if len(node) == 1:
            (function,) = node
            intrinsic = _INTRINSICS.get(function) if isinstance(function, str) else None
            if intrinsic is not None:
                return intrinsic(self, node[function])
        if any(isinstance(key, str) and key.startswith("Fn::") for key in node):
            return UNKNOWN
        values = {legible(str(key)): self._value(item) for key, item in node.items()}
        return {key: item for key, item in values.items() if item is not _ABSENT}

    def _ref(self, name: object) -> Any:
        if not isinstance(name, str):
            return UNKNOWN
        if name == "AWS::NoValue":
            return _ABSENT
        if name.startswith("AWS::"):
            return self._pseudo(name)
        if name in self.resources:
            return self._resource(name, "Ref")
        return self._parameter(name)

    def _pseudo(self, name: str) -> Any:
        registry = registries().get(self.region or "")
        known = {
            "AWS::Region": self.region,
            "AWS::AccountId": self.account,
            "AWS::Partition": registry and registry.partition,
            "AWS::URLSuffix": registry and registry.domain,
        }.get(name)
        return known or Text((Reference(self.name, name),))

    def _parameter(self, name: str) -> Any:
        declared = as_mapping(self.parameters.get(name))
        kind = str(declared.get("Type", ""))
        given = self._given.get(name, declared.get("Default"))
        hidden = str(declared.get("NoEcho", "")).lower() == "true"
        if given is None or hidden or kind.startswith("AWS::SSM::"):
            return Text((Reference(self.name, name),))
        is_list = kind.startswith("List<") or kind == "CommaDelimitedList"
        if is_list and isinstance(given, (str, int, float)):
            return [item.strip() for item in str(given).split(",")]
        if name in self._given:
            return given
        return given if isinstance(given, (str, int, float, bool)) else UNKNOWN

    def _get_attribute(self, argument: object) -> Any:
        parts = argument.split(".", 1) if isinstance(argument, str) else argument
        if not isinstance(parts, list) or len(parts) != 2 or not isinstance(parts[0], str):
            return UNKNOWN
        attribute = literal(self._value(parts[1]))
        return UNKNOWN if attribute is None else self._resource(parts[0], attribute)

    def _resource(self, logical_id: str, attribute: str) -> Any:
        """Return what refers to a resource; well-known attributes in terms of one another."""
        kind = self.type_of(logical_id)
        itself = Text((Reference(self.name, logical_id, attribute, resource=True),))
        if kind == "AWS::CloudFormation::Stack" and attribute.startswith("Outputs."):
            return self._nested_output(logical_id, attribute.removeprefix("Outputs."))
        if kind == "AWS::S3::Bucket":
            name = self.property_of(logical_id, "BucketName") if attribute != "Arn" else None
            if attribute == "Ref":
                return name if isinstance(name, str) else itself
            if attribute == "Arn":
                partition = self._pseudo("AWS::Partition")
                return join(["arn:", partition, ":s3:::", self._resource(logical_id, "Ref")])
        if kind == "AWS::ECR::Repository":
            return self._repository(logical_id, attribute, itself)
        return itself

    def _repository(self, logical_id: str, attribute: str, itself: Text) -> String:
        account, region = self._pseudo("AWS::AccountId"), self._pseudo("AWS::Region")
        if attribute == "Ref":
            name = self.property_of(logical_id, "RepositoryName")
            return name if isinstance(name, str) else itself
        name = self._resource(logical_id, "Ref")
        if attribute == "Arn":
            partition = self._pseudo("AWS::Partition")
            return join(["arn:", partition, ":ecr:", region, ":", account, ":repository/", name])
        if attribute == "RepositoryUri":
            suffix = self._pseudo("AWS::URLSuffix")
            return join([account, ".dkr.ecr.", region, ".", suffix, "/", name])
        return itself

    def _sub(self, argument: object) -> Any:
        text = argument
        names: Mapping[str, Any] = {}
        if isinstance(argument, list) and len(argument) == 2:
            text, names = argument[0], as_mapping(argument[1])
        if not isinstance(text, str):
            return UNKNOWN
        parts: list[object] = []
        position = 0
        for match in _SUBSTITUTION.finditer(text):
            parts.append(_dynamic(text[position : match.start()]))
            parts.append(self._substituted(match, names))
            position = match.end()
        return _dynamic_again(join([*parts, _dynamic(text[position:])]))

    def _substituted(self, match: re.Match[str], names: Mapping[str, Any]) -> object:
        escaped, name = match[1], match[2].strip()
        if escaped:
            return "${" + match[2] + "}"
        if name in names:
            return _or_unknown(self._value(names[name]))
        found = self._get_attribute(name) if "." in name else self._ref(name)
        return _or_unknown(found)

    def _join(self, argument: object) -> Any:
        if not isinstance(argument, list) or len(argument) != 2:
            return UNKNOWN
        separator, items = literal(argument[0]), self._value(argument[1])
        if separator is None or not isinstance(items, list):
            return UNKNOWN
        parts: list[object] = []
        for item in items:
            parts.extend([separator, item] if parts else [item])
        return _dynamic_again(join(parts))

    def _select(self, argument: object) -> Any:
        if not isinstance(argument, list) or len(argument) != 2:
            return UNKNOWN
        index, items = as_string(self._value(argument[0])), self._value(argument[1])
        if not isinstance(index, str) or not index.isdecimal() or not isinstance(items, list):
            return UNKNOWN
        return items[int(index)] if len(index) < 6 and int(index) < len(items) else UNKNOWN

    def _split(self, argument: object) -> Any:
        if not isinstance(argument, list) or len(argument) != 2:
            return UNKNOWN
        separator, text = literal(argument[0]), literal(self._value(argument[1]))
        return text.split(separator) if separator and text is not None else UNKNOWN

    def _find_in_map(self, argument: object) -> Any:
        if not isinstance(argument, list) or len(argument) not in (3, 4):
            return UNKNOWN
        keys = [self._value(key) for key in argument[:3]]
        found: object = self._mappings
        for key in keys:
            if not isinstance(key, (str, int)):
                return UNKNOWN
            found = as_mapping(found).get(str(key), _ABSENT)
        if found is not _ABSENT:
            return self._value(found)
        default = as_mapping(argument[3]).get("DefaultValue") if len(argument) == 4 else None
        return UNKNOWN if default is None else self._value(default)

    def _if(self, argument: object) -> Any:
        if not isinstance(argument, list) or len(argument) != 3:
            return UNKNOWN
        name = argument[0]
        holds = self.condition(name) if isinstance(name, str) else UNKNOWN
        if holds is not UNKNOWN:
            return self._value(argument[1] if holds else argument[2])
        then, otherwise = self._value(argument[1]), self._value(argument[2])
        return then if then == otherwise else UNKNOWN

    def _import(self, argument: object) -> Any:
        name = literal(self._value(argument))
        return UNKNOWN if name is None else self._imports(name)

    def _truth(self, node: object) -> bool | Unknown:
        if not isinstance(node, dict) or len(node) != 1 or self._depth > _DEEPEST:
            return UNKNOWN
        ((function, argument),) = node.items()
        self._depth += 1
        try:
            if function == "Condition":
                return self.condition(argument) if isinstance(argument, str) else UNKNOWN
            if function == "Fn::Equals":
                return self._equal(argument)
            if function in ("Fn::And", "Fn::Or", "Fn::Not"):
                return _logic(function, [self._truth(item) for item in as_sequence(argument)])
            return UNKNOWN
        finally:
            self._depth -= 1

    def _equal(self, argument: object) -> bool | Unknown:
        if not isinstance(argument, list) or len(argument) != 2:
            return UNKNOWN
        left, right = (as_string(self._value(side)) for side in argument)
        if isinstance(left, str) and isinstance(right, str):
            return left == right
        return True if isinstance(left, Text) and left == right else UNKNOWN


_INTRINSICS: Final[Mapping[str, Callable[[Evaluator, object], Any]]] = {
    "Ref": Evaluator._ref,
    "Fn::GetAtt": Evaluator._get_attribute,
    "Fn::Sub": Evaluator._sub,
    "Fn::Join": Evaluator._join,
    "Fn::Select": Evaluator._select,
    "Fn::Split": Evaluator._split,
    "Fn::FindInMap": Evaluator._find_in_map,
    "Fn::If": Evaluator._if,
    "Fn::ImportValue": Evaluator._import,
}


def _dynamic(text: str) -> String:
    """Return a string with dynamic references and unresolved tokens as unknown parts."""
    text = legible(text)
    if "{{resolve:" not in text and "${Token[" not in text:
        return text
    parts: list[object] = []
    position = 0
    for match in _NOT_KNOWN_BEFORE_DEPLOYING.finditer(text):
        parts += [text[position : match.start()], UNKNOWN]
        position = match.end()
    return join([*parts, text[position:]])


def _dynamic_again(value: String) -> String:
    """Look once more at what was put together: a dynamic reference may span several parts."""
    if isinstance(value, str):
        return _dynamic(value)
    if isinstance(value, Text):
        known = (part for part in value.parts if isinstance(part, str))
        return UNKNOWN if any("{{resolve:" in part for part in known) else value
    return value


def _or_unknown(value: object) -> object:
    return UNKNOWN if value is _ABSENT or isinstance(value, (list, dict)) else value


def _logic(function: str, truths: list[bool | Unknown]) -> bool | Unknown:
    if function == "Fn::Not":
        return UNKNOWN if len(truths) != 1 or truths[0] is UNKNOWN else not truths[0]
    decisive = function == "Fn::Or"
    if decisive in truths:
        return decisive
    return UNKNOWN if UNKNOWN in truths or not truths else not decisive

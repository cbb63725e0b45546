"""Print the argument table of one vLLM version as JSON; run in a process of its own.

Usage: `python engine_probe.py DIRECTORY`, where DIRECTORY holds the unpacked `vllm/` sources of a
wheel. Nothing is installed: every import that the sources need and this Python lacks (torch,
transformers, compiled parts of vLLM) is replaced by an inert stand-in, which is enough because the
parser is built from type annotations and literal choices alone.
"""

from __future__ import annotations

import argparse
import ast
import dataclasses
import importlib
import importlib.abc
import importlib.machinery
import importlib.metadata
import importlib.util
import json
import pathlib
import re
import sys
import types
import typing

from pydantic import TypeAdapter
from pydantic_core import core_schema

_ROOT = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ".")
_KEPT = {
    "packaging",
    "pydantic",
    "pydantic_core",
    "typing_extensions",
    "annotated_types",
    "typing_inspection",
}
_STAND_IN_VERSION = "99.0.0"
"""Newer than any that vLLM asks for: since 0.24 it refuses to start with transformers 4."""
_READ = (
    "vllm.config",
    "vllm.engine.arg_utils",
    "vllm.envs",
    "vllm.utils",
    "vllm.pooling_params",
    "vllm.transformers_utils.config",
    "vllm.model_executor.layers.quantization",
    "vllm.v1.attention.backends.registry",
    "vllm.attention.backends.registry",
    "vllm.v1.attention.selector",
)


class _StandInType(type):
    """A class that can be called, subscripted, compared, iterated and inherited from."""

    def __getattr__(cls, name: str) -> object:
        if name.startswith("__") and name.endswith("__"):
            raise AttributeError(name)
        return _stand_in(name, cls.__module__)

    def __getitem__(cls, _item: object) -> object:
        return cls

    def __iter__(cls) -> typing.Iterator[object]:
        return iter(())

    def __or__(cls, other: object) -> object:
        return typing.Union[cls, other]  # noqa: UP007

    def __ror__(cls, other: object) -> object:
        return typing.Union[other, cls]  # noqa: UP007

    def __call__(cls, *args: object, **kwargs: object) -> object:
        if len(args) == 1 and isinstance(args[0], (types.FunctionType, type)) and not kwargs:
            return args[0]
        return super().__call__()

    def __instancecheck__(cls, value: object) -> bool:
        return isinstance(type(value), _StandInType) or type(value) is _StandInType

    def __len__(cls) -> int:
        return 0

    def __bool__(cls) -> bool:
        return False


def _stand_in(name: str, module: str) -> type:
    def nothing(self: object, *_args: object, **_kwargs: object) -> object:
        return self

    body = {
        "__module__": module,
        "__getattr__": lambda self, attr: _raise(attr) if attr.startswith("__") else nothing,
        "__call__": lambda self, *args, **kwargs: args[0] if args else self,
        "__enter__": nothing,
        "__exit__": lambda self, *_args: False,
        "__get_pydantic_core_schema__": classmethod(
            lambda _cls, _source, _handler: core_schema.any_schema()
        ),
    }
    return _StandInType(name, (), body)


def _raise(attr: str) -> object:
    raise AttributeError(attr)


class _StandInModule(types.ModuleType):
    __version__ = _STAND_IN_VERSION

    def __getattr__(self, name: str) -> object:
        if name.startswith("__") and name.endswith("__"):
            raise AttributeError(name)
        value: object = _stand_in(name, self.__name__)
        if name == "init_logger":
            value = _quiet_logger
        elif name == "current_platform":
            value = _Silent()
            value.device_type = "cuda"
        elif name == "ReasoningParserManager":
            names = _registered(_ROOT, "reasoning")
            value = types.SimpleNamespace(reasoning_parsers=names, list_registered=lambda: names)
        setattr(self, name, value)
        return value


def _quiet_logger(*_args: object) -> object:
    return _Silent()


class _Silent:
    def __getattr__(self, _name: str) -> object:
        return lambda *_args, **_kwargs: None


class _Finder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    def __init__(self, root: pathlib.Path) -> None:
        self._root = root

    def _file(self, name: str) -> pathlib.Path | None:
        base = self._root.joinpath(*name.split("."))
        for candidate in (base / "__init__.py", base.with_suffix(".py")):
            if candidate.is_file():
                return candidate
        return None

    def find_spec(self, name, path=None, target=None):  # type: ignore[no-untyped-def]
        top = name.partition(".")[0]
        if top in sys.stdlib_module_names or top in _KEPT or top.startswith("_"):
            return None
        file = self._file(name) if name.startswith(_READ) else None
        if file is not None:
            locations = [str(file.parent)] if file.name == "__init__.py" else None
            return importlib.util.spec_from_file_location(
                name, file, submodule_search_locations=locations
            )
        return importlib.machinery.ModuleSpec(name, self, is_package=True)

    def create_module(self, spec):  # type: ignore[no-untyped-def]
        module = _StandInModule(spec.name)
        module.__path__ = []
        return module

    def exec_module(self, module):  # type: ignore[no-untyped-def]
        return None


_installed_version = importlib.metadata.version


def _version(name: str) -> str:
    """Answer a version for packages that are only stood in for."""
    try:
        return _installed_version(name)
    except importlib.metadata.PackageNotFoundError:
        return _STAND_IN_VERSION


def _registered(root: pathlib.Path, kind: str) -> list[str]:
    """Return the names of the parsers of a kind (`tool` or `reasoning`) that vLLM registers."""
    folders = {
        "tool": ("vllm/tool_parsers", "vllm/entrypoints/openai/tool_parsers"),
        "reasoning": ("vllm/reasoning",),
    }
    names: set[str] = set()
    for folder in folders[kind]:
        for file in sorted(root.joinpath(folder).glob("*.py")):
            for node in ast.walk(ast.parse(file.read_text())):
                if isinstance(node, ast.ClassDef):
                    for decorator in node.decorator_list:
                        call = ast.unparse(decorator)
                        if "register_module" in call and isinstance(decorator, ast.Call):
                            given = decorator.args[0] if decorator.args else decorator.keywords[0]
                            given = given.value if isinstance(given, ast.keyword) else given
                            value = ast.literal_eval(given)
                            names.update([value] if isinstance(value, str) else value)
                elif isinstance(node, ast.Assign) and "_TO_REGISTER" in ast.unparse(
                    node.targets[0]
                ):
                    names.update(ast.literal_eval(node.value))
    return sorted(names)


def _schema(cls: type) -> object:
    """Return what pydantic accepts for a configuration class, without its prose.

    Where pydantic has no schema for a class, only its field names are known.
    """
    try:
        return _without_prose(TypeAdapter(cls).json_schema())
    except Exception:
        names = {field.name: {} for field in dataclasses.fields(cls)}
        return {"type": "object", "additionalProperties": False, "properties": names}


def _without_prose(schema: object) -> object:
    """Drop prose, and enumerations: `Enum` classes of vLLM also take names, which no schema says."""
    if isinstance(schema, dict):
        kept = {}
        for key, value in schema.items():
            if key in ("properties", "$defs"):
                kept[key] = {
                    name: {} if key == "$defs" and "enum" in child else _without_prose(child)
                    for name, child in value.items()
                }
            elif key not in ("title", "description", "default"):
                kept[key] = _without_prose(value)
        return kept
    if isinstance(schema, list):
        return [_without_prose(child) for child in schema]
    return schema


def _type_name(action: argparse.Action) -> dict[str, object]:
    """Describe the conversion of an action by name, looking through optional wrappers."""
    kind, row = action.type, {}
    while True:
        name = getattr(kind, "__name__", type(kind).__name__)
        free = {}
        if isinstance(kind, types.FunctionType) and kind.__closure__:
            free = dict(
                zip(
                    kind.__code__.co_freevars,
                    (c.cell_contents for c in kind.__closure__),
                    strict=False,
                )
            )
        if name == "_optional_type":
            row["optional"] = True
            kind = free["return_type"]
        elif name == "_parse_type":
            kind = free["return_type"]
        elif name == "parse_dataclass":
            cls = free.get("cls") or (kind.__defaults__ or (None,))[0] or free.get("dataclass_cls")
            row["type"] = "config"
            row["config"] = getattr(cls, "__name__", None)
            row["schema"] = _schema(cls)
            return row
        else:
            break
    if kind is None:
        return row
    if name.startswith("human_readable_int"):
        row["suffixes"] = "".join(suffix for suffix in "kmgt" if _parses(kind, "1" + suffix))
    if isinstance(kind, types.MethodType):
        name = f"{kind.__self__.__name__}.{name}"
    row["type"] = "json" if kind is json.loads else name
    return row


def _parses(kind: typing.Callable[[str], object], value: str) -> bool:
    try:
        kind(value)
    except (ValueError, argparse.ArgumentTypeError):
        return False
    return True


def _default(value: object) -> object:
    if isinstance(value, (str, int, float, bool, type(None))):
        return value
    if isinstance(value, (list, tuple, set)):
        return [_default(item) for item in value]
    if isinstance(value, dict):
        return {str(k): _default(v) for k, v in value.items()}
    return None


def _row(action: argparse.Action) -> dict[str, object]:
    names = {
        "BooleanOptionalAction": "boolean_optional",
        "_StoreTrueAction": "store_true",
        "_StoreAction": "store",
        "_AppendAction": "append",
        "StoreBoolean": "store_boolean",
    }
    row: dict[str, object] = {
        "flags": list(action.option_strings),
        "action": names.get(type(action).__name__, type(action).__name__),
        **_type_name(action),
    }
    if action.nargs is not None and row["action"] in ("store", "append"):
        row["nargs"] = action.nargs
    if action.choices:
        row["choices"] = list(action.choices)
    row["default"] = _default(action.default)
    return row


def _bounds(cls: type) -> dict[str, dict[str, object]]:
    """Return the numeric bounds that a configuration class puts on its own fields."""
    fields = getattr(cls, "__pydantic_fields__", {})
    found: dict[str, dict[str, object]] = {}
    for name, field in fields.items():
        limits = {}
        for meta in field.metadata:
            for bound in ("ge", "gt", "le", "lt"):
                if getattr(meta, bound, None) is not None:
                    limits[bound] = getattr(meta, bound)
        if limits:
            found[name] = limits
    return found


def _quantization() -> list[str]:
    """Return the quantization methods that start without a special permission."""
    methods = importlib.import_module("vllm.model_executor.layers.quantization")
    deprecated = getattr(methods, "DEPRECATED_QUANTIZATION_METHODS", [])
    return [name for name in methods.QUANTIZATION_METHODS if name not in deprecated]


def main() -> None:
    """Build the parser of the sources in a directory and print its table."""
    sys.meta_path.insert(0, _Finder(_ROOT))
    sys.modules["regex"] = re
    sys.argv = ["probe"]
    importlib.metadata.version = _version
    engine = importlib.import_module("vllm.engine.arg_utils")

    class Parser(argparse.ArgumentParser):
        def add_argument(self, *args, **kwargs):  # type: ignore[no-untyped-def]
            kwargs.pop("deprecated", None)
            return super().add_argument(*args, **kwargs)

    def new_parser() -> argparse.ArgumentParser:
        parser = Parser(add_help=False)
        parser.add_argument_group = lambda *_args, **_kwargs: parser  # type: ignore[method-assign]
        return parser

    parser = engine.EngineArgs.add_cli_args(new_parser())
    synchronous = {action.dest for action in parser._actions}
    parser = engine.AsyncEngineArgs.add_cli_args(new_parser())
    annotations = list(engine.EngineArgs.__annotations__)
    rows = {}
    for action in parser._actions:
        row = _row(action)
        if action.dest not in synchronous:
            row["asynchronous_only"] = True
        rows[action.dest] = row
    configs: dict[str, object] = {}
    for name, value in vars(engine).items():
        if dataclasses.is_dataclass(value) and isinstance(value, type) and _bounds(value):
            configs[name] = _bounds(value)
    table = {
        "annotations": annotations,
        "arguments": rows,
        "bounds": configs,
        "tool_parsers": _registered(_ROOT, "tool"),
        "reasoning_parsers": _registered(_ROOT, "reasoning"),
        "quantization_methods": _quantization(),
    }
    sys.stdout.write(json.dumps(table))


if __name__ == "__main__":
    main()

"""Reads lists of tools from an MCP server, an OpenAPI file, JSON or a file of Python functions.

A tool is reduced to what the model is told: one line of description, and the parameters whose
values can be said, with a line of description each. The names of parameters that are left out are
recorded.
"""

from __future__ import annotations

import asyncio
import importlib.util
import inspect
import json
import re
import shlex
import sys
import typing
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from dlm.language.identifiers import words
from dlm.language.references import resolve
from dlm.language.schema import is_number, is_words, options, plain
from dlm.teach.listed import Listed

LONGEST_DESCRIPTION = 160
"""In characters, the same as in `voice.tools.mcp.tools`."""
START_S = 60.0
"""Longest that an MCP server may take to list its tools; the first start may download it."""
_METHODS = ("get", "put", "post", "delete", "patch")
_REMARKS = (
    "title",
    "default",
    "examples",
    "example",
    "$schema",
    "$comment",
    "format",
    "description",
)


class ListError(ValueError):
    """A list of tools cannot be read or learned; the message says why."""


def read(source: str, mcp: str = "") -> list[Listed]:
    """Read the tools of a source.

    Args:
        source: A file, or the URL of an MCP server.
        mcp: Command that starts an MCP server; used instead of a source.

    Raises:
        ListError: There are no tools, or they cannot be read.
    """
    if mcp or is_url(source):
        return _some(_of_mcp(source, mcp), mcp or source)
    file = Path(source)
    if not file.is_file():
        raise ListError(f"{source}: no such file")
    if file.suffix == ".py":
        return _some(list(_of_functions(file)), source)
    document = _parsed(file)
    if isinstance(document, dict) and "swagger" in document:
        raise ListError(f"{source}: got Swagger 2, expected OpenAPI 3")
    is_openapi = isinstance(document, dict) and "paths" in document
    try:
        found = [*(_of_openapi(document) if is_openapi else _of_json(document, source))]
    except (AttributeError, LookupError, TypeError) as error:
        raise ListError(f"{source}: malformed: {type(error).__name__}: {error}") from error
    return _some(found, source)


def is_url(source: str) -> bool:
    """Whether a source is the address of an MCP server."""
    return source.startswith(("http://", "https://"))


def _some(tools: list[Listed], source: str) -> list[Listed]:
    if not tools:
        raise ListError(f"{source}: no tools in it")
    return tools


def _parsed(file: Path) -> Any:
    text = file.read_text(encoding="utf-8")
    if file.suffix in (".yaml", ".yml"):
        import yaml

        try:
            # As JSON has it: the date in "enum: [2024-01-01]" is a text.
            return json.loads(json.dumps(yaml.safe_load(text), default=str))
        except (yaml.YAMLError, TypeError, ValueError) as error:
            raise ListError(f"{file}: not YAML: {error}") from error
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        raise ListError(f"{file}: not JSON: {error}") from error


def base_url(file: str) -> str:
    """The URL of the service in an OpenAPI file; empty if the file has none."""
    document = _parsed(Path(file))
    return next((one.get("url", "") for one in document.get("servers", ())), "")


def _of_json(document: Any, source: str) -> Iterator[Listed]:
    """OpenAI's function format, or plain objects with name, description and parameters."""
    tools = document.get("tools") if isinstance(document, dict) else document
    if not isinstance(tools, list):
        raise ListError(f"{source}: expected a list of tools, or an OpenAPI description")
    for number, tool in enumerate(tools):
        told = tool.get("function", tool) if isinstance(tool, dict) else None
        if not isinstance(told, dict) or not isinstance(told.get("name"), str):
            raise ListError(f"{source}: tool {number + 1} has no name")
        yield listed(
            told["name"],
            told.get("description") or "",
            told.get("parameters") or told.get("inputSchema") or {},
        )


def _of_mcp(url: str, command: str) -> list[Listed]:
    async def ask() -> list[Listed]:
        from mcp import ClientSession, StdioServerParameters
        from mcp.client.stdio import stdio_client
        from mcp.client.streamable_http import streamable_http_client
        from mcp.types import PaginatedRequestParams

        if command:
            program, *arguments = shlex.split(command)
            client: Any = stdio_client(StdioServerParameters(command=program, args=arguments))
        else:
            client = streamable_http_client(url)
        async with (
            asyncio.timeout(START_S),
            client as (reader, writer, *_),
            ClientSession(reader, writer) as session,
        ):
            await session.initialize()
            page = await session.list_tools()
            tools = list(page.tools)
            while page.next_cursor:
                asked = PaginatedRequestParams(cursor=page.next_cursor)
                page = await session.list_tools(params=asked)
                tools += page.tools
        return [listed(t.name, t.description or t.title or "", t.input_schema) for t in tools]

    try:
        return asyncio.run(ask())
    except ModuleNotFoundError as error:
        command = ".venv/bin/pip install -c constraints.txt -e '.[mcp]'"
        raise ListError(f"mcp is not installed: {command}") from error
    except (OSError, ExceptionGroup) as error:
        told: BaseException = error
        while isinstance(told, BaseExceptionGroup):
            told = told.exceptions[0]
        why = str(told) or type(told).__name__
        raise ListError(
            f"{command or url}: the MCP server did not list its tools: {why}"
        ) from error


def _of_functions(file: Path) -> Iterator[Listed]:
    """The public functions that a file itself defines; the schemas come from their type hints."""
    spec = importlib.util.spec_from_file_location(f"_taught_{file.stem}", file)
    assert spec is not None and spec.loader is not None
    if not file.stem.isidentifier():
        raise ListError(f"{file}: a Python file's name is to be one that can be imported")
    module = importlib.util.module_from_spec(spec)
    # dataclasses look the module up here while it runs.
    sys.modules[spec.name] = module
    try:
        spec.loader.exec_module(module)
    # The user's own code may raise anything.
    except (Exception, SystemExit) as error:
        raise ListError(f"{file}: {type(error).__name__}: {error}") from error
    for name, function in vars(module).items():
        if (
            inspect.isfunction(function)
            and function.__module__ == module.__name__
            and name[0] != "_"
        ):
            yield listed(name, (inspect.getdoc(function) or ""), _schema_of(function, file))


def _schema_of(function: Callable[..., Any], file: Path) -> dict[str, Any]:
    from pydantic import create_model

    try:
        hints = typing.get_type_hints(function, include_extras=True)
    # A hint in quotes is code, which may raise anything.
    except Exception as error:
        raise ListError(f"{file}: {function.__name__}: {error}") from error
    fields: dict[str, Any] = {}
    for parameter in inspect.signature(function).parameters.values():
        if parameter.kind is parameter.KEYWORD_ONLY:
            continue
        if parameter.name not in hints:
            raise ListError(f"{file}: {function.__name__}: {parameter.name} has no type hint")
        kinds = (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD)
        if parameter.kind in kinds or parameter.name.startswith("_"):
            raise ListError(f"{file}: {function.__name__}: got {parameter}, which no call can give")
        default = ... if parameter.default is parameter.empty else parameter.default
        fields[parameter.name] = (hints[parameter.name], default)
    try:
        found: dict[str, Any] = create_model(function.__name__, **fields).model_json_schema()
    # pydantic has no common error for types; a class may bring its own schema, and its errors.
    except Exception as error:
        raise ListError(f"{file}: {function.__name__}: {error}") from error
    return found


def _of_openapi(document: Mapping[str, Any]) -> Iterator[Listed]:
    for path, item in document["paths"].items():
        for method in _METHODS:
            if method in item:
                yield _operation(document, path, method, item)


def _operation(
    document: Mapping[str, Any], path: str, method: str, item: Mapping[str, Any]
) -> Listed:
    told = item[method]
    properties: dict[str, Any] = {}
    required: list[str] = []
    places: dict[str, str] = {}
    for one in (*item.get("parameters", ()), *told.get("parameters", ())):
        one = _resolved(one, document)
        # Headers and cookies are for the program to set, not for the caller to say.
        if one.get("in") not in ("path", "query"):
            continue
        properties[one["name"]] = {
            **one.get("schema", one),
            "description": one.get("description"),
        }
        places[one["name"]] = one["in"]
        required += [one["name"]] if one.get("required") else []
    body = _resolved(told.get("requestBody", {}), document)
    kinds = body.get("content", {})
    schema = _resolved(kinds.get("application/json", {}).get("schema", {}), document)
    for name, one in schema.get("properties", {}).items():
        properties.setdefault(name, one)
        places.setdefault(name, "body")
    required += [n for n in schema.get("required", ()) if body.get("required", True)]
    # A body without properties, such as a list or a file, is one value.
    if kinds and not schema.get("properties"):
        properties["body"] = {"type": "array" if schema.get("type") == "array" else "object"}
        required.append("body")
    summary, description = (told.get(key) or "" for key in ("summary", "description"))
    name = re.sub(r"\W+", "_", told.get("operationId") or f"{method} {path}").strip("_")
    parameters = {"type": "object", "properties": properties, "required": required}
    return listed(
        name, summary or description, _whole(parameters, document), (method.upper(), path, places)
    )


def _resolved(node: Any, document: Mapping[str, Any]) -> Any:
    """A node with references within the document followed."""
    seen = 0
    while isinstance(node, Mapping) and isinstance(node.get("$ref"), str) and seen < 32:
        try:
            node, seen = resolve(node["$ref"], document), seen + 1
        except LookupError as error:
            raise ListError(f"{node['$ref']}: not in this file; expected all in one") from error
    return node


def _whole(parameters: dict[str, Any], document: Mapping[str, Any]) -> dict[str, Any]:
    properties = {name: _resolved(one, document) for name, one in parameters["properties"].items()}
    return {**parameters, "properties": properties}


def listed(
    name: str,
    description: str,
    parameters: Mapping[str, Any],
    request: tuple[str, str, Mapping[str, str]] | None = None,
) -> Listed:
    """Reduce a tool to what the model is told about it.

    Raises:
        ListError: Its name has no words.
    """
    if not words(name):
        raise ListError(f"got a tool of the name {name!r}; expected one with letters or digits")
    properties: dict[str, Any] = {}
    notes: dict[str, str] = {}
    left_out: list[str] = []
    unsayable: dict[str, str] = {}
    needed = parameters.get("required", ())
    definitions = parameters.get("$defs", parameters.get("definitions", {}))
    for key, raw in parameters.get("properties", {}).items():
        # `true` is a schema too.
        raw = raw if isinstance(raw, Mapping) else {}
        whole = plain(raw, definitions)
        schema = {k: v for k, v in whole.items() if k not in _REMARKS}
        # Nobody says null: the parameter is left out instead.
        if said := [value for value in schema.get("enum", ()) if value is not None]:
            schema["enum"] = said
        why = _why_not(whole) if words(key) else "has no words in its name"
        if not why:
            notes[key] = str(raw.get("description") or "")
            line = one_line(notes[key])
            properties[key] = schema | ({"description": line} if line else {})
        elif key in needed:
            unsayable[key] = why
        else:
            left_out.append(key)
    kept = {
        "type": "object",
        "properties": properties,
        "required": [k for k in properties if k in needed],
    }
    told = one_line(description)
    return Listed(name, told, kept, notes, tuple(left_out), unsayable, request, description)


def _why_not(schema: Mapping[str, Any]) -> str:
    """Why no caller can say a value of this schema; empty if one can."""
    if options(schema) or is_number(schema) or schema.get("type") == "boolean":
        return ""
    if schema.get("format") in ("binary", "byte"):
        return "is a file"
    if is_words(schema):
        return ""
    kind = schema.get("type")
    if kind == "string":
        form = schema.get("format") or schema.get("pattern") or "restricted"
        return f"is a text of a fixed form ({form})"
    told = kind if isinstance(kind, str) else "value of several kinds"
    return f"is {'an' if kind in ('array', 'object') else 'a'} {told}"


def one_line(text: str) -> str:
    """The first sentence of a text, cut to `LONGEST_DESCRIPTION`."""
    first = re.split(r"(?<=[.!?])\s", " ".join(text.split()), maxsplit=1)[0]
    whole = len(first) <= LONGEST_DESCRIPTION
    return first if whole else f"{first[: LONGEST_DESCRIPTION - 1].rsplit(' ', 1)[0]}…"


def chosen(tools: Sequence[Listed], only: Sequence[str], without: Sequence[str]) -> list[Listed]:
    """The tools of a list that the options choose.

    Raises:
        ListError: A name is not in the list, or nothing is left.
    """
    names = [tool.name for tool in tools]
    for name in (*only, *without):
        if name not in names:
            raise ListError(f"got {name}, expected one of {', '.join(names)}")
    return _some(
        [t for t in tools if (not only or t.name in only) and t.name not in without], "the list"
    )

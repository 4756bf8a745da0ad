"""Turns the tools that an MCP server lists into ours, and its answers into text.

A schema is kept as far as a grammar can express it: an optional parameter that it cannot express is
left out, and a tool that requires one is refused. The server checks the arguments anyway.
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import mcp_types as mcp
from pydantic import ConfigDict, Field, create_model
from pydantic_core import to_json

from voice.errors import ProtocolError
from voice.tools.registry import Tool, ToolError
from voice.tools.scope import Progress
from voice.tools.spoken_results import spoken_result
from voice.types import ToolSpec

Check = Callable[[Sequence[ToolSpec]], None]
"""Raises `ProtocolError`, with the path of the fault as ``param``, if the model could not call one
of some tools."""
Call = Callable[[str, dict[str, Any], Callable[[str], None]], Awaitable[str]]
"""Takes a tool's name, its arguments and a callback for progress; returns the result."""

LONGEST_DESCRIPTION = 160
LONGEST_PROGRESS = 80
LONGEST_RESULT = 4000
"""Most characters of a result that is not put into words in the servers' thread."""
_PREFIX = re.compile(r"^(?:Error executing tool [^\s:]+(?:: |$))+")
"""What the official SDK puts before a tool's own words, or in their place."""
_NAME = re.compile(r"[A-Za-z0-9_-]{1,64}")
_KEPT_AT_TOP = ("type", "properties", "required", "$defs", "definitions")
_LEFT_OUT = ("title", "default", "examples", "$schema", "$comment", "deprecated")


@dataclass(frozen=True, slots=True)
class Remote:
    """A tool at its server.

    Attributes:
        server: The server's name.
        name: The tool's name there.
        listed: The server's declaration of it.
    """

    server: str
    name: str
    listed: mcp.Tool


@dataclass(frozen=True, slots=True)
class Offer:
    """A tool of a server that can be called here."""

    tool: Tool
    remote: Remote


class Refused(Exception):
    """A tool cannot be offered; the message says why, on one line."""


def offered(remote: Remote, call: Call, check: Check, taken: Collection[str] = ()) -> Offer:
    """A server's tool as one of ours.

    Args:
        remote: The tool.
        call: Calls it.
        check: Raises `ProtocolError` if the model could not call it.
        taken: Names of other tools; if its name is among them, the server's name goes before it.

    Raises:
        Refused: Its name or its schema cannot be used.
    """
    name = remote.name if remote.name not in taken else f"{remote.server}_{remote.name}"
    if not _NAME.fullmatch(name) or name in taken:
        raise Refused("the name cannot be used")
    listed = remote.listed
    description = _line(listed.description or listed.title or name.replace("_", " "))
    spec = _held(ToolSpec(name, description, _parameters(listed.input_schema)), check)
    return Offer(_tool(spec, remote.name, call), remote)


def offers(
    remotes: Iterable[Remote],
    call: Call,
    check: Check,
    taken: Collection[str],
    refuse: Callable[[Remote, Refused], None],
) -> tuple[Offer, ...]:
    """The tools of a server that can be called, see `offered`; ``refuse`` gets the others."""
    found: dict[str, Offer] = {}
    for remote in remotes:
        try:
            offer = offered(remote, call, check, {*taken, *found})
        except Refused as refused:
            refuse(remote, refused)
        else:
            found[offer.tool.spec.name] = offer
    return tuple(found.values())


def is_read_only(listed: mcp.Tool) -> bool:
    """Whether a server says that its tool changes nothing."""
    return listed.annotations is not None and listed.annotations.read_only_hint is True


def words_of(result: mcp.CallToolResult, most: int) -> str:
    """A tool's answer as text, short enough to be processed on the event loop.

    Args:
        result: The answer.
        most: Length in characters that a JSON answer is to have in words
            (`ToolsConfig.result_max_chars`).

    Raises:
        ToolError: The tool has failed; the message is its own.
    """
    parts = [part for block in result.content if (part := _words(block))]
    text = "\n".join(parts)
    if not parts and result.structured_content is not None:
        text = to_json(result.structured_content, serialize_unknown=True).decode()
    text = "".join(c for c in text if c.isprintable() or c in "\n\t").strip()
    if len(text) > LONGEST_RESULT:
        text = spoken_result(text, most)[:LONGEST_RESULT]
    if result.is_error:
        text = _PREFIX.sub("", text)
        raise ToolError(text or "The tool failed and did not say why.")
    return text


def _words(block: mcp.ContentBlock) -> str:
    match block:
        case mcp.TextContent(text=text):
            return text
        case mcp.EmbeddedResource(resource=mcp.TextResourceContents(text=text)):
            return text
        case mcp.ResourceLink(title=title, name=name):
            return title or name
        case mcp.ImageContent():
            return "It is a picture."
        case mcp.AudioContent():
            return "It is a recording."
    return ""


def _tool(spec: ToolSpec, remote_name: str, call: Call) -> Tool:
    """A tool that calls the server; its fields are renamed, as a parameter may be ``copy``."""
    names = list(spec.parameters["properties"])
    required = spec.required
    fields: dict[str, Any] = {
        f"parameter_{index}": (Any, Field(... if name in required else None, alias=name))
        for index, name in enumerate(names)
    }
    arguments = create_model(spec.name, __config__=ConfigDict(extra="forbid"), **fields)

    async def run(*, progress: Progress, **given: Any) -> str:
        named = {names[int(key.removeprefix("parameter_"))]: given[key] for key in given}
        return await call(remote_name, named, partial(_report, progress))

    return Tool(spec, run, arguments, {"progress": Progress}, {})


def _report(progress: Progress, message: str) -> None:
    if line := _line(message, LONGEST_PROGRESS):
        progress.hint(line)


def _parameters(schema: Mapping[str, Any]) -> dict[str, Any]:
    """A tool's input schema without what the model need not read."""
    plain = _plain({key: schema[key] for key in _KEPT_AT_TOP if key in schema})
    assert isinstance(plain, dict)
    if not isinstance(plain.get("properties"), dict):
        plain["properties"] = {}
    return {"type": "object", **plain}


def _plain(node: Any, named: bool = False) -> Any:
    """A shortened schema; ``named``: the keys of ``node`` name parameters or definitions."""
    if isinstance(node, list):
        return [_plain(one) for one in node]
    if not isinstance(node, dict):
        return node
    choices = node.get("anyOf")
    if not named and isinstance(choices, list):
        # "A string or null" becomes a string: a null argument is left out anyway.
        kept = [one for one in choices if one != {"type": "null"}]
        if len(kept) == 1 and isinstance(kept[0], dict):
            rest = {key: value for key, value in node.items() if key != "anyOf"}
            return _plain({**kept[0], **rest})
    plain = {}
    for key, value in node.items():
        if not named and key in _LEFT_OUT:
            continue
        if not named and key == "description":
            plain[key] = _line(value) if isinstance(value, str) else ""
        elif not named and key in ("enum", "const", "required"):
            plain[key] = value
        else:
            plain[key] = _plain(value, not named and key in ("properties", "$defs", "definitions"))
    return plain


def _held(spec: ToolSpec, check: Check) -> ToolSpec:
    """The tool with those parameters that a grammar can express.

    Raises:
        Refused: It requires one of the others.
    """
    while True:
        try:
            check((spec,))
            return spec
        except ProtocolError as error:
            found = re.search(r"parameters\.properties\.(.+)", error.param or "")
            name = _named(found[1] if found else "", spec.parameters["properties"])
            if name is None or name in spec.required:
                raise Refused(str(error)) from error
            rest = {
                key: value for key, value in spec.parameters["properties"].items() if key != name
            }
            spec = ToolSpec(spec.name, spec.description, {**spec.parameters, "properties": rest})


def _named(path: str, names: Collection[str]) -> str | None:
    """The longest name that begins a path, as names may contain dots; None if there is none."""
    found = [name for name in names if path == name or path.startswith((f"{name}.", f"{name}["))]
    return max(found, key=len, default=None)


def _line(text: str, most: int = LONGEST_DESCRIPTION) -> str:
    """The first sentence of a text, on one line, with at most ``most`` characters."""
    clean = "".join(c if c.isprintable() else " " for c in text)
    first = re.split(r"(?<=[.!?])\s", " ".join(clean.split()), maxsplit=1)[0]
    return first if len(first) <= most else f"{first[: most - 1].rsplit(' ', 1)[0]}…"

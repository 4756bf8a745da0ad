"""Writes what a folder has besides the taught model: agent, tools, scenarios and report."""

from __future__ import annotations

import json
import keyword
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from random import Random
from typing import Any

from dlm.datagen.language.noise import Style
from dlm.datagen.language.noise import plain as plain_text
from dlm.language.identifiers import words
from dlm.language.schema import options
from dlm.teach.dialogues import Writer
from dlm.teach.listed import Listed
from dlm.teach.requests import Asking

EXAMPLES = 4
LONGEST_EXAMPLE = 80
"""In characters; the limit of `voice.config.agent`."""
_TAKEN = frozenset(("ask", "tool", "quote", "os", "httpx", "ToolError"))
"""Names that the generated module uses itself."""
_TYPES = {"integer": "int", "number": "float", "boolean": "bool", "string": "str"}
_HEAD = '''"""{title}, written by `python -m dlm.teach`; yours to change."""

from __future__ import annotations

'''


def toml(table: Mapping[str, Any], at: str = "") -> str:
    """A nested table as TOML; plain values come before tables."""
    plain = [f"{_key(k)} = {_value(v)}" for k, v in table.items() if not _is_table(v)]
    head = [f"\n[{at}]"] if at and plain else []
    tables = [
        toml(v, f"{at}.{_key(k)}" if at else _key(k)) for k, v in table.items() if _is_table(v)
    ]
    return "\n".join([*head, *plain, *tables]) + ("" if at else "\n")


def _is_table(value: Any) -> bool:
    return isinstance(value, Mapping) and bool(value)


def _key(name: str) -> str:
    return name if re.fullmatch(r"[\w-]+", name, re.ASCII) else json.dumps(name)


def _value(value: Any) -> str:
    if isinstance(value, Mapping):
        return "{ " + ", ".join(f"{_key(k)} = {_value(v)}" for k, v in value.items()) + " }"
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(map(_value, value)) + "]"
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")


def agent(
    name: str, instructions: str, askings: Sequence[Asking], writer: Writer, own: bool
) -> dict[str, Any]:
    """The agent's file; ``own`` is whether it lists its tools, unlike those of an MCP server."""
    said = list(_requests(askings, writer, 5, cased=True))
    examples = [text for text, _, _ in said if len(text) <= LONGEST_EXAMPLE]
    plain = [a for a in askings if all(options(s) for s in a.listed.properties.values())]
    # Another seed than for the examples.
    phrases = [text for text, _, _ in _requests(plain, writer, 36)]
    tools = [_identifier(a.listed.name) for a in askings] if own else []
    return {
        "name": name,
        "instructions": instructions,
        "examples": examples[:EXAMPLES],
        "tools": [*tools, "end_conversation"],
        "phrases": [*dict.fromkeys(phrases), "goodbye"],
    }


def _requests(
    askings: Sequence[Asking], writer: Writer, seed: int, cased: bool = False
) -> Iterator[tuple[str, str, dict[str, Any]]]:
    """A request for each tool, without noise, and the tool's name and arguments."""
    for asking in askings:
        row = writer.plain(asking, Random(f"{seed}/{asking.listed.name}"), Style(cased, cased, 0.0))
        if row:
            (call,) = row[1]["tool_calls"]
            yield row[0]["content"], call["name"], call["arguments"]


def scenarios(agent_file: Path, askings: Sequence[Asking], writer: Writer) -> dict[str, Any]:
    """Scenarios for `python -m voice.prove`: two for each tool, and one that asks for nothing."""
    found: dict[str, Any] = {}
    for seed in (1, 2):
        for said, name, arguments in _requests(askings, writer, seed):
            call: dict[str, Any] = {"tool": _identifier(name)}
            if told := {k: re.escape(_heard(v)).replace("\\ ", " ") for k, v in arguments.items()}:
                call["arguments"] = {_identifier(name): value for name, value in told.items()}
            expected = {"calls": [call]}
            found[f"{_slug(name)}-{seed}"] = _scenario(f"One call of {name}.", said, expected)
    nothing = {"must_not_call": [_identifier(a.listed.name) for a in askings]}
    found["nothing"] = _scenario("Nothing is done.", "thanks i don't need anything today", nothing)
    return {"agent": str(agent_file), "scenarios": found}


def _scenario(goal: str, said: str, expected: Mapping[str, Any]) -> dict[str, Any]:
    lines = [{"says": said}, {"hears": "do you want me to|shall i", "says": "yes please"}]
    return {
        "caller": "somebody",
        "goal": goal,
        "lines": lines,
        "otherwise": "that is all",
        "expected": expected,
    }


def _slug(name: str) -> str:
    return words(name).replace(" ", "-") or "tool"


def _heard(value: Any) -> str:
    """A value as `voice.prove` compares it: plain words, with numbers spelled out."""
    return " ".join(re.findall(r"[\w']+", plain_text(str(value), False)))


def module(title: str, tools: Iterable[Listed], body: str, imports: str = "") -> str:
    """A Python module of tools that share one body, with {method}, {url} and so on filled in."""
    return _HEAD.format(title=title) + imports + "".join(_function(tool, body) for tool in tools)


def _function(tool: Listed, body: str) -> str:
    method, url, places = tool.request or ("", "", {})
    where = {
        place: _dict(
            {name: _identifier(name) for name in tool.properties if places.get(name) == place}
        )
        for place in ("path", "query", "body")
    }
    kind = "async def" if "await" in body else "def"
    description = tool.description.replace("\\", "/").replace('"', "'")
    return (
        f"\n\n@tool({'read_only=True' if method == 'GET' else ''})\n"
        f"{kind} {_identifier(tool.name)}({_signature(tool)}) -> str:\n"
        f'    """{description}"""\n    {body.format(method=method, url=url, **where)}\n'
    )


def _dict(names: Mapping[str, str]) -> str:
    return "{" + ", ".join(f"{json.dumps(k)}: {v}" for k, v in names.items()) + "}"


def _identifier(name: str) -> str:
    """A tool's or parameter's name in Python; `voice.tools` refuses one that begins with "_"."""
    found = re.sub(r"\W", "_", name).lstrip("_")
    found = f"n_{found}" if found[0].isdecimal() else found
    return f"{found}_" if keyword.iskeyword(found) or found in _TAKEN else found


def _signature(tool: Listed) -> str:
    parts = []
    for name in (*tool.required, *(n for n in tool.properties if n not in tool.required)):
        schema = tool.properties[name]
        kind = (
            f"Literal[{', '.join(map(repr, options(schema)))}]"
            if options(schema)
            else _TYPES.get(str(schema.get("type")), "str")
        )
        kind += "" if name in tool.required else " | None"
        if told := schema.get("description"):
            kind = f"Annotated[{kind}, Field(description={told!r})]"
        parts.append(f"{_identifier(name)}: {kind}" + ("" if name in tool.required else " = None"))
    return ", ".join(parts)


def of_functions(file: Path, tools: Iterable[Listed]) -> str:
    """A module that makes tools of the functions in a file."""
    names = [tool.name for tool in tools]
    place = f"sys.path.insert(0, {str(file.parent)!r})"
    return (
        _HEAD.format(title=file.name)
        + f"import sys\n\nfrom voice.tools import tool\n\n{place}\n\n"
        + f"from {file.stem} import {', '.join(names)}  # noqa: E402\n\n"
        + "".join(f"{n}.__module__ = __name__\n{_marked(n)}" for n in names)
    )


def _marked(name: str) -> str:
    """Lines that make a function a tool unless it is one already."""
    return f'if not hasattr({name}, "__voice_tool__"):\n    tool()({name})\n'


SILENT = 'return "Okay."'
SILENT_IMPORTS = """from typing import Annotated, Literal

from pydantic import Field

from voice.tools import tool
"""
ASKING = "return await ask({method!r}, {url!r}, {path}, {query}, {body})"
ASKING_IMPORTS = '''import os
from typing import Annotated, Any, Literal
from urllib.parse import quote

import httpx
from pydantic import Field

from voice.tools import ToolError, tool

BASE_URL = os.environ.get({variable!r}, {base!r})


async def ask(
    method: str, path: str, places: dict[str, Any], query: dict[str, Any], body: dict[str, Any]
) -> str:
    """Ask the service; what it answers is read aloud, JSON in sentences."""
    given = {{key: value for key, value in query.items() if value is not None}}
    sent = {{key: value for key, value in body.items() if value is not None}}
    try:
        async with httpx.AsyncClient(base_url=BASE_URL, timeout=8) as client:
            # What was said is one part of the path, whatever is in it.
            for key, value in places.items():
                path = path.replace("{{" + key + "}}", quote(str(value), safe=""))
            response = await client.request(method, path, params=given, json=sent or None)
            response.raise_for_status()
    except httpx.HTTPError as error:
        raise ToolError("The service did not do that.") from error
    return response.text or "Done."
'''


def markdown(report: Mapping[str, Any]) -> str:
    """The report as Markdown."""
    before, after = report["before"], report["after"]
    lines = [f"# {report['name']}", "", "| | before | after |", "| --- | --- | --- |"]
    for part, told in _PARTS.items():
        for figure, label in _FIGURES.items():
            if figure in after.get(part, {}):
                shares = [_share(when[part][figure]) for when in (before, after)]
                lines.append(f"| {told}: {label} | {' | '.join(shares)} |")
    lines += ["", f"{report['minutes']:.1f} minutes, {report['dialogues']} dialogues."]
    if report["notes"]:
        lines += ["", "## Remarks", "", *(f"- {note}" for note in report["notes"])]
    if report["failures"]:
        lines += ["", "## Wrong after training", ""]
        lines += [
            f"- {f['said']!r}: {f['got']}, expected {f['wanted']}" for f in report["failures"]
        ]
    return "\n".join([*lines, ""])


_PARTS = {
    "examples": "examples that were held out",
    "phrasings": "held-out phrasings",
    "shipped": "what the model could do",
}
_FIGURES = {
    "exact": "exact calls",
    "tool": "the right tool",
    "quiet": "no call where none is asked for",
}


def _share(figure: Sequence[float]) -> str:
    share, count = figure
    return f"{100 * share:.1f}% of {count}"

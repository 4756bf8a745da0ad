"""Turns what authors wrote, assistants and texts with a schema, into ``dlm.train --data``.

``python -m dlm.datagen.authored FILES --out FILE``. Each line of a file is one of the two.

An assistant is ``{"about", "instructions", "tools": [{"name", "description", "params"}],
"conversations"}``. `params` has the type of each parameter, or a list of its options; one whose
name ends in "?" is optional. A conversation is a list of turns, ``{"say", "calls": [{"name",
"args"}], "results", "reply"}``: what the user says, the right calls with a result for each, and
the final answer.

A text is ``{"message", "schema", "answer"}``: what a developer sends, and the right JSON. A list
whose items the text does not enumerate is left out of both, as no span stands for it.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from dlm.command_line import told
from dlm.datagen.corpora.files import rows
from dlm.datagen.examples import call_of
from dlm.datagen.extraction.rows import parameter_of
from dlm.engine.json_call import DESCRIPTION, NAME
from dlm.language.enumerations import extended, items

Authored = Mapping[str, Any]
"""An assistant or a text, or a part of one."""


def read(files: Iterable[Path]) -> Iterator[Authored]:
    """The lines of files; those named ``*.xz`` are compressed."""
    for file in files:
        yield from rows(file)


def dialogues(authored: Authored) -> Iterator[dict[str, Any]]:
    """An assistant's conversations, or a text, in the chat format of fine-tuning (`examples`)."""
    if "conversations" in authored:
        yield from _conversations(authored)
    else:
        yield _reading(authored)


def _reading(text: Authored) -> dict[str, Any]:
    """A text and its values in the form in which the engine gets JSON (`dlm.engine.json_call`)."""
    message = text["message"]
    fields = {
        path: one
        for path, one in _fields(text["schema"], text["answer"])
        if not isinstance(one[1], list) or _is_enumerated(message, one[1])
    }
    required = [name for name, (_, value, needed) in fields.items() if needed]
    parameters = {name: parameter_of(schema) for name, (schema, _, _) in fields.items()}
    schema = {"type": "object", "properties": parameters, "required": required}
    tool = {"name": NAME, "description": DESCRIPTION, "parameters": schema}
    values = {
        name: _enumeration(message, value) if isinstance(value, list) else value
        for name, (_, value, _) in fields.items()
        if value is not None
    }
    messages = [{"role": "user", "content": message}, _calling([{"name": NAME, "args": values}])]
    return {"messages": messages, "tools": [{"type": "function", "function": tool}]}


def _fields(
    schema: Authored, answer: Authored, path: str = ""
) -> Iterator[tuple[str, tuple[dict[str, Any], Any, bool]]]:
    """Each property's path, with its schema, its value or None, and whether it is required.

    An object that may be left out is a property of its own, as for the engine.
    """
    for name, one in schema["properties"].items():
        required = name in schema.get("required", ())
        if required and one.get("type") == "object":
            yield from _fields(one, answer.get(name, {}), f"{path}{name}.")
        else:
            yield f"{path}{name}", (one, answer.get(name), required)


def _is_enumerated(message: str, wanted: list[str]) -> bool:
    """Whether the engine would read some items, perhaps with articles, from their span."""
    found = items(extended(_enumeration(message, wanted), message))
    ends = (one.lower().endswith(item.lower()) for one, item in zip(found, wanted, strict=False))
    return len(found) == len(wanted) and all(ends)


def _enumeration(message: str, wanted: list[str]) -> str:
    """The span of a text that enumerates some items."""
    plain = message.lower()
    start = plain.index(wanted[0].lower())
    return message[start : plain.index(wanted[-1].lower(), start) + len(wanted[-1])]


def _conversations(assistant: Authored) -> Iterator[dict[str, Any]]:
    tools = [{"type": "function", "function": _declared(one)} for one in assistant["tools"]]
    told = assistant["instructions"]
    system = [{"role": "system", "content": told}] if told else []
    for turns in assistant["conversations"]:
        messages = [message for turn in turns for message in _messages(turn)]
        yield {"messages": [*system, *messages], "tools": tools}


def _declared(tool: Authored) -> dict[str, Any]:
    needed = [name for name in tool["params"] if not name.endswith("?")]
    parameters = {name.rstrip("?"): _schema(kind) for name, kind in tool["params"].items()}
    schema = {"type": "object", "properties": parameters, "required": needed}
    return {"name": tool["name"], "description": tool["description"], "parameters": schema}


def _schema(kind: str | list[str]) -> dict[str, Any]:
    return {"type": kind} if isinstance(kind, str) else {"type": "string", "enum": kind}


def _messages(turn: Authored) -> Iterator[dict[str, Any]]:
    yield {"role": "user", "content": turn["say"]}
    if turn.get("calls"):
        calling = _calling(turn["calls"])
        yield calling
        for call, result in zip(calling["tool_calls"], turn["results"], strict=True):
            yield {"role": "tool", "tool_call_id": call["id"], "content": result}
    yield {"role": "assistant", "content": turn["reply"]}


def _calling(calls: Iterable[Authored]) -> dict[str, Any]:
    made = [call_of(f"c{n}", call["name"], call["args"]) for n, call in enumerate(calls)]
    return {"role": "assistant", "content": None, "tool_calls": made}


def main(arguments: list[str] | None = None) -> None:
    """Write the dialogues of some files.

    Raises:
        SystemExit: 2 if a file cannot be read or written.
    """
    parser = argparse.ArgumentParser("python -m dlm.datagen.authored", description=__doc__)
    parser.add_argument("files", nargs="+", type=Path)
    parser.add_argument("--out", type=Path, required=True)
    options = parser.parse_args(arguments)
    with told(parser):
        lines = [line for one in read(options.files) for line in dialogues(one)]
        text = "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines)
        options.out.write_text(text, encoding="utf-8")
    print(f"{len(lines)} dialogues")


if __name__ == "__main__":
    main()

"""Assistants that authors invented, as dialogues for ``dlm.train --data``.

``python -m dlm.datagen.authored FILES --out FILE``. A line of a file is an assistant: ``{"about",
"instructions", "tools": [{"name", "description", "params"}], "conversations"}``. `params` has the
type of each parameter, or the words that it may be; one whose name ends in "?" may be left out. A
conversation is a list of turns, ``{"say", "calls": [{"name", "args"}], "results", "reply"}``: what
is said, the calls that are right with a result for each, and what is answered at last.
"""

from __future__ import annotations

import argparse
import json
import lzma
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

Authored = Mapping[str, Any]
"""An assistant, or a part of one."""


def assistants(files: Iterable[Path]) -> Iterator[Authored]:
    """The assistants of some files, each compressed by xz."""
    for file in files:
        with lzma.open(file, "rt", encoding="utf-8") as text:
            yield from map(json.loads, text)


def dialogues(assistant: Authored) -> Iterator[dict[str, Any]]:
    """The conversations of an assistant in the chat format of fine-tuning (`examples`)."""
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
    calls = [
        {
            "id": f"c{number}",
            "type": "function",
            "function": {"name": call["name"], "arguments": json.dumps(call["args"])},
        }
        for number, call in enumerate(turn.get("calls", ()))
    ]
    if calls:
        yield {"role": "assistant", "content": None, "tool_calls": calls}
        for call, result in zip(calls, turn["results"], strict=True):
            yield {"role": "tool", "tool_call_id": call["id"], "content": result}
    yield {"role": "assistant", "content": turn["reply"]}


def main() -> None:
    """Write the dialogues of some files."""
    parser = argparse.ArgumentParser("python -m dlm.datagen.authored", description=__doc__)
    parser.add_argument("files", nargs="+", type=Path)
    parser.add_argument("--out", type=Path, required=True)
    options = parser.parse_args()
    lines = [line for one in assistants(options.files) for line in dialogues(one)]
    text = "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines)
    options.out.write_text(text, encoding="utf-8")
    print(f"{len(lines)} dialogues")


if __name__ == "__main__":
    main()

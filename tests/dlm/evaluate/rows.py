"""A dialogue to evaluate on, and answers to it."""

from __future__ import annotations

from typing import Any

from dlm.engine.engine import Finished, Usage
from dlm.evaluate.cases import Case, cases
from dlm.language.messages import Answer, Call

ROW: dict[str, Any] = {
    "system": "Be brief.",
    "tools": [
        {
            "name": "set_timer",
            "description": "Start a timer.",
            "parameters": {"type": "object", "properties": {"duration": {"type": "string"}}},
        }
    ],
    "messages": [
        {"role": "assistant", "content": "Hello."},
        {"role": "user", "content": "Set a timer for ten minutes."},
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [{"name": "set_timer", "arguments": {"duration": "ten minutes"}}],
        },
        {"role": "tool", "name": "set_timer", "content": "Timer set for 10 minutes."},
        {"role": "assistant", "content": "Ten minutes: 10 minutes it is."},
    ],
}
RIGHT = Answer("", (Call("set_timer", {"duration": "Ten minutes."}),))


def finished(answer: Answer) -> Finished:
    """An answer as the engine gives it."""
    return Finished(answer, "stop", Usage(50, 0, 8, 4))


def row_of(*messages: dict[str, Any]) -> dict[str, Any]:
    """The dialogue with other messages."""
    return {**ROW, "messages": list(messages)}


def case_of(answer: str, tool: str = "", kind: str = "", said: str = "hello") -> Case:
    """A case whose answer is text, behind what a tool said or the user."""
    last = {"role": "tool", "name": "set_timer", "content": tool}
    behind = [last] if tool else []
    told = {"role": "assistant", "content": answer, "kind": kind}
    row = row_of({"role": "user", "content": said}, *behind, told)
    return list(cases([row]))[-1]

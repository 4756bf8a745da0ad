"""Drops calls that a small model should not have made, and asks it again if nothing is left.

A small model calls a tool again that has just answered, and makes up required values that nobody
said. Such calls are dropped. If the answer has nothing else, the model is asked once more: for
words, or, if it must call something, for a call of another tool. This module knows nothing of how
answers are decoded.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import replace

from dlm.engine.request import Finished, Request
from dlm.language.identifiers import words
from dlm.language.messages import Call, Tool, Turn
from dlm.language.schema import is_number, options
from dlm.language.spoken_numbers import COMPUTED, is_unread, numbers_in

_Place = tuple[int, int, int]
"""The index of a text, and the start and end of a span in it."""
_AMOUNTS = {
    **dict.fromkeys(("no", "none", "nothing", "zero"), "0"),
    **dict.fromkeys(("a", "an", "another", "once", "single", "only", "just"), "1"),
    **dict.fromkeys(("both", "double", "two"), "2"),
}
_ANY = frozenset(("query", "text", "message", "search", "title", "name", "content"))
"""Parameters whose value may be a word of the tool's name: ``play_music`` with "music"."""
_INEXACT = re.compile(
    r"\b(?:half|halfway|quarter|third|full|fully|max(?:imum)?|min(?:imum)?|more|less)\b", re.I
)
"""Words whose number cannot be worked out here."""


def second_look(request: Request, done: Finished) -> Finished | Request:
    """The answer without calls that should not be made; a new request if nothing is left of it."""
    calls = done.answer.calls
    new = _not_answered(request.turns, calls)
    if request.asks_back and request.tool_choice == "auto":
        tools = {tool.name: tool for tool in request.tools}
        new = tuple(call for call in new if not _made_up(call, tools.get(call.name), request.turns))
    if new == calls:
        return done
    if new or done.answer.content:
        return replace(done, answer=replace(done.answer, calls=new))
    if request.tool_choice == "auto":
        # Another call would be wrong as often as right.
        return replace(request, tool_choice="none")
    barred = request.barred | {call.name for call in calls}
    left = any(tool.name not in barred for tool in request.tools)
    return replace(request, barred=barred) if left and request.tool_choice == "required" else done


def _not_answered(turns: Sequence[Turn], calls: tuple[Call, ...]) -> tuple[Call, ...]:
    """The calls without those of tools that have answered since the user's last message.

    A new call of such a tool is kept if all its text values stand in the user's words; values from
    a tool's result do not justify it.
    """
    asked = max((at for at, turn in enumerate(turns) if turn.role == "user"), default=0)
    answered = [call for turn in turns[asked:] for call in turn.calls]
    if not answered or turns[-1].role != "tool":
        return calls
    names = {call.name for call in answered}
    said = "\n".join(turn.content for turn in turns if turn.role == "user").casefold()

    def is_new(call: Call) -> bool:
        texts = (value for value in call.arguments.values() if isinstance(value, str))
        own = call.name not in names or all(text.casefold() in said for text in texts)
        return own and call not in answered

    return tuple(filter(is_new, calls))


def _made_up(call: Call, tool: Tool | None, turns: Sequence[Turn]) -> bool:
    """Whether a call has a required value that nobody said."""
    if tool is None:
        return False
    return _has_stray_text(call, tool) or _has_stray_number(call, tool, turns)


def _has_stray_text(call: Call, tool: Tool) -> bool:
    """Whether a required text is just a word of the tool's name or repeats another argument."""
    named = {*words(tool.name).split()}
    taken: set[str] = set()
    for name, value in call.arguments.items():
        text = str(value).casefold()
        schema = tool.properties.get(name, {})
        free = isinstance(value, str) and not options(schema) and "format" not in schema
        if free and name in tool.required and text in (taken if name in _ANY else taken | named):
            return True
        taken.add(text)
    return False


def _has_stray_number(call: Call, tool: Tool, turns: Sequence[Turn]) -> bool:
    """Whether a required number was not said, or was said only as part of another value."""
    numbers = {
        name: json.dumps(value)
        for name, value in call.arguments.items()
        if name in tool.required and is_number(tool.properties.get(name, {}))
        if COMPUTED.isdisjoint(words(name).split())
    }
    texts = [turn.content for turn in turns]
    newest = next((turn.content for turn in reversed(turns) if turn.role == "user"), "")
    if not numbers or any(map(is_unread, texts)) or _INEXACT.search(newest):
        return False
    used = [place for value in call.arguments.values() for place in _standing(value, texts)]
    before = {json.dumps(one) for turn in turns for c in turn.calls for one in c.arguments.values()}
    amounts = {_AMOUNTS.get(word, "") for word in re.findall(r"\w+", newest.lower())}
    said = [
        (value, (at, start, end))
        for at, text in enumerate(texts)
        for value, start, end in numbers_in(text)
    ]
    for number in numbers.values():
        if number in before | amounts:
            continue
        places = (place for value, place in said if value == number)
        free = next((one for one in places if not any(_meet(one, other) for other in used)), None)
        if free is None:
            return True
        used.append(free)
    return False


def _standing(value: object, texts: Sequence[str]) -> list[_Place]:
    """The first place where a text argument stands; empty if there is none."""
    if isinstance(value, str) and value:
        for at, text in enumerate(texts):
            if (start := text.find(value)) >= 0:
                return [(at, start, start + len(value))]
    return []


def _meet(one: _Place, other: _Place) -> bool:
    return one[0] == other[0] and one[1] < other[2] and other[1] < one[2]

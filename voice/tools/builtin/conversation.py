"""Ends a conversation or transfers a call once the reply is spoken; presses keys; undoes calls."""

from __future__ import annotations

import asyncio
import inspect
import re
from collections.abc import Sequence
from dataclasses import replace

from voice.tools.registry import ToolError, Unreadable, tool
from voice.tools.ringer import Ringer
from voice.tools.scope import Done, SessionScope
from voice.tools.spoken_numbers import DIGITS

_NOT_MEANT = re.compile(r"^\W*(?:(?:oh|no|ok|okay|actually)\W+)*(?:never ?mind|forget)\b")
"""Words that undo only what the message just before has done."""


@tool(ends=True)
async def end_conversation(*, scope: SessionScope) -> str:
    """End the conversation."""
    scope.request_end()
    return "Goodbye."


@tool()
async def undo_last(message: str, *, scope: SessionScope, ringer: Ringer) -> str:
    """Undo what was done for the last message that changed anything, or what is named of it."""
    said = set(re.findall(r"\w+", message.lower()))
    if _NOT_MEANT.search(message.lower()) and scope.said[1:2] != (scope.done_for,):
        return "All right."
    named = [one for one in scope.done if said & _words(one.tool, one.said)]
    chosen = named if 0 < len(named) < len(scope.done) else list(scope.done)
    if not chosen:
        return "There is nothing that I could take back."
    if not any(one.inverses for one in chosen):
        raise ToolError("I cannot take that back.")
    try:
        await _take_back(chosen, scope)
    finally:
        ringer.wake()
    return f"I took that back: {' '.join(one.said for one in chosen if one.inverses)}"


async def _take_back(chosen: Sequence[Done], scope: SessionScope) -> None:
    """Undo some calls, the last first; if one fails, it and those before it stay noted as done."""
    left = [*chosen]
    scope.done[:] = [one for one in scope.done if one not in left]
    try:
        while left:
            for inverse in reversed(left[-1].inverses):
                # An inverse may block.
                waiting = await asyncio.to_thread(inverse)
                if inspect.isawaitable(waiting):
                    await waiting
                # An inverse that has run must not run again.
                left[-1] = replace(left[-1], inverses=left[-1].inverses[:-1])
            left.pop()
    finally:
        scope.done.extend(left)


@tool(read_only=True)
def list_done(*, scope: SessionScope) -> str:
    """Say what was done for the last message that changed anything."""
    return " ".join(one.said for one in scope.done) or "I have not done anything yet."


def _words(tool: str, said: str) -> set[str]:
    """Words that may name a call: the nouns of its tool's name, and the words of its result."""
    small = "a an the to of at on in for and is not i it my that this was set add added after all"
    told = set(re.findall(r"[a-z]+", said.lower())) - set(small.split())
    return told | set(tool.split("_")[1:])


@tool()
async def transfer_call(to: str = "", *, scope: SessionScope) -> str:
    """Hand over to a person."""
    said = to.strip().lower() or "a person"
    if said.split()[0] not in ("a", "an", "the", "my", "your", "some", "someone", "somebody"):
        said = f"the {said}"
    if scope.line is None or not scope.line.transfer(said):
        raise ToolError(f"I cannot transfer this call to {said}.")
    scope.request_transfer(said)
    return f"Transferring you to {said}."


@tool()
async def send_digits(digits: str, *, scope: SessionScope) -> str:
    """Press keys on the telephone."""
    keys = "".join(_KEYS.get(word, word) for word in digits.lower().split())
    if not keys or not set(keys) <= set("0123456789*#"):
        raise Unreadable("digits", digits)
    if scope.line is None or not scope.line.send_digits(keys):
        raise ToolError("I cannot press keys on this line.")
    return f"Pressed {keys}."


_KEYS = DIGITS | {"star": "*", "hash": "#", "pound": "#"}

"""A prompt that fits a model's context, with room for its answer.

A tool's result that takes too much is cut, then the oldest messages go; the newest of the user's
stays, cut at worst. Cuts are shown as "…". It knows the model by a `Ruler` alone.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from voice.errors import ModelError
from voice.llm.base import Prompt
from voice.types import Message, Role, ToolCall, ToolSpec

CHARS_PER_TOKEN = 8
"""More than any prose has. A text of so much for each position of the context is cut uncounted:
counting megabytes takes seconds, in which nobody else is served."""

_SHARE = 4
"""One tool's result may take such a part of a full context, and dialogues leave it to answers."""

_SHORTEST = 64
"""Tokens to which a text is cut at most: less says nothing."""

_ELLIPSIS = 16
"""Tokens that a cut may bring back: its mark, and words that are spelled otherwise at an edge."""


@dataclass(frozen=True, slots=True)
class Ruler:
    """How a model counts.

    Attributes:
        room: Longest answer, in tokens, that the context leaves to a prompt; below 1 for none.
        ids: Token ids of a text.
        text: Text of token ids.
        positions: Of the context.
    """

    room: Callable[[Prompt], int]
    ids: Callable[[str], list[int]]
    text: Callable[[Sequence[int]], str]
    positions: int

    @property
    def most_chars(self) -> int:
        """Characters beyond which nothing is counted."""
        return CHARS_PER_TOKEN * self.positions


def fitted(prompt: Prompt, ruler: Ruler) -> Prompt:
    """The prompt as far as there is room for it, its answer as long as is left.

    Args:
        prompt: A leading system message and the tools are never cut.
        ruler: Of the model.

    Raises:
        ModelError: Instructions and tools leave no room.
        ValueError: As `Ruler.room`.
    """
    led = bool(prompt.messages) and prompt.messages[0].role is Role.SYSTEM
    head, rest = prompt.messages[:led], list(prompt.messages[led:])
    given = sum(len(message.content) for message in head) + declared(prompt.tools)
    if given > ruler.most_chars:
        raise ModelError(
            f"instructions and tools: got {given} characters, expected at most {ruler.most_chars}"
        )
    return _Fitting(prompt, head, rest, ruler).made()


def declared(tools: Sequence[ToolSpec]) -> int:
    """Characters of what a prompt tells of tools."""
    return sum(
        len(tool.name)
        + len(tool.description)
        + len(json.dumps(tool.parameters, ensure_ascii=False))
        for tool in tools
    )


class _Fitting:
    def __init__(
        self, prompt: Prompt, head: tuple[Message, ...], messages: list[Message], ruler: Ruler
    ) -> None:
        self._prompt = prompt
        self._head = head
        self._messages = messages
        self._ruler = ruler
        self._wanted = min(prompt.max_tokens, ruler.positions // _SHARE)

    def made(self) -> Prompt:
        self._cut_uncounted()
        room = self._room()
        if room < self._wanted:
            self._cut_results(self._ruler.positions // _SHARE)
            room = self._room()
        while room < self._wanted:
            if not (self._forget() or self._cut_longest(self._wanted - room) or self._give_up()):
                break
            room = self._room()
        if room < 1:
            used = self._ruler.positions - room
            raise ModelError(
                f"instructions and tools: got {used} positions with the shortest dialogue and "
                f"answer, expected fewer than {self._ruler.positions}"
            )
        most = min(self._prompt.max_tokens, room)
        return replace(self._prompt, messages=self._seen, max_tokens=most)

    @property
    def _seen(self) -> tuple[Message, ...]:
        return (*self._head, *self._messages)

    def _room(self) -> int:
        return self._ruler.room(replace(self._prompt, messages=self._seen))

    def _cut_uncounted(self) -> None:
        """Take away what can never fit, by its length alone."""
        most = self._ruler.most_chars
        if sum(map(_size, self._messages)) <= most:
            return
        called = [call for message in self._messages for call in message.tool_calls]
        gone = {call.call_id for call in called if _chars(call) > most}
        self._messages = [
            _shortened(message, most // _SHARE if message.role is Role.TOOL else most)
            for message in self._messages
            if message.call_id not in gone
            and gone.isdisjoint(call.call_id for call in message.tool_calls)
        ]
        while sum(map(_size, self._messages)) > most and self._forget():
            pass

    def _cut_results(self, most: int) -> None:
        for index, message in enumerate(self._messages):
            if message.role is Role.TOOL:
                self._cut(index, most)

    def _forget(self) -> bool:
        """Drop the oldest message, and what hangs on it; False where none may go."""
        users = [i for i, message in enumerate(self._messages) if message.role is Role.USER]
        newest = users[-1] if users else len(self._messages) - 1
        if newest < 1:
            return False
        del self._messages[: next((i for i in users if i > 0), 1)]
        self._drop_results(0)
        return True

    def _cut_longest(self, excess: int) -> bool:
        """Cut the longest of the results, or where those are short of all; False where all are."""
        counts = [len(self._ruler.ids(message.content)) for message in self._messages]
        long = [index for index, count in enumerate(counts) if count > 2 * _SHORTEST]
        results = [index for index in long if self._messages[index].role is Role.TOOL]
        if not long:
            return False
        index = max(results or long, key=counts.__getitem__)
        # A quarter at a time, so that several share what there is.
        count = counts[index]
        self._cut(index, max(count - excess - _ELLIPSIS, count * 3 // 4, _SHORTEST))
        return True

    def _give_up(self) -> bool:
        """Drop the first call behind the user's newest message, with its results."""
        if len(self._messages) < 2:
            return False
        del self._messages[1]
        self._drop_results(1)
        return True

    def _drop_results(self, index: int) -> None:
        """Drop results from here on whose calls went before; one message always stays."""
        while len(self._messages) > max(index, 1) and self._messages[index].role is Role.TOOL:
            del self._messages[index]

    def _cut(self, index: int, most: int) -> None:
        message = self._messages[index]
        ids = self._ruler.ids(message.content)
        if len(ids) <= most:
            return
        # What the user wants may stand at either end; of other texts the beginning tells most.
        first = most // 2 if message.role is Role.USER else most
        parts = self._ruler.text(ids[:first]), self._ruler.text(ids[len(ids) - most + first :])
        self._messages[index] = replace(message, content=_joined(*parts))


def _shortened(message: Message, most: int) -> Message:
    text = message.content
    if len(text) <= most:
        return message
    first = most // 2 if message.role is Role.USER else most
    return replace(message, content=_joined(text[:first], text[len(text) - most + first :]))


def _joined(first: str, last: str) -> str:
    """Two ends of a text, cut between words where one ends close by."""
    # Bytes of half a character are read as U+FFFD.
    first, last = first.rstrip("\ufffd"), last.lstrip("\ufffd")
    begun, _, half = first.rpartition(" ")
    if begun and len(half) < _SHORTEST:
        first = begun
    return f"{first.rstrip()}… {last.lstrip()}".strip()


def _size(message: Message) -> int:
    return len(message.content) + sum(map(_chars, message.tool_calls))


def _chars(call: ToolCall) -> int:
    return len(call.name) + sum(len(str(value)) for value in call.arguments.values())

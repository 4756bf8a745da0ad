"""Fits a prompt into a model's context, with room for its answer.

Long tool results are cut first, then the oldest messages are dropped. The user's newest message is
kept, but cut if necessary. A cut is marked with "…". The model is known only as a `ContextWindow`.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from voice.errors import ModelError
from voice.llm.base import Prompt
from voice.types import Message, Role, ToolCall, ToolSpec

CHARS_PER_TOKEN = 8
"""More than any prose has. Text beyond this many characters per position of the context is cut
without counting its tokens, because counting megabytes takes seconds and blocks other requests."""

_SHARE = 4
"""In a full context, a tool's result may take a quarter, and a quarter is kept for the answer."""

_SHORTEST = 64
"""Fewest tokens that a cut leaves."""

_ELLIPSIS = 16
"""Tokens that a cut may add, by its mark and by tokenising the words at its edges differently."""


@dataclass(frozen=True, slots=True)
class ContextWindow:
    """A model's context and tokenizer.

    Attributes:
        room: Prompt → longest answer, in tokens, that the context has room for; below 1 if none.
        ids: Text → token ids.
        text: Token ids → text.
        positions: Length of the context in tokens.
    """

    room: Callable[[Prompt], int]
    ids: Callable[[str], list[int]]
    text: Callable[[Sequence[int]], str]
    positions: int

    @property
    def most_chars(self) -> int:
        """Longest text, in characters, whose tokens are counted."""
        return CHARS_PER_TOKEN * self.positions


def fitted(prompt: Prompt, window: ContextWindow) -> Prompt:
    """The prompt, cut to fit, with ``max_tokens`` lowered to the room that is left.

    Args:
        prompt: The prompt; a leading system message and the tools are never cut.
        window: The model's context.

    Raises:
        ModelError: Instructions and tools leave no room.
        ValueError: As `ContextWindow.room`.
    """
    led = bool(prompt.messages) and prompt.messages[0].role is Role.SYSTEM
    head, rest = prompt.messages[:led], list(prompt.messages[led:])
    given = sum(len(message.content) for message in head) + declaration_chars(prompt.tools)
    if given > window.most_chars:
        raise ModelError(
            f"instructions and tools: got {given} characters, expected at most {window.most_chars}"
        )
    return _Fitting(prompt, head, rest, window).run()


def declaration_chars(tools: Sequence[ToolSpec]) -> int:
    """Characters of the declarations of tools in a prompt."""
    return sum(
        len(tool.name)
        + len(tool.description)
        + len(json.dumps(tool.parameters, ensure_ascii=False))
        for tool in tools
    )


class _Fitting:
    """The messages of one prompt while they are cut."""

    def __init__(
        self,
        prompt: Prompt,
        head: tuple[Message, ...],
        messages: list[Message],
        window: ContextWindow,
    ) -> None:
        self._prompt = prompt
        self._head = head
        self._messages = messages
        self._window = window
        self._wanted = min(prompt.max_tokens, window.positions // _SHARE)

    def run(self) -> Prompt:
        self._cut_uncounted()
        room = self._room()
        if room < self._wanted:
            self._cut_results(self._window.positions // _SHARE)
            room = self._room()
        while room < self._wanted:
            excess = self._wanted - room
            if not (self._drop_oldest() or self._cut_longest(excess) or self._drop_first_call()):
                break
            room = self._room()
        if room < 1:
            used = self._window.positions - room
            raise ModelError(
                f"instructions and tools: got {used} positions with the shortest dialogue and "
                f"answer, expected fewer than {self._window.positions}"
            )
        most = min(self._prompt.max_tokens, room)
        return replace(self._prompt, messages=self._current, max_tokens=most)

    @property
    def _current(self) -> tuple[Message, ...]:
        return (*self._head, *self._messages)

    def _room(self) -> int:
        return self._window.room(replace(self._prompt, messages=self._current))

    def _cut_uncounted(self) -> None:
        """Cut and drop messages that are too long by their characters, without counting tokens."""
        most = self._window.most_chars
        if sum(map(_size, self._messages)) <= most:
            return
        called = [call for message in self._messages for call in message.tool_calls]
        gone = {call.call_id for call in called if _chars(call) > most}
        self._messages = [
            _shortened(
                message, most // _SHARE if message.role is Role.TOOL else most, message.content, str
            )
            for message in self._messages
            if message.call_id not in gone
            and gone.isdisjoint(call.call_id for call in message.tool_calls)
        ]
        while sum(map(_size, self._messages)) > most and self._drop_oldest():
            pass

    def _cut_results(self, most: int) -> None:
        for index, message in enumerate(self._messages):
            if message.role is Role.TOOL:
                self._cut(index, most)

    def _drop_oldest(self) -> bool:
        """Drop the oldest message with its results; False if only the user's newest is left."""
        users = [i for i, message in enumerate(self._messages) if message.role is Role.USER]
        newest = users[-1] if users else len(self._messages) - 1
        if newest < 1:
            return False
        del self._messages[: next((i for i in users if i > 0), 1)]
        self._drop_results(0)
        return True

    def _cut_longest(self, excess: int) -> bool:
        """Cut the longest result, or else the longest message; False if all are short."""
        counts = [len(self._window.ids(message.content)) for message in self._messages]
        long = [index for index, count in enumerate(counts) if count > 2 * _SHORTEST]
        results = [index for index in long if self._messages[index].role is Role.TOOL]
        if not long:
            return False
        index = max(results or long, key=counts.__getitem__)
        # A quarter at a time, so that several long messages share the cut.
        count = counts[index]
        self._cut(index, max(count - excess - _ELLIPSIS, count * 3 // 4, _SHORTEST))
        return True

    def _drop_first_call(self) -> bool:
        """Drop the first message after the user's newest one, with the results of its calls."""
        if len(self._messages) < 2:
            return False
        del self._messages[1]
        self._drop_results(1)
        return True

    def _drop_results(self, index: int) -> None:
        """Drop the results at an index, whose calls were dropped; one message always stays."""
        while len(self._messages) > max(index, 1) and self._messages[index].role is Role.TOOL:
            del self._messages[index]

    def _cut(self, index: int, most: int) -> None:
        message, window = self._messages[index], self._window
        self._messages[index] = _shortened(message, most, window.ids(message.content), window.text)


def _shortened(
    message: Message, most: int, units: Sequence[Any], text: Callable[[Any], str]
) -> Message:
    """A message cut to at most ``most`` of its content's units, which are characters or tokens."""
    if len(units) <= most:
        return message
    # A user's request may be at either end; other texts begin with what matters most.
    first = most // 2 if message.role is Role.USER else most
    ends = text(units[:first]), text(units[len(units) - most + first :])
    return replace(message, content=_joined(*ends))


def _joined(first: str, last: str) -> str:
    """The two ends of a cut text; the first is cut between words, if a word ends close by."""
    # A character that was cut in half decodes to U+FFFD.
    first, last = first.rstrip("\ufffd"), last.lstrip("\ufffd")
    begun, _, half = first.rpartition(" ")
    if begun and len(half) < _SHORTEST:
        first = begun
    return f"{first.rstrip()}… {last.lstrip()}".strip()


def _size(message: Message) -> int:
    return len(message.content) + sum(map(_chars, message.tool_calls))


def _chars(call: ToolCall) -> int:
    return len(call.name) + sum(len(str(value)) for value in call.arguments.values())

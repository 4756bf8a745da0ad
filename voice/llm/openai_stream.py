"""Assembles an answer's text and tool calls from the chunks that OpenAI-compatible servers stream.

The servers differ. Text: some split a surrogate pair between pieces, some send typed parts, and
some, such as vLLM without a reasoning parser, put the model's reasoning before the answer. Calls:
OpenAI sends an id and a name in a call's first fragment and an index in every fragment; Ollama and
others give every call the index 0, Gemini gives none, and some repeat the name in every fragment.
"""

from __future__ import annotations

import json
from typing import Any, NoReturn

from voice.llm.base import MalformedAnswer, new_call_id
from voice.types import ToolCall, ToolSpec

_REASONING = "<think>"
_REASONING_END = "</think>"


class AnswerText:
    """The text of one answer, without reasoning or leading white space.

    Attributes:
        any: Whether there has been any text.
    """

    def __init__(self) -> None:
        self.any = False
        self._half = ""
        self._start = ""
        self._started = False

    def push(self, content: Any) -> str:
        """The text that a chunk's content adds: a string, a list of typed parts, or None."""
        if isinstance(content, list):
            parts = [part for part in content if isinstance(part, dict)]
            content = "".join(part.get("text") or "" for part in parts)
        text = self._half + self._after_reasoning(content or "")
        self.any = self.any or bool(text)
        at = len(text) - ("\ud800" <= text[-1:] <= "\udbff")
        text, self._half = text[:at], text[at:]
        return without_surrogates(text)

    def flush(self) -> str:
        """The rest of the text, at the end of the stream; unfinished reasoning is dropped."""
        rest, self._half = self._half, ""
        begin = self._start.lstrip()
        if not self._started and not begin.startswith(_REASONING):
            rest += begin
        self._started = True
        self.any = self.any or bool(rest)
        return without_surrogates(rest)

    def _after_reasoning(self, text: str) -> str:
        if self._started:
            return text
        self._start += text
        begin = self._start.lstrip()
        if begin.startswith(_REASONING):
            _, end, answer = begin.partition(_REASONING_END)
            if not end:
                return ""
            self._start = begin = answer.lstrip()
        if _REASONING.startswith(begin):
            return ""
        self._started = True
        return begin


class AnswerCalls:
    """The calls of one answer, in the order in which they begin."""

    def __init__(self) -> None:
        self._calls: list[_PartialCall] = []
        self._at: dict[int, _PartialCall] = {}

    def __bool__(self) -> bool:
        return bool(self._calls)

    def add(self, delta: Any) -> None:
        """Add a fragment, an element of OpenAI's ``choices[].delta.tool_calls``."""
        last = self._calls[-1] if self._calls else None
        call = last if delta.index is None else self._at.get(delta.index)
        if call is None or call.is_over(delta):
            call = _PartialCall()
            self._calls.append(call)
        if delta.index is not None:
            self._at[delta.index] = call
        call.add(delta)

    def finish(self, tools: tuple[ToolSpec, ...], complete: bool) -> tuple[ToolCall, ...]:
        """The calls, at the end of the stream.

        Args:
            tools: The tools that may be called.
            complete: Whether the server said that the stream is complete.

        Raises:
            MalformedAnswer: There is no such tool, or the arguments are not a JSON object.
        """
        names = [tool.name for tool in tools]
        return tuple(call.finish(names, complete) for call in self._calls)


class _PartialCall:
    """A tool call that arrives in fragments."""

    def __init__(self) -> None:
        self._id = ""
        self._name = ""
        self._arguments = ""

    def is_over(self, delta: Any) -> bool:
        """Whether a fragment with this call's index begins another call."""
        function = delta.function
        if function is None or not function.name or not self._name:
            return False
        if delta.id and self._id:
            return bool(delta.id != self._id)
        return bool(function.arguments) and _is_json(self._arguments)

    def add(self, delta: Any) -> None:
        self._id = self._id or delta.id or ""
        function = delta.function
        if function is None:
            return
        if function.name and function.name != self._name:
            self._name += function.name
        arguments = function.arguments or ""
        self._arguments += arguments if isinstance(arguments, str) else json.dumps(arguments)

    def finish(self, names: list[str], complete: bool) -> ToolCall:
        if self._name not in names:
            raise MalformedAnswer(f"tool: got {self._name!r}, expected one of {names}")
        # If the stream broke off before the arguments, they are unknown rather than empty.
        written = self._arguments.strip() or ("{}" if complete else "")
        try:
            arguments = _read_json(written)
        except (ValueError, RecursionError) as error:
            raise MalformedAnswer(f"{self._name}: arguments are not JSON") from error
        if arguments is None:
            arguments = {}
        if not isinstance(arguments, dict):
            raise MalformedAnswer(f"{self._name}: arguments are not an object")
        # A new id: some servers number each answer's calls from 0, which would look like a retry.
        return ToolCall(new_call_id(), self._name, arguments)


def without_surrogates(text: str) -> str:
    """The text with surrogate pairs joined; lone ones, which cannot be encoded, are replaced."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _is_json(written: str) -> bool:
    try:
        _read_json(written)
    except (ValueError, RecursionError):
        return False
    return True


def _read_json(written: str) -> Any:
    """Read a JSON value that can be written as JSON again; strings may hold raw line breaks.

    Raises:
        ValueError: The text is not JSON, or holds NaN, an infinity or a number out of range.
        RecursionError: The value is nested too deeply.
    """
    value = json.loads(written, strict=False, parse_constant=_refuse_constant)
    # Later requests repeat the value, so try to write it: 1e999 fails, surrogates are replaced.
    text = json.dumps(value, ensure_ascii=False, allow_nan=False)
    return json.loads(without_surrogates(text))


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"got {name}, expected a number")

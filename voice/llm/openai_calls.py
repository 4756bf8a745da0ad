"""Tool calls as OpenAI-compatible servers stream them: in fragments, which not all number alike.

OpenAI sends an id and a name in a call's first fragment and an index in each. Ollama and others
give every call the index 0, Gemini gives none, and some repeat the name in each fragment.
"""

from __future__ import annotations

import json
from typing import Any, NoReturn

from voice.llm.base import MalformedAnswer, new_call_id
from voice.llm.openai_text import without_surrogates
from voice.types import ToolCall, ToolSpec


class Calls:
    """The calls of one answer, in the order in which they begin."""

    def __init__(self) -> None:
        self._calls: list[_Partial] = []
        self._at: dict[int, _Partial] = {}

    def __bool__(self) -> bool:
        return bool(self._calls)

    def add(self, delta: Any) -> None:
        """Take a fragment: OpenAI's ``choices[].delta.tool_calls[]``."""
        call = self._at.get(delta.index) if delta.index is not None else self._last()
        if call is None or call.is_over(delta):
            call = _Partial()
            self._calls.append(call)
        if delta.index is not None:
            self._at[delta.index] = call
        call.add(delta)

    def made(self, tools: tuple[ToolSpec, ...], whole: bool) -> tuple[ToolCall, ...]:
        """The calls, once the answer is over.

        Args:
            tools: What may be called.
            whole: Whether the server said that the answer is complete.

        Raises:
            MalformedAnswer: There is no such tool, or the arguments are no object.
        """
        return tuple(call.made(tools, whole) for call in self._calls)

    def _last(self) -> _Partial | None:
        return self._calls[-1] if self._calls else None


class _Partial:
    """A tool call that arrives in pieces."""

    def __init__(self) -> None:
        self._id = ""
        self._name = ""
        self._arguments = ""

    def is_over(self, delta: Any) -> bool:
        """Whether a fragment in this call's place begins another."""
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

    def made(self, tools: tuple[ToolSpec, ...], whole: bool) -> ToolCall:
        names = [tool.name for tool in tools]
        if self._name not in names:
            raise MalformedAnswer(f"tool: got {self._name!r}, expected one of {names}")
        # Where the stream broke off in front of the arguments they are not empty, but unknown.
        written = self._arguments.strip() or ("{}" if whole else "")
        try:
            arguments = _read(written)
        except (ValueError, RecursionError) as error:
            raise MalformedAnswer(f"{self._name}: arguments are not JSON") from error
        if arguments is None:
            arguments = {}
        if not isinstance(arguments, dict):
            raise MalformedAnswer(f"{self._name}: arguments are not an object")
        # Some servers number the calls of each answer anew, which tools take for a repetition.
        return ToolCall(new_call_id(), self._name, arguments)


def _is_json(written: str) -> bool:
    try:
        _read(written)
    except (ValueError, RecursionError):
        return False
    return True


def _read(written: str) -> Any:
    """A JSON value that can be written again; a string may hold a line's end as it is.

    Raises:
        ValueError: It is none, or holds a number that is none.
        RecursionError: It is nested too deeply.
    """
    read = json.loads(written, strict=False, parse_constant=_no_number)
    # Without lone surrogates, and with an error for 1e999: what is kept is sent with each request.
    text = json.dumps(read, ensure_ascii=False, allow_nan=False)
    return json.loads(without_surrogates(text))


def _no_number(name: str) -> NoReturn:
    raise ValueError(f"got {name}, expected a number")

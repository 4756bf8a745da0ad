"""The words of an answer, out of what OpenAI-compatible servers stream as its content.

Some cut a piece inside a pair of surrogates, some send parts with types, and some, vLLM without a
reasoning parser among them, leave a thought in front of the answer, which nobody wants to hear.
"""

from __future__ import annotations

from typing import Any

_THOUGHT = "<think>"
_THOUGHT_END = "</think>"


class AnswerText:
    """One answer's words, from the first that is no white space.

    Attributes:
        any: Whether there have been any.
    """

    def __init__(self) -> None:
        self.any = False
        self._half = ""
        self._start = ""
        self._started = False

    def push(self, content: Any) -> str:
        """The words that a chunk's content brings: text, parts of it, or None."""
        if isinstance(content, list):
            parts = [part for part in content if isinstance(part, dict)]
            content = "".join(part.get("text") or "" for part in parts)
        text = self._half + self._behind_thought(content or "")
        self.any = self.any or bool(text)
        at = len(text) - ("\ud800" <= text[-1:] <= "\udbff")
        text, self._half = text[:at], text[at:]
        return without_surrogates(text)

    def flush(self) -> str:
        """The rest, at the end; a thought that has not ended is none of it."""
        rest, self._half = self._half, ""
        begin = self._start.lstrip()
        if not self._started and not begin.startswith(_THOUGHT):
            rest += begin
        self._started = True
        self.any = self.any or bool(rest)
        return without_surrogates(rest)

    def _behind_thought(self, text: str) -> str:
        if self._started:
            return text
        self._start += text
        begin = self._start.lstrip()
        if begin.startswith(_THOUGHT):
            _, end, answer = begin.partition(_THOUGHT_END)
            if not end:
                return ""
            self._start = begin = answer.lstrip()
        if _THOUGHT.startswith(begin):
            return ""
        self._started = True
        return begin


def without_surrogates(text: str) -> str:
    """The text in characters that can be encoded: halves of a pair joined, others replaced."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")

"""Letters without diacritics, for a vocabulary that has no others: "São Paulo" is "Sao Paulo".

A small model spells other letters in bytes, which it hardly saw in training, and leaves such values
out. So it reads a plain letter for each, and values that it copies are restored as they were said.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from voice.llm.base import Prompt
from voice.types import Message, ToolCall


def plain(text: str) -> str:
    """The text with each letter replaced by its plain one, if there is one; the length is the same.

    >>> plain("São Paulo, Zoë, 東京")
    'Sao Paulo, Zoe, 東京'
    """
    return text if text.isascii() else "".join(map(_plain, text))


def in_plain_letters(prompt: Prompt) -> Prompt:
    """The prompt for a model that knows only plain letters."""
    draft = prompt.draft and _read(prompt.draft)
    return replace(prompt, messages=tuple(map(_read, prompt.messages)), draft=draft)


def as_said(arguments: Mapping[str, Any], messages: Iterable[Message]) -> dict[str, Any]:
    """Arguments of a call, with the letters of the first message that contains their words."""
    texts = (message.content for message in messages)
    marked = [(plain(text), text) for text in texts if not text.isascii()]

    def restored(value: str) -> str:
        places = ((simple.find(value), text) for simple, text in marked if value)
        return next((text[at : at + len(value)] for at, text in places if at >= 0), value)

    return {k: restored(v) if isinstance(v, str) else v for k, v in arguments.items()}


def _read(message: Message) -> Message:
    calls = tuple(map(_read_call, message.tool_calls))
    return replace(message, content=plain(message.content), tool_calls=calls)


def _read_call(call: ToolCall) -> ToolCall:
    given = {k: plain(v) if isinstance(v, str) else v for k, v in call.arguments.items()}
    return replace(call, arguments=given)


def _plain(letter: str) -> str:
    base = unicodedata.normalize("NFKD", letter)[0]
    return base if base.isascii() and base.isalnum() else letter

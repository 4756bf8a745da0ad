"""Server events on their way to a client that may be slow.

Bounded in bytes. Overflow rule: the client is taken for one that does not read, and its connection
ends; nothing is dropped silently but audio that an interruption has made stale.
"""

from __future__ import annotations

import asyncio
import json
import math
from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from voice.errors import VoiceError
from voice.realtime.wire import ServerEvent

MAX_BYTES = 16 * 1024 * 1024
"""About four minutes of speech as 24 kHz PCM in base64."""

AUDIO_DELTA = "response.output_audio.delta"


class SlowClient(VoiceError):
    """More is waiting for the client than it may leave unread."""


@dataclass(frozen=True, slots=True)
class _Message:
    text: str
    audio_of: str | None


class Outbox:
    """A queue of messages with one reader.

    Args:
        max_bytes: Most that may wait.
    """

    def __init__(self, max_bytes: int = MAX_BYTES) -> None:
        self._max_bytes = max_bytes
        self._messages: deque[_Message] = deque()
        self._bytes = 0
        self._closed = False
        self._changed = asyncio.Event()

    def put(self, events: Iterable[ServerEvent]) -> None:
        """Add events; they are dropped when the outbox is closed.

        Raises:
            SlowClient: More than the limit is waiting.
        """
        if self._closed:
            return
        for event in events:
            audio_of = event["response_id"] if event["type"] == AUDIO_DELTA else None
            text = _json(event)
            self._messages.append(_Message(text, audio_of))
            self._bytes += len(text)
        if self._bytes > self._max_bytes:
            raise SlowClient(f"{self._bytes} bytes wait for a client that does not read")
        self._changed.set()

    def drop_audio(self, stale: Callable[[str], bool]) -> None:
        """Drop audio that has not left yet, of the replies whose ids are ``stale``."""
        kept = [m for m in self._messages if m.audio_of is None or not stale(m.audio_of)]
        self._messages = deque(kept)
        self._bytes = sum(len(message.text) for message in kept)

    def close(self) -> None:
        """Take no more; `get` gives what is left and then None. May be called again."""
        self._closed = True
        self._changed.set()

    async def get(self) -> str | None:
        """The next message, or None after the last."""
        while not self._messages:
            if self._closed:
                return None
            self._changed.clear()
            await self._changed.wait()
        message = self._messages.popleft()
        self._bytes -= len(message.text)
        return message.text


def _json(event: ServerEvent) -> str:
    # ASCII: the length in characters is the length in bytes, and no lone surrogate in a model's
    # output can make a message that cannot be sent.
    try:
        return json.dumps(event, separators=(",", ":"), allow_nan=False)
    except ValueError:
        return json.dumps(_finite(event), separators=(",", ":"))


def _finite(value: Any) -> Any:
    """The value with null for what JSON has no number for, as JavaScript writes it.

    A remote model's arguments may be infinite.
    """
    if isinstance(value, dict):
        return {key: _finite(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(inner) for inner in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value

"""How the server ends connections: WebSockets by a close code and a reason, and TCP streams."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from enum import IntEnum
from typing import TypeVar

_MAX_REASON_BYTES = 123

E = TypeVar("E", bound=Exception)


class CloseCode(IntEnum):
    """Close codes. Source: RFC 6455, section 7.4.1, and the IANA registry."""

    NORMAL = 1000
    UNSUPPORTED_DATA = 1003
    POLICY = 1008
    TOO_LARGE = 1009
    INTERNAL = 1011
    RESTART = 1012
    TRY_AGAIN_LATER = 1013


class Closing(Exception):
    """Ends a connection with a close code and a reason."""

    def __init__(self, code: CloseCode, reason: str) -> None:
        super().__init__(reason)
        self.code = code
        self.reason = reason


def close_reason(text: str) -> str:
    """As much of a text as fits into a close frame."""
    return text.encode(errors="replace")[:_MAX_REASON_BYTES].decode(errors="ignore")


def first_of(group: BaseExceptionGroup[E]) -> E:
    """The first exception in a group, searching nested groups."""
    error: E | BaseExceptionGroup[E] = group
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error


async def close_stream(writer: asyncio.StreamWriter) -> None:
    """Close a TCP stream behind its last byte; if cancelled, at once, read or not."""
    writer.close()
    try:
        with suppress(OSError):
            await writer.wait_closed()
    except asyncio.CancelledError:
        # The connection to a peer that does not read would stay open.
        writer.transport.abort()
        raise

"""The data channel's end, which clients bring about in their own ways."""

from typing import Any

import pytest
from aiortc import InvalidStateError

from voice.webrtc.peer import EventChannel


class ClosingChannel:
    """One that the client has closed; it is told of when all that was sent has arrived."""

    bufferedAmount = 0

    def on(self, event: str, call: Any) -> None:
        pass

    def send(self, data: str) -> None:
        raise InvalidStateError


async def test_what_is_sent_while_the_client_closes_is_sent_to_nobody() -> None:
    channel = EventChannel(offered=True)
    channel.opened(ClosingChannel())  # type: ignore[arg-type]
    # As a WebSocket that is closed already.
    with pytest.raises(RuntimeError, match="the client is gone"):
        await channel.send_text("{}")

"""The telephone protocols that are spoken: a line for each."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from voice.telephony.asterisk import ChanWebSocket
from voice.telephony.codec import CallCodec
from voice.telephony.media_stream import EXOTEL, PLIVO, TELNYX, TWILIO, MediaStream
from voice.telephony.preamble import AudioFork, Vonage


@dataclass(frozen=True, slots=True)
class Door:
    """A protocol over a WebSocket.

    Attributes:
        codec: Makes the codec of a call from the parameters of the address that was called.
        subprotocols: Accepted when the other side offers one of them.
    """

    codec: Callable[[dict[str, str]], CallCodec]
    subprotocols: tuple[str, ...] = ()


DOORS = {
    "twilio": Door(lambda query: MediaStream(TWILIO)),
    "telnyx": Door(lambda query: MediaStream(TELNYX)),
    "plivo": Door(lambda query: MediaStream(PLIVO)),
    "exotel": Door(lambda query: MediaStream(EXOTEL)),
    "asterisk": Door(ChanWebSocket, ("media",)),
    "jambonz": Door(AudioFork, ("audio.jambonz.org", "audio.drachtio.org")),
    "audio_fork": Door(AudioFork, ("audio.drachtio.org",)),
    "vonage": Door(Vonage),
}

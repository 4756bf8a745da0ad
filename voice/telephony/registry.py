"""The telephone protocols over WebSockets, by their names in ``telephony.doors``."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from voice.telephony.asterisk import ChanWebSocket
from voice.telephony.codec import CallCodec
from voice.telephony.l16_stream import AudioFork, Vonage
from voice.telephony.media_stream import EXOTEL, PLIVO, TELNYX, TWILIO, MediaStream


@dataclass(frozen=True, slots=True)
class LineProtocol:
    """A protocol over a WebSocket.

    Attributes:
        codec: Makes a call's codec from the query parameters of the called address.
        subprotocols: Accepted if the other side offers one of them.
    """

    codec: Callable[[dict[str, str]], CallCodec]
    subprotocols: tuple[str, ...] = ()


PROTOCOLS = {
    "twilio": LineProtocol(lambda query: MediaStream(TWILIO)),
    "telnyx": LineProtocol(lambda query: MediaStream(TELNYX)),
    "plivo": LineProtocol(lambda query: MediaStream(PLIVO)),
    "exotel": LineProtocol(lambda query: MediaStream(EXOTEL)),
    "asterisk": LineProtocol(ChanWebSocket, ("media",)),
    "jambonz": LineProtocol(AudioFork, ("audio.jambonz.org", "audio.drachtio.org")),
    "audio_fork": LineProtocol(AudioFork, ("audio.drachtio.org",)),
    "vonage": LineProtocol(Vonage),
}

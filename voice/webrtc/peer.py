"""One WebRTC connection: answers an offer, then passes audio and events in and out.

The only module that imports aiortc. It knows nothing of sessions; who may call, and how many may,
is decided elsewhere.
"""

from __future__ import annotations

import asyncio
import json
from collections import deque
from contextlib import suppress
from fractions import Fraction
from typing import Any

import av
import numpy as np
from aiortc import (
    InvalidStateError,
    MediaStreamTrack,
    RTCConfiguration,
    RTCDataChannel,
    RTCIceServer,
    RTCPeerConnection,
    RTCRtpCodecParameters,
    RTCRtpReceiver,
    RTCSessionDescription,
)
from aiortc.codecs import CODECS
from aiortc.sdp import SessionDescription
from starlette.types import Message

from voice.access.closing import CloseCode
from voice.config import secret
from voice.config.server import WebRtcConfig
from voice.errors import ProtocolError
from voice.realtime.server_events import error_event
from voice.types import Samples
from voice.webrtc.rtp_input import RATE_HZ, Packet

PLAYED_HZ = 24_000
OFFER = "an offer has one audio section and at most one data channel, with ICE, DTLS and Opus"
_MOST_PACKETS = 512
_MOST_FRAMES = 3
_MOST_MESSAGES = 256
_MOST_BUFFERED_BYTES = 64 * 1024
_CLOSE_S = 1.0
_ADDRESSES = ("a=candidate:", "a=end-of-candidates")
_OPUS, _KEYS = "audio/opus", "audio/telephone-event"


# aiortc answers with those codecs of this list that were offered. Keys never reach its decoders,
# because `_Packets` takes them first.
CODECS["audio"] += [
    RTCRtpCodecParameters(mimeType=_KEYS, clockRate=rate_hz, channels=1, payloadType=payload_type)
    for rate_hz, payload_type in ((RATE_HZ, 110), (8000, 126))
]


class EventChannel:
    """The data channel, as a `voice.realtime.connection.Channel`.

    Bounded both ways: `send_text` waits for a client that does not read, and a client that sends
    far faster than its messages are read counts as gone.

    Args:
        offered: Whether the client will open a channel; if not, whatever is sent is dropped.

    Attributes:
        gone: Set once the client is gone.
    """

    def __init__(self, offered: bool) -> None:
        self._offered = offered
        self._incoming: deque[Message] = deque()
        self._channel: RTCDataChannel | None = None
        self._changed = asyncio.Event()
        self.gone = asyncio.Event()

    def opened(self, channel: RTCDataChannel) -> None:
        """Take the first channel that the client opens."""
        if self._channel is not None:
            channel.close()
            return
        channel.bufferedAmountLowThreshold = _MOST_BUFFERED_BYTES
        channel.on("message", self._take)
        channel.on("bufferedamountlow", self._changed.set)
        channel.on("close", self.end)
        self._channel = channel
        self._changed.set()

    def end(self) -> None:
        """Mark the client as gone. May be called again."""
        self.gone.set()
        self._changed.set()

    def _take(self, data: str | bytes) -> None:
        text = data if isinstance(data, str) else None
        self._incoming.append({"type": "websocket.receive", "text": text})
        self._changed.set()
        if len(self._incoming) > _MOST_MESSAGES:
            self.end()

    async def receive(self) -> Message:
        """The next message, in ASGI's format."""
        while not self.gone.is_set():
            if self._incoming:
                return self._incoming.popleft()
            self._changed.clear()
            await self._changed.wait()
        return {"type": "websocket.disconnect"}

    async def send_text(self, data: str) -> None:
        """Send a message, once the channel is open and most of what was sent before has left.

        Raises:
            RuntimeError: The client is gone.
        """
        while self._offered and not self.gone.is_set():
            if self._channel and self._channel.bufferedAmount <= _MOST_BUFFERED_BYTES:
                # Sending fails once the client is closing the channel.
                with suppress(InvalidStateError):
                    self._channel.send(data)
                    return
                break
            self._changed.clear()
            await self._changed.wait()
        if self._offered:
            raise RuntimeError("the client is gone")

    async def close(self, code: int, reason: str | None = None) -> None:
        """Tell the client why, as `say_why` does; `Peer.close` ends the channel."""
        self.say_why(code, reason or "")

    def say_why(self, code: int, reason: str) -> None:
        """Tell a client that is there why the call ends: a data channel has no close codes.

        Unless the code is `CloseCode.NORMAL`, the last event is an error with the code.
        """
        if code != CloseCode.NORMAL and self._channel and not self.gone.is_set():
            with suppress(InvalidStateError):
                self._channel.send(json.dumps(error_event(reason, str(code), "server_error")))

    async def drained(self) -> None:
        """Close the channel; returns once the client has all that was sent, and the end."""
        if self._channel is None:
            return
        self._channel.close()
        while self._channel.readyState != "closed":
            self._changed.clear()
            await self._changed.wait()


class _Voice(MediaStreamTrack):
    """The audio that the client hears. When full, `play` waits, since unsent audio is unheard."""

    kind = "audio"

    def __init__(self) -> None:
        super().__init__()
        self._frames: asyncio.Queue[bytes] = asyncio.Queue(_MOST_FRAMES)
        self._position = 0

    async def play(self, pcm: bytes) -> None:
        await self._frames.put(pcm)

    async def recv(self) -> av.AudioFrame:
        pcm = await self._frames.get()
        frame = av.AudioFrame("s16", "mono", len(pcm) // 2)
        frame.planes[0].update(pcm)
        frame.sample_rate, frame.time_base = PLAYED_HZ, Fraction(1, PLAYED_HZ)
        frame.pts = self._position
        self._position += frame.samples
        return frame


class _Packets:
    """Takes the place of aiortc's jitter buffer, and passes packets on as they come.

    That buffer delays audio by 80 ms, or 320 ms after the first loss, and leaves losses out.
    """

    def __init__(self, keys: frozenset[int | None], heard: asyncio.Queue[Packet]) -> None:
        self._keys = keys
        self._heard = heard

    def add(self, packet: Any) -> tuple[bool, None]:
        is_key = packet.payload_type in self._keys
        place = packet.ssrc, packet.sequence_number, packet.timestamp
        with suppress(asyncio.QueueFull):
            self._heard.put_nowait(Packet(*place, packet.payload, is_key))
        return False, None

    def replace_in(self, receiver: RTCRtpReceiver) -> None:
        name = "_RTCRtpReceiver__jitter_buffer"
        if not hasattr(receiver, name):
            raise RuntimeError("this version of aiortc is not known; see the extra webrtc")
        setattr(receiver, name, self)


class _OpusDecoder:
    """Decodes the packets of one stream to mono at `RATE_HZ`."""

    def __init__(self) -> None:
        self._codec = av.AudioCodecContext.create("libopus", "r")
        self._codec.format = av.AudioFormat("s16")
        self._codec.layout = av.AudioLayout("mono")
        self._codec.sample_rate = RATE_HZ

    def decode(self, payload: bytes) -> Samples:
        """Decode to (T,) int16 samples; a `voice.webrtc.rtp_input.Decode`."""
        try:
            frames = self._codec.decode(av.Packet(payload))
        except av.FFmpegError as error:
            raise ValueError("got no Opus packet") from error
        parts = [frame.to_ndarray()[0] for frame in frames]
        return np.concatenate(parts) if parts else np.zeros(0, np.int16)


class Peer:
    """The server's end of one connection; made by `Peer.answering`.

    Attributes:
        answer: SDP for the client.
        events: The data channel; its ``gone`` marks the end of the connection.
        connected: Set once audio and events can pass, or never will.
        decode: Decodes the client's audio, packet by packet.
        heard: The client's packets. Overflow rule: packets that find the queue full are lost.
    """

    def __init__(self, connection: RTCPeerConnection, voice: _Voice, answer: str) -> None:
        self.answer = answer
        media = SessionDescription.parse(answer).media
        self.events = EventChannel(any(each.kind == "application" for each in media))
        self.connected = asyncio.Event()
        self.decode = _OpusDecoder().decode
        self.heard: asyncio.Queue[Packet] = asyncio.Queue(_MOST_PACKETS)
        self._connection = connection
        self._voice = voice
        connection.on("datachannel", self.events.opened)
        connection.on("connectionstatechange", self._changed)
        audio = next(each for each in media if each.kind == "audio")
        self._is_heard = audio.direction in ("sendrecv", "sendonly")
        codecs = audio.rtp.codecs
        keys = frozenset(each.payloadType for each in codecs if each.mimeType == _KEYS)
        _Packets(keys, self.heard).replace_in(connection.getTransceivers()[0].receiver)

    @classmethod
    async def answering(cls, offer: str, config: WebRtcConfig) -> Peer:
        """Answer an offer; the connection is established in the background.

        Without ICE servers the addresses in the client's offer are not used: the client finds the
        server, which sends only to where the client's packets come from.

        Raises:
            ProtocolError: It is not an offer, or not of the kind that Realtime clients send.
        """
        offer = offer if config.ice_servers else _without_addresses(offer)
        connection = RTCPeerConnection(RTCConfiguration(iceServers=_servers(config)))
        try:
            _check(offer)
            voice = _Voice()
            transceiver = connection.addTransceiver(voice, direction="sendrecv")
            known = RTCRtpReceiver.getCapabilities("audio")
            assert known is not None
            wanted = [codec for codec in known.codecs if codec.mimeType in (_OPUS, _KEYS)]
            transceiver.setCodecPreferences(wanted)
            await connection.setRemoteDescription(RTCSessionDescription(offer, "offer"))
            await connection.setLocalDescription(await connection.createAnswer())
            return cls(connection, voice, connection.localDescription.sdp)
        except BaseException as error:
            await connection.close()
            # aiortc's parser raises whatever exception the text happens to cause.
            if isinstance(error, Exception) and not isinstance(error, ProtocolError | OSError):
                raise ProtocolError(f"sdp: {OFFER}", "invalid_sdp", "sdp") from error
            raise

    async def play(self, pcm: bytes) -> None:
        """Send a 20 ms frame, 16-bit samples at `PLAYED_HZ`, if the client wants to hear audio."""
        if self._is_heard:
            await self._voice.play(pcm)

    async def watch(self, gone_after_s: float) -> None:
        """Count the client as gone if nothing comes for ``gone_after_s``; runs until cancelled."""
        received, silent_s = 0, 0.0
        while True:
            await asyncio.sleep(gone_after_s / 4)
            silent_s += gone_after_s / 4
            stats = (await self._connection.getStats()).values()
            packets = sum(each.packetsReceived for each in stats if each.type == "transport")
            if packets != received:
                received, silent_s = packets, 0.0
            elif silent_s >= gone_after_s:
                self.events.end()

    def end(self) -> None:
        """Release everyone who waits for the connection. May be called again."""
        self.events.end()
        self.connected.set()

    async def close(self) -> None:
        """Close the connection and tell the client. Waits two seconds at most."""
        self.events.end()
        for part in (self.events.drained, self._connection.close):
            with suppress(TimeoutError):
                async with asyncio.timeout(_CLOSE_S):
                    await part()

    def _changed(self) -> None:
        state = self._connection.connectionState
        if state == "connected":
            self.connected.set()
        elif state in ("failed", "closed"):
            self.end()


def _without_addresses(offer: str) -> str:
    # aiortc accepts the same line endings as `splitlines`.
    lines = (line for line in offer.splitlines() if not line.startswith(_ADDRESSES))
    return "".join(f"{line}\r\n" for line in lines)


def _check(offer: str) -> None:
    sections = SessionDescription.parse(offer).media
    kinds = sorted(section.kind for section in sections)
    if kinds not in (["application", "audio"], ["audio"]):
        raise ValueError(f"got the sections {kinds}")
    if not all(section.dtls and section.dtls.fingerprints for section in sections):
        raise ValueError("got no fingerprint")
    if not any(codec.mimeType.lower() == _OPUS for each in sections for codec in each.rtp.codecs):
        raise ValueError("got no Opus")


def _servers(config: WebRtcConfig) -> list[RTCIceServer]:
    # Without this list aiortc would use a public server by default.
    credential = secret(config.ice_credential_env)
    return [RTCIceServer(url, config.ice_user or None, credential) for url in config.ice_servers]

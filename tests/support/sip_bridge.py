"""A small SIP endpoint that answers one call and bridges its RTP to a WebSocket; for tests.

It does for the server what Asterisk would: RTP and its timing on one side, chan_websocket on the
other. It knows just enough of SIP (RFC 3261) and RTP (RFC 3550) for a call over loopback.
"""

from __future__ import annotations

import asyncio
import struct
from collections import deque
from typing import cast

import numpy as np
from websockets.asyncio.client import connect
from websockets.typing import Subprotocol

from tests.support.phone import FRAME, AsteriskFraming, Phone
from voice.audio import mulaw_from_samples, samples_from_mulaw
from voice.types import Samples

HOST = "127.0.0.1"
PCMU = 0

_RTP = struct.Struct(">BBHII")


class Rtp(asyncio.DatagramProtocol):
    """Audio of one call."""

    def __init__(self) -> None:
        self.peer: tuple[str, int] | None = None
        self.received = 0
        self._frames: deque[Samples] = deque(maxlen=50)
        self._transport: asyncio.DatagramTransport | None = None
        self._number = 0

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.DatagramTransport, transport)

    @property
    def port(self) -> int:
        assert self._transport is not None
        return int(self._transport.get_extra_info("sockname")[1])

    def datagram_received(self, data: bytes, addr: tuple[str, int]) -> None:
        if len(data) == _RTP.size + FRAME and data[1] & 0x7F == PCMU:
            self.received += 1
            self._frames.append(samples_from_mulaw(data[_RTP.size :]))

    def next_frame(self) -> Samples:
        """What the caller said in 20 ms; silence where no packet came."""
        return self._frames.popleft() if self._frames else np.zeros(FRAME, np.int16)

    def play(self, samples: Samples) -> None:
        """Send 20 ms to the caller."""
        assert self._transport is not None
        self._number += 1
        header = _RTP.pack(0x80, PCMU, self._number & 0xFFFF, self._number * FRAME, 1)
        self._transport.sendto(header + mulaw_from_samples(samples), self.peer)

    def close(self) -> None:
        assert self._transport is not None
        self._transport.close()


class SipBridge(asyncio.DatagramProtocol):
    """Answers the first INVITE, and says BYE once the WebSocket's side has hung up.

    Args:
        url: Of the server's route for chan_websocket.

    Attributes:
        acknowledged: Set by the caller's ACK.
        released: Set once the caller has agreed to our BYE.
    """

    def __init__(self, url: str) -> None:
        self.acknowledged = asyncio.Event()
        self.released = asyncio.Event()
        self.rtp: Rtp | None = None
        self.call: asyncio.Task[None] | None = None
        self._url = url
        self._transport: asyncio.DatagramTransport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.DatagramTransport, transport)

    @property
    def port(self) -> int:
        assert self._transport is not None
        return int(self._transport.get_extra_info("sockname")[1])

    def datagram_received(self, data: bytes, addr: tuple[str, int]) -> None:
        head, _, body = data.decode().partition("\r\n\r\n")
        first, *lines = head.split("\r\n")
        fields = {
            name.lower(): text.strip() for name, _, text in (ln.partition(":") for ln in lines)
        }
        if first.startswith("INVITE ") and self.call is None:
            self.call = asyncio.create_task(self._answer(fields, body, addr))
        elif first.startswith("ACK "):
            self.acknowledged.set()
        elif first.startswith("SIP/2.0 200") and "BYE" in fields["cseq"]:
            self.released.set()

    async def _answer(self, invite: dict[str, str], offer: str, addr: tuple[str, int]) -> None:
        loop = asyncio.get_running_loop()
        self.rtp = rtp = Rtp()
        await loop.create_datagram_endpoint(lambda: rtp, (HOST, 0))
        port = next(int(ln.split()[1]) for ln in offer.split("\r\n") if ln.startswith("m=audio"))
        rtp.peer = HOST, port
        sdp = (
            f"v=0\r\no=- 1 1 IN IP4 {HOST}\r\ns=-\r\nc=IN IP4 {HOST}\r\nt=0 0\r\n"
            f"m=audio {rtp.port} RTP/AVP 0\r\na=rtpmap:0 PCMU/8000\r\n"
        )
        to = invite["to"] + ";tag=bridge"
        answer = ["SIP/2.0 200 OK", f"Via: {invite['via']}", f"From: {invite['from']}", f"To: {to}"]
        answer += [f"Call-ID: {invite['call-id']}", f"CSeq: {invite['cseq']}"]
        answer += [f"Contact: <sip:{HOST}:{self.port}>", "Content-Type: application/sdp"]
        self._send([*answer, f"Content-Length: {len(sdp)}"], sdp, addr)
        await self.acknowledged.wait()
        async with connect(self._url, subprotocols=[Subprotocol("media")]) as socket:
            phone = Phone(socket, AsteriskFraming())
            phone.source, phone.sink = rtp.next_frame, rtp.play
            await phone.run()
        bye = [f"BYE sip:{addr[0]}:{addr[1]} SIP/2.0"]
        bye += [f"Via: SIP/2.0/UDP {HOST}:{self.port};branch=z9hG4bKbye", "Max-Forwards: 70"]
        bye += [f"From: {to}", f"To: {invite['from']}", f"Call-ID: {invite['call-id']}"]
        self._send([*bye, "CSeq: 1 BYE", "Content-Length: 0"], "", addr)
        await self.released.wait()

    def _send(self, lines: list[str], body: str, addr: tuple[str, int]) -> None:
        assert self._transport is not None
        self._transport.sendto(("\r\n".join(lines) + "\r\n\r\n" + body).encode(), addr)

    async def close(self) -> None:
        """Let go of the call, whatever has become of it."""
        assert self._transport is not None
        self._transport.close()
        if self.rtp is not None:
            self.rtp.close()
        if self.call is not None:
            self.call.cancel()
            await asyncio.wait([self.call])

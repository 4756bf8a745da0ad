"""A client of `/v1/realtime/calls` on aiortc: a microphone that is fed, and what was heard."""

from __future__ import annotations

import asyncio
import json
import random
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import asynccontextmanager
from fractions import Fraction
from typing import Any

import av
import httpx
import numpy as np
from aioice.ice import get_host_addresses
from aiortc import (
    MediaStreamTrack,
    RTCConfiguration,
    RTCDataChannel,
    RTCPeerConnection,
    RTCSessionDescription,
)
from aiortc.mediastreams import MediaStreamError
from aiortc.rtp import RtpPacket
from aiortc.sdp import SessionDescription

from tests.support.patience import PATIENCE_S
from voice.demo.virtual_audio import room_tone
from voice.types import Samples

PATH = "/v1/realtime/calls"
RATE_HZ = 24_000
FRAME = RATE_HZ // 50


class Microphone(MediaStreamTrack):
    """What is queued, in real time, and room tone around it."""

    kind = "audio"

    def __init__(self) -> None:
        super().__init__()
        self._waiting = np.zeros(0, np.int16)
        self._tone = room_tone(0.02, RATE_HZ)
        self._frames = 0
        self._began_s: float | None = None

    def say(self, samples: Samples) -> None:
        self._waiting = np.concatenate([self._waiting, samples])

    @property
    def silent(self) -> bool:
        return not len(self._waiting)

    async def recv(self) -> av.AudioFrame:
        clock = asyncio.get_running_loop().time
        self._began_s = clock() if self._began_s is None else self._began_s
        await asyncio.sleep(self._began_s + self._frames * 0.02 - clock())
        said, self._waiting = self._waiting[:FRAME], self._waiting[FRAME:]
        samples = self._tone.copy()
        samples[: len(said)] += said
        frame = av.AudioFrame.from_ndarray(samples[None], format="s16", layout="mono")
        frame.sample_rate, frame.time_base = RATE_HZ, Fraction(1, RATE_HZ)
        frame.pts = self._frames * FRAME
        self._frames += 1
        return frame


class Client:
    """One call.

    Attributes:
        heard: The agent's sound, at 48 kHz, mono, packet after packet.
        location: Of the call.
    """

    def __init__(self) -> None:
        self.connection = RTCPeerConnection(RTCConfiguration(iceServers=[]))
        self.microphone = Microphone()
        self.events: list[dict[str, Any]] = []
        self.heard: list[Samples] = []
        self.location = ""
        self.channel: RTCDataChannel = self.connection.createDataChannel("oai-events")
        self._changed = asyncio.Event()
        self._listening: asyncio.Task[None] | None = None
        self.channel.on("message", self._receive)
        self.channel.on("close", self._changed.set)
        self.connection.on("track", self._track)

    async def offer(self) -> str:
        self.connection.addTrack(self.microphone)
        await self.connection.setLocalDescription(await self.connection.createOffer())
        return str(self.connection.localDescription.sdp)

    async def answered(self, answer: str) -> None:
        await self.connection.setRemoteDescription(RTCSessionDescription(answer, "answer"))

    async def until(self, kind: str, times: int = 1) -> dict[str, Any]:
        """The event of this type, once so many have come."""
        async with asyncio.timeout(PATIENCE_S):
            while len(found := self.of(kind)) < times:
                assert self.channel.readyState != "closed", "the call is over"
                self._changed.clear()
                await self._changed.wait()
        return found[times - 1]

    def of(self, kind: str) -> list[dict[str, Any]]:
        return [event for event in self.events if event["type"] == kind]

    def send(self, kind: str, **fields: Any) -> None:
        self.channel.send(json.dumps({"type": kind, **fields}))

    async def over(self) -> None:
        """Wait until the server has ended the call."""
        async with asyncio.timeout(PATIENCE_S):
            while self.connection.connectionState not in ("closed", "failed"):
                await asyncio.sleep(0.02)

    def vanish(self) -> None:
        """Say nothing more, not even that it is the end."""
        for protocol in self._ice()._protocols:
            protocol.transport.abort()

    async def press(self, *keys: int) -> None:
        """Press keys, as RFC 4733 has them."""
        sender = self.connection.getTransceivers()[0].sender
        codecs = SessionDescription.parse(self.connection.remoteDescription.sdp).media[0].rtp.codecs
        number = next(c.payloadType for c in codecs if c.mimeType == "audio/telephone-event")
        for place, key in enumerate(keys):
            # A stream of its own: to the sound's, numbers from 0 on may be too old.
            ssrc = (sender._ssrc + 1) % 2**32
            packet = RtpPacket(number, 1, place, 1000 * (place + 1), ssrc=ssrc)
            packet.payload = bytes([key, 0x80, 0, 160])
            await sender.transport._send_rtp(packet.serialize())

    def _ice(self) -> Any:
        return self.connection.getTransceivers()[0].sender.transport.transport._connection

    async def quiet(self, loud: bool = False) -> None:
        """Wait until the last tenth of a second that came was silent, or not."""
        async with asyncio.timeout(PATIENCE_S):
            while len(self.heard) < 5 or (np.abs(self.heard[-5:]).max() > 500) != loud:
                await asyncio.sleep(0.02)

    async def close(self) -> None:
        await self.connection.close()
        if self._listening is not None:
            await self._listening

    def _receive(self, text: str) -> None:
        self.events.append(json.loads(text))
        self._changed.set()

    def _track(self, track: MediaStreamTrack) -> None:
        self._listening = asyncio.ensure_future(self._listen(track))

    async def _listen(self, track: MediaStreamTrack) -> None:
        try:
            while True:
                frame = await track.recv()
                assert isinstance(frame, av.AudioFrame)
                self.heard.append(frame.to_ndarray().reshape(-1, 2)[:, 0].copy())
        except MediaStreamError:
            return


@asynccontextmanager
async def calling(
    address: str,
    session: Mapping[str, Any] | None = None,
    rewrite: Callable[[str], str] = lambda answer: answer,
    query: str = "",
    offering: Callable[[str], str] = lambda offer: offer,
) -> AsyncGenerator[Client, None]:
    """A call to a server; ``session`` goes with the offer.

    ``offering`` changes the offer, ``rewrite`` the answer.
    """
    client = Client()
    try:
        offer = offering(await client.offer())
        body: dict[str, Any] = {"content": offer, "headers": {"Content-Type": "application/sdp"}}
        if session is not None:
            body = {"files": {"sdp": (None, offer), "session": (None, json.dumps(session))}}
        async with httpx.AsyncClient(base_url=f"http://{address}") as http:
            answer = await http.post(PATH + query, **body)
        assert answer.status_code == 201, answer.text
        assert answer.headers["content-type"].startswith("application/sdp")
        client.location = answer.headers["location"]
        await client.answered(rewrite(answer.text))
        yield client
    finally:
        await client.close()


class Network(asyncio.DatagramProtocol):
    """A bad network between a client and one address: packets are lost and come late.

    Args:
        loss: Share of the packets, both ways.
        jitter_s: Each is delayed by up to so much.
    """

    def __init__(self, loss: float, jitter_s: float) -> None:
        self._loss = loss
        self._jitter_s = jitter_s
        self._random = random.Random(1)
        self._transport: asyncio.DatagramTransport | None = None
        self._server: tuple[str, int] | None = None
        self._client: tuple[str, int] | None = None
        self.passed = self.lost = 0

    def between(self, answer: str) -> str:
        """The server's answer, in which this network stands for its address."""
        assert self._transport is not None
        own = self._transport.get_extra_info("sockname")
        lines = []
        for line in answer.splitlines():
            if line.startswith("a=candidate"):
                parts = line.split()
                if parts[4] != own[0]:
                    continue
                self._server = (parts[4], int(parts[5]))
                parts[5] = str(own[1])
                line = " ".join(parts)
            lines.append(line)
        return "\r\n".join(lines) + "\r\n"

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = transport  # type: ignore[assignment]

    def datagram_received(self, data: bytes, addr: tuple[str, int]) -> None:
        assert self._transport is not None
        if addr != self._server:
            self._client = addr
        to = self._client if addr == self._server else self._server
        # What sets the connection up has timers of seconds; media and events are what is tried.
        media = 127 < data[0] < 192
        if media and self._random.random() < self._loss:
            self.lost += 1
            return
        self.passed += media
        delay_s = self._random.random() * self._jitter_s if media else 0.0
        asyncio.get_running_loop().call_later(delay_s, self._deliver, data, to)

    def _deliver(self, data: bytes, to: tuple[str, int]) -> None:
        assert self._transport is not None
        if not self._transport.is_closing():
            self._transport.sendto(data, to)


@asynccontextmanager
async def bad_network(loss: float, jitter_s: float) -> AsyncGenerator[Network, None]:
    """Such a network at this machine's address."""
    host = next(a for a in get_host_addresses(use_ipv4=True, use_ipv6=False))
    network = Network(loss, jitter_s)
    made = await asyncio.get_running_loop().create_datagram_endpoint(
        lambda: network, local_addr=(host, 0)
    )
    try:
        yield network
    finally:
        made[0].close()

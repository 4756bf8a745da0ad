"""A small client of /v1/realtime that talks in real time; the demo and the benchmarks use it.

It keeps every event with its arrival time, sends the audio of a virtual microphone, and plays the
agent's audio on a virtual loudspeaker. As a web page should, it stops playback when the user
speaks, and reports how much was played. It does not judge or show conversations.
"""

from __future__ import annotations

import asyncio
import base64
import json
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager, suppress
from typing import Any, TypeVar

from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed

from voice.audio import pcm16_from_samples, samples_from_pcm16
from voice.demo.turn_report import (
    Received,
    Turn,
    answer,
    item_of,
    of_type,
    report,
    understood_nothing,
)
from voice.demo.virtual_audio import Loudspeaker, Microphone, room_tone, speech_span
from voice.types import Samples

RATE_HZ = 24_000
MAX_MESSAGE_BYTES = 8 * 1024 * 1024
PLAYED_EVERY_S = 0.2
LATE_START_S = 0.3
"""How long after the end of speech a speech_started event may still arrive."""
SILENT_ANSWER_S = 1.5
"""How long after an empty transcript a reply may still begin."""
LATE_LATENCY_S = 0.5
KEPT_WITHIN_S = 5.0
"""How long the server may take to report what it keeps of a reply."""
EVENTS = ("transcript", "latency", "tools", "heard", "state")
"""The extension events that are asked for."""

Found = TypeVar("Found")


def at_client_rate(samples: Samples, rate_hz: int) -> Samples:
    """Resample a whole recording, (T,) int16 at ``rate_hz``, to the client's 24 kHz."""
    import soxr

    resampled: Samples = soxr.resample(samples, rate_hz, RATE_HZ)
    return resampled


def _configuration(greet: bool, holds: bool) -> dict[str, Any]:
    events = [*EVENTS, *(["hold"] if holds else [])]
    return {
        "type": "realtime",
        "audio": {"input": {"transcription": {"model": "local"}}},
        "quicksilver": {"events": events, "greet": greet},
    }


class RealtimeClient:
    """One conversation; made by `RealtimeClient.open`.

    Attributes:
        events: All events of the server, in order; not to be changed.
        closed: Close code and reason, or the error, once the connection is closed; else None.
    """

    def __init__(
        self, socket: ClientConnection, background: Samples, extended: bool = True
    ) -> None:
        self.clock = asyncio.get_running_loop().time
        self.microphone = Microphone(RATE_HZ, self.clock, background)
        self.loudspeaker = Loudspeaker(RATE_HZ, self.clock)
        self.events: list[Received] = []
        self.closed: str | None = None
        self._socket = socket
        self._extended = extended
        self._changed = asyncio.Condition()
        self._stale: set[str] = set()

    @classmethod
    @asynccontextmanager
    async def open(
        cls,
        url: str,
        *,
        api_key: str | None = None,
        greet: bool = True,
        holds: bool = False,
        background: Samples | None = None,
        session: dict[str, Any] | None = None,
    ) -> AsyncGenerator[RealtimeClient, None]:
        """Connect, enable transcripts and extension events, and start microphone and playback.

        Args:
            url: Such as ``ws://127.0.0.1:7860/v1/realtime``.
            api_key: Sent as a bearer token, if given.
            greet: Whether the agent may greet first.
            holds: Whether playback pauses at the first sign of speech, as on the page, instead of
                stopping.
            background: (T,) int16 at 24 kHz, the noise at the microphone; faint noise if not given.
            session: Session options for a server without our extensions, where the agent does not
                greet.

        Raises:
            OSError: Nobody listens there, or the connection broke before the session began.
        """
        headers = {"Authorization": f"Bearer {api_key}"} if api_key else {}
        noise = room_tone(5.0, RATE_HZ) if background is None else background
        async with connect(
            url,
            additional_headers=headers,
            max_size=MAX_MESSAGE_BYTES,
            compression=None,
            proxy=None,
            # A busy server reads a ping only after all audio sent before it, but is not gone.
            ping_timeout=None,
        ) as socket:
            client = cls(socket, noise, extended=session is None)
            async with client.conversing(session or _configuration(greet, holds)):
                yield client

    @asynccontextmanager
    async def conversing(self, session: dict[str, Any]) -> AsyncGenerator[None, None]:
        """Set the session's options, and converse while the context lasts."""
        async with self._running():
            await self.send({"type": "session.update", "session": session})
            await self.wait_for("session.updated")
            yield

    def hang_up(self) -> None:
        """Break the connection without a close frame, as a network failure does."""
        self._socket.transport.abort()

    @asynccontextmanager
    async def _running(self) -> AsyncGenerator[None, None]:
        """Receive events, send audio and report playback while the context lasts."""
        try:
            async with asyncio.TaskGroup() as group:
                tasks = [
                    group.create_task(self._read()),
                    group.create_task(self.microphone.run(self._send_audio)),
                ]
                if self._extended:
                    tasks.append(group.create_task(self._report_played()))
                yield
                for task in tasks:
                    task.cancel()
        except BaseExceptionGroup as failed:
            # Callers expect a single failure without a group around it.
            if len(failed.exceptions) == 1:
                raise failed.exceptions[0] from None
            raise

    async def send(self, event: dict[str, Any]) -> None:
        """Send a client event; nothing is sent once the connection is closed."""
        with suppress(ConnectionClosed):
            await self._socket.send(json.dumps(event))

    async def until(
        self, find: Callable[[], Found | None], timeout_s: float | None = 10.0
    ) -> Found:
        """Wait until ``find`` returns something other than None; it is called after every event.

        Args:
            find: Returns what is waited for, or None.
            timeout_s: Longest wait; None for no limit.

        Raises:
            TimeoutError: ``find`` returned nothing in time.
            ConnectionError: The server closed the connection first.
        """
        try:
            async with asyncio.timeout(timeout_s), self._changed:
                while (found := find()) is None:
                    if self.closed is not None:
                        raise ConnectionError(f"the server closed the connection: {self.closed}")
                    await self._changed.wait()
                return found
        except TimeoutError as error:
            last = self.events[-1].type if self.events else "nothing"
            raise TimeoutError(f"waited {timeout_s} s; the last event was {last}") from error

    async def wait_for(self, kind: str, since: int = 0, timeout_s: float = 10.0) -> Received:
        """Wait for the first event of a type in ``events[since:]``, and return it.

        Raises:
            TimeoutError: No such event came in time.
            ConnectionError: The server closed the connection first.
        """
        return await self.until(
            lambda: next(iter(of_type(self.events[since:], kind)), None), timeout_s
        )

    async def kept(self, item_id: str, since: int = 0) -> str | None:
        """What the dialogue keeps of a reply cut short; None if the server does not say."""
        try:
            await self.wait_for("conversation.item.truncated", since, KEPT_WITHIN_S)
            asked = len(self.events)
            await self.send({"type": "conversation.item.retrieve", "item_id": item_id})
            kept = await self.wait_for("conversation.item.retrieved", asked, KEPT_WITHIN_S)
        except (TimeoutError, ConnectionError):
            return None
        content: list[dict[str, Any]] = kept.event["item"]["content"]
        return "".join(part.get("transcript") or part.get("text") or "" for part in content)

    async def settled(self, quiet_s: float = 0.5) -> None:
        """Wait until no reply is under way or audible, and none has begun for a while."""
        begun = -1
        while begun != (begun := len(of_type(self.events, "response.created"))):
            await self.until(self._idle, timeout_s=30.0)
            await self.loudspeaker.drained()
            await asyncio.sleep(quiet_s)

    async def turn(
        self,
        samples: Samples,
        end: int | None = None,
        timeout_s: float = 15.0,
        hear_out: bool = True,
    ) -> Turn:
        """Say something and wait for the reply.

        Args:
            samples: (T,) int16 speech at 24 kHz.
            end: Index just past the last sample of speech; found by energy if not given.
            timeout_s: Longest wait, from the end of speech, for the whole reply to arrive.
            hear_out: Whether to wait until the reply has been played.

        Raises:
            ConnectionError: The server closed the connection before it had replied.
        """
        since = len(self.events)
        position = self.microphone.say(samples)
        spoken = speech_span(samples, RATE_HZ)[1] if end is None else end
        speech_end_s = self.microphone.time_of(position + spoken)
        await asyncio.sleep(speech_end_s + LATE_START_S - self.clock())
        with suppress(TimeoutError):
            async with asyncio.timeout(timeout_s):
                await self._replied(since)
        if hear_out:
            await self.loudspeaker.drained()
        with suppress(TimeoutError, ConnectionError):
            await self.wait_for("quicksilver.latency", since, LATE_LATENCY_S)
        events = self.events[since:]
        answered = answer(events)
        item_id = item_of(events, answered.event["response"]["id"]) if answered else None
        first_s = self.loudspeaker.first_audible_s(item_id) if item_id else None
        return report(events, speech_end_s, first_s)

    async def _replied(self, since: int) -> None:
        while answer(self.events[since:]) is None:
            silent = understood_nothing(self.events[since:])
            await self._more(len(self.events), SILENT_ANSWER_S if silent else None)

    async def _more(self, count: int, timeout_s: float | None) -> None:
        await self.until(lambda: len(self.events) > count or None, timeout_s)

    def _idle(self) -> bool | None:
        begun, done = (len(of_type(self.events, f"response.{k}")) for k in ("created", "done"))
        return begun == done or None

    async def _read(self) -> None:
        with suppress(ConnectionClosed):
            async for message in self._socket:
                received = Received(self.clock(), json.loads(message))
                await self._act_on(received.event)
                async with self._changed:
                    self.events.append(received)
                    self._changed.notify_all()
        async with self._changed:
            self.closed = _ending(self._socket)
            self._changed.notify_all()

    async def _act_on(self, event: dict[str, Any]) -> None:
        if event["type"] == "response.output_audio.delta":
            if event["response_id"] not in self._stale:
                audio = base64.b64decode(event["delta"])
                self.loudspeaker.play(event["item_id"], samples_from_pcm16(audio))
        elif event["type"] == "quicksilver.hold":
            (self.loudspeaker.hold if event["held"] else self.loudspeaker.release)()
        elif event["type"] == "input_audio_buffer.speech_started":
            begun = of_type(self.events, "response.created")
            self._stale.update(r.event["response"]["id"] for r in begun)
            if flushed := self.loudspeaker.flush():
                cut = {"item_id": flushed.item_id, "audio_end_ms": int(flushed.played_ms)}
                await self.send({"type": "conversation.item.truncate", "content_index": 0, **cut})

    async def _send_audio(self, samples: Samples) -> None:
        audio = base64.b64encode(pcm16_from_samples(samples)).decode("ascii")
        await self.send({"type": "input_audio_buffer.append", "audio": audio})

    async def _report_played(self) -> None:
        reported: dict[str, int] = {}
        while True:
            await asyncio.sleep(PLAYED_EVERY_S)
            played = self.loudspeaker.playing()
            if played and reported != (reported := {played.item_id: int(played.played_ms)}):
                where = {"item_id": played.item_id, "audio_end_ms": int(played.played_ms)}
                await self.send({"type": "quicksilver.played", **where})


def _ending(socket: ClientConnection) -> str:
    """The close code and reason; without a close frame, the error as well."""
    ending = f"{socket.close_code} {socket.close_reason}".strip()
    error = socket.protocol.close_exc
    return ending if error.rcvd else f"{ending} ({socket.connection_exc or error})"

"""Records conversations while they are held; faults are logged and never end a conversation.

Sound is encoded and written in one thread, a second at a time. If a recording cannot be written, or
too much of it waits to be written, it is kept up to that point and goes no further.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections import deque
from collections.abc import AsyncGenerator, Callable, Iterable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec

from voice.callers import Caller
from voice.config import RecordsConfig
from voice.dialogue.conversation import Context
from voice.errors import ConfigError, ProtocolError, StoreError, origins
from voice.events import (
    AudioStopped,
    FinalTranscript,
    ReplyAudio,
    ReplyEnded,
    ReplyHeld,
    ReplyReleased,
    ReplyStarted,
    SessionEnded,
    SessionEvent,
)
from voice.inputs import SessionOptions
from voice.realtime.extensions import StateTracker
from voice.records.folder import Conversations, name_of
from voice.records.soundtrack import LONGEST, Both, Soundtrack
from voice.records.transcript import Transcript
from voice.session.load_monitor import LoadMonitor
from voice.session.session import Session
from voice.speech.audio_files import Encoder
from voice.tools.scope import Line
from voice.types import FindsWords, Message, Role, SaidWord, Samples

if TYPE_CHECKING:
    from voice.session.resources import Resources

WRITE_EVERY_S = 1.0
SWEEP_EVERY_S = 3600.0
QUIET_S = 60.0
"""The log is silent for this long after a fault, since even a full disk takes some writes."""
MOST_WAITING = 60
"""Pieces of one conversation that may wait to be written."""
FIND_EVERY_S = 0.25
MOST_UNFOUND = 32
"""Turns, over all conversations, whose word times are still to be found; each holds up to a
megabyte. Beyond that the oldest go, and their times stay estimates."""
BIT_RATE = 48_000
"""Average for both sides together: some 20 MB an hour."""
_MOST_TYPED = 20

_log = logging.getLogger(__name__)

P = ParamSpec("P")


class Recorder:
    """Records the conversations of a server.

    Args:
        config: How long conversations are kept, and where.

    Raises:
        ConfigError: The folder cannot be used.
    """

    def __init__(self, config: RecordsConfig) -> None:
        self.kept = Conversations(config)
        self.live: dict[str, Recording] = {}
        self._keep_days = config.keep_days
        self._writer = ThreadPoolExecutor(1, thread_name_prefix="records")
        self._unfound: deque[_Unfound] = deque(maxlen=MOST_UNFOUND)
        self._failed_s = -QUIET_S
        try:
            (self.kept.make() / ".writable").touch(mode=0o600)
        except OSError as error:
            raise ConfigError(
                f"records.folder: cannot write to {str(self.kept.path)!r}: {error.strerror}"
            ) from error

    def open(
        self,
        resources: Resources,
        options: SessionOptions | None = None,
        line: Line | None = None,
        caller: Caller | None = None,
    ) -> Session:
        """Make a session that is recorded; see `voice.telephony.routing.OpenSession`."""
        return RecordedSession(self, resources, options, line, caller)

    @asynccontextmanager
    async def running(self) -> AsyncGenerator[None, None]:
        """Write and sweep while the context lasts; at its end everything is written."""
        try:
            async with asyncio.TaskGroup() as group:
                loops = self._write(), self._sweep(), self._find_words()
                tasks = [group.create_task(each) for each in loops]
                yield
                for task in tasks:
                    task.cancel()
            while self._unfound:
                await self._find(self._unfound.popleft())
        finally:
            await asyncio.to_thread(self._writer.shutdown)

    def submit(self, work: Callable[[], None]) -> Future[None]:
        """Run something in the writing thread; the log says when nothing can be written."""
        return self._writer.submit(self._try, work)

    def _try(self, work: Callable[[], None]) -> None:
        try:
            work()
        except OSError as error:
            if isinstance(error, FileNotFoundError) and self.kept.path.is_dir():
                # The conversation was deleted while it was under way.
                raise
            before_s, self._failed_s = self._failed_s, time.monotonic()
            if self._failed_s - before_s >= QUIET_S:
                _log.error(
                    "records.folder: cannot write to %r: %s; conversations go on, and what they"
                    " say from now on is not kept",
                    str(self.kept.path),
                    error.strerror,
                )
            raise
        except Exception as error:
            _log.error("a conversation is not kept on: %s", origins(error))
            raise

    def give_up(self, name: str, error: Exception) -> None:
        """Stop recording a conversation after an unforeseen error."""
        _log.error("conversation %s is not kept on: %s", name, origins(error))
        self.live.pop(name, None)

    def forget(self, caller: Caller) -> None:
        """Delete all of a caller's conversations; nothing more is kept of those under way."""
        self._writer.submit(self._delete, caller)

    def _delete(self, caller: Caller) -> None:
        try:
            self.kept.delete(caller)
        except (OSError, StoreError) as error:
            _log.error("records.folder: %s", error)

    async def _write(self) -> None:
        while True:
            await asyncio.sleep(WRITE_EVERY_S)
            for name, recording in list(self.live.items()):
                try:
                    recording.write()
                except Exception as error:
                    self.give_up(name, error)

    def find_later(self, unfound: _Unfound) -> None:
        """Find the words of a turn later, when that slows nobody down."""
        self._unfound.append(unfound)

    async def _find_words(self) -> None:
        while True:
            await asyncio.sleep(FIND_EVERY_S)
            while self._unfound and self._unfound[0].recording.may_compute():
                await self._find(self._unfound.popleft())

    async def _find(self, one: _Unfound) -> None:
        loop, name = asyncio.get_running_loop(), one.recording.name
        try:
            words = await loop.run_in_executor(self._writer, one.find_words)
            one.recording.found(one.item_id, words)
        except Exception as error:
            _log.error("words of conversation %s are not found: %s", name, origins(error))

    async def _sweep(self) -> None:
        while True:
            now = datetime.now(UTC)
            try:
                await asyncio.to_thread(self.kept.sweep, self._keep_days, now)
            except (OSError, StoreError) as error:
                _log.error("records.folder: %s", error)
            await asyncio.sleep(SWEEP_EVERY_S)


@dataclass(frozen=True, slots=True)
class _Unfound:
    """A turn whose words have yet to be found in its audio."""

    recording: Recording
    item_id: str
    find_words: FindsWords


class Recording:
    """The recording of one conversation.

    Args:
        recorder: Writes it.
        head: The conversation's fixed fields; see `voice.records.transcript`.
        placing: Names of tools whose calls cannot be taken back.
        load: Tells how busy the recogniser and the model are.
    """

    def __init__(
        self,
        recorder: Recorder,
        head: Mapping[str, Any],
        placing: list[str],
        load: LoadMonitor,
    ) -> None:
        self._recorder = recorder
        self._load = load
        self._head = head
        self._track = Soundtrack(asyncio.get_running_loop().time)
        self._transcript = Transcript(head, self._track, placing)
        self._state = StateTracker()
        self._out_of_band: set[str] = set()
        self._typed: deque[tuple[str, str]] = deque(maxlen=_MOST_TYPED)
        self._encoder: Encoder | None = None
        self._waiting: deque[Future[None]] = deque()
        self._changed = self._broken = self._over = False

    @property
    def name(self) -> str:
        """The conversation's id."""
        return str(self._head["id"])

    @property
    def now(self) -> dict[str, Any]:
        """Who is conversing, and the current state."""
        seconds, latency = self._track.now_ms / 1000, self._transcript.latency_ms
        told = {"seconds": round(seconds, 1), "state": self._state.state, "latency_ms": latency}
        return {**self._head, **told}

    def may_compute(self) -> bool:
        """Whether nobody is waiting for the recogniser or the model."""
        return not (self._load.decodes or self._load.requests)

    def found(self, item_id: str, words: Iterable[SaidWord]) -> None:
        """Enter the words found in a turn's audio, even if the conversation is over."""
        self._transcript.found(item_id, words)
        self._changed = True
        if self._over:
            self._submit(self._recorder.kept.replace, self.name, self._transcript.text())

    def begin(self) -> None:
        """Begin to record."""
        self._recorder.live[self.name] = self
        self._submit(self._begin_files, self._transcript.text())

    def hear(self, samples: Samples, rate_hz: int) -> None:
        """Record the user's audio."""
        self._track.hear(samples, rate_hz)

    def item(self, item_id: str, message: Message) -> None:
        """Note what the client adds to the dialogue: the user's typed words, or a tool's result."""
        if message.role is Role.USER:
            self._typed.append((item_id, message.content))
        elif message.role is Role.TOOL:
            self._transcript.answered(message.call_id, message.content)
        else:
            # A returning client restores what was said before.
            self._typed.clear()

    def asked(self) -> list[tuple[str, str]]:
        """Note that the client asks for a reply; returns what was typed since the last one."""
        typed = list(self._typed)
        if typed:
            text = " ".join(content for _, content in typed)
            self._transcript.typed(text, [item_id for item_id, _ in typed])
            self._typed.clear()
        return typed

    def refused(self, typed: list[tuple[str, str]]) -> None:
        """Note that no reply was given; what was typed waits for the next one."""
        if typed:
            self._transcript.untyped(item_id for item_id, _ in typed)
            self._typed.extend(typed)

    def truncate(self, reply_id: str, played_ms: float) -> None:
        """Record that the client played no more than this of a reply."""
        self._track.truncate(reply_id, played_ms)

    def observe(self, event: SessionEvent) -> None:
        """Record an event of the session."""
        self._state.observe(event)
        match event:
            case FinalTranscript(item_id=spoken, text=text):
                # An audio item for which no reply has been requested now has its words.
                for index, (item_id, content) in enumerate(self._typed):
                    if item_id == spoken:
                        self._typed[index] = item_id, f"{content} {text}".strip()
            case ReplyStarted(reply_id, out_of_band=True):
                self._out_of_band.add(reply_id)
            case ReplyAudio(reply_id, samples, rate_hz) if reply_id not in self._out_of_band:
                self._track.say(reply_id, samples, rate_hz)
            case ReplyEnded(reply_id):
                self._out_of_band.discard(reply_id)
                self._track.end(reply_id)
            case ReplyHeld() | ReplyReleased():
                self._track.hold(isinstance(event, ReplyHeld))
            case AudioStopped():
                self._track.stop()
        self._changed |= self._transcript.observe(event)
        if isinstance(event, FinalTranscript) and event.find_words:
            self._recorder.find_later(_Unfound(self, event.item_id, event.find_words))

    def write(self, last: bool = False) -> None:
        """Write whatever is final by now; recording stops if the writer cannot keep up."""
        sound = self._track.take(last)
        self._waiting = deque(one for one in self._waiting if not one.done())
        if not self._broken and len(self._waiting) > MOST_WAITING:
            _log.error("records.folder: too slow; conversation %s is not kept on", self.name)
            self._broken = True
        text = self._transcript.text() if self._changed or last else ""
        self._changed = False
        whole = len(sound) < LONGEST
        self._submit(self._write_files, sound, text, last and whole)
        if last and not whole:
            self.write(last)

    def end(self) -> None:
        """Write the rest, because the conversation is over."""
        self._recorder.live.pop(self.name, None)
        self._over = True
        # A client that failed to take an event was given none of those behind it.
        self._transcript.observe(SessionEnded("failed"))
        self.write(last=True)

    def _submit(self, work: Callable[..., None], *arguments: Any) -> None:
        if not self._broken:
            self._waiting.append(self._recorder.submit(partial(self._work, work, *arguments)))

    # These run in the writing thread, one after the other.

    def _work(self, work: Callable[..., None], *arguments: Any) -> None:
        if self._broken:
            return
        try:
            work(*arguments)
        except Exception:
            self._broken = True
            raise

    def _begin_files(self, text: str) -> None:
        self._recorder.kept.make(self.name)
        self._recorder.kept.replace(self.name, text)
        self._encoder = Encoder("opus", "stereo", BIT_RATE)

    def _write_files(self, sound: Both, text: str, last: bool) -> None:
        name, kept = self.name, self._recorder.kept
        assert self._encoder is not None
        data = self._encoder.push(sound) + (self._encoder.finish() if last else b"")
        if data:
            kept.append(name, data)
        if text:
            kept.replace(name, text)


class RecordedSession(Session):
    """A session that is recorded; faults of the recording do not affect it."""

    def __init__(
        self,
        recorder: Recorder,
        resources: Resources,
        options: SessionOptions | None,
        line: Line | None,
        caller: Caller | None,
    ) -> None:
        super().__init__(resources, options, line, caller)
        self._recorder = recorder
        # Called even if the caller has hung up by then.
        self.scope.on_forget = partial(recorder.forget, self.scope.owner.caller)
        began = datetime.now(UTC)
        head = {
            "id": name_of(began, self.session_id),
            "session": self.session_id,
            "began": began.isoformat(timespec="milliseconds"),
            "agent": resources.agent.name,
            "caller": str(self.scope.owner.caller),
            "door": "realtime" if line is None else "telephone",
        }
        specs = resources.toolbox.specs_for(resources.agent, self.scope)
        placing = [spec.name for spec in specs if spec.confirmation is not None]
        self._recording: Recording | None = Recording(
            recorder, head, placing, resources.load_monitor
        )

    async def run(self, take: Callable[[SessionEvent], None]) -> None:
        """See `Session.run`."""

        def see(event: SessionEvent) -> None:
            take(event)
            self._keep(Recording.observe, event)

        self._keep(Recording.begin)
        try:
            await super().run(see)
        finally:
            self._keep(Recording.end)

    def append_audio(self, samples: Samples, rate_hz: int) -> None:
        """See `Session.append_audio`."""
        super().append_audio(samples, rate_hz)
        self._keep(Recording.hear, samples, rate_hz)

    def add_item(self, item_id: str, message: Message, previous_item_id: str | None) -> None:
        """See `Session.add_item`."""
        super().add_item(item_id, message, previous_item_id)
        self._keep(Recording.item, item_id, message)

    def create_response(
        self,
        overrides: Mapping[str, Any] | None = None,
        context: Context | None = None,
        out_of_band: bool = False,
    ) -> str:
        """See `Session.create_response`."""
        if out_of_band:
            return super().create_response(overrides, context, out_of_band)
        typed = self._keep(Recording.asked)
        try:
            return super().create_response(overrides, context)
        except ProtocolError:
            self._keep(Recording.refused, typed)
            raise

    def truncate(self, reply_id: str, played_ms: float) -> None:
        """See `Session.truncate`."""
        super().truncate(reply_id, played_ms)
        self._keep(Recording.truncate, reply_id, played_ms)

    def _keep(
        self, what: Callable[Concatenate[Recording, P], Any], *args: P.args, **kwargs: P.kwargs
    ) -> Any:
        if self._recording is None:
            return None
        try:
            return what(self._recording, *args, **kwargs)
        except Exception as error:
            self._recorder.give_up(self._recording.name, error)
            self._recording = None
            return None

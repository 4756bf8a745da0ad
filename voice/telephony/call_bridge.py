"""One call's conversation: what the line tells goes to the session, and the other way round.

It has no I/O: messages for the line collect in a deque, and the caller brings the time.
"""

from __future__ import annotations

import itertools
import logging
from collections import deque
from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from voice.errors import ProtocolError
from voice.events import (
    AudioStopped,
    FinalTranscript,
    ReplyAudio,
    ReplyEnded,
    ReplyHeld,
    ReplyReleased,
    SessionEvent,
    TranscriptFailed,
    UserSpeechStarted,
)
from voice.telephony.codec import (
    KEYS,
    CallAudio,
    CallCodec,
    CallEnded,
    CallEvent,
    CallStarted,
    FlowChanged,
    KeyPressed,
    LineMessage,
    MarkPlayed,
)
from voice.telephony.keypad import Keypad
from voice.telephony.playback import Frame, Playback, Progress
from voice.types import Message, Role

if TYPE_CHECKING:
    from voice.session.session import Session

LONGEST_TURN_S = 30.0
"""Keys wait so long for a spoken turn to end."""

SILENT_LINE_S = 1.0
"""A line that sends no audio for so long is taken to be silent, and not only slow: some lines send
nothing while nobody speaks, and a turn can only end in audio."""

_log = logging.getLogger(__name__)


class CallBridge:
    """A call that has started.

    Args:
        session: Not yet running, made for the codec's rate.
        codec: Of the call.
        out: Takes the messages to be sent, in order.
        clock: Seconds of any steady clock.
        digits_timeout_s: A pause of this length ends an entry of keys.
    """

    def __init__(
        self,
        session: Session,
        codec: CallCodec,
        out: deque[LineMessage],
        clock: Callable[[], float],
        digits_timeout_s: float,
    ) -> None:
        self._out = out
        self._out += codec.answer()
        self._session = session
        self._codec = codec
        self._clock = clock
        self._playback = Playback(codec.rate_hz, codec.traits)
        self._keypad = Keypad(digits_timeout_s)
        self._numbers = itertools.count(1)
        self._heard_s: float | None = None
        self._heard_hz = codec.rate_hz
        self._user_speaks = False
        self._typed: list[str] = []
        self._typed_due_s = 0.0
        self._told_of_key = False

    def hear(self, event: CallEvent) -> None:
        """Take in what the line tells."""
        match event:
            case CallAudio(samples, rate_hz):
                self._heard_s, self._heard_hz = self._clock(), rate_hz
                self._session.append_audio(samples, rate_hz)
            case KeyPressed(key):
                self._press(key)
            case MarkPlayed(name):
                progress = self._playback.played(name, self._clock())
                self._report([progress] if progress else [])
            case FlowChanged(is_open):
                self._playback.flow(is_open)
            case CallEnded():
                self._session.close("the caller hung up")
            case CallStarted():
                raise ProtocolError("got a second start of the call")

    def tell(self, event: SessionEvent) -> None:
        """Take in what the session tells.

        Raises:
            ProtocolError: Far more audio waits for the line than it has taken.
        """
        match event:
            case ReplyAudio(reply_id, samples):
                if not self._playback.say(reply_id, samples):
                    raise ProtocolError("the line does not take audio")
            case AudioStopped():
                self._cut()
            case ReplyEnded(reply_id):
                self._playback.end(reply_id)
            case ReplyHeld():
                # What is at the far side sounds on; that is little.
                self._playback.hold()
            case ReplyReleased():
                self._playback.release()
            case UserSpeechStarted():
                self._user_speaks = True
            case FinalTranscript() | TranscriptFailed():
                self._user_speaks = False

    def tick(self) -> float | None:
        """Do what is due by now.

        Returns:
            Seconds until something may be due again; None when only something new can bring that.
        """
        now_s = self._clock()
        self._hear_silence(now_s)
        self._report(self._playback.elapsed(now_s))
        for item in self._playback.due(now_s):
            if isinstance(item, Frame):
                self._out += self._codec.audio(item.samples)
            else:
                self._out += self._codec.mark(item.name)
        if (said := self._keypad.elapsed(now_s)) is not None:
            self._type(said)
        if self._typed and (not self._user_speaks or now_s >= self._typed_due_s):
            self._ask()
        waits = [self._playback.wait_s(now_s), self._keypad.wait_s(now_s)]
        if self._typed:
            waits.append(self._typed_due_s - now_s)
        if self._heard_s is not None:
            waits.append(max(0.0, self._heard_s + SILENT_LINE_S - now_s))
        return min((wait for wait in waits if wait is not None), default=None)

    def unheard_s(self) -> float | None:
        """How long the caller still listens at the least, or None when all has been heard."""
        if self._playback.idle:
            return None
        return max(0.0, self._playback.dry_s - self._clock()) + self._playback.waiting_s

    def _hear_silence(self, now_s: float) -> None:
        silent_s = 0.0 if self._heard_s is None else now_s - self._heard_s
        if silent_s >= SILENT_LINE_S:
            self._heard_s = now_s
            silence = np.zeros(round(silent_s * self._heard_hz), np.int16)
            self._session.append_audio(silence, self._heard_hz)

    def _press(self, key: str) -> None:
        if key not in KEYS:
            if not self._told_of_key:
                # What keys a caller pressed is no matter of the log's.
                _log.warning("the line told of a key that no telephone has; such keys are ignored")
            self._told_of_key = True
            return
        if self._keypad.empty:
            # A caller who types has heard enough.
            self._session.interrupt()
        said = self._keypad.press(key, self._clock())
        if said is not None:
            self._type(said)

    def _type(self, said: str) -> None:
        self._typed.append(said)
        self._typed_due_s = self._clock() + LONGEST_TURN_S

    def _ask(self) -> None:
        """Put what was typed into the dialogue and ask for a reply to it."""
        self._session.interrupt()
        for said in self._typed:
            item_id = f"item_keys_{next(self._numbers)}"
            self._session.add_item(item_id, Message(Role.USER, said), None)
        self._typed.clear()
        self._session.create_response()

    def _cut(self) -> None:
        cut = self._playback.clear(self._clock())
        if not cut:
            return
        self._out += self._codec.clear()
        for progress in cut:
            try:
                self._session.truncate(progress.reply_id, progress.played_ms)
            except ProtocolError:
                # An apology cut before its first word never became an item.
                _log.debug("nothing to cut short")

    def _report(self, heard: list[Progress]) -> None:
        for progress in heard:
            self._session.played(progress.reply_id, progress.played_ms)

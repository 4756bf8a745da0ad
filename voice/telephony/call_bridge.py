"""One call without I/O: passes the line's events to the session, and the session's to the line.

Messages for the line collect in a deque, which the caller of this class sends; a clock is passed
in.
"""

from __future__ import annotations

import itertools
import logging
from collections import deque
from collections.abc import Callable
from typing import TYPE_CHECKING

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
    UserTurnDropped,
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
from voice.telephony.playback import Playback, Progress
from voice.types import Message, Role

if TYPE_CHECKING:
    from voice.session.session import Session

MAX_KEYS = 64
"""Most keys in one entry."""

LONGEST_TURN_S = 30.0
"""Longest time that entered keys wait for a spoken turn to end."""

_log = logging.getLogger(__name__)


class CallBridge:
    """A call that has started.

    Keys become words of the user: an entry such as ``4 5 2 1`` ends with the hash key or a pause,
    and the agent replies to it. A hash key alone becomes the word ``hash``.

    Args:
        session: The session, not yet running, made for the codec's rate.
        codec: The call's codec.
        out: Takes the messages to send, in order.
        clock: Returns the seconds of any monotonic clock.
        digits_timeout_s: Length of the pause that ends an entry of keys.
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
        self._digits_timeout_s = digits_timeout_s
        self._playback = Playback(codec.rate_hz, codec.traits)
        self._numbers = itertools.count(1)
        self._spoken_turn: int | None = None
        self._keys: list[str] = []
        self._keys_due_s = 0.0
        self._entries: list[str] = []
        self._entries_due_s = 0.0

    def from_line(self, event: CallEvent) -> None:
        """Pass an event from the line to the session.

        Raises:
            ProtocolError: The call has started already.
        """
        match event:
            case CallAudio(samples, rate_hz):
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

    def from_session(self, event: SessionEvent) -> None:
        """Carry out a session event on the line.

        Raises:
            ProtocolError: Far too much audio waits for a line that does not take it.
        """
        match event:
            case ReplyAudio(reply_id, samples):
                if not self._playback.say(reply_id, samples):
                    raise ProtocolError("the line does not take audio")
            case AudioStopped():
                self.cut()
            case ReplyEnded(reply_id):
                self._playback.end(reply_id)
            case ReplyHeld():
                # The little that has already been sent will still play.
                self._playback.hold()
            case ReplyReleased():
                self._playback.release()
            case UserSpeechStarted(turn):
                self._spoken_turn = turn
            case FinalTranscript(turn) | TranscriptFailed(turn) | UserTurnDropped(turn) if (
                turn == self._spoken_turn
            ):
                self._spoken_turn = None

    def tick(self) -> float | None:
        """Do whatever is due by now.

        Returns:
            Seconds until something may be due again; None if only another event can change that.
        """
        now_s = self._clock()
        self._report(self._playback.elapsed(now_s))
        for item in self._playback.due(now_s):
            self._out += (
                self._codec.mark(item) if isinstance(item, str) else self._codec.audio(item)
            )
        if self._keys and now_s >= self._keys_due_s:
            self._end_entry()
        if self._entries and (self._spoken_turn is None or now_s >= self._entries_due_s):
            self._reply_to_entries()
        waits = [
            self._playback.wait_s(now_s),
            self._keys_due_s - now_s if self._keys else None,
            self._entries_due_s - now_s if self._entries else None,
        ]
        return min((max(0.0, wait) for wait in waits if wait is not None), default=None)

    def unheard_s(self) -> float | None:
        """Least seconds until the caller has heard all audio; None if everything has been heard."""
        if self._playback.idle:
            return None
        return max(0.0, self._playback.dry_s - self._clock()) + self._playback.waiting_s

    @property
    def sounding(self) -> tuple[str, ...]:
        """See `Playback.sounding`."""
        return self._playback.sounding

    def _press(self, key: str) -> None:
        if key not in KEYS:
            # The log must not tell which key it was.
            _log.debug("the line sent a key that no telephone has")
            return
        # A caller who presses keys has heard enough.
        self._session.interrupt()
        if key != "#":
            self._keys.append("star" if key == "*" else key)
            self._keys_due_s = self._clock() + self._digits_timeout_s
        if key == "#" or len(self._keys) >= MAX_KEYS:
            self._end_entry()

    def _end_entry(self) -> None:
        if not self._entries:
            self._entries_due_s = self._clock() + LONGEST_TURN_S
        self._entries.append(" ".join(self._keys) or "hash")
        self._keys.clear()

    def _reply_to_entries(self) -> None:
        """Put the entries into the dialogue and ask for a reply."""
        self._session.interrupt()
        # Once a reply is stopped, words that waited for its end are answered at once.
        self._session.interrupt()
        for entry in self._entries:
            item_id = f"item_keys_{next(self._numbers)}"
            self._session.add_item(item_id, Message(Role.USER, entry), None)
        self._entries.clear()
        self._session.create_response()

    def cut(self) -> list[Progress]:
        """Stop the agent's audio; returns how much was played of each reply that was cut short."""
        cut = self._playback.clear(self._clock())
        self._out += self._codec.clear() if cut else []
        for progress in cut:
            try:
                self._session.truncate(progress.reply_id, progress.played_ms)
            except ProtocolError:
                # An apology that is cut before its first word has no item.
                _log.debug("nothing to cut short")
        return cut

    def _report(self, heard: list[Progress]) -> None:
        for progress in heard:
            self._session.played(progress.reply_id, progress.played_ms)

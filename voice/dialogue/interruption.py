"""The barge-in policy of all doors: what happens to the agent's sound when the user makes a sound.

If the client can hold the agent's sound, the first sign of speech only holds it. The agent is then
stopped if the speech proves to be an interruption; otherwise the sound goes on where it paused. If
the client cannot hold sound, the agent is stopped at once, and says the rest if the words turn out
not to be meant as an interruption. Speech within `REOPEN_MS` of the end of a turn continues that
turn. No I/O, no clock; doors obey hold, release and stop, and report what they have played.
"""

from __future__ import annotations

from collections.abc import Container, Sequence
from dataclasses import dataclass
from enum import Enum, auto

from voice.dialogue.commands import Command, HoldSpeaking, ReleaseSpeaking
from voice.dialogue.reply import Reply
from voice.hearing.backchannel import interrupts, is_backchannel
from voice.types import SpeechStarted, Transcript, TurnEnded, samples_of_ms

REASON = "turn_detected"
"""Reason that the client is given for a cancelled reply."""

REOPEN_MS = 700
"""Speech within this time of the end of a turn continues the turn."""


class State(Enum):
    """How far an interruption has come.

    Attributes:
        HELD: The agent's sound is held until the speech proves to be an interruption or not.
        RELEASED: Not an interruption up to this pause: the sound goes on while the pause lasts.
        STOPPED: The agent was stopped at once; the words will tell whether that was right.
        PROVEN: The user means to interrupt, and the agent is stopped.
    """

    HELD = auto()
    RELEASED = auto()
    STOPPED = auto()
    PROVEN = auto()


@dataclass(slots=True)
class Interruption:
    """Speech over the agent.

    Attributes:
        reply_ids: The replies that were sounding.
        answering: Whether the agent had asked something, so that "yes" is an answer rather than a
            backchannel.
        text: The newest interim transcript.
        lasted: Whether the speech has lasted longer than a backchannel or a noise.
    """

    reply_ids: tuple[str, ...]
    answering: bool
    state: State
    text: str = ""
    lasted: bool = False

    @classmethod
    def begin(cls, sounding: Sequence[Reply], holds: bool, reopens: bool) -> Interruption:
        """The user begins to speak over the ``sounding`` replies, the newest of which is last."""
        asked = bool(sounding) and sounding[-1].text.rstrip().endswith("?")
        # A user who goes on before the answer sounds is not telling the agent to carry on.
        answering = asked or (reopens and not sounding)
        state = State.RELEASED if sounding and holds and not reopens else State.STOPPED
        return cls(tuple(reply.reply_id for reply in sounding), answering, state)

    @property
    def pending(self) -> bool:
        """Whether it is still undecided if the agent is to stop."""
        return self.state in (State.HELD, State.RELEASED)

    def hold(self) -> list[Command]:
        """Hold the sound, unless it is held already."""
        if self.state is not State.RELEASED:
            return []
        self.state = State.HELD
        return [HoldSpeaking(reply_id) for reply_id in self.reply_ids]

    def release(self) -> list[Command]:
        """Let the sound go on, unless it does already."""
        if self.state is not State.HELD:
            return []
        self.state = State.RELEASED
        return [ReleaseSpeaking(reply_id) for reply_id in self.reply_ids]

    def hand_over(self) -> None:
        """A new turn began before this one was judged: holding the sound is now up to that one."""
        self.state = State.RELEASED

    def overhear(self, text: str) -> None:
        """Take the words recognised so far, while the user is speaking."""
        self.text = text
        self._judge_length()

    def last(self) -> None:
        """The speech has lasted longer than a backchannel or a noise."""
        self.lasted = True
        self._judge_length()

    def judge(self, transcript: Transcript) -> list[Command]:
        """Decide at a pause: the words prove an interruption, or the sound goes on."""
        if not self.is_meant(transcript):
            return self.release()
        self.state = State.PROVEN
        return []

    def is_meant(self, transcript: Transcript) -> bool:
        """Whether the words mean to interrupt."""
        return interrupts(transcript.text, self.answering, transcript.guess, transcript.sound_odds)

    def was_none(self, transcript: Transcript) -> bool:
        """Whether the agent was stopped at once for words that were no interruption after all."""
        return self.state is State.STOPPED and not self.is_meant(transcript)

    def _judge_length(self) -> None:
        # A drawn-out "right" also lasts, but is a backchannel.
        if self.pending and self.lasted and not is_backchannel(self.text, self.answering):
            self.state = State.PROVEN


def reopens(started: SpeechStarted, ended: TurnEnded | None, unanswered: Container[int]) -> bool:
    """Whether the user is continuing the last turn, ``ended``.

    Args:
        started: The user's speech.
        ended: The last turn; None if there was none.
        unanswered: Ids of the turns that are being recognised or answered.
    """
    if ended is None or ended.turn_id not in unanswered:
        return False
    return started.start_sample - ended.decided_sample <= samples_of_ms(REOPEN_MS)

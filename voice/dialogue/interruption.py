"""The policy of interruption, for every door: what the user's sound does to the agent's.

Where the client can hold sound back, the first sign of speech does no more than that: the speech
then proves to be an interruption, and the agent is stopped, or to be nothing, and the sound goes on
where it paused. Where the client cannot, the agent is stopped at once, and goes on with the rest
once the words show that nothing was meant. Who speaks again within `REOPEN_MS` of the end of a turn
had not ended it. No I/O and no clock; doors obey hold, release and stop, and report what they have
played.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import Enum, auto

from voice.dialogue.commands import Command, HoldSpeaking, ReleaseSpeaking
from voice.dialogue.reply import Reply
from voice.hearing.backchannel import interrupts, is_backchannel
from voice.types import SpeechStarted, Transcript, TurnEnded, samples_of_ms

REASON = "turn_detected"
"""Why a reply was cancelled, as the client is told."""

REOPEN_MS = 700
"""Who speaks again so soon after the end of a turn had not ended it."""


class State(Enum):
    """How far an interruption has come.

    Attributes:
        HELD: The agent's sound is held until the speech proves to be an interruption.
        RELEASED: The words up to a pause are none: the sound goes on while the pause lasts.
        STOPPED: The agent was stopped at once; the words will tell whether that was meant.
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
        reply_ids: The replies that sounded.
        answering: Whether the agent had asked something, so that "yes" is an answer.
        text: The newest interim transcript.
        lasted: Whether the speech has lasted for as long as only interruptions do.
    """

    reply_ids: tuple[str, ...]
    answering: bool
    state: State
    text: str = ""
    lasted: bool = False

    @classmethod
    def begin(cls, sounding: Sequence[Reply], holds: bool, reopens: bool) -> Interruption:
        """The user begins to speak; the newest of the ``sounding`` replies is the last of them."""
        asked = bool(sounding) and sounding[-1].text.rstrip().endswith("?")
        # Who goes on before a word of the answer has sounded does not tell the agent to go on.
        answering = asked or (reopens and not sounding)
        state = State.RELEASED if sounding and holds and not reopens else State.STOPPED
        return cls(tuple(reply.reply_id for reply in sounding), answering, state)

    @property
    def pending(self) -> bool:
        """Whether nobody knows yet whether the agent is to stop."""
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
        """The user speaks anew before this was judged: the newer speech holds the sound."""
        self.state = State.RELEASED

    def overhear(self, text: str) -> None:
        """Take the words so far, while the user speaks."""
        self.text = text
        self._judge_length()

    def last(self) -> None:
        """The speech has lasted for as long as only interruptions do."""
        self.lasted = True
        self._judge_length()

    def judge(self, transcript: Transcript) -> list[Command]:
        """At a pause: the words prove it, or the sound goes on."""
        if not self.is_meant(transcript):
            return self.release()
        self.state = State.PROVEN
        return []

    def is_meant(self, transcript: Transcript) -> bool:
        """Whether the words mean to interrupt."""
        return interrupts(transcript.text, self.answering, transcript.guess, transcript.sound_odds)

    def was_none(self, transcript: Transcript) -> bool:
        """Whether the agent was stopped at once, for what the final words show to be nothing."""
        return self.state is State.STOPPED and not self.is_meant(transcript)

    def _judge_length(self) -> None:
        # A drawn-out "right" lasts as well.
        if self.pending and self.lasted and not is_backchannel(self.text, self.answering):
            self.state = State.PROVEN


def reopens(started: SpeechStarted, ended: TurnEnded | None, answers: Iterable[Reply]) -> bool:
    """Whether the user only goes on with the newest turn, ``ended``, which is being answered."""
    if ended is None or not any(reply.turn_id == ended.turn_id for reply in answers):
        return False
    return started.start_sample - ended.decided_sample <= samples_of_ms(REOPEN_MS)

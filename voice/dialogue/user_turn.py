"""A user turn, from its first sound until it is answered."""

from __future__ import annotations

from dataclasses import dataclass

from voice.dialogue.commands import Command, Emit
from voice.dialogue.draft_words import DraftWords
from voice.dialogue.interruption import Interruption, State
from voice.events import InterimTranscript, UserSpeechStarted, UserTurnDropped
from voice.hearing.backchannel import interrupts
from voice.types import SAMPLE_RATE_HZ, Pause, SpeechResumed, Transcript, TurnEnded


@dataclass(slots=True)
class UserTurn:
    """What is known of a turn until it is answered.

    Attributes:
        transcript: The final transcript.
        shown: The last interim transcript sent to the client.
        interruption: What the turn does to the agent's sound; None if the agent was silent.
        goes_on: Whether the user goes on with the turn before, whose reply was begun too soon.
    """

    turn_id: int
    item_id: str
    start_sample: int
    draft_words: DraftWords
    transcript: Transcript | None = None
    ended: TurnEnded | None = None
    paused: bool = False
    shown: str = ""
    interruption: Interruption | None = None
    goes_on: bool = False

    @property
    def pending(self) -> Interruption | None:
        """The interruption while it is undecided; until then the turn is not shown."""
        interruption = self.interruption
        return interruption if interruption and interruption.pending else None

    @property
    def stopped_for_nothing(self) -> bool:
        """Whether the agent was stopped at once, and no words so far mean to interrupt it."""
        stopped = self.interruption
        if stopped is None or stopped.state is not State.STOPPED:
            return False
        return not interrupts(self.shown, stopped.answering)

    @property
    def seconds(self) -> float:
        """How long the user spoke, pauses included; 0 while the turn goes on."""
        if self.ended is None:
            return 0.0
        return max(0, self.ended.end_sample - self.start_sample) / SAMPLE_RATE_HZ

    def interrupt(self, interruption: Interruption) -> None:
        """The turn began while a reply was being made or heard."""
        self.interruption = interruption

    def end(self, event: TurnEnded) -> None:
        """The turn is over."""
        self.ended = event

    def recognise(self, transcript: Transcript) -> None:
        """Take the final transcript."""
        self.transcript = transcript

    def started(self) -> Command:
        """Tell the client that the turn has begun."""
        return Emit(UserSpeechStarted(self.turn_id, self.item_id, self.start_sample))

    def drop(self) -> list[Command]:
        """Tell the client that nothing comes of the turn; sound that was held goes on."""
        if self.pending:
            return self.pending.release()
        return [Emit(UserTurnDropped(self.turn_id, self.item_id))]

    def show(self, text: str) -> list[Command]:
        """Send the client an interim transcript, unless it was just sent."""
        if text == self.shown:
            return []
        self.shown = text
        return [Emit(InterimTranscript(self.turn_id, self.item_id, text))]

    def pause(self, event: Pause | SpeechResumed) -> list[Command]:
        """The user pauses or goes on; if they go on, sound that was released is held again."""
        self.paused = isinstance(event, Pause)
        return self.pending.hold() if self.pending and not self.paused else []

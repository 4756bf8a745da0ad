"""A turn of the user's, from its first sound until it is answered."""

from __future__ import annotations

from dataclasses import dataclass

from voice.dialogue.commands import Command, Emit
from voice.dialogue.pending_interruption import PendingInterruption
from voice.dialogue.speculation import Wording
from voice.events import InterimTranscript, UserSpeechStarted
from voice.types import SAMPLE_RATE_HZ, Pause, SpeechResumed, Transcript, TurnEnded


@dataclass(slots=True)
class UserTurn:
    """What is known of a turn until it is answered.

    Attributes:
        told: The interim transcript that the client was told last.
        doubt: Set while nobody knows whether the turn is meant to stop the agent.
        cut: Set when it has stopped the agent: whether it was meant to is known in the end.
    """

    item_id: str
    start_sample: int
    wording: Wording
    end_sample: int | None = None
    transcript: Transcript | None = None
    ended: TurnEnded | None = None
    paused: bool = False
    told: str = ""
    doubt: PendingInterruption | None = None
    cut: PendingInterruption | None = None

    @property
    def seconds(self) -> float:
        """How long the user spoke, pauses included; 0 while the turn goes on."""
        if self.ended is None:
            return 0.0
        return max(0, self.ended.end_sample - self.start_sample) / SAMPLE_RATE_HZ

    def started(self, turn_id: int) -> Command:
        """Tell the client that it has begun."""
        return Emit(UserSpeechStarted(turn_id, self.item_id, self.start_sample))

    def shown(self, turn_id: int, text: str) -> list[Command]:
        """Tell the client an interim transcript, unless it knows that one."""
        if text == self.told:
            return []
        self.told = text
        return [Emit(InterimTranscript(turn_id, self.item_id, text))]

    def pause(self, event: Pause | SpeechResumed) -> list[Command]:
        """The user falls silent, or goes on: then what has been let go is held once more."""
        self.paused = isinstance(event, Pause)
        if isinstance(event, Pause):
            self.end_sample = event.end_sample
            return []
        self.end_sample = None
        return self.doubt.hold() if self.doubt else []

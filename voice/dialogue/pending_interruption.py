"""A sound of the user's of which nobody knows yet whether it is meant to stop the agent.

At its first sign the agent's sound is held, where the client can do that. Then either it proves to
be an interruption, or the sound goes on where it paused. Without I/O and without a clock.
"""

from __future__ import annotations

from dataclasses import dataclass

from voice.dialogue.commands import Command, HoldSpeaking, ReleaseSpeaking
from voice.hearing.backchannel import interrupts, is_backchannel
from voice.types import SAMPLE_RATE_HZ, Transcript, ms_of_samples

BEGINNING_MS = 250
"""Speech up to a pause that is shorter may be the first half of a word: "right" holds its breath
before its last sound, and its beginning is heard as "why" or "no"."""


@dataclass(slots=True)
class PendingInterruption:
    """What hangs on a turn that began while the agent was speaking.

    Attributes:
        reply_ids: The replies that sounded.
        answering: Whether the agent had asked something, so that "yes" is an answer.
        start_sample: Where the turn began.
        held: Whether the replies' sound is held now.
        text: The newest interim transcript.
        lasted: Whether the speech has lasted for as long as only interruptions do.
    """

    reply_ids: tuple[str, ...]
    answering: bool
    start_sample: int
    held: bool = False
    text: str = ""
    lasted: bool = False

    def hold(self) -> list[Command]:
        """Hold the sound, unless it is held already."""
        if self.held:
            return []
        self.held = True
        return [HoldSpeaking(reply_id) for reply_id in self.reply_ids]

    def release(self) -> list[Command]:
        """Let the sound go on, unless it does already."""
        if not self.held:
            return []
        self.held = False
        return [ReleaseSpeaking(reply_id) for reply_id in self.reply_ids]

    @property
    def outlasted(self) -> bool:
        """Whether it has lasted too long to be nothing, and is no drawn-out "right" either."""
        return self.lasted and not is_backchannel(self.text, self.answering)

    def proven(self, heard: Transcript, end_sample: int) -> bool:
        """Whether what was heard up to a sample means to interrupt."""
        seconds = max(0, end_sample - self.start_sample) / SAMPLE_RATE_HZ
        return interrupts(heard.text, seconds, self.answering, heard.guess, heard.go_on)

    def may_be_a_beginning(self, end_sample: int) -> bool:
        """Whether speech up to a sample is so short that its word may go on behind a pause."""
        return ms_of_samples(end_sample - self.start_sample) < BEGINNING_MS

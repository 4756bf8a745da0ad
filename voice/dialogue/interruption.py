"""What becomes of the agent's words when the user makes a sound over them.

Part of `voice.dialogue.conversation`: no I/O, no clock. The words stop at once, or are held until
the sound proves to be an interruption, or nothing (`voice.dialogue.pending_interruption`). Knows
nothing of how a turn goes on.
"""

from __future__ import annotations

from collections.abc import Callable

from voice.dialogue.commands import Command
from voice.dialogue.pending_interruption import PendingInterruption
from voice.dialogue.reply_loop import ReplyLoop
from voice.dialogue.user_turn import UserTurn
from voice.types import Transcript

REASON = "turn_detected"

Then = Callable[[], list[Command]]
"""Something to go on with."""


class Interruptions:
    """The interruptions of one conversation.

    Args:
        agent: Whose words they are.
    """

    def __init__(self, agent: ReplyLoop) -> None:
        self._agent = agent
        self._once_stopped: list[Then] = []

    def begun(self, turn_id: int, turn: UserTurn, holds: bool, reopens: bool) -> list[Command]:
        """A turn begins, maybe over the agent.

        Args:
            turn_id: Of the turn.
            turn: What is known of it.
            holds: Whether the client can hold sound back.
            reopens: Whether the user only goes on with the turn that is being answered.
        """
        sounding = self._agent.sounding
        asked = bool(sounding) and sounding[-1].text.rstrip().endswith("?")
        replies = tuple(reply.reply_id for reply in sounding)
        # Who goes on before a word of the answer has sounded does not tell the agent to go on.
        talks = asked or (reopens and not sounding)
        doubt = PendingInterruption(replies, talks, turn.start_sample)
        if sounding and holds and not reopens:
            turn.doubt = doubt
            return doubt.hold()
        turn.cut = None if self._agent.silent else doubt
        # A client flushes on this event, so it goes out before anything that takes longer.
        told = turn.started(turn_id)
        return [told, *self._agent.interrupt(REASON, withdraw=reopens)]

    def lasted(self, turn_id: int, turn: UserTurn) -> list[Command]:
        """A turn in doubt has lasted for as long as only interruptions do."""
        if turn.doubt is None:
            return []
        turn.doubt.lasted = True
        return self._prove(turn_id, turn) if turn.doubt.outlasted else []

    def overheard(self, turn_id: int, turn: UserTurn, text: str) -> list[Command]:
        """While a turn in doubt goes on, these are its words so far."""
        assert turn.doubt is not None
        turn.doubt.text = text
        return self._prove(turn_id, turn) if turn.doubt.outlasted else []

    def weigh(self, turn_id: int, turn: UserTurn, heard: Transcript) -> list[Command]:
        """At a pause: stop the agent, let it go on while the pause lasts, or wait, sound held."""
        assert turn.doubt is not None
        end_sample = turn.end_sample or turn.start_sample
        if not turn.doubt.proven(heard, end_sample):
            return turn.doubt.release()
        only_begun = turn.ended is None and turn.doubt.may_be_a_beginning(end_sample)
        return [] if only_begun else self._prove(turn_id, turn)

    def stopped(self, then: Then | None = None) -> list[Command]:
        """Go on once all that was stopped is known as far as it was heard: the model sees that."""
        self._once_stopped += [then] if then else []
        if not self._agent.silent:
            return []
        waiting, self._once_stopped = self._once_stopped, []
        return [command for go_on in waiting for command in go_on()]

    def _prove(self, turn_id: int, turn: UserTurn) -> list[Command]:
        """The user means to interrupt: what had only been held is stopped."""
        turn.doubt = None
        return [turn.started(turn_id), *self._agent.interrupt(REASON)]

"""What the agent says when nobody speaks: first whether the user is there, then goodbye.

No I/O and no clock; `voice.dialogue.conversation`, of which it is a part, passes on `IdleElapsed`.
"""

from __future__ import annotations

from collections.abc import Callable

from voice.dialogue.commands import Command, Emit
from voice.dialogue.history import History
from voice.events import UserIdle
from voice.inputs import IdleElapsed, SessionOptions
from voice.types import Message, Role

STILL_THERE = "Are you still there?"
GOODBYE = "Goodbye."


class IdleTimer:
    """The silences since the user spoke last.

    Args:
        dialogue: A silence that does not end the conversation is an empty entry of it.
        ids: Makes an id from a prefix, never the same twice.
    """

    def __init__(self, dialogue: History, ids: Callable[[str], str]) -> None:
        self._dialogue = dialogue
        self._ids = ids
        self._silences = 0

    def reset(self) -> None:
        """The user speaks."""
        self._silences = 0

    def elapsed(self, event: IdleElapsed, options: SessionOptions) -> tuple[list[Command], str]:
        """Another silence has lasted for too long.

        Returns:
            Commands, and the words to say; after `GOODBYE` the conversation is over.
        """
        self._silences += 1
        if options.idle_ends:
            return [], STILL_THERE if self._silences == 1 else GOODBYE
        item_id, previous = self._ids("item"), self._dialogue.last_id
        self._dialogue.add(item_id, Message(Role.USER))
        idle = UserIdle(item_id, previous, event.start_sample, event.end_sample)
        return [Emit(idle)], STILL_THERE

"""Replies that a client asks for: in the conversation, or beside it.

The model is asked once the words of every turn that is over are known: a client may commit audio
and ask for the reply to it in one breath. No I/O and no clock, like `voice.dialogue.conversation`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from voice.dialogue.commands import Command, Emit
from voice.dialogue.conversation import Conversation
from voice.dialogue.out_of_band import OutOfBandResponses
from voice.events import Failure, FinalTranscript, TranscriptFailed
from voice.inputs import Input, ItemHeard, ItemUnheard, ReplyInput, SessionOptions
from voice.types import Message

Context = Sequence[str | Message]
"""What the model is to see in place of the dialogue: messages, and ids of the dialogue's."""

Heeded = Input | ItemHeard | ItemUnheard
"""What a session takes in."""


class ClientResponses:
    """The conversation, and the replies beside it.

    Args:
        conversation: Takes what concerns no reply beside it.
        ids: Makes an id from a prefix, never the same twice.
        max_tool_calls: In one reply.
        max_history: Messages that the model sees.

    Attributes:
        beside: The replies beside the conversation.
    """

    def __init__(
        self,
        conversation: Conversation,
        ids: Callable[[str], str],
        max_tool_calls: int,
        max_history: int,
    ) -> None:
        self.beside = OutOfBandResponses(ids, max_tool_calls, max_history)
        self._conversation = conversation
        self._owed: dict[str, Context | None] = {}
        self._unheard: set[str] = set()

    def begin(
        self, options: SessionOptions, context: Context | None, beside: bool
    ) -> tuple[str, list[Command]]:
        """Begin a reply.

        Args:
            options: For this reply.
            context: What the model sees in place of the dialogue.
            beside: Whether the dialogue never learns of the reply.

        Returns:
            Its id, and what is to be done now.

        Raises:
            ProtocolError: Another one is being made, or the context names an unknown id.
        """
        for item_id in (one for one in context or () if isinstance(one, str)):
            self._conversation.dialogue.get(item_id)
        if beside:
            reply_id, commands = self.beside.begin(options)
        else:
            commands = self._conversation.respond(options)
            reply_id = self._conversation.active_reply or ""
        self._owed[reply_id] = context
        return reply_id, commands + self._ask()

    def cancel(self, reply_id: str | None) -> list[Command]:
        """Stop a reply; None is the conversation's.

        Raises:
            ProtocolError: There is none, or it has another id.
        """
        if reply_id is not None and reply_id in self.beside:
            return self.beside.cancel(reply_id)
        return self._conversation.cancel(reply_id)

    def feed(self, event: Heeded) -> list[Command]:
        """Take an input in; returns what is to be done now."""
        if isinstance(event, ReplyInput) and event.reply_id in self.beside:
            return self.beside.feed(event)
        if isinstance(event, ItemHeard | ItemUnheard):
            return self._heard(event) + self._ask()
        return self._conversation.feed(event) + self._ask()

    def await_words(self, item_id: str) -> None:
        """Ask nobody before `ItemHeard` or `ItemUnheard` has told the words of this item."""
        self._unheard.add(item_id)

    def _heard(self, event: ItemHeard | ItemUnheard) -> list[Command]:
        self._unheard.discard(event.item_id)
        if isinstance(event, ItemUnheard):
            failed = TranscriptFailed(0, event.item_id, event.message)
            return [Emit(failed), Emit(Failure(0, "asr", event.message))]
        dialogue = self._conversation.dialogue
        typed = {entry.item_id: entry.message.content for entry in dialogue}
        if event.item_id in typed:
            dialogue.say(event.item_id, f"{typed[event.item_id]} {event.text}".strip())
        transcript = event.text, event.confidence, event.seconds
        return [Emit(FinalTranscript(0, event.item_id, *transcript))]

    def _ask(self) -> list[Command]:
        if self._conversation.recognising or self._unheard:
            return []
        dialogue = self._conversation.dialogue
        out: list[Command] = []
        owed, self._owed = self._owed, {}
        for reply_id, context in owed.items():
            seen = None if context is None else dialogue.picked(context)
            if reply_id in self.beside:
                out += self.beside.ask(reply_id, dialogue.copy() if seen is None else seen)
            else:
                out += self._conversation.ask(reply_id, seen)
        return out

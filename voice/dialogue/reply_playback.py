"""What is said aloud of replies: which of them sound, and how much of each the user has heard.

Part of `voice.dialogue.reply_loop`: no I/O, no clock. Knows nothing of where a reply's words come
from.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable

from voice.dialogue.commands import Command, Emit, Speak, StopSpeaking
from voice.dialogue.history import History
from voice.dialogue.reply import Reply
from voice.events import ReplyText
from voice.inputs import AudioPlayed, SpeakingStopped

KEPT = 8
"""Of replies that were withdrawn, and of those whose client told how much it played."""


class ReplyPlayback:
    """The replies that sound, over the whole conversation.

    Args:
        dialogue: Keeps of a reply what is said, and of one that was stopped what was heard.
    """

    def __init__(self, dialogue: History) -> None:
        self._dialogue = dialogue
        self._playing: dict[str, Reply] = {}
        self._withdrawn: deque[str] = deque(maxlen=KEPT)
        self._truncated: deque[str] = deque(maxlen=KEPT)

    @property
    def playing(self) -> list[Reply]:
        """Replies that are complete or stopped and whose sound has not ended, the newest last."""
        return list(self._playing.values())

    def speak(self, reply: Reply, pieces: Iterable[str]) -> list[Command]:
        """Make pieces of text part of a reply, and of its sound where it has one."""
        options = reply.options
        out: list[Command] = []
        for piece in pieces:
            segment = reply.segment(piece)
            out.append(Emit(ReplyText(reply.reply_id, segment.text)))
            if options.speak:
                out.append(Speak(reply.reply_id, segment, options.output_rate_hz, options.speed))
        if out and reply.item_id not in self._truncated:
            self._dialogue.say(reply.item_id, reply.text)
        return out

    def aside(self, reply: Reply, text: str) -> list[Command]:
        """Words that sound and are kept nowhere: the model would take them for an answer.

        The reply has its place in the dialogue from here on, since the client may tell how much of
        it was played.
        """
        options = reply.options
        if not options.speak:
            return []
        segment = reply.aside(text)
        self._dialogue.open(reply.item_id)
        return [Speak(reply.reply_id, segment, options.output_rate_hz, options.speed)]

    def sounds_on(self, reply: Reply) -> None:
        """A reply is complete; its sound goes on until `played`."""
        if reply.options.speak and reply.segments:
            self._playing[reply.reply_id] = reply

    def played(self, event: AudioPlayed) -> bool:
        """The user has heard all of a reply that will sound; whether it was one that sounded."""
        reply = self._playing.pop(event.reply_id, None)
        if reply is not None and reply.text and event.heard is not None:
            self.heard(reply.item_id, event.heard)
        return reply is not None

    def stop(self) -> list[Command]:
        """Stop all that sounds of complete replies; `stopped` follows for each."""
        return [StopSpeaking(reply_id) for reply_id in self._playing]

    def break_off(self, reply: Reply) -> list[Command]:
        """Stop the sound of a reply that is still being made; `stopped` follows."""
        if not reply.options.speak:
            return []
        self._playing[reply.reply_id] = reply
        return [StopSpeaking(reply.reply_id)]

    def stopped(self, event: SpeakingStopped) -> None:
        """Keep of an interrupted reply what was heard."""
        reply = self._playing.pop(event.reply_id, None)
        if reply is not None and reply.text:
            self.heard(reply.item_id, event.heard)

    def truncated(self, item_id: str, text: str) -> None:
        """The client tells what it played of a reply; nothing said later counts as heard."""
        self._truncated.append(item_id)
        self.heard(item_id, text)

    def heard(self, item_id: str, text: str) -> None:
        """Keep of a reply what its client has played, unless it was withdrawn."""
        self._dialogue.say(item_id, "" if item_id in self._withdrawn else text)

    def withdraw(self, reply: Reply) -> None:
        """Keep nothing of a reply, heard or not."""
        self._withdrawn.append(reply.item_id)

    def unheard(self, reply: Reply) -> str:
        """What the user has not heard of a reply that was stopped."""
        kept = {entry.item_id: entry.message.content for entry in self._dialogue}
        heard = kept.get(reply.item_id, "")
        return reply.text[len(heard) :] if reply.text.startswith(heard) else reply.text

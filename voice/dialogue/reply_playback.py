"""The replies that are sounding, and the text that the dialogue keeps of them: what was heard.

Part of `voice.dialogue.reply_loop`: no I/O, no clock. Knows nothing of where a reply's words come
from.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable

from voice.dialogue.commands import Command, Emit, Speak, StopSpeaking
from voice.dialogue.history import History
from voice.dialogue.reply import Reply
from voice.events import RECENT_REPLIES, ReplyText
from voice.inputs import AudioPlayed

Heard = Callable[[str], str]
"""Maps a reply's id to the part of its text that the user has heard by now."""


class ReplyPlayback:
    """Speaks and stops replies over a whole conversation."""

    def __init__(self, dialogue: History, heard: Heard) -> None:
        self._dialogue = dialogue
        self._heard = heard
        self._playing: dict[str, Reply] = {}
        self._withdrawn: deque[str] = deque(maxlen=RECENT_REPLIES)
        self._truncated: deque[str] = deque(maxlen=RECENT_REPLIES)

    @property
    def playing(self) -> list[Reply]:
        """Complete replies whose sound has not ended, the newest last."""
        return list(self._playing.values())

    def speak(self, reply: Reply, pieces: Iterable[str]) -> list[Command]:
        """Add pieces of text to a reply, and to its sound if it is spoken."""
        out: list[Command] = []
        for piece in pieces:
            segment = reply.segment(piece)
            out.append(Emit(ReplyText(reply.reply_id, segment.text)))
            if reply.options.speak:
                out.append(Speak.of(reply.reply_id, segment, reply.options))
        if out and reply.item_id not in self._truncated:
            self._dialogue.say(reply.item_id, reply.text)
        return out

    def speak_aside(self, reply: Reply, text: str) -> list[Command]:
        """Speak words that are kept nowhere, because the model would take them for an answer.

        The reply gets its entry in the dialogue, since the client may report how much of it was
        played.
        """
        if not reply.options.speak:
            return []
        segment = reply.aside(text)
        self._dialogue.open(reply.item_id)
        return [Speak.of(reply.reply_id, segment, reply.options)]

    def sounds_on(self, reply: Reply) -> None:
        """A reply is complete; its sound goes on until `played`."""
        if reply.sounds:
            self._playing[reply.reply_id] = reply

    def played(self, event: AudioPlayed) -> bool:
        """A reply has been played as far as it will be; returns whether it was sounding."""
        reply = self._playing.pop(event.reply_id, None)
        if reply is not None and reply.text and event.heard is not None:
            self.keep(reply.item_id, event.heard)
        return reply is not None

    def stop_all(self) -> list[Command]:
        """Stop the sound of complete replies."""
        stopped, self._playing = self._playing, {}
        return [command for reply in stopped.values() for command in self.stop(reply)]

    def stop(self, reply: Reply) -> list[Command]:
        """Stop the sound of a reply, and keep only what was heard of it."""
        if not reply.options.speak:
            return []
        if reply.text:
            self.keep(reply.item_id, self._heard(reply.reply_id))
        return [StopSpeaking(reply.reply_id)]

    def truncate(self, item_id: str, text: str) -> None:
        """Keep what the client reports as played of a reply; text that comes later is dropped."""
        self._truncated.append(item_id)
        self.keep(item_id, text)

    def keep(self, item_id: str, text: str) -> None:
        """Keep the heard text of a reply in the dialogue; nothing if it was withdrawn."""
        self._dialogue.say(item_id, "" if item_id in self._withdrawn else text)

    def withdraw(self, reply: Reply) -> None:
        """Keep none of a reply's text, heard or not."""
        self._withdrawn.append(reply.item_id)

    def unheard(self, reply: Reply) -> str:
        """The part of a stopped reply that the user has not heard."""
        kept = {entry.item_id: entry.message.content for entry in self._dialogue}
        heard = kept.get(reply.item_id, "")
        return reply.text[len(heard) :] if reply.text.startswith(heard) else reply.text

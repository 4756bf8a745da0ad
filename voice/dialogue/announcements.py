"""What the agent says of its own accord, one by one: ringing timers, late results, greetings.

Part of `voice.dialogue.conversation`: no I/O, no clock. The conversation asks for the next one when
nobody is speaking; if the one before has not been reported as played by then, it was stopped.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, replace

from voice.dialogue.commands import Announced, Command
from voice.dialogue.history import History
from voice.dialogue.reply import Reply
from voice.dialogue.reply_playback import Heard
from voice.inputs import Announce, AudioPlayed


@dataclass(frozen=True, slots=True)
class _Entry:
    """An announcement that is waiting or being said.

    Attributes:
        cut: Whether it has already been stopped once after some of its words had been heard.
    """

    announce: Announce
    cut: bool = False


class Announcements:
    """The waiting announcements, and the one that is being said.

    If more than 16 are waiting, the oldest is dropped. That never hits a session's timers: they
    come one at a time, each once `Announced` has reported the one before.
    """

    def __init__(self, dialogue: History) -> None:
        self._dialogue = dialogue
        self._waiting: deque[_Entry] = deque(maxlen=16)
        self._saying: _Entry | None = None
        self._reply: Reply | None = None
        self._hushed = False

    def add(self, announce: Announce) -> None:
        """Queue an announcement; it is said when nobody is speaking."""
        self._waiting.append(_Entry(announce))

    def hush(self) -> None:
        """Announce nothing until `go_on`: the client has stopped the agent."""
        self._hushed = True

    def go_on(self) -> None:
        """Allow announcements again: the user has spoken, or the client has asked for a reply."""
        self._hushed = False

    def next(self) -> tuple[Announce | None, list[Command]]:
        """The announcement to say now that nobody is speaking, and the report on the last one."""
        if self._hushed:
            return None, []
        out = self._repeat_or_settle()
        self._saying = self._waiting.popleft() if self._waiting else None
        return self._saying.announce if self._saying else None, out

    def begun(self, reply: Reply | None) -> list[Command]:
        """Note the reply that says the announcement; None if it had no sound and is over."""
        self._reply = reply
        return [] if reply else self._settle(heard=True)

    def played(self, event: AudioPlayed) -> list[Command]:
        """A reply has been played to its end, or as far as it was synthesised."""
        if self._reply is None or self._reply.reply_id != event.reply_id:
            return []
        return self._settle(heard=event.heard is None)

    def leave(self, heard: Heard) -> list[Command]:
        """The conversation ends here; report whether the current announcement was heard in full."""
        if self._reply is None:
            return []
        return self._settle(heard(self._reply.reply_id).strip() == self._reply.text.strip())

    def _repeat_or_settle(self) -> list[Command]:
        """Queue an announcement that was stopped again, unless enough of it has been heard."""
        entry, reply = self._saying, self._reply
        if entry is None or reply is None:
            return []
        kept = {one.item_id: one.message.content for one in self._dialogue}
        heard = kept.get(reply.item_id, "").strip()
        if not entry.announce.again or heard == reply.text.strip() or (heard and entry.cut):
            return self._settle(heard=True)
        self._waiting.appendleft(replace(entry, cut=bool(heard)))
        self._saying = self._reply = None
        return []

    def _settle(self, heard: bool) -> list[Command]:
        entry, self._saying, self._reply = self._saying, None, None
        return [Announced(entry.announce.key, heard)] if entry and entry.announce.key else []

"""What the agent says of its own accord, one by one: ringing timers, late results, greetings.

Part of `voice.dialogue.conversation`: no I/O, no clock. The conversation asks for the next one when
nobody is speaking; if the one before has not been reported as played by then, it was stopped.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass, replace
from itertools import dropwhile

from voice.dialogue.commands import Announced, Command
from voice.dialogue.fillers import calls_off
from voice.dialogue.history import History
from voice.dialogue.reply import Reply
from voice.dialogue.reply_playback import Heard
from voice.inputs import Announce, AudioPlayed
from voice.types import Role
from voice.understanding.english import is_courteous


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
        self._held: list[tuple[_Entry, Reply | None]] = []
        self._hushed = False

    def add(self, announce: Announce) -> None:
        """Queue an announcement; it is said when nobody is speaking."""
        self._waiting.append(_Entry(announce))

    def hush(self, stopped: Iterable[Reply]) -> list[Command]:
        """Hold back until `go_on` the current announcement, if the client has stopped it.

        Those that wait behind it are held back too. What is added later is said: it may be an alarm
        for another time.
        """
        if self._saying is None or not any(reply is self._reply for reply in stopped):
            return []
        held = [(self._saying, self._reply), *((entry, None) for entry in self._waiting)]
        self._waiting.clear()
        self._saying = self._reply = None
        self._held += held
        self._hushed = True
        return [Announced(one.announce.key, None) for one, _ in held if one.announce.key]

    def go_on(self) -> None:
        """Say again what was held back: the user has spoken, or the client wants a reply."""
        self._hushed = False

    def next(self) -> tuple[Announce | None, list[Command]]:
        """The announcement to say now that nobody is speaking, and the report on the last one."""
        out = self._repeat_or_settle(self._saying, self._reply)
        while self._held and not self._hushed:
            out += self._repeat_or_settle(*self._held.pop())
        self._reply = None
        self._saying = self._waiting.popleft() if self._waiting else None
        return self._saying.announce if self._saying else None, out

    def begun(self, reply: Reply | None) -> list[Command]:
        """Note the reply that says the announcement; None if it had no sound and is over."""
        self._reply = reply
        return [] if reply else self._settle_current(heard=True)

    def played(self, event: AudioPlayed) -> list[Command]:
        """A reply has been played to its end, or as far as it was synthesised."""
        if self._reply is None or self._reply.reply_id != event.reply_id:
            return []
        return self._settle_current(heard=event.heard is None)

    def leave(self, heard: Heard) -> list[Command]:
        """The conversation ends here; report whether the current announcement was heard in full."""
        if self._reply is None:
            return []
        said = heard(self._reply.reply_id).strip()
        return self._settle_current(heard=said == self._reply.text.strip())

    def _repeat_or_settle(self, entry: _Entry | None, reply: Reply | None) -> list[Command]:
        """Queue an announcement that was stopped again, unless enough of it has been heard.

        The user may have heard enough from the first words on.
        """
        if entry is None:
            return []
        if reply is None:
            self._waiting.appendleft(entry)
            return []
        kept = {one.item_id: one.message.content for one in self._dialogue}
        heard = kept.get(reply.item_id, "").strip()
        whole = not entry.announce.again or heard == reply.text.strip()
        if whole or (heard and (entry.cut or self._dismissed(reply))):
            return _settled(entry, heard=True)
        self._waiting.appendleft(replace(entry, cut=bool(heard)))
        return []

    def _dismissed(self, reply: Reply) -> bool:
        """Whether the user has answered the announcement with "stop", "thanks" or the like."""
        behind = dropwhile(lambda one: one.item_id != reply.item_id, self._dialogue)
        said = (one.message.content for one in behind if one.message.role is Role.USER)
        return any(calls_off(text) or is_courteous(text) for text in said)

    def _settle_current(self, heard: bool) -> list[Command]:
        entry, self._saying, self._reply = self._saying, None, None
        return _settled(entry, heard) if entry else []


def _settled(entry: _Entry, heard: bool) -> list[Command]:
    return [Announced(entry.announce.key, heard)] if entry.announce.key else []

"""What the agent says of its own accord, one by one: ringing timers, late results, greetings.

Part of `voice.dialogue.conversation`: no I/O, no clock. The conversation asks for the next one when
nobody speaks; so one that was begun, and of whose end nobody has told, was stopped.
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
    """One that waits or is being said.

    Attributes:
        cut: Whether it was stopped before, when some words of it had been heard.
    """

    announce: Announce
    cut: bool = False


class Announcements:
    """What waits to be said, and what is being said.

    Of more than 16 that wait the oldest are dropped. A session's timers are not: they come one at a
    time, the next once `Announced` has told of the one before.
    """

    def __init__(self, dialogue: History) -> None:
        self._dialogue = dialogue
        self._waiting: deque[_Entry] = deque(maxlen=16)
        self._saying: _Entry | None = None
        self._reply: Reply | None = None
        self._hushed = False

    def add(self, announce: Announce) -> None:
        """Say it when nobody speaks."""
        self._waiting.append(_Entry(announce))

    def hush(self) -> None:
        """The client has stopped the agent: announce nothing before the user wants something."""
        self._hushed = True

    def go_on(self) -> None:
        """The user speaks, or the client asks for a reply: behind that, announce again."""
        self._hushed = False

    def next(self) -> tuple[Announce | None, list[Command]]:
        """What is to be said now that nobody speaks, and what is to be told of the one before."""
        if self._hushed:
            return None, []
        out = self._repeat_or_settle()
        self._saying = self._waiting.popleft() if self._waiting else None
        return self._saying.announce if self._saying else None, out

    def begun(self, reply: Reply | None) -> list[Command]:
        """The reply that says it; None is one without sound, which is over already."""
        self._reply = reply
        return [] if reply else self._settle(heard=True)

    def played(self, event: AudioPlayed) -> list[Command]:
        """A reply has sounded to its end, or as far as its synthesis came."""
        if self._reply is None or self._reply.reply_id != event.reply_id:
            return []
        return self._settle(heard=event.heard is None)

    def leave(self, heard: Heard) -> list[Command]:
        """The conversation ends here, maybe behind the last word of one."""
        if self._reply is None:
            return []
        return self._settle(heard(self._reply.reply_id).strip() == self._reply.text.strip())

    def _repeat_or_settle(self) -> list[Command]:
        """Let one that was stopped wait once more, unless it has been heard well enough."""
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

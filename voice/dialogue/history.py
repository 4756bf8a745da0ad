"""The dialogue so far: what the user said, and what the user has heard of the agent's replies.

Knows nothing of audio, models or the wire. Entries have ids so that a client can refer to them.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import islice, pairwise

from voice.dialogue.fillers import UNDER_WAY
from voice.errors import ProtocolError
from voice.tools.spoken_results import DONE
from voice.types import Message, Role, ToolCall
from voice.understanding.english import as_read

ROOT = "root"
MAX_ENTRIES = 2000
"""Entries kept per dialogue; beyond that the oldest is dropped. The model sees far fewer."""


@dataclass(frozen=True, slots=True)
class Entry:
    """A message and its id.

    Attributes:
        breaks: Where tool calls interrupted the message: for each break, the length of the text
            before it and the entry id of the first call.
        goes_on: Whether the user went on at once, so that this is one message with the user's entry
            before it, unless calls stand between.
    """

    item_id: str
    message: Message
    breaks: tuple[tuple[int, str], ...] = ()
    goes_on: bool = False


class History:
    """An ordered list of entries."""

    def __init__(self) -> None:
        self._entries: list[Entry] = []
        self._deleted: deque[str] = deque(maxlen=MAX_ENTRIES)

    def __iter__(self) -> Iterator[Entry]:
        return iter(self._entries)

    def copy(self) -> History:
        """An independent copy with the same entries."""
        other = History()
        other._entries = list(self._entries)
        other._deleted = self._deleted.copy()
        return other

    def without(self, item_ids: Collection[str]) -> History:
        """A copy that leaves out these entries."""
        other = self.copy()
        other._entries = [entry for entry in self._entries if entry.item_id not in item_ids]
        return other

    def picked(self, wanted: Iterable[str | Message]) -> History:
        """A new dialogue of the given messages and of entries by id; unknown ids are skipped."""
        known = {entry.item_id: entry for entry in self._entries}
        other = History()
        for number, one in enumerate(wanted):
            if isinstance(one, Message):
                other._entries.append(Entry(f"picked_{number}", one))
            elif entry := known.get(one):
                other._entries.append(entry)
        return other

    @property
    def last_id(self) -> str | None:
        """Id of the last entry, or None when there is none."""
        return self._entries[-1].item_id if self._entries else None

    def add(
        self,
        item_id: str,
        message: Message,
        previous_item_id: str | None = None,
        goes_on: bool = False,
    ) -> None:
        """Insert a message after an entry: ``root`` inserts at the front, None at the end.

        ``goes_on`` is as in `Entry`.

        Raises:
            ProtocolError: The id is taken, or the previous entry does not exist.
        """
        if any(entry.item_id == item_id for entry in self._entries):
            raise ProtocolError(
                f"item {item_id!r} exists already", "item_already_exists", "item.id"
            )
        at = len(self._entries)
        if previous_item_id == ROOT:
            at = 0
        elif previous_item_id is not None:
            at = self._index(previous_item_id, "previous_item_id") + 1
        if item_id in self._deleted:
            self._deleted.remove(item_id)
        self._insert(at, Entry(item_id, message, goes_on=goes_on))

    def get(self, item_id: str) -> Message:
        """The message with this id.

        Raises:
            ProtocolError: There is no such entry.
        """
        return self._entries[self._index(item_id)].message

    def delete(self, item_id: str) -> None:
        """Remove an entry; text that arrives for it later is dropped.

        Raises:
            ProtocolError: There is no entry with this id.
        """
        del self._entries[self._index(item_id)]
        self._deleted.append(item_id)

    def say(self, item_id: str, content: str) -> None:
        """Set an entry's text; an unknown id adds an agent entry, a deleted one is ignored."""
        if item_id in self._deleted:
            # Recognition or playback went on after the deletion.
            return
        at = self._place(item_id)
        if at is None:
            self._insert(len(self._entries), Entry(item_id, Message(Role.AGENT, content)))
            return
        entry = self._entries[at]
        self._entries[at] = replace(entry, message=replace(entry.message, content=content))

    def open(self, item_id: str) -> None:
        """Add an empty agent entry, unless there is one with this id."""
        if self._place(item_id) is None:
            self.say(item_id, "")

    def break_off(self, item_id: str, call_item_id: str) -> None:
        """Show the model the entry's further text after this call and its result.

        Does nothing if there is no such entry yet: it will be added after the call anyway.
        """
        at = self._place(item_id)
        if at is not None:
            entry = self._entries[at]
            broken = (len(entry.message.content), call_item_id)
            self._entries[at] = replace(entry, breaks=(*entry.breaks, broken))

    def behind_calls(self, item_id: str) -> str:
        """Id of the last entry in the unbroken run of calls and results that starts at a call.

        Raises:
            ProtocolError: There is no such entry.
        """
        at = self._index(item_id)
        while at + 1 < len(self._entries):
            following = self._entries[at + 1].message
            if not following.tool_calls and following.role is not Role.TOOL:
                break
            at += 1
        return self._entries[at].item_id

    def append(self, entry: Entry) -> None:
        """Add an entry from another dialogue; its id must be new here."""
        self._insert(len(self._entries), entry)

    @property
    def newest_said(self) -> str:
        """The user's last message, as `as_read` gives it; empty if there is none."""
        return next(iter(self.user_texts(1)), "")

    @property
    def newest_reply(self) -> str:
        """What the user has heard last of the agent; empty if that is nothing."""
        return next(iter(self.agent_texts(1)), "")

    def agent_texts(self, count: int) -> tuple[str, ...]:
        """The last ``count`` messages of the agent that are not empty, newest first."""
        agents = (e.message for e in reversed(self._entries) if e.message.role is Role.AGENT)
        return tuple(islice((one.content for one in agents if one.content.strip()), count))

    def user_texts(self, count: int) -> tuple[str, ...]:
        """The last ``count`` user messages that are not empty, newest first, through `as_read`."""
        texts = (" ".join(e.message.content for e in entries) for entries in self.said())
        return tuple(map(as_read, islice(texts, count)))

    def said(self) -> Iterator[list[Entry]]:
        """The user's messages that are not empty, newest first, each with all its entries."""
        found: list[Entry] = []
        for entry in reversed(self._entries):
            message = entry.message
            if not (message.content.strip() or message.tool_calls):
                continue
            if found and not (found[0].goes_on and message.role is Role.USER):
                yield found
                found = []
            if message.role is Role.USER:
                found.insert(0, entry)
        if found:
            yield found

    def unanswered(self) -> str:
        """All that the user has said since the agent was last heard, through `as_read`."""
        said: list[str] = []
        for entry in reversed(self._entries):
            message = entry.message
            if message.role is Role.AGENT and message.content.strip():
                break
            if message.role is Role.USER:
                said.insert(0, message.content)
        return as_read(" ".join(said))

    def view(self, limit: int, waiting: Collection[str] = ()) -> tuple[Message, ...]:
        """The newest messages as the model sees them, ``limit`` at most.

        Empty messages, calls without a result and results without a call are left out; but calls
        with an id in ``waiting`` are shown with the result `UNDER_WAY`. An empty result reads
        `DONE`, or the model would make the call again. Consecutive calls are merged
        into one message, as are consecutive user messages; a call whose result came late is moved
        to just before that result. If the dialogue is too long, the view begins with a user
        message, and always includes the last one, even if that exceeds the limit.
        """
        messages: list[Message] = []
        parts = _with_waiting(self._in_parts(self._newest(limit)), waiting)
        for message in _results_behind_calls(parts):
            if messages and (joined := _joined(messages[-1], message)):
                messages[-1] = joined
            else:
                messages.append(message)
        if len(messages) <= limit:
            return tuple(messages)
        users = [index for index, one in enumerate(messages) if one.role is Role.USER]
        start = next((index for index in users if index >= len(messages) - limit), None)
        last = users[-1] if users else len(messages)
        return tuple(messages[last if start is None else start :])

    def _newest(self, count: int) -> list[Entry]:
        """The entries that the view's last ``count`` messages are made of, or some more.

        Making messages of all entries would take longer the longer the conversation lasts.
        """
        start, texts, asked = 0, 0, False
        for at, entry in reversed([*enumerate(self._entries)]):
            said_by = entry.message.role if entry.message.content.strip() else None
            asked = asked or said_by is Role.USER
            # Each text of the agent's is a message of its own.
            texts += said_by is Role.AGENT
            if said_by is Role.AGENT and asked and texts > count:
                start = at
                break
        old, new = self._entries[:start], self._entries[start:]
        answered = {entry.message.call_id for entry in new}
        late = [e for e in old if any(c.call_id in answered for c in e.message.tool_calls)]
        return late + new

    def _in_parts(self, entries: list[Entry]) -> list[Message]:
        """The messages, with each one that calls interrupted split around those calls."""
        known = {entry.item_id for entry in entries}
        before: dict[str, list[Message]] = {}
        behind: dict[str, list[Message]] = {}
        out: list[Message] = []
        for entry in entries:
            breaks = [one for one in entry.breaks if one[1] in known]
            ends = [None, *(length for length, _ in breaks), None]
            content = entry.message.content
            first, *later = [content[start:end] for start, end in pairwise(ends)]
            parts = [replace(entry.message, content=text.lstrip()) for text in later]
            for part, (_, next_call) in zip(parts, breaks[1:], strict=False):
                before.setdefault(next_call, []).append(part)
            if parts:
                behind.setdefault(self.behind_calls(breaks[-1][1]), []).append(parts[-1])
            shown = replace(entry.message, content=first) if parts else entry.message
            out += [*before.get(entry.item_id, ()), shown, *behind.get(entry.item_id, ())]
        return out

    def _insert(self, at: int, entry: Entry) -> None:
        self._entries.insert(at, entry)
        if len(self._entries) > MAX_ENTRIES:
            del self._entries[0]

    def _index(self, item_id: str, param: str = "item_id") -> int:
        at = self._place(item_id)
        if at is None:
            problem = f"no item {item_id!r} in the conversation"
            raise ProtocolError(problem, "item_not_found", param)
        return at

    def _place(self, item_id: str) -> int | None:
        entries = enumerate(self._entries)
        return next((index for index, entry in entries if entry.item_id == item_id), None)


def _with_waiting(messages: list[Message], waiting: Collection[str]) -> list[Message]:
    """The messages, with the result `UNDER_WAY` behind each call with an id in ``waiting``."""
    out: list[Message] = []
    for message in messages:
        calls = (call for call in message.tool_calls if call.call_id in waiting)
        out.append(message)
        out += [Message(Role.TOOL, UNDER_WAY, call_id=c.call_id, name=c.name) for c in calls]
    return out


def _results_behind_calls(messages: list[Message]) -> list[Message]:
    """The messages that are not empty, with each result after its call.

    Models accept a result only if nothing but calls and results stands between it and its call. A
    client may send the result much later: then the call is moved to just before it.
    """
    to_come = Counter(message.call_id for message in messages if message.role is Role.TOOL)
    calls: dict[str, ToolCall] = {}
    together: set[str] = set()
    out: list[Message] = []
    for message in messages:
        if message.role is Role.TOOL:
            to_come[message.call_id] -= 1
            if message.call_id not in calls:
                continue
            if message.call_id not in together:
                _drop_call(out, message.call_id)
                out.append(Message(Role.AGENT, tool_calls=(calls[message.call_id],)))
                together.add(message.call_id)
            out.append(message if message.content.strip() else replace(message, content=DONE))
            continue
        kept = tuple(call for call in message.tool_calls if to_come[call.call_id])
        if not message.content.strip() and not kept:
            continue
        if not kept or (out and out[-1].role is Role.TOOL):
            together.clear()
        calls |= {call.call_id: call for call in kept}
        together.update(call.call_id for call in kept)
        out.append(replace(message, tool_calls=kept))
    return out


def _drop_call(messages: list[Message], call_id: str) -> None:
    """Remove the newest call with this id, and its message if nothing else is left in it."""
    for index in range(len(messages) - 1, -1, -1):
        message = messages[index]
        kept = tuple(call for call in message.tool_calls if call.call_id != call_id)
        if kept != message.tool_calls:
            messages[index] = replace(message, tool_calls=kept)
            if not kept and not message.content.strip():
                del messages[index]
            return


def _joined(first: Message, second: Message) -> Message | None:
    """Two consecutive messages merged into one, or None if they do not belong together."""
    if first.role is not second.role:
        return None
    if first.role is Role.USER:
        return replace(first, content=f"{first.content} {second.content}")
    if first.tool_calls and second.tool_calls and not second.content:
        return replace(first, tool_calls=first.tool_calls + second.tool_calls)
    return None

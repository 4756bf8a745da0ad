"""The dialogue as both sides have it: what the user said, and what the user heard of the agent.

It knows nothing of audio, models or the wire; entries have ids so that a client can name them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from voice.errors import ProtocolError
from voice.types import Message, Role

ROOT = "root"
MAX_ENTRIES = 2000
"""Kept of one dialogue; the first goes when there are more. The model sees far fewer."""

DONE = "Done."
"""What the model sees of a tool that answered with nothing."""


@dataclass(frozen=True, slots=True)
class Entry:
    """A message and its id."""

    item_id: str
    message: Message


class Dialogue:
    """An ordered list of entries."""

    def __init__(self) -> None:
        self._entries: list[Entry] = []

    def __iter__(self) -> Iterator[Entry]:
        return iter(self._entries)

    def __len__(self) -> int:
        return len(self._entries)

    def copy(self) -> Dialogue:
        """Another dialogue with the same entries."""
        other = Dialogue()
        other._entries = list(self._entries)
        return other

    def picked(self, wanted: Iterable[str | Message]) -> Dialogue:
        """Another dialogue, of entries of this one by their ids and of messages that are given.

        An id that is no longer known is left out.
        """
        known = {entry.item_id: entry.message for entry in self._entries}
        other = Dialogue()
        for number, one in enumerate(wanted):
            message = known.get(one) if isinstance(one, str) else one
            if message is not None:
                other._entries.append(Entry(f"picked_{number}", message))
        return other

    @property
    def last_id(self) -> str | None:
        """Id of the last entry, or None when there is none."""
        return self._entries[-1].item_id if self._entries else None

    def add(self, item_id: str, message: Message, previous_item_id: str | None = None) -> None:
        """Insert behind an entry; ``root`` is the front and None the end.

        Raises:
            ProtocolError: The id is taken, or the entry before it does not exist.
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
        self._insert(at, Entry(item_id, message))

    def get(self, item_id: str) -> Message:
        """The message with this id.

        Raises:
            ProtocolError: There is none.
        """
        return self._entries[self._index(item_id)].message

    def delete(self, item_id: str) -> None:
        """Remove an entry.

        Raises:
            ProtocolError: There is none with this id.
        """
        del self._entries[self._index(item_id)]

    def say(self, item_id: str, content: str) -> None:
        """Set what an entry says, and add an agent entry when there is none with this id."""
        for index, entry in enumerate(self._entries):
            if entry.item_id == item_id:
                self._entries[index] = Entry(item_id, replace(entry.message, content=content))
                return
        self._insert(len(self._entries), Entry(item_id, Message(Role.AGENT, content)))

    def user_texts(self, count: int) -> tuple[str, ...]:
        """What the user said in the last so many messages, newest first."""
        texts = [e.message.content for e in self._entries if e.message.role is Role.USER]
        return tuple(text for text in reversed(texts[-count:]) if text)

    def view(self, limit: int) -> tuple[Message, ...]:
        """The newest messages as the model is to see them.

        Empty ones are left out, and so are calls that have not answered; a result of nothing says
        `DONE`, or the call would be made again; calls that stand together are one message; what the
        user said in several goes, with nothing between, is one message as well.

        Args:
            limit: Messages at most. Where the dialogue is longer, it begins with one of the user's,
                the last of which is seen however many calls and results stand behind it.
        """
        answered = {e.message.call_id for e in self._entries if e.message.role is Role.TOOL}
        messages: list[Message] = []
        for entry in self._entries:
            message = _with_calls(entry.message, answered)
            if message.role is Role.TOOL and not message.content.strip():
                message = replace(message, content=DONE)
            if not message.content.strip() and not message.tool_calls:
                continue
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

    def _insert(self, at: int, entry: Entry) -> None:
        self._entries.insert(at, entry)
        if len(self._entries) > MAX_ENTRIES:
            del self._entries[0]

    def _index(self, item_id: str, param: str = "item_id") -> int:
        for index, entry in enumerate(self._entries):
            if entry.item_id == item_id:
                return index
        raise ProtocolError(f"no item {item_id!r} in the conversation", "item_not_found", param)


def _with_calls(message: Message, answered: set[str]) -> Message:
    if all(call.call_id in answered for call in message.tool_calls):
        return message
    kept = tuple(call for call in message.tool_calls if call.call_id in answered)
    return replace(message, tool_calls=kept)


def _joined(first: Message, second: Message) -> Message | None:
    """One message for two that belong together, or None."""
    if first.role is not second.role:
        return None
    if first.role is Role.USER:
        return replace(first, content=f"{first.content} {second.content}")
    if first.tool_calls and second.tool_calls and not second.content:
        return replace(first, tool_calls=first.tool_calls + second.tool_calls)
    return None

"""Conversation items: those that clients send, the messages they stand for, and their order.

Audio is never kept: a spoken item holds only its transcript.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from itertools import dropwhile
from typing import Annotated, Any, Literal, Self

from pydantic import Field, model_validator

from voice.errors import ProtocolError
from voice.realtime.wire import WireModel, read_json, validated
from voice.types import Message, Role, ServerTool, ToolCall, ToolResult

Item = dict[str, Any]
"""An item as it goes over the wire."""

ROOT = "root"

MAX_ITEMS = 2000
"""Items kept; the oldest are dropped, long after they have left the model's context."""

MAX_CHARS = 8 * 1024 * 1024
"""Limit on the length of all items together, as JSON."""

_Id = Annotated[str, Field(min_length=1, max_length=128)]
_ROLES = {"system": Role.SYSTEM, "user": Role.USER, "assistant": Role.AGENT}


class Part(WireModel):
    """A piece of a message's content."""

    type: Literal["input_text", "input_audio", "output_text", "output_audio", "text"]
    text: str | None = None
    transcript: str | None = None
    audio: str | None = None

    @property
    def untranscribed(self) -> bool:
        """Whether it is audio without a transcript, which only the user's messages may have."""
        return self.type == "input_audio" and self.transcript is None and self.audio is not None

    def words(self) -> str:
        """The part's text or transcript; empty if it is `untranscribed`.

        Raises:
            ProtocolError: The part lacks its text or transcript and is not the user's audio.
        """
        if self.untranscribed:
            return ""
        needed = "transcript" if self.type.endswith("audio") else "text"
        words = self.transcript if needed == "transcript" else self.text
        if words is None:
            raise ProtocolError(
                f"item.content: a part of type {self.type} needs {needed!r}",
                "missing_required_parameter",
                f"item.content.{needed}",
            )
        return words

    def wire(self, role: str) -> dict[str, Any]:
        """The part as it is echoed to the client."""
        if self.type.endswith("audio"):
            return {"type": self.type, "transcript": self.transcript}
        kind = "output_text" if role == "assistant" else "input_text"
        return {"type": kind, "text": self.text}


def _words(parts: Iterable[Part]) -> str:
    return " ".join(filter(None, (part.words() for part in parts)))


class MessageItem(WireModel):
    """A message, spoken or typed."""

    type: Literal["message"]
    id: _Id | None = None
    role: Literal["system", "user", "assistant"]
    content: list[Part] = Field(min_length=1, max_length=64)

    @model_validator(mode="after")
    def _audio_is_the_users(self) -> Self:
        untranscribed = sum(part.untranscribed for part in self.content)
        if untranscribed and self.role != "user":
            raise ValueError("audio without a transcript is the user's alone")
        if untranscribed > 1:
            raise ValueError("expected one part of audio without a transcript at the most")
        return self

    @property
    def audio(self) -> str | None:
        """The audio to be transcribed, as base64."""
        return next((part.audio for part in self.content if part.untranscribed), None)

    @property
    def text(self) -> str:
        """The words of all parts."""
        return _words(self.content)

    @property
    def text_behind_audio(self) -> str:
        """The words of the parts behind the audio to be transcribed."""
        behind = dropwhile(lambda part: not part.untranscribed, self.content)
        return _words(behind)


class FunctionCallItem(WireModel):
    """A call by the agent, sent back by the client as part of the history."""

    type: Literal["function_call"]
    id: _Id | None = None
    call_id: _Id
    name: str
    arguments: str


class FunctionOutputItem(WireModel):
    """The output of a call."""

    type: Literal["function_call_output"]
    id: _Id | None = None
    call_id: str
    output: str


class ApprovalItem(WireModel):
    """The client's answer to whether a call of an MCP server's tool may be made."""

    type: Literal["mcp_approval_response"]
    id: _Id | None = None
    approval_request_id: str
    approve: bool
    reason: str | None = None


ClientItem = MessageItem | FunctionCallItem | FunctionOutputItem | ApprovalItem


class _Holder(WireModel):
    """Wraps the union so that errors from `validated` name fields as ``item.…``."""

    item: Annotated[ClientItem, Field(discriminator="type")]


class ItemReference(WireModel):
    """A reference to an item of the conversation, in the input of a response."""

    type: Literal["item_reference"]
    id: str


@contextmanager
def located(name: str, path: str) -> Iterator[None]:
    """Rewrite errors about field ``name`` to give its ``path`` in the client's event."""
    try:
        yield
    except ProtocolError as error:
        message = str(error).replace(name, path, 1)
        param = (error.param or name).replace(name, path, 1)
        raise ProtocolError(message, error.code, param) from error


def parse_item(data: dict[str, Any]) -> ClientItem:
    """The item in the ``item`` field of ``conversation.item.create``.

    Raises:
        ProtocolError: Its type is unknown, or a field is missing or wrong.
    """
    return validated(_Holder, {"item": data}).item


def message_of(item: ClientItem, calls: dict[str, str]) -> Message:
    """The dialogue message that an item stands for.

    Args:
        item: As the client sent it.
        calls: Call id → name of the tool, for all calls in the conversation.

    Raises:
        ProtocolError: Arguments are not a JSON object, an output answers no known call, content has
            no text, or the item is an approval.
    """
    if isinstance(item, MessageItem):
        return Message(_ROLES[item.role], item.text)
    if isinstance(item, ApprovalItem):
        raise ProtocolError("item.type: an approval is no message", param="item.type")
    if isinstance(item, FunctionOutputItem):
        if item.call_id not in calls:
            raise ProtocolError(
                f"item.call_id: got {item.call_id!r}; no such call in the conversation",
                "invalid_tool_call_id",
                "item.call_id",
            )
        return Message(Role.TOOL, item.output, call_id=item.call_id, name=calls[item.call_id])
    call = ToolCall(item.call_id, item.name, _arguments(item.arguments))
    return Message(Role.AGENT, tool_calls=(call,))


def wire_item(item: ClientItem, item_id: str) -> Item:
    """The item as it is echoed to the client."""
    if isinstance(item, MessageItem):
        return _message(item_id, item.role, [part.wire(item.role) for part in item.content])
    fields = item.model_dump(exclude={"id", "type"})
    return _item(item_id, item.type, "completed", **fields)


def spoken_user_item(item_id: str) -> Item:
    """A spoken turn of the user; clients expect the key ``transcript`` even while it is null."""
    return _message(item_id, "user", [{"type": "input_audio", "transcript": None}])


def agent_item(item_id: str, speech: bool, text: str | None, status: str) -> Item:
    """The message of a reply; ``text`` is None while its content has not begun."""
    part = {"type": "output_audio", "transcript": text}
    if not speech:
        part = {"type": "output_text", "text": text}
    return _message(item_id, "assistant", [] if text is None else [part], status)


def call_item(item_id: str, call: ToolCall, arguments: str, status: str) -> Item:
    """A function call of the agent; ``arguments`` is JSON, empty while in progress."""
    fields = {"call_id": call.call_id, "name": call.name, "arguments": arguments}
    return _item(item_id, "function_call", status, **fields)


def listing_item(item_id: str, label: str, tools: tuple[ServerTool, ...], status: str) -> Item:
    """The list of an MCP server's tools."""
    shown = [
        {
            "name": tool.remote_name,
            "description": tool.description,
            "input_schema": tool.schema,
            "annotations": tool.annotations,
        }
        for tool in tools
    ]
    return _item(item_id, "mcp_list_tools", status, server_label=label, tools=shown)


def mcp_item(item_id: str, kind: str, status: str, call: ToolCall, tool: tuple[str, str]) -> Item:
    """An MCP tool call, made or awaiting approval; ``tool`` is the server's label and tool name."""
    label, name = tool
    fields: Item = {"server_label": label, "name": name, "arguments": arguments_json(call)}
    if kind == "mcp_call":
        # @openai/agents-realtime expects these keys even while they are null.
        fields |= {"output": None, "error": None}
    return _item(item_id, kind, status, **fields)


def answered_item(item: Item, result: ToolResult) -> Item:
    """The item of an MCP tool call, completed with its result."""
    words = result.content
    if not result.error:
        return item | {"status": "completed", "output": words, "error": None}
    error = {"type": "tool_execution_error", "message": words}
    return item | {"status": "incomplete", "output": None, "error": error}


def arguments_json(call: ToolCall) -> str:
    """A call's arguments as JSON, as sent over the wire."""
    return json.dumps(call.arguments, ensure_ascii=False, separators=(",", ":"))


class ItemLog:
    """The conversation's items in order."""

    def __init__(self) -> None:
        self._items: dict[str, Item] = {}
        self._order: list[str] = []
        self._lengths: dict[str, int] = {}
        self._chars = 0

    @property
    def calls(self) -> dict[str, str]:
        """Call id → name of the tool, for every function call in the conversation."""
        return {
            item["call_id"]: item["name"]
            for item in self._items.values()
            if item["type"] == "function_call"
        }

    @property
    def answered(self) -> set[str]:
        """The call ids that have an output in the conversation."""
        outputs = (i for i in self._items.values() if i["type"] == "function_call_output")
        return {item["call_id"] for item in outputs}

    @property
    def excess(self) -> str | None:
        """The id of the oldest item if the log exceeds `MAX_ITEMS` or `MAX_CHARS`, else None."""
        full = len(self._order) > MAX_ITEMS or self._chars > MAX_CHARS
        return self._order[0] if full else None

    def __contains__(self, item_id: object) -> bool:
        return item_id in self._items

    def require(self, item_id: str) -> Item:
        """The item.

        Raises:
            ProtocolError: There is no item with that id.
        """
        if item_id not in self._items:
            raise ProtocolError(
                f"item_id: got {item_id!r}; no such item", "item_not_found", "item_id"
            )
        return self._items[item_id]

    def back_from(self, item_id: str) -> Iterator[str]:
        """The ids of this item and of those before it, newest first."""
        return reversed(self._order[: self._order.index(item_id) + 1])

    def put(self, item: Item, previous_item_id: str | None = None) -> str | None:
        """Add an item, or replace the one with the same id in place.

        Args:
            item: As it goes over the wire.
            previous_item_id: The item to insert it after; "root" is the front, None the end.

        Returns:
            The id of the item before it, or None at the front.
        """
        item_id = item["id"]
        if item_id not in self._items:
            place = len(self._order)
            if previous_item_id == ROOT:
                place = 0
            elif previous_item_id in self._items:
                place = self._order.index(previous_item_id) + 1
            self._order.insert(place, item_id)
        self._write(item)
        before = self._order.index(item_id)
        return self._order[before - 1] if before else None

    def transcribed(self, item_id: str, text: str | None) -> int:
        """Set the transcript of an item's first untranscribed part; None leaves it untranscribed.

        Returns:
            The index of that part, or 0 if there is none.
        """
        item = self._items.get(item_id, {})
        content = list(item.get("content", []))
        for index, part in enumerate(content):
            if part["type"] == "input_audio" and part["transcript"] is None:
                content[index] = {**part, "transcript": text}
                self._write({**item, "content": content})
                return index
        return 0

    def remove(self, item_id: str) -> None:
        """Remove an item."""
        del self._items[item_id]
        self._chars -= self._lengths.pop(item_id)
        self._order.remove(item_id)

    def _write(self, item: Item) -> None:
        item_id = item["id"]
        self._items[item_id] = item
        self._chars -= self._lengths.get(item_id, 0)
        self._lengths[item_id] = len(json.dumps(item))
        self._chars += self._lengths[item_id]


def _item(item_id: str, kind: str, status: str, **fields: Any) -> Item:
    head = {"id": item_id, "object": "realtime.item", "type": kind, "status": status}
    return head | fields


def _message(
    item_id: str, role: str, content: list[dict[str, Any]], status: str = "completed"
) -> Item:
    return _item(item_id, "message", status, role=role, content=content)


def _arguments(text: str) -> dict[str, Any]:
    try:
        arguments = read_json(text or "{}")
    except ValueError:
        arguments = None
    if not isinstance(arguments, dict):
        raise ProtocolError(
            "item.arguments: expected a JSON object in a string", param="item.arguments"
        )
    return arguments

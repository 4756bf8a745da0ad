"""The events that clients send, read from JSON objects.

Each event is a model named after its wire type; the fields are the wire's. An event that cannot be
read raises a ProtocolError; none is dropped silently.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Literal

from pydantic import Field

from voice.errors import ProtocolError
from voice.inputs import SessionOptions
from voice.realtime import items
from voice.realtime.items import ItemLog
from voice.realtime.session_object import SessionObject, merged, reply_changes
from voice.realtime.wire import WireModel, validated
from voice.types import Message

_EVENT_ID_MAX = 512
_MAX_AUDIO_MS = 86_400_000
"""A day: longer than anyone speaks, and small enough for a float."""

_OVERRIDES = frozenset(
    {"instructions", "tools", "tool_choice", "output_modalities", "audio", "max_output_tokens"}
    | {"reasoning", "parallel_tool_calls"}
)
_Key = Annotated[str, Field(max_length=64)]
_Value = Annotated[str, Field(max_length=512)]


class SessionUpdate(WireModel):
    """``session.update``: merges ``session`` into the session object."""

    session: dict[str, Any]


class AudioAppend(WireModel):
    """``input_audio_buffer.append``: audio in the session's input format, as base64."""

    audio: str


class AudioCommit(WireModel):
    """``input_audio_buffer.commit``."""


class AudioClear(WireModel):
    """``input_audio_buffer.clear``."""


class ItemCreate(WireModel):
    """``conversation.item.create``; ``previous_item_id`` ``"root"`` means the front."""

    item: dict[str, Any]
    previous_item_id: str | None = None


class ItemRetrieve(WireModel):
    """``conversation.item.retrieve``."""

    item_id: str


class ItemTruncate(WireModel):
    """``conversation.item.truncate``: the client played ``audio_end_ms`` of the item."""

    item_id: str
    content_index: Literal[0] = 0
    audio_end_ms: int = Field(ge=0, le=_MAX_AUDIO_MS)


class ItemDelete(WireModel):
    """``conversation.item.delete``."""

    item_id: str


class ResponseCreate(WireModel):
    """``response.create``; ``response`` overrides the session for this reply."""

    response: dict[str, Any] | None = None


class ResponseCancel(WireModel):
    """``response.cancel``; without an id, the reply that is under way."""

    response_id: str | None = None


class OutputAudioClear(WireModel):
    """``output_audio_buffer.clear``, over WebRTC only: stop the agent's audio."""


class Played(WireModel):
    """``quicksilver.played``: the client has played ``audio_end_ms`` of the item so far."""

    item_id: str
    audio_end_ms: float = Field(ge=0, allow_inf_nan=False)


CLIENT_EVENTS: dict[str, type[WireModel]] = {
    "session.update": SessionUpdate,
    "input_audio_buffer.append": AudioAppend,
    "input_audio_buffer.commit": AudioCommit,
    "input_audio_buffer.clear": AudioClear,
    "conversation.item.create": ItemCreate,
    "conversation.item.retrieve": ItemRetrieve,
    "conversation.item.truncate": ItemTruncate,
    "conversation.item.delete": ItemDelete,
    "response.create": ResponseCreate,
    "response.cancel": ResponseCancel,
    "output_audio_buffer.clear": OutputAudioClear,
    "quicksilver.played": Played,
}


def event_id_of(data: dict[str, Any]) -> str | None:
    """The client's id for an event, which is returned with any error about it."""
    event_id = data.get("event_id")
    return event_id[:_EVENT_ID_MAX] if isinstance(event_id, str) else None


def parse_event(data: dict[str, Any]) -> WireModel:
    """Parse a client event from a JSON object.

    Raises:
        ProtocolError: The type is unknown, or a field is missing or wrong.
    """
    kind = data.get("type")
    if not isinstance(kind, str):
        raise ProtocolError("type: expected a string", "missing_required_parameter", "type")
    model = CLIENT_EVENTS.get(kind)
    if model is None:
        raise ProtocolError(
            f"type: got {kind[:80]!r}; expected one of {sorted(CLIENT_EVENTS)}",
            "unknown_event",
            "type",
        )
    return validated(model, data)


class _ResponseFields(WireModel):
    """Fields of ``response`` that are not fields of the session."""

    conversation: Literal["auto", "none"] | None = None
    input: list[dict[str, Any]] | None = Field(default=None, max_length=500)
    metadata: dict[_Key, _Value] | None = Field(default=None, max_length=16)


@dataclass(frozen=True, slots=True)
class ResponseRequest:
    """A response that a client asks for.

    Attributes:
        session: The session object with the response's overrides.
        overrides: Fields of `SessionOptions` for this response alone.
        context: The model's input instead of the dialogue: messages, and ids of items.
        out_of_band: Whether it stays outside the conversation.
        metadata: The client's own metadata, echoed.
    """

    session: SessionObject
    overrides: Mapping[str, Any]
    context: tuple[str | Message, ...] | None
    out_of_band: bool
    metadata: dict[str, str] | None


def read_response_request(
    response: dict[str, Any], session: SessionObject, base: SessionOptions, log: ItemLog
) -> ResponseRequest:
    """Read the ``response`` field of ``response.create`` against the session that it overrides.

    Args:
        response: What the client sent.
        session: The current session object.
        base: The agent's own options.
        log: The conversation's items.

    Raises:
        ProtocolError: A field has a wrong value, or an item is unknown.
    """
    extras = validated(_ResponseFields, response, "response")
    wanted = {key: value for key, value in response.items() if key in _OVERRIDES}
    if wanted.get("tools") is not None:
        # The response can call only these tools; an empty list means none at all.
        wanted["quicksilver"] = {"agent_tools": []}
    changed = merged(session, wanted, "response")
    with items.located("session", "response"):
        changes = reply_changes(changed, base)
    usual = reply_changes(session, base)
    return ResponseRequest(
        session=changed,
        overrides={name: value for name, value in changes.items() if value != usual[name]},
        context=None if extras.input is None else _context(extras.input, log),
        out_of_band=extras.conversation == "none",
        metadata=extras.metadata,
    )


def _context(given: list[dict[str, Any]], log: ItemLog) -> tuple[str | Message, ...]:
    calls = dict(log.calls)
    context: list[str | Message] = []
    for index, data in enumerate(given):
        path = f"response.input.{index}"
        if data.get("type") == "item_reference":
            reference = validated(items.ItemReference, data, path)
            with items.located("item_id", f"{path}.id"):
                log.require(reference.id)
            context.append(reference.id)
            continue
        with items.located("item", path):
            item = items.parse_item(data)
            context.append(items.message_of(item, calls))
            if isinstance(item, items.MessageItem) and item.audio is not None:
                raise ProtocolError(
                    "item.content: audio needs its transcript here; send it with "
                    "conversation.item.create and refer to it",
                    "unsupported_value",
                    "item.content",
                )
        if isinstance(item, items.FunctionCallItem):
            calls[item.call_id] = item.name
    return tuple(context)

"""What a client may send, and reading it from JSON text.

Each event is a model named after its wire type; the fields are the wire's. An event that cannot be
read is a ProtocolError, never a dropped message.
"""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field

from voice.errors import ProtocolError
from voice.realtime.wire import WireModel, read_json, validated

_EVENT_ID_MAX = 512
_MAX_AUDIO_MS = 86_400_000
"""A day: longer than anyone speaks, and no number that floats cannot hold."""


class ClientEvent(WireModel):
    """Base of all client events."""


class SessionUpdate(ClientEvent):
    """``session.update``: ``session`` is merged into the session."""

    session: dict[str, Any]


class AudioAppend(ClientEvent):
    """``input_audio_buffer.append``: base64 of audio in the session's input format."""

    audio: str


class AudioCommit(ClientEvent):
    """``input_audio_buffer.commit``."""


class AudioClear(ClientEvent):
    """``input_audio_buffer.clear``."""


class ItemCreate(ClientEvent):
    """``conversation.item.create``; ``previous_item_id`` ``"root"`` means the front."""

    item: dict[str, Any]
    previous_item_id: str | None = None


class ItemRetrieve(ClientEvent):
    """``conversation.item.retrieve``."""

    item_id: str


class ItemTruncate(ClientEvent):
    """``conversation.item.truncate``: the client played ``audio_end_ms`` of the item."""

    item_id: str
    content_index: Literal[0] = 0
    audio_end_ms: int = Field(ge=0, le=_MAX_AUDIO_MS)


class ItemDelete(ClientEvent):
    """``conversation.item.delete``."""

    item_id: str


class ResponseCreate(ClientEvent):
    """``response.create``; ``response`` overrides the session for this reply."""

    response: dict[str, Any] | None = None


class ResponseCancel(ClientEvent):
    """``response.cancel``; without an id, the reply that is under way."""

    response_id: str | None = None


class Played(ClientEvent):
    """``quicksilver.played``: the client has played ``audio_end_ms`` of the item so far."""

    item_id: str
    audio_end_ms: float = Field(ge=0, allow_inf_nan=False)


_MODELS: dict[str, type[ClientEvent]] = {
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
    "quicksilver.played": Played,
}


def parse_json(text: str) -> dict[str, Any]:
    """The JSON object in a text message.

    Raises:
        ProtocolError: It is not JSON, nests too deeply, has a number that is too large, or is not
            an object.
    """
    try:
        data = read_json(text)
    except ValueError as error:
        raise ProtocolError(f"the message is not valid JSON: {error}", "invalid_json") from error
    if not isinstance(data, dict):
        raise ProtocolError(f"got a JSON {type(data).__name__}; expected an object", "invalid_json")
    return data


def event_id_of(data: dict[str, Any]) -> str | None:
    """The client's own id of an event, to be returned with an error about it."""
    event_id = data.get("event_id")
    return event_id[:_EVENT_ID_MAX] if isinstance(event_id, str) else None


def parse_event(data: dict[str, Any]) -> ClientEvent:
    """The event in a JSON object.

    Raises:
        ProtocolError: The type is unknown, or a field is missing or wrong.
    """
    kind = data.get("type")
    if not isinstance(kind, str):
        raise ProtocolError("type: expected a string", "missing_required_parameter", "type")
    if kind == "output_audio_buffer.clear":
        raise ProtocolError(f"{kind} exists over WebRTC only", "unsupported_event", "type")
    model = _MODELS.get(kind)
    if model is None:
        raise ProtocolError(
            f"type: got {kind[:80]!r}; expected one of {sorted(_MODELS)}", "unknown_event", "type"
        )
    return validated(model, data)

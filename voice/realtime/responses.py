"""What a client asks for with ``response.create``, read against the session that it overrides."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Literal

from pydantic import Field

from voice.errors import ProtocolError
from voice.inputs import SessionOptions
from voice.realtime import items, options
from voice.realtime.items import ItemLog
from voice.realtime.session_object import SessionObject, merged
from voice.realtime.wire import WireModel, validated
from voice.types import Message

_OVERRIDES = frozenset(
    {"instructions", "tools", "tool_choice", "output_modalities", "audio", "max_output_tokens"}
    | {"reasoning", "parallel_tool_calls"}
)

_Key = Annotated[str, Field(max_length=64)]
_Value = Annotated[str, Field(max_length=512)]


class _Extras(WireModel):
    """The fields that are not the session's."""

    conversation: Literal["auto", "none"] | None = None
    input: list[dict[str, Any]] | None = Field(default=None, max_length=500)
    metadata: dict[_Key, _Value] | None = Field(default=None, max_length=16)


@dataclass(frozen=True, slots=True)
class Asked:
    """A reply that a client wants.

    Attributes:
        session: The session object as this reply has it.
        overrides: Fields of `SessionOptions` for this reply alone.
        context: What the model sees in place of the dialogue: messages, and ids of items.
        beside: Whether the conversation is not to learn of it.
        metadata: The client's own, given back.
    """

    session: SessionObject
    overrides: Mapping[str, Any]
    context: tuple[str | Message, ...] | None
    beside: bool
    metadata: dict[str, str] | None


def asked(
    response: dict[str, Any], session: SessionObject, base: SessionOptions, log: ItemLog
) -> Asked:
    """Read the ``response`` field.

    Args:
        response: What the client sent.
        session: The session object as it is.
        base: The agent's own options.
        log: The conversation's items.

    Raises:
        ProtocolError: A field has a wrong value, or an item is unknown.
    """
    extras = validated(_Extras, response, "response")
    wanted = {key: value for key, value in response.items() if key in _OVERRIDES}
    changed = merged(session, wanted, "response")
    with items.located("session", "response"):
        changes = options.reply_changes(changed, base)
    usual = options.reply_changes(session, base)
    return Asked(
        session=changed,
        overrides={name: value for name, value in changes.items() if value != usual[name]},
        context=None if extras.input is None else _context(extras.input, log),
        beside=extras.conversation == "none",
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

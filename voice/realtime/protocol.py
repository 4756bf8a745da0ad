"""The Realtime protocol of one conversation, without I/O.

Client text goes in at `RealtimeProtocol.receive` and becomes calls of the session's methods;
session events go in at `RealtimeProtocol.translate`. Both give the server events to be sent, in
order. It knows nothing of sockets, keys or queues.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pydantic import Field

from voice.errors import ProtocolError
from voice.events import SessionEvent
from voice.realtime import client_events as client
from voice.realtime import extensions, items, options, wire_audio
from voice.realtime.items import ROOT
from voice.realtime.outgoing import Outgoing, error_event
from voice.realtime.replies import ReplyForm
from voice.realtime.session_object import SessionObject, echo, merged
from voice.realtime.wire import NewId, ServerEvent, WireModel, new_id, validated
from voice.turns import SessionOptions

if TYPE_CHECKING:
    from voice.pipeline import Session

_OVERRIDES = frozenset(
    {"instructions", "tools", "tool_choice", "output_modalities", "audio", "max_output_tokens"}
    | {"reasoning"}
)


@dataclass(frozen=True, slots=True)
class LocalNames:
    """What the server calls its model and its voice, whatever a client asks for."""

    model: str
    voice: str


def preview(base: SessionOptions, changes: dict[str, Any], names: LocalNames) -> dict[str, Any]:
    """The session object that a conversation would begin with.

    Args:
        base: The agent's own options.
        changes: As in ``session.update``.
        names: Shown in the session object.

    Raises:
        ProtocolError: A field has a wrong value.
    """
    changed = merged(options.initial_object(base), changes)
    options.option_changes(changed, base)
    return echo(changed, new_id("sess"), names.model, names.voice)


class _ResponseExtras(WireModel):
    """The fields of ``response.create`` that are not the session's."""

    conversation: str | None = None
    input: list[Any] | None = None
    metadata: dict[str, str] | None = Field(default=None, max_length=16)


class RealtimeProtocol:
    """One conversation on the wire.

    Args:
        session: What the client's events act upon; its methods are called at once and not awaited.
        names: Shown in the session object.
        new_id: Makes ids of events and items.
    """

    def __init__(self, session: Session, names: LocalNames, new_id: NewId = new_id) -> None:
        self._session = session
        self._names = names
        self._new_id = new_id
        self._base = session.options
        self._greeted = False
        self._object = options.initial_object(self._base)
        self._out = Outgoing(new_id("conv"), self._form(self._object))

    @property
    def session_id(self) -> str:
        """The id shown in the session object."""
        return self._session.session_id

    @property
    def shown(self) -> dict[str, Any]:
        """The session object in full."""
        return echo(self._object, self.session_id, self._names.model, self._names.voice)

    def opening(self) -> list[ServerEvent]:
        """What the server sends first."""
        return self._stamped([self._session_event("session.created")])

    def configure(self, changes: dict[str, Any]) -> None:
        """Change the session as ``session.update`` does, without an answer.

        The agent greets a client that speaks of ``quicksilver``; others, made for OpenAI's API, do
        not expect it to begin.

        Raises:
            ProtocolError: A field has a wrong value; nothing has been changed.
        """
        changed = merged(self._object, changes)
        self._session.update(**options.option_changes(changed, self._base))
        self._object = changed
        self._out.form = self._form(changed)
        self._out.transcription = (
            changed.transcribes or changed.audio.input.transcription is not None
        )
        if changed.quicksilver is not None:
            self._out.extensions = frozenset(changed.quicksilver.events)
            greets = changed.quicksilver.greet and not changed.transcribes
            if greets and not self._greeted:
                self._greeted = True
                self._session.greet()

    def enable_extensions(self, names: Iterable[str]) -> None:
        """Send these extension events from now on; asking for events alone brings no greeting.

        Raises:
            ProtocolError: A name is unknown.
        """
        events = extensions.checked_names(names)
        self.configure({"quicksilver": {"events": events, "greet": False}})

    def receive(self, text: str) -> list[ServerEvent]:
        """Take a text message of the client; a bad one is answered with an ``error`` event."""
        event_id = None
        try:
            data = client.parse_json(text)
            event_id = client.event_id_of(data)
            return self._stamped(self._apply(client.parse_event(data)))
        except ProtocolError as error:
            failed = error_event(str(error), error.code, param=error.param, event_id=event_id)
            return self._stamped([failed])

    def translate(self, event: SessionEvent) -> list[ServerEvent]:
        """Take what the session tells."""
        return self._stamped(self._out.translate(event))

    def _apply(self, event: client.ClientEvent) -> list[ServerEvent]:
        match event:
            case client.AudioAppend(audio=audio):
                audio_format = self._object.audio.input.format
                samples = wire_audio.decode(audio, audio_format)
                self._session.append_audio(samples, options.rate_hz(audio_format))
            case client.AudioCommit():
                self._session.commit_audio()
            case client.AudioClear():
                self._session.clear_audio()
                return [{"type": "input_audio_buffer.cleared"}]
            case client.Played(item_id=item_id, audio_end_ms=played_ms):
                self._played(item_id, played_ms)
            case client.SessionUpdate(session=changes):
                self.configure(changes)
                return [self._session_event("session.updated")]
            case client.ResponseCreate(response=response):
                self._create_response(response or {})
            case client.ResponseCancel(response_id=response_id):
                self._session.cancel_response(response_id)
            case _:
                return self._apply_to_item(event)
        return []

    def _apply_to_item(self, event: client.ClientEvent) -> list[ServerEvent]:
        match event:
            case client.ItemCreate():
                return self._create_item(event)
            case client.ItemRetrieve(item_id=item_id):
                return [{"type": "conversation.item.retrieved", "item": self._item(item_id)}]
            case client.ItemDelete(item_id=item_id):
                self._out.log.require(item_id)
                self._session.delete_item(item_id)
                self._out.log.remove(item_id)
                return [{"type": "conversation.item.deleted", "item_id": item_id}]
            case client.ItemTruncate():
                return self._truncate(event)
        raise AssertionError(f"no rule for {type(event).__name__}")

    def _create_item(self, event: client.ItemCreate) -> list[ServerEvent]:
        parsed = items.parse_item(event.item)
        log = self._out.log
        item_id = parsed.id or self._new_id("item")
        if item_id in log:
            raise ProtocolError(
                f"item.id: {item_id!r} exists already", "item_exists", param="item.id"
            )
        if event.previous_item_id not in (None, ROOT):
            log.require(event.previous_item_id)
        message = items.message_of(parsed, log.calls)
        self._session.add_item(item_id, message, event.previous_item_id)
        item = items.wire_item(parsed, item_id)
        where = {"previous_item_id": log.put(item, event.previous_item_id), "item": item}
        return [
            {"type": "conversation.item.added", **where},
            {"type": "conversation.item.done", **where},
        ]

    def _truncate(self, event: client.ItemTruncate) -> list[ServerEvent]:
        item = self._out.log.require(event.item_id)
        if item.get("role") != "assistant":
            raise ProtocolError(
                "item_id: only messages of the assistant can be truncated", param="item_id"
            )
        self._session.truncate(event.item_id, event.audio_end_ms)
        return [
            {
                "type": "conversation.item.truncated",
                "item_id": event.item_id,
                "content_index": event.content_index,
                "audio_end_ms": event.audio_end_ms,
            }
        ]

    def _item(self, item_id: str) -> items.Item:
        """The item as it stands; of a reply that was cut short, what was heard."""
        item = self._out.log.require(item_id)
        if item.get("role") == "assistant" and item["status"] != "in_progress":
            speech = item["content"][0]["type"] == "output_audio"
            heard = self._session.item(item_id).content
            return items.agent_item(item_id, speech, heard, item["status"])
        return item

    def _played(self, item_id: str, played_ms: float) -> None:
        reply = self._out.reply_of_item(item_id)
        if reply is None:
            raise ProtocolError(
                f"item_id: got {item_id!r}; no recent reply", "item_not_found", "item_id"
            )
        self._session.played(reply.started.reply_id, played_ms)

    def _create_response(self, response: dict[str, Any]) -> None:
        if self._object.transcribes:
            raise ProtocolError("a transcription session has no responses", "unsupported_event")
        extras = validated(_ResponseExtras, response, "response")
        if extras.conversation not in (None, "auto"):
            raise ProtocolError(
                f"response.conversation: got {extras.conversation!r}; expected 'auto'",
                "unsupported_value",
                "response.conversation",
            )
        if extras.input is not None:
            raise ProtocolError(
                "response.input: not supported; use conversation.item.create",
                "unsupported_value",
                "response.input",
            )
        wanted = {key: value for key, value in response.items() if key in _OVERRIDES}
        changed = merged(self._object, wanted, "response")
        if changed.audio.output.format != self._object.audio.output.format:
            raise ProtocolError(
                "response.audio.output.format: the session's holds; change it with session.update",
                "unsupported_value",
                "response.audio.output.format",
            )
        usual = options.reply_changes(self._object, self._base)
        overrides = {
            name: value
            for name, value in options.reply_changes(changed, self._base).items()
            if value != usual[name]
        }
        self._session.create_response(overrides or None)
        self._out.form_next_reply(self._form(changed, extras.metadata))

    def _form(self, session: SessionObject, metadata: dict[str, str] | None = None) -> ReplyForm:
        return ReplyForm(
            speech=session.output_modalities == ["audio"],
            audio_format=session.audio.output.format,
            voice=self._names.voice,
            max_output_tokens=session.max_output_tokens,
            metadata=metadata,
        )

    def _session_event(self, kind: str) -> ServerEvent:
        return {"type": kind, "session": self.shown}

    def _stamped(self, events: list[ServerEvent]) -> list[ServerEvent]:
        return [{"event_id": self._new_id("event"), **event} for event in events]

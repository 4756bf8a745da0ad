"""The Realtime protocol of one conversation, without I/O.

`RealtimeProtocol.receive` turns a client's text into calls of the session's methods, and
`RealtimeProtocol.translate` turns the session's events into server events. Both return the server
events to send, in order. Sockets, keys and queues are not handled here.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from voice.access.closing import CloseCode, Closing
from voice.access.rate_limits import TOO_FAST, TokenBucket
from voice.dictation.editor import edited
from voice.errors import ProtocolError
from voice.events import FinalTranscript, InterimTranscript, ReplyStarted, SessionEvent
from voice.inputs import SessionOptions
from voice.realtime import client_events as client
from voice.realtime import items
from voice.realtime.client_events import read_response_request
from voice.realtime.extensions import checked_names
from voice.realtime.items import ROOT
from voice.realtime.server_events import ResponseFormat, ServerEvents, error_event
from voice.realtime.session_object import (
    SessionObject,
    echo,
    initial_object,
    merged,
    option_changes,
)
from voice.realtime.wire import (
    NewId,
    ServerEvent,
    WireModel,
    decode_audio,
    new_id,
    parse_json,
    rate_hz,
)
from voice.speech.tts import full_name
from voice.types import Samples

if TYPE_CHECKING:
    from voice.llm.base import ReplyModel
    from voice.session.session import Session


MEDIA_RATE_HZ = 24_000
"""Sample rate of the agent's audio where the transport plays it."""
PIECE_S = 0.2
"""Length of audio that is passed to the session in one go."""


@dataclass(frozen=True, slots=True)
class LocalNames:
    """What the server calls its model, its default voice, the selectable voices and its agent."""

    model: str
    voice: str
    voices: tuple[str, ...] = ()
    agent: str = ""

    def chosen(self, voice: str) -> str:
        """The name of the voice that is used when a client asks for ``voice``."""
        return full_name(voice, self.voices) or self.voice


def preview(
    base: SessionOptions, changes: dict[str, Any], names: LocalNames, model: ReplyModel
) -> dict[str, Any]:
    """The session object of a conversation that would begin with ``changes``.

    Raises:
        ProtocolError: A field has a wrong value, or the model cannot call one of the tools.
    """
    changed = merged(initial_object(base), changes)
    wanted = option_changes(changed, base)
    model.check_tools(wanted["client_tools"], "session.tools")
    return echo(
        changed,
        new_id("sess"),
        names.model,
        names.chosen(changed.audio.output.voice_name),
    )


def granted(base: SessionOptions, changes: Mapping[str, Any]) -> SessionOptions:
    """The options of a conversation that is opened with an ephemeral key.

    The conversation can never use other agent tools than those in the key's session. Whatever else
    that session sets is only a starting point, which the client may change.

    Raises:
        ProtocolError: A field has a wrong value.
    """
    wanted = option_changes(merged(initial_object(base), dict(changes)), base)
    return replace(base, **{name: wanted[name] for name in ("agent_tools", "calls", "answers")})


class RealtimeProtocol:
    """One conversation on the wire.

    Args:
        session: Called synchronously for the client's events.
        names: The names shown in the session object.
        new_id: Makes ids of events and items.
        reply_limit: Limits the replies that may be requested; None for no limit.
        idle_s: The agent's idle timeout, used for clients that send ``quicksilver``; clients made
            for OpenAI's API expect one only if they set it.
        trace_id: Id of the trace that the conversation belongs to; empty if there is none.
        by_media: Whether the transport hears and plays the audio itself, as over WebRTC, at
            `MEDIA_RATE_HZ`.
        audio_limit: Limits the seconds of audio from the client; None for no limit.
    """

    def __init__(
        self,
        session: Session,
        names: LocalNames,
        new_id: NewId = new_id,
        reply_limit: TokenBucket | None = None,
        idle_s: float = 0.0,
        trace_id: str = "",
        by_media: bool = False,
        audio_limit: TokenBucket | None = None,
    ) -> None:
        self._session = session
        self._names = names
        self._new_id = new_id
        self._reply_limit = reply_limit
        self._idle_s = idle_s
        self._by_media = by_media
        self._audio_limit = audio_limit
        self._unheard: Samples = np.empty(0, np.int16)
        self._base = session.options
        self._greeted = self._extended = False
        self._object = initial_object(self._base)
        self._events = ServerEvents(new_id("conv"), self._form(self._object), trace_id)

    @property
    def session_id(self) -> str:
        """The id shown in the session object."""
        return self._session.session_id

    @property
    def shown(self) -> dict[str, Any]:
        """The session object in full."""
        voice = self._names.chosen(self._object.audio.output.voice_name)
        return echo(self._object, self.session_id, self._names.model, voice)

    @property
    def _input_rate_hz(self) -> int:
        return rate_hz(self._object.audio.input.format)

    def opening(self) -> list[ServerEvent]:
        """The events that the server sends first."""
        return self._stamped([self._session_event("session.created"), *self._events.standing()])

    def configure(self, changes: dict[str, Any]) -> None:
        """Change the session as ``session.update`` does, but without an answer.

        The agent greets only a client that sends ``quicksilver``; clients made for OpenAI's API do
        not expect it to speak first.

        Raises:
            ProtocolError: A field has a wrong value; nothing has been changed.
        """
        self._configure(changes, self._extended or changes.get("quicksilver") is not None)

    def enable_extensions(self, names: Iterable[str]) -> None:
        """Send these extension events from now on; this alone does not make the agent greet.

        Raises:
            ProtocolError: A name is unknown.
        """
        events = checked_names(names)
        self._configure({"quicksilver": {"events": events}}, self._extended)

    def _configure(self, changes: dict[str, Any], extended: bool) -> None:
        """Change the session; ``extended`` tells whether the client has sent ``quicksilver``."""
        changed = merged(self._object, changes)
        self._check_voice(changed, "session")
        self._check_agent(changed)
        wanted = option_changes(changed, self._base)
        if self._by_media:
            wanted |= {"holds": True, "output_rate_hz": MEDIA_RATE_HZ}
        greets = extended and not changed.transcribes
        if greets:
            wanted["idle_timeout_s"] = wanted["idle_timeout_s"] or self._idle_s
        self._session.update(**wanted)
        self._object, self._extended = changed, extended
        own = changed.quicksilver
        transcription = changed.transcribes or changed.audio.input.transcription is not None
        self._events.configure(self._form(changed), transcription, own.events if own else None)
        self._events.keep_servers({server.label for server in wanted["servers"]})
        if greets and own is not None and own.greet and not self._greeted:
            self._greeted = True
            self._session.greet()

    def receive(self, text: str) -> list[ServerEvent]:
        """Handle a text message from the client; a bad one is answered with an ``error`` event.

        Raises:
            Closing: Audio arrives faster than it can be spoken.
        """
        event_id = None
        try:
            data = parse_json(text)
            event_id = client.event_id_of(data)
            events = self._apply(client.parse_event(data))
            return self._stamped(events + self._trimmed())
        except ProtocolError as error:
            failed = error_event(str(error), error.code, param=error.param, event_id=event_id)
            return self._stamped([failed])

    def hear(self) -> bool:
        """Pass the next piece of a message's audio to the session; returns whether there was one.

        Call it repeatedly before the next message is received, and let other tasks run in between:
        a message may hold minutes of audio.
        """
        piece = round(PIECE_S * self._input_rate_hz)
        samples, self._unheard = self._unheard[:piece], self._unheard[piece:]
        if len(samples):
            self._session.append_audio(samples, self._input_rate_hz)
        return len(samples) > 0

    def translate(self, event: SessionEvent) -> list[ServerEvent]:
        """The server events of a session event."""
        if self._object.dictates and isinstance(event, InterimTranscript | FinalTranscript):
            event = replace(event, text=edited(event.text))
        limits: list[ServerEvent] = []
        if isinstance(event, ReplyStarted) and self._reply_limit is not None:
            if not self._events.expects(event.reply_id):
                # The user's speech limits these replies already, but they count as well.
                self._reply_limit.take()
            limits = [_rate_limits(self._reply_limit)]
        return self._stamped(self._events.translate(event) + limits + self._trimmed())

    def sounding(self, stage: str, reply_id: str) -> list[ServerEvent]:
        """See `ServerEvents.sounding`."""
        return self._stamped(self._events.sounding(stage, reply_id))

    def cut_short(self, reply_id: str, played_ms: float) -> list[ServerEvent]:
        """See `ServerEvents.cut_short`."""
        return self._stamped(self._events.cut_short(reply_id, played_ms))

    def _apply(self, event: WireModel) -> list[ServerEvent]:
        match event:
            case client.AudioAppend() | client.Played() if self._by_media:
                raise ProtocolError("audio is not sent by events here", "unsupported_event", "type")
            case client.OutputAudioClear() if not self._by_media:
                message = "output_audio_buffer.clear exists over WebRTC only"
                raise ProtocolError(message, "unsupported_event", "type")
            case client.OutputAudioClear():
                self._session.interrupt()
            case client.AudioAppend(audio=audio):
                self._unheard = self._heard(audio)
                self.hear()
            case client.AudioCommit():
                self._session.commit_audio()
            case client.AudioClear():
                self._session.clear_audio()
                return [{"type": "input_audio_buffer.cleared"}]
            case client.Played(item_id=item_id, audio_end_ms=played_ms):
                self._played(item_id, played_ms)
            case client.SessionUpdate(session=changes):
                before = self._events.standing()
                self.configure(changes)
                stands = [event for event in self._events.standing() if event not in before]
                return [self._session_event("session.updated"), *stands]
            case client.ResponseCreate(response=response):
                self._create_response(response or {})
            case client.ResponseCancel(response_id=response_id):
                self._session.cancel_response(response_id)
            case _:
                return self._apply_to_item(event)
        return []

    def _heard(self, audio: str) -> Samples:
        samples = decode_audio(audio, self._object.audio.input.format)
        seconds = len(samples) / self._input_rate_hz
        if self._audio_limit is not None and not self._audio_limit.take(seconds):
            raise Closing(CloseCode.POLICY, TOO_FAST)
        return samples

    def _apply_to_item(self, event: WireModel) -> list[ServerEvent]:
        match event:
            case client.ItemCreate():
                return self._create_item(event)
            case client.ItemRetrieve(item_id=item_id):
                return [{"type": "conversation.item.retrieved", "item": self._item(item_id)}]
            case client.ItemDelete(item_id=item_id):
                self._events.items.require(item_id)
                return self._delete_item(item_id)
            case client.ItemTruncate():
                return self._truncate(event)
        raise AssertionError(f"no case for {type(event).__name__}")

    def _create_item(self, event: client.ItemCreate) -> list[ServerEvent]:
        parsed = items.parse_item(event.item)
        log = self._events.items
        item_id = parsed.id or self._new_id("item")
        if item_id in log:
            raise ProtocolError(
                f"item.id: {item_id!r} exists already", "item_exists", param="item.id"
            )
        if event.previous_item_id not in (None, ROOT):
            with items.located("item_id", "previous_item_id"):
                log.require(event.previous_item_id)
        if isinstance(parsed, items.ApprovalItem):
            return self._answer_approval(parsed, item_id, event.previous_item_id)
        message = items.message_of(parsed, log.calls)
        if isinstance(parsed, items.FunctionOutputItem) and parsed.call_id in log.answered:
            raise ProtocolError(
                f"item.call_id: {parsed.call_id!r} has its output already",
                "item_exists",
                "item.call_id",
            )
        spoken = (isinstance(parsed, items.MessageItem) and parsed.audio) or ""
        with items.located("audio", "item.content"):
            samples = self._heard(spoken)
        self._session.add_item(item_id, message, self._entry_before(event.previous_item_id))
        if isinstance(parsed, items.MessageItem) and len(samples):
            following = len(parsed.text_behind_audio)
            self._session.hear_item(item_id, samples, self._input_rate_hz, following)
        return self._entered(parsed, item_id, event.previous_item_id)

    def _entry_before(self, previous: str | None) -> str | None:
        """The dialogue's entry for ``previous``, or the last one before it.

        Tool lists and approvals are items for the client, but not part of the dialogue.
        """
        if previous is None or previous == ROOT:
            return previous
        for item_id in self._events.items.back_from(previous):
            with suppress(ProtocolError):
                self._session.item(item_id)
                return item_id
        return ROOT

    def _trimmed(self) -> list[ServerEvent]:
        """Delete the oldest items while there are too many; returns the events that report it."""
        events: list[ServerEvent] = []
        while (oldest := self._events.items.excess) is not None:
            events += self._delete_item(oldest)
        return events

    def _delete_item(self, item_id: str) -> list[ServerEvent]:
        # See `_entry_before`.
        with suppress(ProtocolError):
            self._session.delete_item(item_id)
        self._events.items.remove(item_id)
        return [{"type": "conversation.item.deleted", "item_id": item_id}]

    def _answer_approval(
        self, answer: items.ApprovalItem, item_id: str, previous: str | None
    ) -> list[ServerEvent]:
        """Resume a call that awaits approval, or drop it; the agent replies either way."""
        call = self._events.approvals.get(answer.approval_request_id)
        if call is None:
            raise ProtocolError(
                f"item.approval_request_id: got {answer.approval_request_id[:80]!r}; no request"
                " that waits for an answer",
                "item_not_found",
                "item.approval_request_id",
            )
        if answer.approve:
            self._session.approve(call)
        else:
            self._session.decline(call, item_id)
        del self._events.approvals[answer.approval_request_id]
        return self._entered(answer, item_id, previous)

    def _entered(
        self, parsed: items.ClientItem, item_id: str, previous: str | None
    ) -> list[ServerEvent]:
        """Add an item to the log; returns the events that report it."""
        item = items.wire_item(parsed, item_id)
        where = {"previous_item_id": self._events.items.put(item, previous), "item": item}
        return [
            {"type": "conversation.item.added", **where},
            {"type": "conversation.item.done", **where},
        ]

    def _truncate(self, event: client.ItemTruncate) -> list[ServerEvent]:
        item = self._events.items.require(event.item_id)
        if item.get("role") != "assistant":
            raise ProtocolError(
                "item_id: only messages of the assistant can be truncated", param="item_id"
            )
        if [part["type"] for part in item["content"]] == ["output_text"]:
            raise ProtocolError(
                "item_id: the item is text; only audio can be truncated", param="item_id"
            )
        response = self._events.response_of_item(event.item_id)
        if response is None:
            raise ProtocolError("the item is not a recent reply", "invalid_value", "item_id")
        self._session.truncate(response.started.reply_id, event.audio_end_ms)
        return [
            {
                "type": "conversation.item.truncated",
                "item_id": event.item_id,
                "content_index": event.content_index,
                "audio_end_ms": event.audio_end_ms,
            }
        ]

    def _item(self, item_id: str) -> items.Item:
        """The item; for a reply that was cut short, with only the text that was played."""
        item = self._events.items.require(item_id)
        if item.get("role") == "assistant" and item["status"] != "in_progress":
            speech = item["content"][0]["type"] == "output_audio"
            heard = self._session.item(item_id).content
            return items.agent_item(item_id, speech, heard, item["status"])
        return item

    def _played(self, item_id: str, played_ms: float) -> None:
        response = self._events.response_of_item(item_id)
        if response is None:
            raise ProtocolError(
                f"item_id: got {item_id!r}; no recent reply", "item_not_found", "item_id"
            )
        self._session.played(response.started.reply_id, played_ms)

    def _create_response(self, response: dict[str, Any]) -> None:
        if self._object.transcribes:
            raise ProtocolError("a transcription session has no responses", "unsupported_event")
        if self._reply_limit and self._reply_limit.left < 1:
            raise ProtocolError(
                f"more than {self._reply_limit.burst:.0f} replies in a minute; try again in "
                f"{self._reply_limit.full_after_s:.0f} s",
                "rate_limit_exceeded",
            )
        request = read_response_request(response, self._object, self._base, self._events.items)
        self._check_voice(request.session, "response")
        overrides = dict(request.overrides)
        if self._by_media:
            overrides.pop("output_rate_hz", None)
        reply_id = self._session.create_response(overrides, request.context, request.out_of_band)
        if self._reply_limit:
            self._reply_limit.take()
        self._events.expect(reply_id, self._form(request.session, request.metadata))

    def _check_agent(self, changed: SessionObject) -> None:
        named = changed.quicksilver.agent if changed.quicksilver else ""
        if named not in ("", self._names.agent):
            path = "session.quicksilver.agent"
            raise ProtocolError(
                f"{path}: got {named[:64]!r}; this conversation is with {self._names.agent!r}, and "
                "another begins with ?agent=NAME in the address",
                param=path,
            )

    def _check_voice(self, changed: SessionObject, path: str) -> None:
        """Refuse to change the voice once the agent has been heard."""
        before, after = (o.audio.output.voice_name for o in (self._object, changed))
        if self._events.spoke and after not in (before, self._names.chosen(before)):
            raise ProtocolError(
                f"{path}.audio.output.voice: the conversation has audio in another voice already",
                "cannot_update_voice",
                f"{path}.audio.output.voice",
            )

    def is_out_of_band(self, reply_id: str) -> bool:
        """Whether a reply is out of band, so that interruptions do not stop it."""
        return self._events.is_out_of_band(reply_id)

    def _form(
        self, session: SessionObject, metadata: dict[str, str] | None = None
    ) -> ResponseFormat:
        return ResponseFormat(
            speech=session.output_modalities == ["audio"],
            audio_format=session.audio.output.format,
            voice=self._names.chosen(session.audio.output.voice_name),
            max_output_tokens=session.max_output_tokens,
            metadata=metadata,
            by_media=self._by_media,
        )

    def _session_event(self, kind: str) -> ServerEvent:
        return {"type": kind, "session": self.shown}

    def _stamped(self, events: list[ServerEvent]) -> list[ServerEvent]:
        return [{"event_id": self._new_id("event"), **event} for event in events]


def _rate_limits(bucket: TokenBucket) -> ServerEvent:
    limit = {
        "name": "requests",
        "limit": round(bucket.burst),
        "remaining": int(bucket.left),
        "reset_seconds": round(bucket.full_after_s, 3),
    }
    return {"type": "rate_limits.updated", "rate_limits": [limit]}

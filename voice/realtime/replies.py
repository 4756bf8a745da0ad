"""One reply on the wire: the order of events from ``response.created`` to ``response.done``.

A reply has at most one message, opened by its first text or sound, and any number of function
calls. Tools that run in the server leave no trace here: a client would take their calls for its own
to run.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from voice.events import ReplyEnded, ReplyStarted, ReplyStatus
from voice.realtime import items, wire_audio
from voice.realtime.items import Item, ItemLog
from voice.realtime.session_object import G711Format, PcmFormat
from voice.realtime.wire import ServerEvent
from voice.types import Samples, ToolCall

_REASONS = frozenset({"turn_detected", "client_cancelled", "max_output_tokens", "content_filter"})


@dataclass(frozen=True, slots=True)
class ReplyForm:
    """How a reply is to look.

    Attributes:
        speech: Audio with its transcript, or text alone.
        audio_format: Of the audio.
        voice: Name shown.
        max_output_tokens: As the client set it.
        metadata: The client's own, given back.
    """

    speech: bool
    audio_format: PcmFormat | G711Format
    voice: str
    max_output_tokens: int | str
    metadata: dict[str, str] | None = None


@dataclass(slots=True)
class Reply:
    """Turns what the session says about one reply into server events.

    Attributes:
        started: How it began; its ``reply_id`` is the response's id.
        form: How it is to look.
        conversation_id: Shown in the response; None for a reply beside the conversation.
        log: Where its items are entered; None where they are nobody's but the reply's.
    """

    started: ReplyStarted
    form: ReplyForm
    conversation_id: str | None
    log: ItemLog | None
    _text: str | None = None
    _audio_sent: bool = False
    _message_index: int = 0
    _output: list[Item] = field(default_factory=list)

    @property
    def item_id(self) -> str:
        """The id of its message."""
        return self.started.item_id

    def created(self) -> list[ServerEvent]:
        """``response.created``."""
        return [{"type": "response.created", "response": self._response("in_progress")}]

    def text(self, delta: str) -> list[ServerEvent]:
        """More of what is said."""
        opening = self._open()
        self._text = (self._text or "") + delta
        kind = "response.output_audio_transcript" if self.form.speech else "response.output_text"
        return [*opening, self._part_event(f"{kind}.delta", delta=delta)]

    def audio(self, samples: Samples, sample_rate_hz: int) -> list[ServerEvent]:
        """More of what is heard; nothing in a reply of text alone."""
        if not self.form.speech or not len(samples):
            return []
        events = self._open()
        for chunk in wire_audio.chunks(samples, sample_rate_hz, first=not self._audio_sent):
            self._audio_sent = True
            delta = wire_audio.encode(chunk, self.form.audio_format)
            events.append(self._part_event("response.output_audio.delta", delta=delta))
        return events

    def function_call(self, item_id: str, call: ToolCall) -> list[ServerEvent]:
        """A call that the client has to run."""
        arguments = items.arguments_json(call)
        index = len(self._output)
        begun = items.call_item(item_id, call, "", "in_progress")
        whole = items.call_item(item_id, call, arguments, "completed")
        self._output.append(whole)
        where = {
            "response_id": self.started.reply_id,
            "item_id": item_id,
            "output_index": index,
            "call_id": call.call_id,
        }
        kind = "response.function_call_arguments"
        return [
            self._item_event("response.output_item.added", index, begun),
            *self._entered("added", begun),
            {"type": f"{kind}.delta", **where, "delta": arguments},
            {"type": f"{kind}.done", **where, "name": call.name, "arguments": arguments},
            *self._entered("done", whole),
            self._item_event("response.output_item.done", index, whole),
        ]

    def ended(self, ended: ReplyEnded) -> list[ServerEvent]:
        """Closes what is open, then ``response.done``, whatever the status."""
        events = [] if self._text is None else self._close(ended.status)
        response = self._response(ended.status.value)
        if ended.status is not ReplyStatus.COMPLETED:
            response["status_details"] = _status_details(ended)
        response["usage"] = _usage(ended)
        return [*events, {"type": "response.done", "response": response}]

    def _open(self) -> list[ServerEvent]:
        if self._text is not None:
            return []
        self._text = ""
        self._message_index = len(self._output)
        item = items.agent_item(self.item_id, self.form.speech, None, "in_progress")
        self._output.append(item)
        return [
            self._item_event("response.output_item.added", self._message_index, item),
            *self._entered("added", item),
            self._part_event("response.content_part.added", part=self._part("")),
        ]

    def _close(self, status: ReplyStatus) -> list[ServerEvent]:
        text = self._text or ""
        whole = status is ReplyStatus.COMPLETED
        item = items.agent_item(
            self.item_id, self.form.speech, text, "completed" if whole else "incomplete"
        )
        self._output[self._message_index] = item
        if self.form.speech:
            ends = [
                self._part_event("response.output_audio.done"),
                self._part_event("response.output_audio_transcript.done", transcript=text),
            ]
        else:
            ends = [self._part_event("response.output_text.done", text=text)]
        return [
            *ends,
            self._part_event("response.content_part.done", part=self._part(text)),
            *self._entered("done", item),
            self._item_event("response.output_item.done", self._message_index, item),
        ]

    def _entered(self, stage: str, item: Item) -> list[ServerEvent]:
        """``conversation.item.added`` and ``.done``, where the item is the conversation's."""
        deleted = stage == "done" and self.log is not None and item["id"] not in self.log
        if self.log is None or deleted:
            return []
        previous = self.log.put(item)
        kind = f"conversation.item.{stage}"
        return [{"type": kind, "previous_item_id": previous, "item": item}]

    def _part(self, text: str) -> dict[str, str]:
        if self.form.speech:
            return {"type": "audio", "transcript": text}
        return {"type": "text", "text": text}

    def _part_event(self, kind: str, **fields: Any) -> ServerEvent:
        return {
            "type": kind,
            "response_id": self.started.reply_id,
            "item_id": self.item_id,
            "output_index": self._message_index,
            "content_index": 0,
            **fields,
        }

    def _item_event(self, kind: str, index: int, item: Item) -> ServerEvent:
        response_id = self.started.reply_id
        return {"type": kind, "response_id": response_id, "output_index": index, "item": item}

    def _response(self, status: str) -> dict[str, Any]:
        response: dict[str, Any] = {
            "object": "realtime.response",
            "id": self.started.reply_id,
            "status": status,
            "output": list(self._output),
            "conversation_id": self.conversation_id,
            "output_modalities": ["audio" if self.form.speech else "text"],
            "max_output_tokens": self.form.max_output_tokens,
        }
        if self.form.speech:
            sound = {"format": self.form.audio_format.model_dump(), "voice": self.form.voice}
            response["audio"] = {"output": sound}
        if self.form.metadata is not None:
            response["metadata"] = self.form.metadata
        return response


def _status_details(ended: ReplyEnded) -> dict[str, Any]:
    details: dict[str, Any] = {"type": ended.status.value}
    if ended.status is ReplyStatus.FAILED:
        error = {"type": "server_error", "code": "reply_failed", "message": ended.reason}
        return details | {"error": error}
    default = "client_cancelled" if ended.status is ReplyStatus.CANCELLED else "max_output_tokens"
    return details | {"reason": ended.reason if ended.reason in _REASONS else default}


def _usage(ended: ReplyEnded) -> dict[str, Any]:
    return {
        "total_tokens": ended.input_tokens + ended.output_tokens,
        "input_tokens": ended.input_tokens,
        "output_tokens": ended.output_tokens,
        "input_token_details": {
            "text_tokens": ended.input_tokens,
            "audio_tokens": 0,
            "cached_tokens": 0,
        },
        "output_token_details": {"text_tokens": ended.output_tokens, "audio_tokens": 0},
    }

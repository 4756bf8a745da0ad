"""Server events: turns what the session reports into events, in the protocol's order.

A response has at most one message, opened by its first text or audio, and any number of function
calls. Calls of the agent's own tools do not become items, since a client would take them for calls
that it has to run; calls of MCP servers' tools have items of their own kind. Client events are not
handled here.
"""

from __future__ import annotations

from collections.abc import Iterable, Set
from dataclasses import dataclass, field
from typing import Any

from voice.events import (
    RECENT_REPLIES,
    Failure,
    FinalTranscript,
    FlowChanged,
    ReplyAudio,
    ReplyEnded,
    ReplyStarted,
    ReplyStatus,
    ReplyText,
    ReplyToolCall,
    ReplyToolResult,
    ServerListing,
    SessionEvent,
    TranscriptFailed,
    UserIdle,
    UserSpeechStarted,
    UserSpeechStopped,
    UserTurnCommitted,
)
from voice.realtime.extensions import StateTracker, extension_events
from voice.realtime.items import (
    Item,
    ItemLog,
    agent_item,
    answered_item,
    arguments_json,
    call_item,
    listing_item,
    mcp_item,
    spoken_user_item,
)
from voice.realtime.wire import AudioFormat, ServerEvent, audio_chunks, encode_audio, new_id
from voice.types import Samples, ToolCall, ToolResult, ms_of_samples

MOST_APPROVALS = 64
_BUFFER = "input_audio_buffer"
_TRANSCRIPTION = "conversation.item.input_audio_transcription"
_REASONS = frozenset({"turn_detected", "client_cancelled", "max_output_tokens", "content_filter"})


@dataclass(frozen=True, slots=True)
class ResponseFormat:
    """The form of a response.

    Attributes:
        speech: Whether it is audio with its transcript; else it is text alone.
        by_media: Whether the transport plays the audio, so that no event carries it.
        max_output_tokens: As the client set it.
        metadata: The client's own metadata, echoed.
    """

    speech: bool
    audio_format: AudioFormat
    voice: str
    max_output_tokens: int | str
    metadata: dict[str, str] | None = None
    by_media: bool = False


@dataclass(slots=True)
class Response:
    """The server events of one reply, from ``response.created`` to ``response.done``.

    Attributes:
        started: The session's event; its ``reply_id`` is the response's id.
        form: The form of the response.
        conversation_id: Shown in the response; None if it is out of band.
        items: The conversation's items, to which this response's are added; None if out of band.
        over: Whether the response is done.
    """

    started: ReplyStarted
    form: ResponseFormat
    conversation_id: str | None
    items: ItemLog | None
    over: bool = field(default=False, init=False)
    _text: str | None = None
    _audio_sent: bool = False
    _message_index: int = 0
    _output: list[Item] = field(default_factory=list)
    # Calls of MCP servers' tools that await a result: call id → index of the item.
    _mcp: dict[str, int] = field(default_factory=dict)

    @property
    def item_id(self) -> str:
        """The id of the response's message."""
        return self.started.item_id

    def created(self) -> list[ServerEvent]:
        """``response.created``."""
        return [{"type": "response.created", "response": self._response("in_progress")}]

    def text(self, delta: str) -> list[ServerEvent]:
        """The events for more text."""
        opening = self._open()
        self._text = (self._text or "") + delta
        kind = "response.output_audio_transcript" if self.form.speech else "response.output_text"
        return [*opening, self._part_event(f"{kind}.delta", delta=delta)]

    def audio(self, samples: Samples, sample_rate_hz: int) -> list[ServerEvent]:
        """The events for more audio; none if the response is text alone."""
        if not self.form.speech or not len(samples):
            return []
        events = self._open()
        if self.form.by_media:
            return events
        for chunk in audio_chunks(samples, sample_rate_hz, first=not self._audio_sent):
            self._audio_sent = True
            delta = encode_audio(chunk, self.form.audio_format)
            events.append(self._part_event("response.output_audio.delta", delta=delta))
        return events

    def function_call(self, item_id: str, call: ToolCall) -> list[ServerEvent]:
        """The events for a call that the client is to run."""
        arguments = arguments_json(call)
        index = len(self._output)
        begun = call_item(item_id, call, "", "in_progress")
        whole = call_item(item_id, call, arguments, "completed")
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

    def approval_request(
        self, item_id: str, call: ToolCall, tool: tuple[str, str]
    ) -> list[ServerEvent]:
        """The events for a call of an MCP server's tool that the client has to approve."""
        item = mcp_item(item_id, "mcp_approval_request", "completed", call, tool)
        index = len(self._output)
        self._output.append(item)
        return [
            self._item_event("response.output_item.added", index, item),
            *self._entered("added", item),
            *self._entered("done", item),
            self._item_event("response.output_item.done", index, item),
        ]

    def mcp_call(self, item_id: str, call: ToolCall, tool: tuple[str, str]) -> list[ServerEvent]:
        """The events for a call of an MCP server's tool that this server makes."""
        whole = mcp_item(item_id, "mcp_call", "in_progress", call, tool)
        begun = whole | {"arguments": ""}
        index = self._mcp[call.call_id] = len(self._output)
        self._output.append(whole)
        where = {"item_id": item_id, "output_index": index}
        told = {"response_id": self.started.reply_id, **where}
        arguments = whole["arguments"]
        kind = "response.mcp_call_arguments"
        return [
            self._item_event("response.output_item.added", index, begun),
            *self._entered("added", whole),
            {"type": f"{kind}.delta", **told, "delta": arguments},
            {"type": f"{kind}.done", **told, "arguments": arguments},
            {"type": "response.mcp_call.in_progress", **where},
        ]

    def mcp_result(self, result: ToolResult) -> list[ServerEvent]:
        """The events for the result of such a call; none for other calls."""
        if result.call_id not in self._mcp:
            return []
        index = self._mcp.pop(result.call_id)
        item = self._output[index] = answered_item(self._output[index], result)
        stage = "failed" if result.error else "completed"
        where = {"item_id": item["id"], "output_index": index}
        return [
            {"type": f"response.mcp_call.{stage}", **where},
            *self._entered("done", item),
            self._item_event("response.output_item.done", index, item),
        ]

    def ended(self, ended: ReplyEnded) -> list[ServerEvent]:
        """Events that close any open message, then ``response.done``, whatever the status."""
        self.over = True
        events = [] if self._text is None else self._close(ended.status)
        for call_id in list(self._mcp):
            stopped = ToolResult(call_id, "", "The reply was stopped.", error=True)
            events += self.mcp_result(stopped)
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
        item = agent_item(self.item_id, self.form.speech, None, "in_progress")
        self._output.append(item)
        return [
            self._item_event("response.output_item.added", self._message_index, item),
            *self._entered("added", item),
            self._part_event("response.content_part.added", part=self._part("")),
        ]

    def _close(self, status: ReplyStatus) -> list[ServerEvent]:
        text = self._text or ""
        whole = status is ReplyStatus.COMPLETED
        item = agent_item(
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
        """``conversation.item.added`` or ``.done``, if the item belongs to the conversation."""
        if self.items is None or (stage == "done" and item["id"] not in self.items):
            # Out of band, or deleted by the client.
            return []
        previous = self.items.put(item)
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


class ServerEvents:
    """Translates session events into server events.

    Attributes:
        items: The conversation's items.
        spoke: Whether the agent's voice has been heard in the conversation.
        approvals: Calls that the client has been asked to approve, by the id of the request.
    """

    def __init__(self, conversation_id: str, form: ResponseFormat, trace_id: str = "") -> None:
        self.items = ItemLog()
        self.spoke = False
        self.approvals: dict[str, ToolCall] = {}
        # For MCP servers: label → id of the list item, and name of a tool → label and remote name.
        self._lists: dict[str, str] = {}
        self._remote: dict[str, tuple[str, str]] = {}
        self._conversation_id = conversation_id
        self._form = form
        self._trace_id = trace_id
        self._transcription = False
        self._extensions: frozenset[str] = frozenset()
        self._responses: dict[str, Response] = {}
        self._requested: dict[str, ResponseFormat] = {}
        self._state = StateTracker()
        self._flow: FlowChanged | None = None

    def configure(
        self, form: ResponseFormat, transcription: bool, extensions: Iterable[str] | None
    ) -> None:
        """Change how responses look, whether transcription events are sent, and the extensions.

        Args:
            form: The form of responses from now on.
            transcription: Whether transcription events are sent.
            extensions: Names of the extension events to send; None leaves them unchanged.
        """
        self._form, self._transcription = form, transcription
        if extensions is not None:
            self._extensions = frozenset(extensions)

    def keep_servers(self, labels: Set[str]) -> None:
        """Forget the tools of all MCP servers except those with these labels."""
        self._remote = {name: tool for name, tool in self._remote.items() if tool[0] in labels}

    def standing(self) -> list[ServerEvent]:
        """The trace's id and the flow's position, for a client that has just asked for them."""
        flow = extension_events(self._flow, self._extensions, None) if self._flow else []
        traced = "trace" in self._extensions and self._trace_id
        return [*([{"type": "quicksilver.trace", "trace_id": traced}] if traced else []), *flow]

    def expect(self, reply_id: str, form: ResponseFormat) -> None:
        """Register a response that the client has asked for, before it begins."""
        self._requested[reply_id] = form

    def expects(self, reply_id: str) -> bool:
        """Whether the client has asked for this response and it has not begun."""
        return reply_id in self._requested

    def is_out_of_band(self, reply_id: str) -> bool:
        """Whether a response is outside the conversation."""
        return reply_id in self._responses and self._responses[reply_id].started.out_of_band

    def response_of_item(self, item_id: str) -> Response | None:
        """The response whose message has this id, if it is a recent one."""
        return next((r for r in self._responses.values() if r.item_id == item_id), None)

    def sounding(self, stage: str, reply_id: str) -> list[ServerEvent]:
        """A response's audio ``started``, ``stopped`` or was ``cleared`` (only ``by_media``)."""
        return [{"type": f"output_audio_buffer.{stage}", "response_id": reply_id}]

    def cut_short(self, reply_id: str, played_ms: float) -> list[ServerEvent]:
        """Report where playback of a response ended for good (only ``by_media``)."""
        if reply_id not in self._responses or self.is_out_of_band(reply_id):
            return []
        where = {"item_id": self._responses[reply_id].item_id, "content_index": 0}
        kind = "conversation.item.truncated"
        return [{"type": kind, **where, "audio_end_ms": round(played_ms)}]

    def translate(self, event: SessionEvent) -> list[ServerEvent]:
        """The server events for a session event."""
        events = self._user_events(event) or self._response_events(event)
        self._flow = event if isinstance(event, FlowChanged) else self._flow
        reply_id = getattr(event, "reply_id", "")
        response = self._responses.get(reply_id)
        message_id = response.item_id if response else None
        events += extension_events(event, self._extensions, message_id)
        in_conversation = not self.is_out_of_band(reply_id)
        return events + self._state_events(in_conversation and self._state.observe(event))

    def _state_events(self, changed: bool) -> list[ServerEvent]:
        if not changed or "state" not in self._extensions:
            return []
        return [{"type": "quicksilver.state", "state": self._state.state}]

    def _user_events(self, event: SessionEvent) -> list[ServerEvent]:
        match event:
            case UserSpeechStarted(item_id=item_id, start_sample=start):
                start_ms = round(ms_of_samples(start))
                kind = f"{_BUFFER}.speech_started"
                return [{"type": kind, "audio_start_ms": start_ms, "item_id": item_id}]
            case UserSpeechStopped(item_id=item_id, end_sample=end):
                end_ms = round(ms_of_samples(end))
                kind = f"{_BUFFER}.speech_stopped"
                return [{"type": kind, "audio_end_ms": end_ms, "item_id": item_id}]
            case UserTurnCommitted(item_id=item_id, previous_item_id=previous):
                return self._committed(item_id, previous)
            case UserIdle():
                return self._idle(event)
            case FinalTranscript():
                return self._transcribed(event)
            case TranscriptFailed(item_id=item_id, message=message) if self._transcription:
                error = {"type": "server_error", "code": "asr_failed", "message": message}
                index = self.items.transcribed(item_id, None)
                where = {"item_id": item_id, "content_index": index}
                return [{"type": f"{_TRANSCRIPTION}.failed", **where, "error": error}]
            case Failure(stage=stage, message=message):
                return [error_event(message, f"{stage}_failed", kind="server_error")]
        return []

    def _committed(self, item_id: str, previous: str | None) -> list[ServerEvent]:
        item = spoken_user_item(item_id)
        # The session counts calls of its own tools as items, which the client does not know.
        known = self.items.put(item, previous if previous in self.items else None)
        where = {"previous_item_id": known}
        return [
            {"type": f"{_BUFFER}.committed", "item_id": item_id, **where},
            {"type": "conversation.item.added", **where, "item": item},
            {"type": "conversation.item.done", **where, "item": item},
        ]

    def _idle(self, event: UserIdle) -> list[ServerEvent]:
        start_ms, end_ms = ms_of_samples(event.start_sample), ms_of_samples(event.end_sample)
        elapsed = {
            "type": f"{_BUFFER}.timeout_triggered",
            "audio_start_ms": round(start_ms),
            "audio_end_ms": round(end_ms),
            "item_id": event.item_id,
        }
        silence = FinalTranscript(0, event.item_id, "", 0.0, (end_ms - start_ms) / 1000)
        committed = self._committed(event.item_id, event.previous_item_id)
        return [elapsed, *committed, *self._transcribed(silence)]

    def _transcribed(self, event: FinalTranscript) -> list[ServerEvent]:
        index = self.items.transcribed(event.item_id, event.text)
        if not self._transcription:
            return []
        where = {"item_id": event.item_id, "content_index": index}
        done = {
            "type": f"{_TRANSCRIPTION}.completed",
            **where,
            "transcript": event.text,
            "usage": {"type": "duration", "seconds": round(event.seconds, 3)},
        }
        # Interim transcripts revise earlier words, but deltas must add up to the final text, so
        # there is a single delta once the text is final.
        delta = {"type": f"{_TRANSCRIPTION}.delta", **where, "delta": event.text}
        return [delta, done] if event.text else [done]

    def _response_events(self, event: SessionEvent) -> list[ServerEvent]:
        if isinstance(event, ReplyStarted):
            return self._started(event)
        if isinstance(event, ServerListing):
            return self._listing(event)
        response = self._responses.get(getattr(event, "reply_id", ""))
        if response is None:
            return []
        match event:
            case ReplyText(delta=delta):
                return response.text(delta)
            case ReplyAudio(samples=samples, sample_rate_hz=rate_hz):
                self.spoke = self.spoke or not response.started.out_of_band
                return response.audio(samples, rate_hz)
            case ReplyToolCall(call=call) if call.name in self._remote:
                return self._mcp_call(response, event)
            case ReplyToolResult(result=result):
                return response.mcp_result(result)
            case ReplyToolCall(item_id=item_id, call=call, client_side=True):
                return response.function_call(item_id, call)
            case ReplyEnded():
                return response.ended(event)
        return []

    def _mcp_call(self, response: Response, event: ReplyToolCall) -> list[ServerEvent]:
        tool = self._remote[event.call.name]
        if not event.client_side:
            return response.mcp_call(event.item_id, event.call, tool)
        self.approvals[event.item_id] = event.call
        if len(self.approvals) > MOST_APPROVALS:
            del self.approvals[next(iter(self.approvals))]
        return response.approval_request(event.item_id, event.call, tool)

    def _listing(self, event: ServerListing) -> list[ServerEvent]:
        begins = event.tools is None and not event.problem
        if begins or event.label not in self._lists:
            self._lists[event.label] = new_id("mcpl")
        item_id, tools = self._lists[event.label], event.tools or ()
        self.keep_servers({label for label, _ in self._remote.values()} - {event.label})
        self._remote |= {tool.name: (event.label, tool.remote_name) for tool in tools}
        status = "in_progress" if begins else "incomplete" if event.problem else "completed"
        item = listing_item(item_id, event.label, tools, status)
        where = {"previous_item_id": self.items.put(item), "item": item}
        told = {"item_id": item_id}
        if begins:
            added = {"type": "conversation.item.added", **where}
            return [added, {"type": "mcp_list_tools.in_progress", **told}]
        done: list[ServerEvent] = [
            {"type": f"mcp_list_tools.{'failed' if event.problem else 'completed'}", **told},
            {"type": "conversation.item.done", **where},
        ]
        if event.problem:
            message = f"MCP server {event.label}: {event.problem}"
            done.append(error_event(message, "mcp_list_tools_failed", kind="server_error"))
        return done

    def _started(self, event: ReplyStarted) -> list[ServerEvent]:
        form = self._requested.pop(event.reply_id, self._form)
        where = (None, None) if event.out_of_band else (self._conversation_id, self.items)
        response = Response(event, form, *where)
        self._responses[event.reply_id] = response
        over = [reply_id for reply_id, one in self._responses.items() if one.over]
        for reply_id in over[: max(0, len(self._responses) - RECENT_REPLIES)]:
            del self._responses[reply_id]
        return response.created()


def error_event(
    message: str,
    code: str,
    kind: str = "invalid_request_error",
    param: str | None = None,
    event_id: str | None = None,
) -> ServerEvent:
    """An ``error`` event; ``event_id`` is the client's id for the event at fault."""
    error = {"type": kind, "code": code, "message": message, "param": param, "event_id": event_id}
    return {"type": "error", "error": error}


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

"""A conversation as spans: each reply, and the stages of its making, at the times they took place.

The conversation is one span, each reply an ``invoke_agent`` span in it, and each stage of a reply a
span in that. No clock is read: a reply's spans are made when it is over, from `ReplyTimed`. Names
follow OpenTelemetry's conventions for generative AI, and their draft for voice agents.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from opentelemetry.context import Context
from opentelemetry.metrics import Histogram, Meter
from opentelemetry.trace import Span, SpanKind, Status, StatusCode, Tracer, set_span_in_context

from voice.config import LlmConfig
from voice.errors import ProtocolError, origins
from voice.events import (
    DraftsUsed,
    Failure,
    FlowChanged,
    ReplyEnded,
    ReplyStarted,
    ReplyStatus,
    ReplyTimed,
    ReplyToolCall,
    ReplyToolResult,
    SessionEnded,
    SessionEvent,
    Stage,
)
from voice.metrics import Follow
from voice.types import Message, Role, ToolCall, ToolResult

if TYPE_CHECKING:
    from voice.session.resources import Resources
    from voice.session.session import Session

LONGEST_TEXT = 8000
"""Most characters of a text in a span; the queue of spans is bounded only in number."""
OTHER = "other"

_log = logging.getLogger(__name__)

_SECONDS = (0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92)
_TOKENS = tuple(4.0**power for power in range(14))


@dataclass(frozen=True, slots=True)
class Served:
    """The conversation's participants, and what its spans may contain.

    Attributes:
        session_id: The session's id.
        agent: The agent's name.
        llm: The model's configuration.
        tools: Tools whose durations are recorded by name; any other counts as "other".
        item: Finds a message of the dialogue by its id; None if spans hold no words.
    """

    session_id: str
    agent: str
    llm: LlmConfig
    tools: frozenset[str]
    item: Callable[[str], Message] | None

    @property
    def model(self) -> dict[str, str]:
        """The model's attributes; a server that speaks OpenAI's API counts as OpenAI's."""
        remote = self.llm.engine == "remote"
        return {
            "gen_ai.provider.name": "openai" if remote else "quicksilver",
            "gen_ai.request.model": self.llm.remote.model if remote else "quicksilver",
        }


class Instruments:
    """The metrics of models, agents and tools."""

    def __init__(self, meter: Meter) -> None:
        def histogram(
            name: str, unit: str, text: str, bounds: tuple[float, ...] = _SECONDS
        ) -> Histogram:
            return meter.create_histogram(
                f"gen_ai.{name}", unit, text, explicit_bucket_boundaries_advisory=bounds
            )

        self._turns = histogram("invoke_agent.duration", "s", "How long turns took.")
        self._tokens = histogram("client.token.usage", "{token}", "Tokens of turns.", _TOKENS)
        self._first_chunk = histogram(
            "client.operation.time_to_first_chunk", "s", "From a request to its first answer."
        )
        self._stages = {
            "chat": histogram("client.operation.duration", "s", "How long requests took."),
            "execute_tool": histogram("execute_tool.duration", "s", "How long tools took."),
        }

    def reply(
        self,
        timed: ReplyTimed,
        ended: ReplyEnded,
        labels: Mapping[str, str],
        model: Mapping[str, str],
    ) -> None:
        """Record a reply that is over."""
        self._turns.record(timed.end_s - timed.start_s, labels)
        asked = {**model, "gen_ai.operation.name": "chat"}
        self._tokens.record(ended.input_tokens, {**asked, "gen_ai.token.type": "input"})
        self._tokens.record(ended.output_tokens, {**asked, "gen_ai.token.type": "output"})

    def stage(self, stage: Stage, labels: Mapping[str, str]) -> None:
        """Record a stage of a reply."""
        if stage.name in self._stages:
            self._stages[stage.name].record(stage.end_s - stage.start_s, labels)
        if stage.name == "chat" and stage.first_s is not None:
            self._first_chunk.record(stage.first_s - stage.start_s, labels)


@dataclass(slots=True)
class _Reply:
    """What is known of a reply until it is over; ``asked`` is the message it answers."""

    turn_id: int
    asked: Message | None
    calls: dict[str, ToolCall] = field(default_factory=dict)
    results: dict[str, ToolResult] = field(default_factory=dict)
    ended: ReplyEnded | None = None


def follower(tracer: Tracer, meter: Meter, content: bool) -> Follow:
    """Make the function that traces a server's sessions; ``content`` lets spans hold words."""
    instruments = Instruments(meter)

    @contextmanager
    def follow(session: Session, resources: Resources) -> Iterator[Callable[[SessionEvent], None]]:
        served = Served(
            session.session_id,
            resources.agent.name,
            resources.config.llm,
            frozenset(resources.team.tools),
            session.item if content else None,
        )
        spans = ConversationSpans(tracer, instruments, served)
        try:
            yield spans.observe
        finally:
            spans.end()

    return follow


class ConversationSpans:
    """Traces the events of one session; its span is a child of the current one."""

    def __init__(self, tracer: Tracer, instruments: Instruments, served: Served) -> None:
        self._tracer = tracer
        self._instruments = instruments
        self._served = served
        self._agent = served.agent
        self._id = {"gen_ai.conversation.id": served.session_id}
        self._span = tracer.start_span("conversation", attributes=self._id)
        self._replies: dict[str, _Reply] = {}
        self._drafts: DraftsUsed | None = None
        self._failure: Failure | None = None

    def end(self) -> None:
        """End the conversation's span, because the session is over."""
        self._span.end()

    def observe(self, event: SessionEvent) -> None:
        """Trace an event of the session. Raises nothing."""
        try:
            self._take(event)
        except Exception as error:
            _log.error("an event of a conversation is not traced: %s", origins(error))

    def _take(self, event: SessionEvent) -> None:
        match event:
            case ReplyStarted(reply_id, turn_id=turn_id, previous_item_id=asked):
                self._replies[reply_id] = _Reply(turn_id, self._message(asked))
            case ReplyToolCall(reply_id, call=call) if reply_id in self._replies:
                self._replies[reply_id].calls[call.call_id] = call
            case ReplyToolResult(reply_id, result) if reply_id in self._replies:
                self._replies[reply_id].results[result.call_id] = result
            case ReplyEnded(reply_id) if reply_id in self._replies:
                self._replies[reply_id].ended = event
            case ReplyTimed(reply_id):
                reply = self._replies.pop(reply_id, None)
                if reply is not None and reply.ended is not None:
                    self._tell(reply, reply.ended, event)
            case DraftsUsed():
                self._drafts = event
            case FlowChanged(position):
                self._agent = position.agent
            case Failure(stage=stage):
                self._failure = event
                self._span.add_event("failure", {"quicksilver.stage": stage})
            case SessionEnded(reason):
                self._span.set_attribute("quicksilver.end_reason", reason)

    def _message(self, item_id: str | None) -> Message | None:
        if self._served.item is not None and item_id is not None:
            # The client may have deleted it.
            with suppress(ProtocolError):
                return self._served.item(item_id)
        return None

    def _tell(self, reply: _Reply, ended: ReplyEnded, timed: ReplyTimed) -> None:
        span = self._tracer.start_span(
            f"invoke_agent {self._agent}",
            set_span_in_context(self._span),
            attributes=self._about_reply(reply, ended),
            start_time=_ns(timed.start_s),
        )
        error = "reply" if ended.status is ReplyStatus.FAILED else ""
        if self._failure is not None and self._failure.turn_id == reply.turn_id:
            error = self._failure.stage
        labels = {"gen_ai.agent.name": self._agent, **_failed(span, error)}
        for stage in timed.stages:
            self._tell_stage(reply, stage, set_span_in_context(span))
        span.end(_ns(timed.end_s))
        self._instruments.reply(timed, ended, labels, self._served.model)

    def _about_reply(self, reply: _Reply, ended: ReplyEnded) -> dict[str, Any]:
        cut = ended.status is ReplyStatus.CANCELLED
        about: dict[str, Any] = {
            **self._id,
            **self._served.model,
            "gen_ai.operation.name": "invoke_agent",
            "gen_ai.agent.name": self._agent,
            "gen_ai.agent.invocation.end_reason": "interrupted" if cut else "completed",
            "gen_ai.usage.input_tokens": ended.input_tokens,
            "gen_ai.usage.output_tokens": ended.output_tokens,
            "quicksilver.turn_id": reply.turn_id,
        }
        drafts, self._drafts = self._drafts, None
        if drafts is not None and drafts.turn_id == reply.turn_id:
            about["quicksilver.drafts.made"] = drafts.made
            about["quicksilver.drafts.outcome"] = drafts.outcome
        if self._served.item is not None:
            about["gen_ai.output.messages"] = _messages("assistant", ended.text)
            if reply.asked is not None and reply.asked.role is Role.USER:
                about["gen_ai.input.messages"] = _messages("user", reply.asked.content)
        return about

    def _tell_stage(self, reply: _Reply, stage: Stage, within: Context) -> None:
        name, kind = stage.name, SpanKind.INTERNAL
        about: dict[str, Any] = {**self._id, "gen_ai.operation.name": name}
        labels = {"gen_ai.operation.name": name}
        error = ""
        match name:
            case "end_of_turn":
                del about["gen_ai.operation.name"]
            case "chat":
                name, kind = f"chat {self._served.model['gen_ai.request.model']}", SpanKind.CLIENT
                about |= self._served.model
                labels |= self._served.model
            case "execute_tool" if call := reply.calls.get(stage.call_id):
                result = reply.results.get(stage.call_id)
                name = f"execute_tool {_text(call.name)}"
                known = call.name in self._served.tools
                labels["gen_ai.tool.name"] = call.name if known else OTHER
                about |= self._about_tool(call, result)
                error = "tool_error" if result is not None and result.error else ""
        if stage.first_s is not None:
            about["gen_ai.response.time_to_first_chunk"] = stage.first_s - stage.start_s
        span = self._tracer.start_span(name, within, kind, about, start_time=_ns(stage.start_s))
        labels |= _failed(span, error)
        span.end(_ns(stage.end_s))
        self._instruments.stage(stage, labels)

    def _about_tool(self, call: ToolCall, result: ToolResult | None) -> dict[str, Any]:
        about: dict[str, Any] = {
            "gen_ai.tool.name": _text(call.name),
            "gen_ai.tool.type": "function",
            "gen_ai.tool.call.id": _text(call.call_id),
        }
        if result is not None:
            # Exceeds the span's own length if the tool ran in a draft.
            about["quicksilver.tool.duration_ms"] = result.duration_ms
        if self._served.item is not None:
            about["gen_ai.tool.call.arguments"] = _text(json.dumps(call.arguments))
            about["gen_ai.tool.call.result"] = _text(result.content) if result else ""
        return about


def _ns(seconds: float) -> int:
    return round(seconds * 1e9)


def _failed(span: Span, error: str) -> dict[str, str]:
    """Mark a span as failed if there is an error; returns the error's label."""
    if not error:
        return {}
    span.set_status(Status(StatusCode.ERROR))
    span.set_attribute("error.type", error)
    return {"error.type": error}


def _messages(role: str, text: str) -> str:
    parts = [{"type": "text", "content": _text(text)}]
    return json.dumps([{"role": role, "parts": parts}], ensure_ascii=False)


def _text(text: str) -> str:
    """A text as a span can hold it: one lone surrogate from a model would stop all exports."""
    return text[:LONGEST_TEXT].encode(errors="replace").decode()

"""Events beyond OpenAI's protocol, for clients that ask for them: see docs/protocol.md.

Some clients fail on unknown event types, so a client gets only the extensions it has asked for.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, get_args

from voice.errors import ProtocolError
from voice.events import (
    Denoising,
    FinalTranscript,
    FlowChanged,
    InterimTranscript,
    ReplyAudio,
    ReplyDrafted,
    ReplyEnded,
    ReplyHeard,
    ReplyHeld,
    ReplyReleased,
    ReplyStarted,
    ReplyText,
    ReplyToolCall,
    ReplyToolResult,
    SessionEvent,
    TranscriptFailed,
    TurnMeasured,
    UserSpeechStarted,
    UserSpeechStopped,
    UserTurnDropped,
)
from voice.realtime.session_object import Extension
from voice.realtime.wire import ServerEvent

NAMES: tuple[str, ...] = get_args(Extension)


def checked_names(names: Iterable[str]) -> list[str]:
    """The names as a list.

    Raises:
        ProtocolError: A name is unknown.
    """
    known = list(names)
    for name in known:
        if name not in NAMES:
            raise ProtocolError(
                f"extensions: got {name!r}; expected some of {list(NAMES)}", param="extensions"
            )
    return known


@dataclass(slots=True)
class StateTracker:
    """The state of the conversation as a whole, followed from the session's events."""

    state: str = "listening"
    _replying: bool = field(default=False, init=False)
    _hearing: bool = field(default=False, init=False)
    _turn_id: int = field(default=0, init=False)

    def observe(self, event: SessionEvent) -> bool:
        """Update the state from an event; returns whether it has changed."""
        before = self.state
        self.state = self._after(event)
        return self.state != before

    def _after(self, event: SessionEvent) -> str:
        match event:
            case UserSpeechStarted(turn_id=turn_id):
                self._hearing, self._turn_id = True, turn_id
                return "hearing"
            case UserSpeechStopped():
                self._hearing = False
                return "thinking"
            case ReplyStarted():
                self._replying = True
                return self.state if self._hearing else "thinking"
            case ReplyText() | ReplyAudio():
                return self.state if self._hearing else "speaking"
            case ReplyEnded():
                self._replying = False
                return self.state if self._hearing else "listening"
            case (
                FinalTranscript(turn_id=turn_id)
                | TranscriptFailed(turn_id=turn_id)
                | UserTurnDropped(turn_id=turn_id)
            ) if self._hearing and turn_id == self._turn_id:
                # The client has committed or dropped the turn while speech was going on, or the
                # recogniser has failed.
                self._hearing = False
                return "thinking" if self._replying else "listening"
            case FinalTranscript(text="") | TranscriptFailed():
                return self.state if self._hearing or self._replying else "listening"
        return self.state


def extension_events(
    event: SessionEvent, enabled: frozenset[str], message_id: str | None
) -> list[ServerEvent]:
    """The extension events for a session event, except for those of `StateTracker`.

    Args:
        event: The session event.
        enabled: Extension names that the client asked for.
        message_id: Id of the message item of the reply that the event is about, if that is recent.
    """
    name, kind, fields = _extension_of(event, message_id)
    return [{"type": f"quicksilver.{kind}", **fields}] if name in enabled else []


def _extension_of(
    event: SessionEvent, message_id: str | None
) -> tuple[str | None, str, dict[str, Any]]:
    """The name of the event's extension, its kind, and its fields."""
    match event:
        case (
            InterimTranscript(item_id=item_id, text=text)
            | FinalTranscript(item_id=item_id, text=text)
        ):
            final = isinstance(event, FinalTranscript)
            return "transcript", "transcript", {"item_id": item_id, "text": text, "final": final}
        case TurnMeasured(turn_id=turn_id, marks_ms=marks):
            rounded = {mark: round(value, 1) for mark, value in marks.items()}
            return "latency", "latency", {"turn_id": turn_id, "marks_ms": rounded}
        case Denoising(reply_id=reply_id, text=text, step=step):
            return "denoising", "denoising", {"response_id": reply_id, "text": text, "step": step}
        case ReplyDrafted(turn_id=turn_id, number=number, text=text, calls=calls, confidence=sure):
            wanted = [{"name": call.name, "arguments": call.arguments} for call in calls]
            fields = {"turn_id": turn_id, "number": number, "text": text, "calls": wanted}
            if sure is not None:
                fields["confidence"] = round(sure, 3)
            return "draft", "draft", fields
        case ReplyToolCall(reply_id=reply_id, call=call, client_side=False):
            called = {"call_id": call.call_id, "name": call.name, "arguments": call.arguments}
            return "tools", "tool_call", {"response_id": reply_id, **called}
        case ReplyToolResult(reply_id=reply_id, result=result):
            told = ("call_id", "name", "content", "error", "unfinished")
            fields = {name: getattr(result, name) for name in told}
            fields |= {"response_id": reply_id, "duration_ms": round(result.duration_ms, 1)}
            return "tools", "tool_result", fields
        case ReplyHeard(reply_id=reply_id, chars=chars) if message_id is not None:
            where = {"response_id": reply_id, "item_id": message_id}
            return "heard", "heard", {**where, "chars": chars}
        case FlowChanged(position=position, missing=missing):
            fields = {name: getattr(position, name) for name in ("agent", "step", "reason")}
            return "flow", "flow", {**fields, "known": {**position.known}, "missing": [*missing]}
        case ReplyHeld(reply_id) | ReplyReleased(reply_id):
            return "hold", "hold", {"response_id": reply_id, "held": isinstance(event, ReplyHeld)}
    return None, "", {}

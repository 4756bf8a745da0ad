"""Events beyond OpenAI's protocol, for clients that ask for them: see docs/protocol.md.

Some clients fail at an event of an unknown type, so none is sent to a client that has not asked.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import get_args

from voice.errors import ProtocolError
from voice.events import (
    Denoising,
    FinalTranscript,
    InterimTranscript,
    ReplyAudio,
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
)
from voice.realtime.session_object import Extension
from voice.realtime.wire import ServerEvent

NAMES: tuple[str, ...] = get_args(Extension)


def checked_names(names: Iterable[str]) -> list[str]:
    """The names, as they are.

    Raises:
        ProtocolError: One is unknown.
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
        """Take an event; returns whether the state has changed."""
        before = self.state
        self.state = self._after(event)
        return self.state != before

    def drop_turn(self) -> bool:
        """The user's turn is over without a reply; returns whether the state has changed."""
        if self._hearing:
            self._hearing = False
            self.state = "thinking" if self._replying else "listening"
            return True
        return False

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
            case FinalTranscript(turn_id=turn_id) | TranscriptFailed(turn_id=turn_id) if (
                self._hearing and turn_id == self._turn_id
            ):
                # The client has committed it while it went on, or the recogniser failed.
                self.drop_turn()
            case FinalTranscript(text="") | TranscriptFailed():
                return self.state if self._hearing or self._replying else "listening"
        return self.state


def extension_events(
    event: SessionEvent, enabled: frozenset[str], message_id: str | None
) -> list[ServerEvent]:
    """The extension events of a session event, those of `StateTracker` aside.

    Args:
        event: Of the session.
        enabled: Names that the client asked for.
        message_id: Item of the reply that the event is about, if it is about a recent one.
    """
    name, fields = _extension_of(event, message_id)
    return [fields] if name in enabled else []


def _extension_of(event: SessionEvent, message_id: str | None) -> tuple[str | None, ServerEvent]:
    match event:
        case InterimTranscript(item_id=item_id, text=text):
            return "transcript", _transcript(item_id, text, final=False)
        case FinalTranscript(item_id=item_id, text=text):
            return "transcript", _transcript(item_id, text, final=True)
        case TurnMeasured(turn_id=turn_id, marks_ms=marks):
            rounded = {mark: round(value, 1) for mark, value in marks.items()}
            return "latency", {
                "type": "quicksilver.latency",
                "turn_id": turn_id,
                "marks_ms": rounded,
            }
        case Denoising(reply_id=reply_id, text=text, step=step):
            return "denoising", {
                "type": "quicksilver.denoising",
                "response_id": reply_id,
                "text": text,
                "step": step,
            }
        case ReplyToolCall(client_side=False) | ReplyToolResult():
            return "tools", _tool(event)
        case ReplyHeard(reply_id=reply_id, chars=chars) if message_id is not None:
            return "heard", {
                "type": "quicksilver.heard",
                "response_id": reply_id,
                "item_id": message_id,
                "chars": chars,
            }
        case ReplyHeld(reply_id) | ReplyReleased(reply_id):
            held = isinstance(event, ReplyHeld)
            return "hold", {"type": "quicksilver.hold", "response_id": reply_id, "held": held}
    return None, {}


def _transcript(item_id: str, text: str, final: bool) -> ServerEvent:
    return {"type": "quicksilver.transcript", "item_id": item_id, "text": text, "final": final}


def _tool(event: ReplyToolCall | ReplyToolResult) -> ServerEvent:
    if isinstance(event, ReplyToolCall):
        return {
            "type": "quicksilver.tool_call",
            "response_id": event.reply_id,
            "call_id": event.call.call_id,
            "name": event.call.name,
            "arguments": event.call.arguments,
        }
    return {
        "type": "quicksilver.tool_result",
        "response_id": event.reply_id,
        "call_id": event.result.call_id,
        "name": event.result.name,
        "content": event.result.content,
        "error": event.result.error,
        "duration_ms": round(event.result.duration_ms, 1),
    }

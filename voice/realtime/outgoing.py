"""What the session tells, as server events in the protocol's order.

It knows nothing of what clients send; `protocol` sets how replies are to look and what is wanted.
"""

from __future__ import annotations

from collections import OrderedDict

from voice.events import (
    Failure,
    FinalTranscript,
    ReplyAudio,
    ReplyEnded,
    ReplyStarted,
    ReplyText,
    ReplyToolCall,
    SessionEvent,
    TranscriptFailed,
    UserIdle,
    UserSpeechStarted,
    UserSpeechStopped,
    UserTurnCommitted,
)
from voice.realtime import extensions, items
from voice.realtime.items import ItemLog
from voice.realtime.replies import Reply, ReplyForm
from voice.realtime.wire import ServerEvent
from voice.types import ms_of_samples

_REPLIES_KEPT = 32
_BUFFER = "input_audio_buffer"
_TRANSCRIPTION = "conversation.item.input_audio_transcription"


class Outgoing:
    """Translates session events.

    Attributes:
        form: How replies are to look.
        transcription: Whether transcription events are wanted.
        extensions: Extension events that are wanted.
        log: The conversation's items.
        replies: Reply id → reply, the last few.
        spoke: Whether the conversation has had audio of the agent's.

    Args:
        conversation_id: Shown in responses.
        form: How replies are to look, to begin with.
    """

    def __init__(self, conversation_id: str, form: ReplyForm) -> None:
        self.form = form
        self.transcription = False
        self.extensions: frozenset[str] = frozenset()
        self.log = ItemLog()
        self.replies: OrderedDict[str, Reply] = OrderedDict()
        self._conversation_id = conversation_id
        self.spoke = False
        self._forms: dict[str, ReplyForm] = {}
        self._state = extensions.StateTracker()

    def form_reply(self, reply_id: str, form: ReplyForm) -> None:
        """Let one reply, which has not been told of yet, look like this."""
        self._forms[reply_id] = form

    def is_wanted(self, reply_id: str) -> bool:
        """Whether a reply that has not been told of yet was asked for."""
        return reply_id in self._forms

    def is_beside(self, reply_id: str) -> bool:
        """Whether a reply is beside the conversation."""
        return reply_id in self.replies and self.replies[reply_id].started.beside

    def reply_of_item(self, item_id: str) -> Reply | None:
        """The reply whose message has this id, if it is one of the last few."""
        return next((r for r in self.replies.values() if r.item_id == item_id), None)

    def translate(self, event: SessionEvent) -> list[ServerEvent]:
        """The server events that a session event gives rise to, maybe none."""
        sent = self._user_events(event) or self._reply_events(event)
        sent += extensions.translate(event, self.extensions, self.replies)
        beside = self.is_beside(getattr(event, "reply_id", ""))
        return sent + self._told_state(not beside and self._state.observe(event))

    def hushed(self) -> list[ServerEvent]:
        """What is to be told when an unfinished turn of the user's has been dropped."""
        return self._told_state(self._state.hush())

    def _told_state(self, changed: bool) -> list[ServerEvent]:
        if not changed or "state" not in self.extensions:
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
            case TranscriptFailed(item_id=item_id, message=message) if self.transcription:
                error = {"type": "server_error", "code": "asr_failed", "message": message}
                where = {"item_id": item_id, "content_index": 0}
                return [{"type": f"{_TRANSCRIPTION}.failed", **where, "error": error}]
            case Failure(stage=stage, message=message):
                return [error_event(message, f"{stage}_failed", kind="server_error")]
        return []

    def _committed(self, item_id: str, previous: str | None) -> list[ServerEvent]:
        item = items.spoken_user_item(item_id)
        # The session counts the calls of its own tools as items; the client does not know those.
        known = self.log.put(item, previous if previous in self.log else None)
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
        index = self.log.transcribed(event.item_id, event.text)
        if not self.transcription:
            return []
        where = {"item_id": event.item_id, "content_index": index}
        done = {
            "type": f"{_TRANSCRIPTION}.completed",
            **where,
            "transcript": event.text,
            "usage": {"type": "duration", "seconds": round(event.seconds, 3)},
        }
        # Interim transcripts revise earlier words, and deltas must concatenate to the final text:
        # so there is one delta, when the text is final.
        delta = {"type": f"{_TRANSCRIPTION}.delta", **where, "delta": event.text}
        return [delta, done] if event.text else [done]

    def _reply_events(self, event: SessionEvent) -> list[ServerEvent]:
        if isinstance(event, ReplyStarted):
            return self._started(event)
        reply = self.replies.get(getattr(event, "reply_id", ""))
        if reply is None:
            return []
        match event:
            case ReplyText(delta=delta):
                return reply.text(delta)
            case ReplyAudio(samples=samples, sample_rate_hz=rate_hz):
                self.spoke = self.spoke or not reply.started.beside
                return reply.audio(samples, rate_hz)
            case ReplyToolCall(item_id=item_id, call=call, client_side=True):
                return reply.function_call(item_id, call)
            case ReplyEnded():
                return reply.ended(event)
        return []

    def _started(self, event: ReplyStarted) -> list[ServerEvent]:
        form = self._forms.pop(event.reply_id, self.form)
        where = (None, None) if event.beside else (self._conversation_id, self.log)
        reply = Reply(event, form, *where)
        self.replies[event.reply_id] = reply
        if len(self.replies) > _REPLIES_KEPT:
            self.replies.popitem(last=False)
        return reply.created()


def error_event(
    message: str,
    code: str,
    kind: str = "invalid_request_error",
    param: str | None = None,
    event_id: str | None = None,
) -> ServerEvent:
    """An ``error`` event; ``event_id`` is the client's id of the event at fault."""
    error = {"type": kind, "code": code, "message": message, "param": param, "event_id": event_id}
    return {"type": "error", "error": error}

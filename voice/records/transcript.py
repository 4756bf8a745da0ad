"""What was said and done in a conversation, as the JSON object that is kept.

It is built from the session's events. Times are milliseconds since the conversation began, on the
clock of its soundtrack. Files are not handled here.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from voice.dialogue.interruption import REOPEN_MS
from voice.events import (
    Failure,
    FinalTranscript,
    ReplyAudio,
    ReplyEnded,
    ReplyHeard,
    ReplyStarted,
    ReplyText,
    ReplyToolCall,
    ReplyToolResult,
    SessionEnded,
    SessionEvent,
    TranscriptFailed,
    TurnMeasured,
    UserSpeechStarted,
    UserSpeechStopped,
    UserTurnCommitted,
)
from voice.records.soundtrack import Soundtrack
from voice.types import SaidWord, samples_of_ms

MOST_TURNS = 2000
"""Of one conversation; once there are as many, only its end is still recorded."""
LONGEST_TEXT = 10_000
_MOST_PARTS = 100
"""Most replies of a turn, calls of a reply, and problems of a conversation."""
_WORTH_WRITING = (FinalTranscript, ReplyEnded, ReplyToolResult, TurnMeasured, SessionEnded)
_ENDED_BY = {
    "caller": ("client disconnected", "the caller hung up", "connection ended"),
    "agent": ("ended by the agent", "transferred", "idle"),
}


@dataclass(slots=True)
class Tool:
    """A tool call.

    Attributes:
        result: None until the tool has answered.
        placed: Whether the call cannot be taken back, such as an order.
    """

    at_ms: float
    name: str
    arguments: Mapping[str, Any]
    placed: bool
    result: str | None = None
    error: bool = False
    duration_ms: float | None = None


@dataclass(slots=True)
class Reply:
    """A reply of the agent.

    Attributes:
        start_ms: When it began to be heard; None if it never was.
        heard: Number of characters of the text that were heard.
        words: For each word that was heard, the position just past it in the text, and when it
            ended.
        status: Empty until the reply is over.
    """

    start_ms: float | None = None
    text: str = ""
    heard: int = 0
    words: list[tuple[int, float]] = field(default_factory=list)
    status: str = ""
    reason: str = ""
    tools: list[Tool] = field(default_factory=list)


@dataclass(slots=True)
class Turn:
    """What the user said or typed, and the replies to it.

    Attributes:
        number: Counted from 1.
        typed: Whether words were typed or keys pressed.
        text: None if the agent spoke first, or nothing is known yet.
        words: For each word, the position just past it in the text, and when it ended; empty for a
            typed turn.
        estimated: Whether these times are estimated from the number of letters, as they are until
            the recogniser has found the words, or if it cannot.
        cut_off: Whether the turn was answered before the user had finished.
        marks_ms: As in `voice.events.TurnMeasured`; for a typed turn, counted from the request.
    """

    number: int
    at_ms: float
    typed: bool = False
    text: str | None = None
    confidence: float | None = None
    start_ms: float | None = None
    end_ms: float | None = None
    words: list[tuple[int, float]] = field(default_factory=list)
    estimated: bool = False
    cut_off: bool = False
    marks_ms: dict[str, float] = field(default_factory=dict)
    replies: list[Reply] = field(default_factory=list)


def said_evenly(text: str, start_ms: float, end_ms: float) -> list[tuple[int, float]]:
    """The position just past each word, and when it ended if all letters take equally long."""
    ends = [word.end() for word in re.finditer(r"\S+", text)]
    return [(at, round(start_ms + (end_ms - start_ms) * at / ends[-1], 1)) for at in ends]


class Transcript:
    """The transcript of one conversation.

    Args:
        head: What is known when the conversation begins.
        track: The conversation's sound, which gives the times.
        placing: Names of tools whose calls cannot be taken back.
    """

    def __init__(
        self, head: Mapping[str, Any], track: Soundtrack, placing: Iterable[str] = ()
    ) -> None:
        self._head = dict(head)
        self._track = track
        self._placing = frozenset(placing)
        self._ended: dict[str, str] | None = None
        self._ended_ms: float | None = None
        self._problems: list[dict[str, Any]] = []
        self._turns: list[Turn] = []
        # Each turn's JSON; None if the turn has changed since.
        self._written: list[str | None] = []
        # By item id, or by the session's number of the turn.
        self._turns_by: dict[str | int, Turn] = {}
        self._replies: dict[str, tuple[Turn, Reply]] = {}
        self._words: dict[str, list[tuple[int, float]]] = {}
        self._calls: dict[str, tuple[Turn, Tool]] = {}
        self._decided = 0
        self._typed: Turn | None = None

    @property
    def latency_ms(self) -> float | None:
        """How long the newest reply took until it was heard; None if none has been yet."""
        marks = (turn.marks_ms.get("first_audio") for turn in reversed(self._turns))
        return next((ms for ms in marks if ms is not None), None)

    @property
    def _full(self) -> bool:
        return len(self._turns) >= MOST_TURNS

    def text(self) -> str:
        """Everything so far, as JSON."""
        for turn in self._turns:
            if self._written[turn.number - 1] is None:
                self._written[turn.number - 1] = json.dumps(asdict(turn))
        now_ms = self._track.now_ms if self._ended_ms is None else self._ended_ms
        head = {**self._head, "seconds": round(now_ms / 1000, 3)}
        head |= {"ended": self._ended, "problems": self._problems}
        turns = ",\n".join(map(str, self._written))
        return f'{json.dumps(head)[:-1]}, "turns": [\n{turns}\n]}}\n'

    def typed(self, text: str, items: Iterable[str]) -> None:
        """Begin a turn, because the user asks for a reply to what was typed."""
        self._typed = None if self._full else self._open(typed=True, text=text[:LONGEST_TEXT])
        if self._typed:
            self._turns_by |= dict.fromkeys(items, self._typed)

    def untyped(self, items: Iterable[str]) -> None:
        """Take back the turn just begun by `typed`, because it gets no reply."""
        if self._typed:
            self._turns.pop()
            self._written.pop()
            for item_id in items:
                self._turns_by.pop(item_id, None)

    def answered(self, call_id: str, content: str) -> None:
        """Enter the result of a tool that the client ran."""
        if call_id in self._calls:
            turn, tool = self._calls[call_id]
            self._change(turn)
            tool.result = content[:LONGEST_TEXT]

    def found(self, item_id: str, words: Iterable[SaidWord]) -> None:
        """Enter the times of the words that the recogniser has found."""
        turn, at, ends = self._changed(item_id), 0, []
        text = turn.text if turn else None
        for word in words:
            begin = (text or "").find(word.text, at)
            if begin < 0:
                return
            at = begin + len(word.text)
            ends.append((at, round(self._track.ms_of(word.end_sample), 1)))
        if turn and ends:
            turn.words, turn.estimated = ends, False

    def observe(self, event: SessionEvent) -> bool:
        """Take a session event; returns whether it is worth writing at once."""
        match event:
            case SessionEnded(reason) if self._ended is None:
                by = (who for who, reasons in _ENDED_BY.items() if reason in reasons)
                self._ended = {"by": next(by, "error"), "reason": reason}
                self._ended_ms = self._track.now_ms
            case _ if self._full:
                return False
            case UserSpeechStarted() | UserSpeechStopped() | UserTurnCommitted():
                self._user_speaks(event)
            case FinalTranscript(item_id=item_id):
                if turn := self._changed(item_id):
                    spoken = event.text[:LONGEST_TEXT]
                    turn.text = f"{turn.text or ''} {spoken}".strip()
                    turn.confidence = round(event.confidence, 3)
                    if turn.start_ms is not None and turn.end_ms is not None:
                        turn.words = said_evenly(turn.text, turn.start_ms, turn.end_ms)
                        turn.estimated = bool(turn.words)
            case TurnMeasured(turn_id=turn_id, marks_ms=marks):
                if turn := self._changed(turn_id):
                    turn.marks_ms = {mark: round(ms, 1) for mark, ms in marks.items()}
            case Failure(stage=stage, message=message):
                self._note(stage, message)
            case TranscriptFailed(message=message):
                self._note("asr", message)
            case _:
                self._agent_replies(event)
        return isinstance(event, _WORTH_WRITING)

    def _user_speaks(
        self, event: UserSpeechStarted | UserSpeechStopped | UserTurnCommitted
    ) -> None:
        turn = self._changed(event.turn_id) or self._open()
        self._turns_by[event.item_id] = self._turns_by[event.turn_id] = turn
        match event:
            case UserSpeechStarted(start_sample=start):
                turn.start_ms = round(self._track.ms_of(start), 1)
                before = self._turns[turn.number - 2] if turn.number > 1 else None
                if before and before.replies and before.end_ms is not None:
                    before.cut_off = start - self._decided <= samples_of_ms(REOPEN_MS)
                    self._change(before)
            case UserSpeechStopped(end_sample=end):
                turn.end_ms = round(self._track.ms_of(end), 1)
                self._decided = self._track.heard

    def _agent_replies(self, event: SessionEvent) -> None:
        match event:
            case ReplyStarted(reply_id, out_of_band=False):
                turn = self._answered_by(event)
                if len(turn.replies) < _MOST_PARTS:
                    turn.replies.append(reply := Reply())
                    self._replies[reply_id] = turn, reply
            case (
                ReplyText(reply_id)
                | ReplyAudio(reply_id)
                | ReplyHeard(reply_id)
                | ReplyEnded(reply_id)
                | ReplyToolCall(reply_id)
            ) if reply_id in self._replies:
                turn, reply = self._replies[reply_id]
                self._change(turn)
                self._reply_goes_on(event, turn, reply)
            case ReplyToolResult(result=result) if result.call_id in self._calls:
                turn, tool = self._calls[result.call_id]
                self._change(turn)
                tool.result, tool.error = result.content[:LONGEST_TEXT], result.error
                tool.duration_ms = round(result.duration_ms, 1)
                if turn.typed:
                    turn.marks_ms[f"tool.{tool.name}"] = tool.duration_ms

    def _reply_goes_on(self, event: SessionEvent, turn: Turn, reply: Reply) -> None:
        match event:
            case ReplyText(delta=delta):
                reply.text = (reply.text + delta)[:LONGEST_TEXT]
                self._reached(turn, "reply_committed")
            case ReplyAudio(reply_id, words=words):
                self._words.setdefault(reply_id, []).extend(words)
                self._reached(turn, "first_audio")
            case ReplyHeard(reply_id, chars):
                self._heard(reply_id, reply, chars)
            case ReplyEnded(reply_id, status, reason):
                reply.status, reply.reason = status.value, reason
                self._heard(reply_id, reply, reply.heard)
            case ReplyToolCall(call=call) if len(reply.tools) < _MOST_PARTS:
                # A remote model's arguments may contain infinity.
                given = json.loads(json.dumps(call.arguments), parse_constant=lambda _: None)
                placed, at_ms = call.name in self._placing, round(self._track.now_ms, 1)
                reply.tools.append(tool := Tool(at_ms, call.name, given, placed))
                self._calls[call.call_id] = turn, tool

    def _heard(self, reply_id: str, reply: Reply, chars: int) -> None:
        if reply.start_ms is None and reply_id in self._words:
            reply.start_ms = _rounded(self._track.ms_in_reply(reply_id, 0.0))
        reply.heard = chars
        reply.words = [word for word in reply.words if word[0] <= chars]
        waiting = self._words.get(reply_id, [])
        while waiting and waiting[0][0] <= chars:
            at_ms = self._track.ms_in_reply(reply_id, waiting[0][1])
            if at_ms is None:
                break
            reply.words.append((waiting.pop(0)[0], round(at_ms, 1)))

    def _reached(self, turn: Turn, mark: str) -> None:
        if turn.typed:
            turn.marks_ms.setdefault(mark, round(self._track.now_ms - turn.at_ms, 1))

    def _answered_by(self, started: ReplyStarted) -> Turn:
        if not self._turns:
            return self._open()
        newest = self._turns[-1]
        answered = None if newest.typed else self._changed(started.turn_id)
        self._change(newest)
        return answered or newest

    def _note(self, stage: str, message: str) -> None:
        if len(self._problems) < _MOST_PARTS:
            at_ms = round(self._track.now_ms, 1)
            self._problems.append({"at_ms": at_ms, "stage": stage, "message": message})

    def _open(self, typed: bool = False, text: str | None = None) -> Turn:
        turn = Turn(len(self._turns) + 1, round(self._track.now_ms, 1), typed, text)
        self._turns.append(turn)
        self._written.append(None)
        return turn

    def _change(self, turn: Turn) -> None:
        self._written[turn.number - 1] = None

    def _changed(self, key: str | int) -> Turn | None:
        """The turn of an item id or turn number, marked as changed."""
        turn = self._turns_by.get(key)
        if turn is not None:
            self._change(turn)
        return turn


def _rounded(ms: float | None) -> float | None:
    return None if ms is None else round(ms, 1)

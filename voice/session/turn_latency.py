"""When each stage of a turn was reached, and how long it took.

It serves metrics and traces only; no decision depends on it.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from voice.events import (
    ReplyAudio,
    ReplyEnded,
    ReplyStarted,
    ReplyText,
    ReplyTimed,
    ReplyToolCall,
    ReplyToolResult,
    SessionEvent,
    Stage,
    TurnMeasured,
    UserSpeechStarted,
)
from voice.types import SAMPLE_RATE_HZ, TurnEnded

_FIRST_OF = {"first_token": "chat", "first_audio": "text_to_speech"}
"""Mark → the stage whose first output it is."""


@dataclass(slots=True)
class _Stage:
    """Like `voice.events.Stage`, on the session's clock; ``end_s`` is None until it ends."""

    name: str
    start_s: float
    end_s: float | None = None
    first_s: float | None = None
    call_id: str = ""


@dataclass(slots=True)
class _Reply:
    """A reply in progress, and its stages so far."""

    turn_id: int
    start_s: float
    out_of_band: bool
    stages: list[_Stage] = field(default_factory=list)

    def newest(self, name: str, call_id: str = "") -> _Stage | None:
        """The newest stage with this name and call."""
        of_name = (s for s in reversed(self.stages) if (s.name, s.call_id) == (name, call_id))
        return next(of_name, None)


class TurnLatency:
    """Marks of the newest turn, and stages of the replies in progress.

    A turn's marks are milliseconds after the end of the user's speech. That moment is known only
    when the turn has ended; it is found by subtracting the samples since the speech ended.

    Args:
        clock: A steady clock in seconds; by default the event loop's.
        since_epoch: Current time in seconds since the epoch.
    """

    def __init__(
        self,
        clock: Callable[[], float] = lambda: asyncio.get_running_loop().time(),
        since_epoch: Callable[[], float] = time.time,
    ) -> None:
        self._clock = clock
        self._since_epoch = since_epoch
        self._turn_id = 0
        self._began: tuple[int, int] = (0, 0)
        self._ended: TurnEnded | None = None
        self._speech_end_s = 0.0
        self._at_s: dict[str, float] = {}
        self._lasted_ms: dict[str, float] = {}
        self._replies: dict[str, _Reply] = {}

    def ended(self, event: TurnEnded) -> None:
        """Record that the user's turn is over."""
        now = self._clock()
        self._turn(event.turn_id)
        self._ended = event
        self._speech_end_s = now - (event.decided_sample - event.end_sample) / SAMPLE_RATE_HZ
        self._at_s["end_of_turn"] = now

    def decoded(self, turn_id: int) -> None:
        """Record that a final decode is complete; the turn's last one counts."""
        self._turn(turn_id)
        if turn_id == self._turn_id:
            self._at_s["asr_final"] = self._clock()

    def reached(self, reply_id: str, mark: str) -> None:
        """Record that a reply has reached a mark; only the first time counts."""
        reply = self._replies.get(reply_id)
        if reply is None:
            return
        now = self._clock()
        stage = reply.newest(_FIRST_OF.get(mark, ""))
        if stage is not None and stage.first_s is None:
            stage.first_s = now
        if self._counts(reply):
            self._at_s.setdefault(mark, now)

    @contextmanager
    def asking(self, reply_id: str) -> Iterator[None]:
        """Time a request to the model, for as long as the context lasts."""
        stage = self._begin(reply_id, _Stage("chat", self._clock()))
        try:
            yield
        finally:
            stage.end_s = self._clock()

    def observe(self, event: SessionEvent) -> None:
        """Note an event of the session when it happens."""
        match event:
            case UserSpeechStarted(turn_id=turn_id, start_sample=start):
                self._began = turn_id, start
            case ReplyStarted(reply_id, turn_id=turn_id, out_of_band=out_of_band):
                self._replies[reply_id] = _Reply(turn_id, self._clock(), out_of_band)
            case ReplyToolCall(reply_id, call=call, client_side=False):
                self._begin(reply_id, _Stage("execute_tool", self._clock(), call_id=call.call_id))
            case ReplyToolResult(reply_id) if reply_id in self._replies:
                self._tool_answered(self._replies[reply_id], event)
            case ReplyText(reply_id) if reply_id in self._replies:
                if self._replies[reply_id].newest("text_to_speech") is None:
                    self._begin(reply_id, _Stage("text_to_speech", self._clock()))
            case ReplyAudio(reply_id) if reply_id in self._replies:
                self.reached(reply_id, "first_audio")
                if speech := self._replies[reply_id].newest("text_to_speech"):
                    speech.end_s = self._clock()

    def over(self, event: ReplyEnded) -> list[TurnMeasured | ReplyTimed]:
        """What was measured of a reply that has ended, and, once, of its turn."""
        reply = self._replies.pop(event.reply_id, None)
        if reply is None:
            return []
        stages, start_s = reply.stages, reply.start_s
        told: list[TurnMeasured | ReplyTimed] = []
        if self._counts(reply) and self._ended is not None:
            heard = self._heard(self._ended)
            stages, start_s = [*heard, *stages], heard[0].start_s
            told.append(self._measured())
            self._ended = None
        return [*told, self._timed(event.reply_id, start_s, stages)]

    def _measured(self) -> TurnMeasured:
        marks = {mark: (at_s - self._speech_end_s) * 1000 for mark, at_s in self._at_s.items()}
        return TurnMeasured(self._turn_id, {**marks, **self._lasted_ms})

    def _heard(self, ended: TurnEnded) -> list[_Stage]:
        """The stages of recognising the newest turn."""
        turn_id, began = self._began
        if turn_id != ended.turn_id:
            began = ended.end_sample if ended.start_sample is None else ended.start_sample
        speech_end_s, decided_s = self._speech_end_s, self._at_s["end_of_turn"]
        start_s = speech_end_s - (ended.end_sample - began) / SAMPLE_RATE_HZ
        return [
            _Stage("speech_to_text", start_s, self._at_s.get("asr_final", decided_s)),
            _Stage("end_of_turn", speech_end_s, decided_s),
        ]

    def _timed(self, reply_id: str, start_s: float, stages: list[_Stage]) -> ReplyTimed:
        now = self._clock()
        epoch_s = self._since_epoch() - now
        done = tuple(
            Stage(
                stage.name,
                epoch_s + stage.start_s,
                epoch_s + (now if stage.end_s is None else stage.end_s),
                None if stage.first_s is None else epoch_s + stage.first_s,
                stage.call_id,
            )
            for stage in stages
            # Text that is shown but not spoken has no audio to time.
            if stage.name != "text_to_speech" or stage.first_s is not None
        )
        return ReplyTimed(reply_id, epoch_s + start_s, epoch_s + now, done)

    def _tool_answered(self, reply: _Reply, event: ReplyToolResult) -> None:
        result = event.result
        if stage := reply.newest("execute_tool", result.call_id):
            stage.end_s = self._clock()
        if self._counts(reply):
            mark = f"tool.{result.name}"
            self._lasted_ms[mark] = self._lasted_ms.get(mark, 0.0) + result.duration_ms

    def _begin(self, reply_id: str, stage: _Stage) -> _Stage:
        if reply_id in self._replies:
            self._replies[reply_id].stages.append(stage)
        return stage

    def _counts(self, reply: _Reply) -> bool:
        """Whether a reply answers the newest turn."""
        if not reply.out_of_band:
            self._turn(reply.turn_id)
        return not reply.out_of_band and reply.turn_id == self._turn_id

    def _turn(self, turn_id: int) -> None:
        if turn_id > self._turn_id:
            self._turn_id = turn_id
            self._ended = None
            self._at_s = {}
            self._lasted_ms = {}

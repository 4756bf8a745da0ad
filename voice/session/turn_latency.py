"""When each stage of a turn was reached, for metrics alone: the only part that reads a clock."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from voice.events import TurnMeasured
from voice.types import SAMPLE_RATE_HZ, TurnEnded


class TurnLatency:
    """Marks of the newest turn.

    The end of the user's speech is known only when the turn has ended; it is counted back from that
    moment by the samples that have gone by since, so that a turn's marks are milliseconds after it.
    """

    def __init__(
        self, clock: Callable[[], float] = lambda: asyncio.get_running_loop().time()
    ) -> None:
        self._clock = clock
        self._turn_id = 0
        self._speech_end_s: float | None = None
        self._at_s: dict[str, float] = {}
        self._lasted_ms: dict[str, float] = {}

    def ended(self, event: TurnEnded) -> None:
        """The user's turn is over."""
        now = self._clock()
        self._turn(event.turn_id)
        self._speech_end_s = now - (event.decided_sample - event.end_sample) / SAMPLE_RATE_HZ
        self._at_s["end_of_turn"] = now

    def reached(self, turn_id: int, mark: str) -> None:
        """A stage was reached; only the first time counts."""
        self._turn(turn_id)
        if turn_id == self._turn_id:
            self._at_s.setdefault(mark, self._clock())

    def decoded(self, turn_id: int) -> None:
        """A transcript is complete; only the last one before the end of the turn counts."""
        self._turn(turn_id)
        if turn_id == self._turn_id:
            self._at_s["asr_final"] = self._clock()

    def lasted(self, turn_id: int, mark: str, duration_ms: float) -> None:
        """Something took so long, beside what it took before in the same turn."""
        self._turn(turn_id)
        if turn_id == self._turn_id:
            self._lasted_ms[mark] = self._lasted_ms.get(mark, 0.0) + duration_ms

    def measured(self) -> TurnMeasured | None:
        """The newest turn's marks, once; None when it has not ended or has been told already."""
        speech_end_s = self._speech_end_s
        if speech_end_s is None:
            return None
        marks = {mark: (at - speech_end_s) * 1000 for mark, at in self._at_s.items()}
        self._speech_end_s = None
        return TurnMeasured(self._turn_id, {**marks, **self._lasted_ms})

    def _turn(self, turn_id: int) -> None:
        if turn_id > self._turn_id:
            self._turn_id = turn_id
            self._speech_end_s = None
            self._at_s = {}
            self._lasted_ms = {}

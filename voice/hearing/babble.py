"""Many voices around the user, by how little their level changes.

A detector takes them for one voice that never pauses. But one voice rises and falls by more than 10
dB within a second or two, even with an echo or in noise 10 dB softer; several at once, by 6 to 9.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable

_FRAMES = 100
"""Two seconds: nobody speaks for so long without either a pause or a quiet sound."""
_SHARE = 0.8
_RANGE_DB = 9.0
_PERHAPS_RANGE_DB = 12.0
_ABOVE_DB = 3.0
_PERHAPS_FRAMES = 40


class Babble:
    """How loud the voices around the user are, if there are any."""

    def __init__(self) -> None:
        self._levels: deque[float] = deque(maxlen=_FRAMES)
        self._speech: deque[bool] = deque(maxlen=_FRAMES)
        self._loudest_dbfs = -100.0

    def drowns(self, level_dbfs: float, speech: bool) -> bool:
        """Take a frame's level, and whether it sounds like speech; whether it is only babble."""
        self._levels.append(level_dbfs)
        self._speech.append(speech)
        spoken = sum(self._speech)
        if spoken >= _SHARE * _FRAMES:
            soft, loud = _range(self._levels)
            if loud - soft <= _RANGE_DB:
                self._loudest_dbfs = loud + _ABOVE_DB
        elif spoken < len(self._speech) / 2:
            self._loudest_dbfs = -100.0
        return level_dbfs <= self._loudest_dbfs


def perhaps_babble(levels_dbfs: Iterable[float]) -> bool:
    """Whether the levels of the frames of a second of speech leave open that it is babble."""
    levels = list(levels_dbfs)
    if len(levels) < _PERHAPS_FRAMES:
        return False
    soft, loud = _range(levels)
    return loud - soft <= _PERHAPS_RANGE_DB


def _range(levels_dbfs: Iterable[float]) -> tuple[float, float]:
    """The levels that a tenth of the frames are below, and a tenth above."""
    levels = sorted(levels_dbfs)
    tenth = len(levels) // 10
    return levels[tenth], levels[-tenth - 1]

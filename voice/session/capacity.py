"""How many conversations this machine holds at once, from what the start has measured.

A caller takes about `DECODES_PER_S` times what a second of silence costs the recogniser for each
second of the call, on average over speaking and listening (speech costs twice as much as silence),
and `REST` of a core for everything else: voice, model, detector. No more than `SHARE` of the
processor is given away, since those who talk at the same moment wait for each other. The constants
are measured (docs/LOG.md).
"""

from __future__ import annotations

import os
from typing import Protocol, runtime_checkable

from voice.hearing.asr import Recognizer

DECODES_PER_S = 4.0
REST = 0.1
SHARE = 0.5
UNMEASURED_S = 0.05
"""Of a recogniser that does not measure itself."""


@runtime_checkable
class Timed(Protocol):
    """A recogniser that measures itself."""

    decode_s: float

    def timed_s(self) -> float:
        """What a second of silence takes now."""
        ...


def conversations(decode_s: float, cores: int) -> int:
    """How many at once, one at least.

    Args:
        decode_s: What a decode took.
        cores: Of the processor.
    """
    return max(1, int(cores * SHARE / (DECODES_PER_S * decode_s + REST)))


def measured(recognizer: Recognizer) -> tuple[int, str]:
    """How many conversations at once, and a line that says why."""
    ours = hasattr(os, "sched_getaffinity")
    cores = len(os.sched_getaffinity(0)) if ours else os.cpu_count() or 1
    decode_s = UNMEASURED_S
    if isinstance(recognizer, Timed):
        # While other parts were loaded it took longer.
        decode_s = min(recognizer.decode_s, recognizer.timed_s())
    most = conversations(decode_s, cores)
    line = f"calls: {most} at once, by {cores} cores and {decode_s * 1000:.0f} ms for a decode"
    return most, f"{line} (server.max_sessions)"

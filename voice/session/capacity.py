"""How many conversations this machine holds at once, from what was measured at the start.

Each second of a call costs the recogniser about `DECODES_PER_S` decodes of a second of silence,
averaged over speaking and listening (speech costs twice as much as silence). Everything else, that
is voice, model and detector, takes `REST` of a core. At most `SHARE` of the processor is allotted,
because callers who speak at the same moment wait for each other. The constants are measured
(docs/LOG.md).
"""

from __future__ import annotations

import os
from typing import Protocol, runtime_checkable

from voice.hearing.asr import Recognizer

DECODES_PER_S = 4.0
REST = 0.1
SHARE = 0.5
UNMEASURED_S = 0.05
"""Assumed decode time of a recogniser that does not measure itself."""


@runtime_checkable
class Timed(Protocol):
    """A recogniser that measures itself."""

    decode_s: float

    def timed_s(self) -> float:
        """Seconds that it takes now to decode a second of silence."""
        ...


def conversations(decode_s: float, cores: int) -> int:
    """How many conversations fit at once; at least one.

    Args:
        decode_s: Seconds that a decode of a second of silence takes.
        cores: Cores of the processor.
    """
    return max(1, int(cores * SHARE / (DECODES_PER_S * decode_s + REST)))


def capacity(recognizer: Recognizer, configured: int = 0) -> tuple[int, str]:
    """How many conversations are held at once, and a line that says why.

    Args:
        recognizer: Measured if need be.
        configured: The number that the operator has set; 0 for as many as fit.
    """
    if configured:
        return configured, f"calls: {configured} at once, as configured (server.max_sessions)"
    ours = hasattr(os, "sched_getaffinity")
    cores = len(os.sched_getaffinity(0)) if ours else os.cpu_count() or 1
    decode_s = UNMEASURED_S
    if isinstance(recognizer, Timed):
        # The first measurement was slowed down by other parts that were loading.
        decode_s = min(recognizer.decode_s, recognizer.timed_s())
    most = conversations(decode_s, cores)
    line = f"calls: {most} at once, by {cores} cores and {decode_s * 1000:.0f} ms for a decode"
    return most, f"{line} (server.max_sessions)"

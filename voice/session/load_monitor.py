"""How busy the machine is, which decides whether there is time for drafts and interim transcripts.

There are four measures over all conversations: unfinished requests to the model; the number of
replies being made, averaged over the last seconds; pending decodes of the recogniser; and how late
the event loop wakes up, which grows when decoding, synthesis and audio get too little of the
processor. A busy machine first drops drafts, then some interim transcripts.

The average tells whether drafts pay. Forwards for a draft delay the replies being made at the same
time; if there seldom are any, a draft saves more time than it costs. By Little's law the average is
the rate of replies times the duration of one. So it reflects both how many people talk and how fast
the machine is, and rises steeply once replies delay each other.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from voice.config import DraftingConfig

MEMORY_S = 8.0
"""Time constant of the average: the state this long ago weighs 37% of the present one."""
FORGIVEN_S = 0.25
"""Half-life of a late wake-up, however many conversations wake up in the meantime."""

# These threads compute rather than wait, so more of them than cores would not help.
RECOGNITION_THREADS = 2


class LoadMonitor:
    """Shared by all conversations of a process; ``clock`` is a monotonic clock in seconds.

    Attributes:
        requests: Unfinished requests to the model, including those of drafts.
        decodes: Decodes that the recogniser's threads are doing or have waiting.
        lag_ms: How late the event loop woke up lately; it halves every `FORGIVEN_S`.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self.requests = 0
        self.decodes = 0
        self.lag_ms = 0.0
        self._clock = clock
        self._replies = 0
        self._average, self._changed_s = 0.0, -math.inf
        self._woke_s = -math.inf

    @property
    def replying(self) -> float:
        """Replies being made at a time, averaged over the last seconds."""
        remembered = math.exp((self._changed_s - self._clock()) / MEMORY_S)
        return self._replies + (self._average - self._replies) * remembered

    @contextmanager
    def request(self) -> Iterator[None]:
        """Count a request for as long as the context lasts."""
        self.requests += 1
        try:
            yield
        finally:
            self.requests -= 1

    @contextmanager
    def decode(self) -> Iterator[None]:
        """Count a decode for as long as the context lasts."""
        self.decodes += 1
        try:
            yield
        finally:
            self.decodes -= 1

    @contextmanager
    def reply(self) -> Iterator[None]:
        """Count a reply that somebody is waiting for, for as long as the context lasts."""
        self._change(1)
        try:
            yield
        finally:
            self._change(-1)

    def woke(self, late_ms: float) -> None:
        """Record that the event loop woke ``late_ms`` later than a timer was set for."""
        before_s, self._woke_s = self._woke_s, self._clock()
        self.lag_ms = max(late_ms, self.lag_ms * 0.5 ** ((self._woke_s - before_s) / FORGIVEN_S))

    def allows_draft(self, config: DraftingConfig, likely: bool, own: int) -> bool:
        """Whether a draft may be begun in place of the session's ``own`` draft requests.

        If its words are not ``likely`` to be the whole message, the model must be idle.
        """
        limit = config.max_requests if likely else 1
        return (
            self.requests - own < limit
            and self.decodes <= RECOGNITION_THREADS
            and self.lag_ms <= config.max_lag_ms
            and self.replying <= config.max_replying
        )

    def allows_partial(self, config: DraftingConfig) -> bool:
        """Whether there is time for an interim transcript.

        There is if no decode is waiting for a thread and the event loop is not very late.
        """
        return self.decodes <= RECOGNITION_THREADS and self.lag_ms <= 2 * config.max_lag_ms

    def _change(self, by: int) -> None:
        self._average, self._changed_s = self.replying, self._clock()
        self._replies += by

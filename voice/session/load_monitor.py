"""How busy the machine is with what cannot wait, as far as drafts and partials have to know.

Four measures: requests that the model has not finished, over all conversations; how many replies
are being made, on average over the last seconds; how many decodes the recogniser has to do; and how
much too late the event loop wakes up, which grows when decoding, synthesis and audio get too little
of the processor. A busy machine first does without drafts, then with fewer partial transcripts.

The average says whether drafts pay. What is forwarded for a draft delays the replies that are made
meanwhile; where there seldom are any, it saves more time than it costs. By Little's law the average
is the rate of replies times what one takes: it knows how many talk and how fast the machine is, and
rises steeply once replies delay each other.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from voice.config import DraftingConfig

MEMORY_S = 8.0
"""What was so long ago counts 37% of what is now."""
FORGIVEN_S = 0.25
"""A late wake-up counts half after so long, however many conversations wake up meanwhile."""

# More threads than cores only help where they wait, and these compute.
RECOGNITION_THREADS = 2


class LoadMonitor:
    """Shared by all conversations of a process; ``clock`` gives seconds that go on evenly.

    Attributes:
        requests: Requests at the model now, drafts included.
        decodes: What the recogniser's threads do now, or have to do.
        lag_ms: The latest lateness of the event loop; half of it is forgiven each `FORGIVEN_S`.
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
        """Replies being made at a time, on average over the last seconds."""
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
        """Count a reply, which somebody waits for, for as long as the context lasts."""
        self._change(1)
        try:
            yield
        finally:
            self._change(-1)

    def woke(self, late_ms: float) -> None:
        """The loop woke so much later than a timer had asked for."""
        before_s, self._woke_s = self._woke_s, self._clock()
        self.lag_ms = max(late_ms, self.lag_ms * 0.5 ** ((self._woke_s - before_s) / FORGIVEN_S))

    def allows_draft(self, config: DraftingConfig, likely: bool, own: int) -> bool:
        """Whether a draft may be begun, in the place of ``own`` requests.

        Where its words are not ``likely`` to be all, the model has to be idle.
        """
        limit = config.max_requests if likely else 1
        return (
            self.requests - own < limit
            and self.decodes <= RECOGNITION_THREADS
            and self.lag_ms <= config.max_lag_ms
            and self.replying <= config.max_replying
        )

    def allows_partial(self, config: DraftingConfig) -> bool:
        """Whether a partial transcript is worth its time: no decode waits for a thread."""
        return self.decodes <= RECOGNITION_THREADS and self.lag_ms <= 2 * config.max_lag_ms

    def _change(self, by: int) -> None:
        self._average, self._changed_s = self.replying, self._clock()
        self._replies += by

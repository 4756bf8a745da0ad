"""How busy the machine is with what cannot wait, as far as drafts have to know.

Two measures: requests that the model has not finished, over all conversations; and how much too
late the event loop wakes up, which grows when decoding, synthesis and audio get too little of the
processor.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from voice.config import DraftingConfig


class Load:
    """Shared by all conversations of a process.

    Attributes:
        requests: Requests at the model now, drafts included.
        lag_ms: The latest lateness of the event loop; it halves with every punctual wake-up.
    """

    def __init__(self) -> None:
        self.requests = 0
        self.lag_ms = 0.0

    @contextmanager
    def request(self) -> Iterator[None]:
        """Count a request for as long as the context lasts."""
        self.requests += 1
        try:
            yield
        finally:
            self.requests -= 1

    def woke(self, late_ms: float) -> None:
        """The loop woke so much later than a timer had asked for."""
        self.lag_ms = max(late_ms, self.lag_ms / 2)

    def allows_draft(self, config: DraftingConfig, likely: bool, own: int) -> bool:
        """Whether a draft may be begun.

        Args:
            config: Has the limits.
            likely: Whether the words are likely to be all; else the model has to be idle.
            own: Requests that this draft would take the place of.
        """
        limit = config.max_requests if likely else 1
        return self.requests - own < limit and self.lag_ms <= config.max_lag_ms

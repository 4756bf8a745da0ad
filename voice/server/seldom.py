"""Keeps the log short when the same error recurs again and again, as a client can provoke."""

from __future__ import annotations

import logging

from voice.access.rate_limits import TokenBucket

MOST = 5
"""Lines of one kind that may come at once."""
PER_S = 1 / 12


class Seldom(logging.Filter):
    """Lets only a few lines of each kind pass; a kind is the line of code that logs it."""

    def __init__(self) -> None:
        super().__init__()
        self._left: dict[tuple[str, int], TokenBucket] = {}

    def filter(self, record: logging.LogRecord) -> bool:
        """Whether to write a line; the last one that passes says that others are left out."""
        kind = record.pathname, record.lineno
        bucket = self._left.setdefault(kind, TokenBucket(PER_S, MOST))
        passes = bucket.take()
        if passes and bucket.left < 1:
            record.msg = f"{record.msg} (for a while no more lines like this one)"
        return passes

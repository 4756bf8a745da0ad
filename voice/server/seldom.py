"""Keeps the log short when the same error recurs again and again, as a client can provoke.

It also keeps the text of errors out of it, which may quote what was said.
"""

from __future__ import annotations

import logging

from voice.access.rate_limits import TokenBucket
from voice.errors import origins

MOST = 5
"""Lines of one kind that may come at once."""
PER_S = 1 / 12


class Seldom(logging.Filter):
    """Lets a few lines of each kind pass, without the text of errors.

    A kind is the line of code that logs it.
    """

    def __init__(self) -> None:
        super().__init__()
        self._left: dict[tuple[str, int], TokenBucket] = {}

    def filter(self, record: logging.LogRecord) -> bool:
        """Whether to write a line; the last one that passes says that others are left out."""
        kind = record.pathname, record.lineno
        bucket = self._left.setdefault(kind, TokenBucket(PER_S, MOST))
        passes = bucket.take()
        if record.exc_info and record.exc_info[1]:
            # The formatter writes this in place of the traceback.
            record.exc_text = origins(record.exc_info[1])
        if passes and bucket.left < 1:
            record.msg = f"{record.msg} (for a while no more lines like this one)"
        return passes

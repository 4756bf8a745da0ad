"""The text of an answer while it grows: its final part, its display, and where it must end."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

from dlm.language.chat_format import Dialect

MASKED = "░"
"""Shown for each undecided token."""

LOOP_TOKENS = 32
LOOP_TIMES = 4


def settled(text: str) -> str:
    """The final part of a growing text: without outer spaces and half a character at the end."""
    return text.removesuffix("\ufffd").strip()


def with_masks(dialect: Dialect, tokens: list[int]) -> str:
    """The text of tokens, with a ``░`` for each undecided one."""
    runs = itertools.groupby(dialect.words(tokens), lambda token: token == dialect.mask)
    return "".join(
        MASKED * len(list(run)) if masked else dialect.decode(list(run)) for masked, run in runs
    ).strip()


def find_stop(text: str, stops: Sequence[str]) -> int | None:
    """Where the first stop string in a text begins; None if there is none."""
    found = [at for stop in stops if (at := text.find(stop)) >= 0]
    return min(found, default=None)


def possible_stop(text: str, stops: Sequence[str]) -> int:
    """How many characters at the end of a text may be the beginning of a stop string."""
    longest = max((len(stop) for stop in stops), default=0)
    for size in range(min(longest - 1, len(text)), 0, -1):
        if any(stop.startswith(text[-size:]) for stop in stops):
            return size
    return 0


def looping(tokens: Sequence[int]) -> bool:
    """Whether free text has begun to repeat itself without end.

    That is so if it ends with the same n tokens, n ≤ `LOOP_TOKENS`, at least `LOOP_TIMES` times in
    a row, and over at least `LOOP_TOKENS` tokens.
    """
    for size in range(1, LOOP_TOKENS + 1):
        span = size * max(LOOP_TIMES, -(-LOOP_TOKENS // size))
        if span > len(tokens):
            continue
        end = list(tokens[-span:])
        if end == end[:size] * (span // size):
            return True
    return False

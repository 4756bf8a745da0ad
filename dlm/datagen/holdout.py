"""Which templates, corpus rows and tool names are held out of training: a fixed hash decides.

About one in twenty is held out. Short lists are never split, so that no intent is left wordless.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Sequence
from functools import cache
from random import Random

_SHARE = 20
_SMALLEST = 8


class NothingHeldOutError(ValueError):
    """A list has no entry in the split that was asked for."""


def held_out(key: str) -> bool:
    """Whether a template, row or name belongs to the held-out split."""
    return zlib.crc32(key.encode()) % _SHARE == 0


@cache
def members(options: tuple[str, ...], split: str) -> tuple[str, ...]:
    """The entries of ``options`` in a split ("train" or "heldout"), possibly none.

    Raises:
        ValueError: the split is neither.
    """
    if split not in ("train", "heldout"):
        raise ValueError(f"split must be train or heldout, got {split!r}")
    if len(options) < _SMALLEST:
        return options if split == "train" else ()
    return tuple(o for o in options if held_out(o) == (split == "heldout"))


def pick(rng: Random, options: Sequence[str], split: str) -> str:
    """A random entry of ``options`` that belongs to the split.

    Raises:
        NothingHeldOutError: none does.
    """
    found = members(tuple(options), split)
    if not found:
        raise NothingHeldOutError(f"none of {len(options)} options is in split {split!r}")
    return rng.choice(found)


def composed(rng: Random, split: str, compose: Callable[[Random], str]) -> str:
    """The first of what is composed that belongs to the split by its hash.

    Raises:
        NothingHeldOutError: none of many does.
    """
    for _ in range(400):
        source = compose(rng)
        if held_out(source) == (split == "heldout"):
            return source
    raise NothingHeldOutError(f"nothing composed is in split {split!r}")


def unseen(thing: str) -> bool:
    """Whether a composed tool's thing or a corpus intent is kept for the held-out split alone."""
    return zlib.crc32(f"unseen {thing}".encode()) % 10 == 0

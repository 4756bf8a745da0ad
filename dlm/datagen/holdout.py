"""Decides by a fixed hash which templates, corpus rows and tool names are held out of training.

About one in twenty is held out. Short lists are never split, so that no intent is left without
words.
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
        ValueError: There is no such split.
    """
    if split not in ("train", "heldout"):
        raise ValueError(f"split must be train or heldout, got {split!r}")
    if len(options) < _SMALLEST:
        return options if split == "train" else ()
    return tuple(o for o in options if held_out(o) == (split == "heldout"))


def pick(rng: Random, options: Sequence[str], split: str) -> str:
    """A random entry of ``options`` that is in the split.

    Raises:
        NothingHeldOutError: None is.
    """
    found = members(tuple(options), split)
    if not found:
        raise NothingHeldOutError(f"none of {len(options)} options is in split {split!r}")
    return rng.choice(found)


def composed(rng: Random, split: str, compose: Callable[[Random], str]) -> str:
    """Compose texts until one is in the split by its hash, and return it.

    Raises:
        NothingHeldOutError: None of many is.
    """
    for _ in range(400):
        source = compose(rng)
        if held_out(source) == (split == "heldout"):
            return source
    raise NothingHeldOutError(f"nothing composed is in split {split!r}")


def unseen(thing: str) -> bool:
    """Whether a thing of composed tools, a corpus intent or the like is kept out of training."""
    return zlib.crc32(f"unseen {thing}".encode()) % 10 == 0

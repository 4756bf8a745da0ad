"""Prompts whose keys and values are kept: a dialogue's next turn pays for its new words alone."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from dlm.cache import KVCache


@dataclass(slots=True)
class _Entry:
    ids: list[int]
    cache: KVCache


class PrefixPool:
    """Least-recently-used caches of finished requests; the engine's thread owns it.

    Args:
        make: Builds an empty cache of a capacity.
        entries: Caches kept; the one unused for longest goes first.
    """

    def __init__(self, make: Callable[[int], KVCache], entries: int = 8) -> None:
        self._make = make
        self._limit = entries
        self._entries: list[_Entry] = []

    def __len__(self) -> int:
        return len(self._entries)

    def take(self, ids: Sequence[int], capacity: int) -> KVCache:
        """A cache with room for ``capacity`` that holds the longest known prefix of ``ids``.

        At least the last id is left to forward, since its logits are wanted. A kept cache that this
        prompt continues is handed over; one that it only shares a beginning with is copied, as its
        own dialogue may go on.
        """
        best, shared = None, 0
        wanted = ids[:-1]
        for entry in self._entries:
            length = common_prefix(entry.ids, wanted)
            if length > shared:
                best, shared = entry, length
        if best is None:
            return self._make(capacity)
        self._entries.remove(best)
        if shared < len(best.ids):
            self._entries.append(best)
        elif best.cache.capacity >= capacity:
            return best.cache
        return best.cache.copy(shared, capacity)

    def give(self, ids: Sequence[int], cache: KVCache) -> None:
        """Keep a cache that holds exactly the keys and values of ``ids``.

        Of two that begin alike throughout, the longer serves for both.
        """
        if cache.length != len(ids):
            raise ValueError(f"got {len(ids)} ids for {cache.length} cached positions")
        new = _Entry(list(ids), cache)
        for entry in list(self._entries):
            shared = common_prefix(entry.ids, new.ids)
            if shared == len(entry.ids):
                self._entries.remove(entry)
            elif shared == len(new.ids):
                self._entries.remove(entry)
                new = entry
        self._entries.append(new)
        del self._entries[: -self._limit]


def common_prefix(left: Sequence[int], right: Sequence[int]) -> int:
    """How many ids two sequences begin with alike."""
    length = 0
    for a, b in zip(left, right, strict=False):
        if a != b:
            break
        length += 1
    return length

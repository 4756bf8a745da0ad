"""Memory for caches in main memory, used again once no cache holds it.

Prompts differ in length, so caches of megabytes in ever other sizes come and go between small
things that stay. That fills a heap with holes into which no later cache fits, and the process grows
for hours; and memory fresh from the system costs more than copying a dialogue into it, since every
page is cleared first. So buffers are taken from the system, and kept for the next cache of about
the same size.
"""

from __future__ import annotations

import mmap

SPARE_BYTES = 64 * 2**20

STEPS = 4
"""Sizes of buffers between a power of two and the next."""


class Buffers:
    """Buffers in use and to spare.

    It belongs to one thread; buffers may be given back from any, as garbage collection does.

    Args:
        spare_bytes: Memory kept for caches to come; what was given back first goes first.

    Attributes:
        made: Buffers taken from the system so far.
    """

    def __init__(self, spare_bytes: int = SPARE_BYTES) -> None:
        self._most = spare_bytes
        self._spare: list[mmap.mmap] = []
        self.made = 0

    @property
    def spare_bytes(self) -> int:
        """Memory that no cache holds."""
        return sum(map(len, tuple(self._spare)))

    def take(self, size: int) -> mmap.mmap:
        """A buffer of at least ``size`` bytes, of whatever content.

        One to spare that is a step too large is preferred to a new one, and of those of a size
        the one that came back last, so that what is not needed stays behind and goes.
        """
        wanted = rounded(size)
        newest = reversed(tuple(self._spare))
        fitting = [b for b in newest if wanted <= len(b) <= rounded(wanted + 1)]
        if fitting:
            taken = min(fitting, key=len)
            self._spare.remove(taken)
        else:
            taken = mmap.mmap(-1, wanted, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
            self.made += 1
        while self.spare_bytes > self._most:
            del self._spare[0]
        return taken

    def give(self, buffer: mmap.mmap) -> None:
        """Keep a buffer for the next that takes one, which ends its use here."""
        self._spare.append(buffer)


def rounded(size: int) -> int:
    """The size of a buffer for so many bytes: at most a quarter more, and whole pages.

    >>> rounded(9_000) == 3 * mmap.PAGESIZE
    True
    """
    step = max(mmap.PAGESIZE, (1 << (size - 1).bit_length()) // (2 * STEPS))
    return -(-size // step) * step

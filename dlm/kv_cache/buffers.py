"""Memory for caches on a CPU, reused once no cache holds it.

Prompts differ in length, so on a heap, caches of megabytes and ever different sizes would be
allocated and freed among small objects that stay. That fragments the heap, and the process grows
for hours. Fresh memory from the system costs more than copying a dialogue into it, because every
page is cleared first. So buffers are taken from the system and kept for the next cache of about the
same size.
"""

from __future__ import annotations

import mmap

SPARE_BYTES = 64 * 2**20

STEPS = 4
"""Number of buffer sizes from one power of two to the next."""


class Buffers:
    """A pool of buffers.

    It belongs to one thread, but any thread may give buffers back, as garbage collection does. At
    most ``spare_bytes`` stay for later caches after `take` and `trim`; the buffers given back first
    are freed first.

    Attributes:
        made: Number of buffers taken from the system.
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
        """A buffer of at least ``size`` bytes, with any content.

        A spare buffer that is one step too large is preferred to a new one. Of several of the same
        size, the one given back last is taken, so that unneeded buffers grow old and are freed.
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
        self.trim()
        return taken

    def trim(self) -> None:
        """Free what exceeds the limit."""
        while self.spare_bytes > self._most:
            del self._spare[0]

    def give(self, buffer: mmap.mmap) -> None:
        """Keep a buffer for the next `take`; the caller may no longer use it."""
        self._spare.append(buffer)


def rounded(size: int) -> int:
    """The size of a buffer for ``size`` bytes: at most a quarter more, in whole pages.

    >>> rounded(9_000) == 3 * mmap.PAGESIZE
    True
    """
    step = max(mmap.PAGESIZE, (1 << (size - 1).bit_length()) // (2 * STEPS))
    return -(-size // step) * step

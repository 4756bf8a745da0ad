"""Which variant of the agent a session gets when several are compared.

A hash of the caller decides, so that a caller keeps a variant. It is reduced to one of ten thousand
buckets, by which measurements group the sessions of a caller; so few do not tell who it was.
"""

from __future__ import annotations

import hashlib
import os
import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Generic, TypeVar

from voice.callers import Caller

Parts = TypeVar("Parts")
"""Type of a session's parts: `voice.session.resources.Resources`."""

BUCKETS = 10_000


def resident_mib() -> float:
    """Resident memory of this process in MiB; 0 if the system does not tell."""
    try:
        pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    except OSError:
        return 0.0
    return pages * os.sysconf("SC_PAGE_SIZE") / 2**20


@dataclass(frozen=True, slots=True)
class Assigned(Generic[Parts]):
    """The variant assigned to a session.

    Attributes:
        resources: The variant's resources.
        variant: The variant's name; empty if none are compared.
        bucket: The caller's bucket.
    """

    resources: Parts
    variant: str = ""
    bucket: int = 0


@dataclass(frozen=True, slots=True)
class Variants(Generic[Parts]):
    """The variants of an agent, and their shares of the sessions."""

    resources: Mapping[str, Parts]
    shares: Mapping[str, float]

    def assign(self, caller: Caller | None) -> Assigned[Parts]:
        """Assign a variant to a caller's session; a caller who cannot be told apart draws anew."""
        known = caller is not None and caller.kind.named
        # The variants' names are hashed too, so that each comparison divides callers anew.
        key = "\n".join([*self.shares, str(caller) if known else secrets.token_hex()])
        digest = hashlib.sha256(key.encode()).digest()
        bucket = int.from_bytes(digest[:8], "big") % BUCKETS
        name = self._name_at((bucket + 0.5) / BUCKETS)
        return Assigned(self.resources[name], name, bucket)

    def _name_at(self, place: float) -> str:
        """The variant whose share covers a place in [0, 1)."""
        left = place * sum(self.shares.values())
        for name, share in self.shares.items():
            left -= share
            if left < 0:
                return name
        return [*self.shares][-1]

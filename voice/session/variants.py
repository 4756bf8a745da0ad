"""Which variant of the agent a session gets, where several are compared.

The caller's hash decides, so that a caller keeps a variant. It is cut to a bucket, one of ten
thousand, by which what is measured keeps the sessions of one caller together; that many are too few
to tell who it was.
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
"""What a session is made of: `voice.session.resources.Resources`."""

BUCKETS = 10_000


def resident_mib() -> float:
    """Memory of this process, MiB; 0 where the system does not say."""
    try:
        pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    except OSError:
        return 0.0
    return pages * os.sysconf("SC_PAGE_SIZE") / 2**20


@dataclass(frozen=True, slots=True)
class Assigned(Generic[Parts]):
    """What a session gets.

    Attributes:
        resources: Of its variant.
        variant: Its name; empty where none are compared.
        bucket: The caller's.
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
        """What a session of a caller's gets; one of many whom nobody can tell apart draws anew."""
        known = caller is not None and caller.kind.named
        # With other variants the same callers are divided otherwise.
        key = "\n".join([*self.shares, str(caller) if known else secrets.token_hex()])
        digest = hashlib.sha256(key.encode()).digest()
        bucket = int.from_bytes(digest[:8], "big") % BUCKETS
        name = self._name_at((bucket + 0.5) / BUCKETS)
        return Assigned(self.resources[name], name, bucket)

    def _name_at(self, place: float) -> str:
        """The variant whose share of all covers a place in [0, 1)."""
        left = place * sum(self.shares.values())
        for name, share in self.shares.items():
            left -= share
            if left < 0:
                return name
        return [*self.shares][-1]

"""How much clients may use: conversations at once, replies, messages and audio."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from weakref import WeakValueDictionary

from voice.access.keys import MAX_EPHEMERAL_KEYS
from voice.config.server import ServerConfig

AUDIO_BYTES_PER_S = 64_000
"""A second of the Realtime API's audio: 24 kHz, 16 bits, in base64."""
AUDIO_BURST_S = 60
RETRY_AFTER_S = 5


class SessionSlots:
    """Limits the conversations at once.

    Args:
        limit: Most at once.
    """

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self.taken = 0

    @property
    def full(self) -> str:
        """Why one more is refused, and when it may be worth another try."""
        count = (
            f"all {self.limit} conversations are" if self.limit > 1 else "the one conversation is"
        )
        return f"{count} taken; try again in {RETRY_AFTER_S} seconds"

    @contextmanager
    def slot(self) -> Iterator[bool]:
        """Take a slot for as long as the context lasts; False when there is none."""
        if self.taken >= self.limit:
            yield False
            return
        self.taken += 1
        try:
            yield True
        finally:
            self.taken -= 1


class TokenBucket:
    """A rate limit: an average rate, with bursts up to a capacity.

    Args:
        per_s: Tokens that come back each second.
        burst: Capacity, tokens.
        clock: Seconds of any steady clock.
    """

    def __init__(
        self, per_s: float, burst: float, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self.burst = burst
        self._per_s = per_s
        self._clock = clock
        self._left = burst
        self._at_s = clock()

    @property
    def left(self) -> float:
        """Tokens in the bucket now."""
        return min(self.burst, self._left + (self._clock() - self._at_s) * self._per_s)

    @property
    def full_after_s(self) -> float:
        """Seconds until the bucket is full, if nothing is taken."""
        return (self.burst - self.left) / self._per_s

    def take(self, amount: float = 1.0) -> bool:
        """Take tokens; False, and nothing taken, when there are not so many left."""
        self._left, self._at_s = self.left, self._clock()
        if amount > self._left:
            return False
        self._left -= amount
        return True


class ReplyLimits:
    """Limits the replies of each key, over all of its conversations.

    Args:
        per_min: Average rate; a minute's worth may be used at once.
        clock: Seconds of any steady clock.
    """

    def __init__(self, per_min: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._per_min = per_min
        self._clock = clock
        self._buckets: dict[str, TokenBucket] = {}
        # A conversation holds its bucket, which must stay the key's for that long.
        self._held: WeakValueDictionary[str, TokenBucket] = WeakValueDictionary()

    def of(self, account: str) -> TokenBucket:
        """The key's bucket; when there are too many, full ones are dropped: a new one is equal."""
        if account not in self._buckets:
            full = [name for name, bucket in self._buckets.items() if bucket.left >= bucket.burst]
            for name in full[: max(0, len(self._buckets) - MAX_EPHEMERAL_KEYS + 1)]:
                del self._buckets[name]
            bucket = self._held.get(account)
            if bucket is None:
                bucket = TokenBucket(self._per_min / 60, self._per_min, self._clock)
            self._buckets[account] = self._held[account] = bucket
        return self._buckets[account]


class ClientLimits:
    """Limits the messages and the audio of one WebSocket client.

    Args:
        config: The limits.
        clock: Seconds of any steady clock.
    """

    def __init__(self, config: ServerConfig, clock: Callable[[], float] = time.monotonic) -> None:
        burst = max(AUDIO_BURST_S * AUDIO_BYTES_PER_S, config.max_message_bytes)
        rate = config.max_messages_per_s
        self._messages = TokenBucket(rate, 10 * rate, clock)
        self._bytes = TokenBucket(config.max_audio_speed * AUDIO_BYTES_PER_S, burst, clock)

    def excess(self, message_bytes: int) -> str | None:
        """Why a message of this length is too much; None when it is within the limits."""
        if not self._messages.take(1):
            return "too many messages"
        if not self._bytes.take(message_bytes):
            return "audio comes faster than it can be spoken"
        return None

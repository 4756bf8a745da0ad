"""How much clients may use: concurrent conversations, replies, messages and audio."""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from weakref import WeakValueDictionary

from voice.access.keys import MAX_EPHEMERAL_KEYS
from voice.access.origins import AccessDenied
from voice.config.server import ServerConfig

AUDIO_BYTES_PER_S = 64_000
"""One second of the Realtime API's audio: 24 kHz, 16 bits, in base64."""
AUDIO_BURST_S = 60
TOO_FAST = "audio comes faster than it can be spoken"
RETRY_AFTER_S = 5
FREED_WITHIN_S = 1.0
"""How long a new conversation waits for a slot, as one that has just ended may still hold it."""


class SessionSlots:
    """Limits the number of concurrent conversations.

    Args:
        limit: Most conversations at once.
        per_key: Most of these with any one ephemeral key.
    """

    def __init__(self, limit: int, per_key: int) -> None:
        self.limit = limit
        self.taken = 0
        self._per_key = per_key
        self._of_keys: Counter[str] = Counter()
        self._freed = asyncio.Event()

    def refused(self, account: str = "") -> AccessDenied | None:
        """Why one more conversation is refused, with when to try again; None if it is not refused.

        Args:
            account: Account of an ephemeral key; empty for clients without a limit of their own.
        """
        if account and self._of_keys[account] >= self._per_key:
            text = f"this key has {self._per_key} already; try again in {RETRY_AFTER_S} seconds"
            return AccessDenied(text, 429, "too_many_of_key")
        if self.taken < self.limit:
            return None
        count = (
            f"all {self.limit} conversations are" if self.limit > 1 else "the one conversation is"
        )
        text = f"{count} taken; try again in {RETRY_AFTER_S} seconds"
        return AccessDenied(text, 503, "capacity")

    @asynccontextmanager
    async def slot(self, account: str = "") -> AsyncIterator[AccessDenied | None]:
        """Hold a slot while the context lasts; yields why there is none, as `refused` does.

        Waits at most `FREED_WITHIN_S` for one.
        """
        with suppress(TimeoutError):
            async with asyncio.timeout(FREED_WITHIN_S):
                while self.refused(account):
                    self._freed.clear()
                    await self._freed.wait()
        if refused := self.refused(account):
            yield refused
            return
        self.taken += 1
        self._of_keys[account] += 1
        try:
            yield None
        finally:
            self.taken -= 1
            self._of_keys[account] -= 1
            if not self._of_keys[account]:
                del self._of_keys[account]
            self._freed.set()


class TokenBucket:
    """A rate limit: an average rate, with bursts up to a capacity.

    Args:
        per_s: Tokens added per second.
        burst: Capacity in tokens.
        clock: Returns the seconds of any monotonic clock.
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
        """Take tokens; returns False, and takes none, if there are not enough."""
        self._left, self._at_s = self.left, self._clock()
        if amount > self._left:
            return False
        self._left -= amount
        return True


def audio_limit(config: ServerConfig) -> TokenBucket:
    """The limit on the seconds of one client's audio in any format; see also `ClientLimits`."""
    burst_s = max(AUDIO_BURST_S, config.max_message_bytes / AUDIO_BYTES_PER_S)
    return TokenBucket(config.max_audio_speed, burst_s)


class ReplyLimits:
    """Limits the replies of each key, over all of its conversations.

    Args:
        per_min: Average rate; a minute's worth may be used at once.
        clock: Returns the seconds of any monotonic clock.
    """

    def __init__(self, per_min: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._per_min = per_min
        self._clock = clock
        self._buckets: dict[str, TokenBucket] = {}
        # A conversation holds its bucket, and the key must keep that bucket for as long.
        self._held: WeakValueDictionary[str, TokenBucket] = WeakValueDictionary()

    def of(self, account: str) -> TokenBucket:
        """The key's bucket; if there are too many, full ones go, since a new one is the same."""
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
        clock: Returns the seconds of any monotonic clock.
    """

    def __init__(self, config: ServerConfig, clock: Callable[[], float] = time.monotonic) -> None:
        burst = max(AUDIO_BURST_S * AUDIO_BYTES_PER_S, config.max_message_bytes)
        rate = config.max_messages_per_s
        self._longest = config.max_message_bytes
        self._messages = TokenBucket(rate, 10 * rate, clock)
        self._bytes = TokenBucket(config.max_audio_speed * AUDIO_BYTES_PER_S, burst, clock)
        self._answers = TokenBucket(config.max_audio_speed * AUDIO_BYTES_PER_S, 2 * burst, clock)

    def excess(self, message_bytes: int) -> str | None:
        """Why a message of this length is too much; None if it is within the limits."""
        if message_bytes > self._longest:
            return "the message is too long"
        if not self._messages.take(1):
            return "too many messages"
        if not self._bytes.take(message_bytes):
            return TOO_FAST
        return None

    def excess_of_answers(self, answer_bytes: int) -> str | None:
        """Why the answers to a message are too much; None if they are within the limits.

        A client that does not read may ask for a long item again and again in short messages.
        """
        return None if self._answers.take(answer_bytes) else "too much was asked for"

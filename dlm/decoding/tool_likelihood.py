"""Chooses between tools by Bayes' rule: how likely the user's message is under each tool.

A small model that must pick one of many names reads all declarations at once and is often in doubt.
Read after a single declaration, a message is likelier under the tool that serves it.
p(tool | message) is proportional to p(tool) p(message | tool). The model's own choice is the first
factor; a tool's gain is the logarithm of the second, less the largest such logarithm of any tool.

Source: noisy-channel prompting (arXiv 2108.04106).
"""

from __future__ import annotations

import queue
from collections.abc import Callable, Collection, Sequence

from dlm.decoding.forwards import Forward, SideForwards, Steps
from dlm.decoding.score import log_probability
from dlm.kv_cache.cache import Cache
from dlm.language.chat_format import Dialect
from dlm.language.messages import Tool, Turn

TOGETHER = 16
"""Most tools whose readings share a forward."""
MOST_WORDS = 64
"""Most tokens of a message that are read, counted from its end."""
KEPT_BYTES = 32 * 2**20
"""Memory for the keys and values of declarations, which every turn needs again."""

_Prompt = tuple[int, ...]
"""A tool's declaration, up to where the user's message begins."""


class ToolLikelihoods:
    """Reads messages after declarations, with a checkpoint that was trained for it.

    ``make`` builds an empty cache of a given capacity.
    """

    def __init__(self, dialect: Dialect, make: Callable[[int], Cache]) -> None:
        self._dialect = dialect
        self._make = make
        # Each holds all but the last token of its prompt. The least recently used comes first.
        self._kept: dict[_Prompt, Cache] = {}

    def gains(self, text: str, tools: Sequence[Tool]) -> Steps[dict[str, float]]:
        """Each tool's gain for a user's message, in nats: 0 for the likeliest, negative for others.

        All gains are 0 if there is no memory for the readings.
        """
        prompts = [tuple(self._dialect.ended([Turn("user")], [tool])[:-1]) for tool in tools]
        for prompt in prompts:
            if prompt in self._kept:
                self._kept[prompt] = self._kept.pop(prompt)
        likelihood: dict[str, float] = {}
        for start in range(0, len(tools), TOGETHER):
            some = slice(start, start + TOGETHER)
            try:
                caches = yield from self._declared(prompts[some], frozenset(prompts))
                found = yield from self._read(text, tools[some], prompts[some], caches)
            except queue.Full:
                return dict.fromkeys((tool.name for tool in tools), 0.0)
            likelihood |= found
        best = max(likelihood.values())
        return {tool: value - best for tool, value in likelihood.items()}

    def _declared(
        self, prompts: Sequence[_Prompt], needed: Collection[_Prompt]
    ) -> Steps[list[Cache]]:
        """The caches of declarations, known or read now; those of ``needed`` stay in memory.

        They are read without the message, so that no bit depends on which were known.
        """
        caches = {prompt: self._kept.get(prompt) or self._cache(len(prompt)) for prompt in prompts}
        new = {prompt: cache for prompt, cache in caches.items() if not cache.length}
        if new:
            yield SideForwards(
                tuple(
                    (cache, Forward(prompt[:-1], len(prompt) - 1, count=1, prefill=True))
                    for prompt, cache in new.items()
                )
            )
        for prompt, cache in new.items():
            cache.commit(len(prompt) - 1)
            # Without room for more.
            self._keep(prompt, self._cache(cache.length, cache), needed)
        return [caches[prompt] for prompt in prompts]

    def _read(
        self, text: str, tools: Sequence[Tool], prompts: Sequence[_Prompt], caches: Sequence[Cache]
    ) -> Steps[dict[str, float]]:
        """Log-probability of a message after each tool's declaration, in nats."""
        read: list[list[int]] = []
        parts: list[tuple[Cache, Forward]] = []
        for tool, prompt, known in zip(tools, prompts, caches, strict=True):
            whole = self._dialect.ended([Turn("user", text)], [tool])
            words = whole[len(prompt) :][-MOST_WORDS:]
            ids = [prompt[-1], *words[:-1]]
            asked = Forward(ids, len(ids), prefill=True, joined=bool(parts))
            parts.append((self._cache(known.length + len(ids), known), asked))
            read.append(words)
        rows = yield SideForwards(tuple(parts))
        scores = map(log_probability, rows, read)
        return {tool.name: score for tool, score in zip(tools, scores, strict=True)}

    def _keep(self, prompt: _Prompt, cache: Cache, needed: Collection[_Prompt]) -> None:
        """Keep a cache if it fits, in place of older ones that are not needed now.

        Dropping those that are would never end: the next request needs them first.
        """
        while sum(one.nbytes for one in self._kept.values()) + cache.nbytes > KEPT_BYTES:
            oldest = next(iter(self._kept), None)
            if oldest is None or oldest in needed:
                return
            del self._kept[oldest]
        self._kept[prompt] = cache

    def _cache(self, capacity: int, known: Cache | None = None) -> Cache:
        """A cache with a copy of what is known; kept ones give way if there is no memory.

        Raises:
            queue.Full: There is none even without them.
        """
        while True:
            try:
                return known.copy(known.length, capacity) if known else self._make(capacity)
            except queue.Full:
                if not self._kept:
                    raise
                del self._kept[next(iter(self._kept))]

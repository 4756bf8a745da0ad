"""Chooses between tools by Bayes' rule: how likely the user's message is under each tool.

A small model that must pick one of many names reads all declarations at once and is often in doubt.
Read after a single declaration, a message is likelier under the tool that serves it.
p(tool | message) is proportional to p(tool) p(message | tool). The model's own choice is the first
factor; a tool's gain is the logarithm of the second, less the largest such logarithm of any tool.

Source: noisy-channel prompting (arXiv 2108.04106).
"""

from __future__ import annotations

import queue
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from dlm.decoding.forwards import Forward, SideForwards, Steps
from dlm.decoding.score import log_probability
from dlm.kv_cache.cache import Cache
from dlm.kv_cache.prefix import PrefixPool
from dlm.language.chat_format import Dialect
from dlm.language.messages import Tool, Turn

TOGETHER = 16
"""Most tools whose readings share a forward."""
MOST_WORDS = 64
"""Most tokens of a message that are read, counted from its end."""
KEPT_BYTES = 32 * 2**20
"""Memory for the keys and values of declarations, which every turn needs again."""


@dataclass(frozen=True, slots=True)
class _Reading:
    """A message read after one tool's declaration."""

    tool: str
    prompt: list[int]
    words: list[int]
    cache: Cache
    forward: Forward


class ToolLikelihoods:
    """Reads messages after declarations, with a checkpoint that was trained for it.

    ``make`` builds an empty cache of a given capacity.
    """

    def __init__(self, dialect: Dialect, make: Callable[[int], Cache]) -> None:
        self._dialect = dialect
        self._pool = PrefixPool(make, KEPT_BYTES)

    def gains(self, text: str, tools: Sequence[Tool]) -> Steps[dict[str, float]]:
        """Each tool's gain for a user's message, in nats: 0 for the likeliest, negative for others.

        All gains are 0 if there is no memory for the readings.
        """
        likelihood: dict[str, float] = {}
        for start in range(0, len(tools), TOGETHER):
            try:
                readings = [self._reading(text, tool) for tool in tools[start : start + TOGETHER]]
            except queue.Full:
                return dict.fromkeys((tool.name for tool in tools), 0.0)
            rows = yield SideForwards(tuple((one.cache, one.forward) for one in readings))
            for one, logits in zip(readings, rows, strict=True):
                likelihood[one.tool] = log_probability(logits, one.words)
                # All but the last token before the message, which must be forwarded again.
                one.cache.commit(len(one.prompt) - 1 - one.cache.length)
                self._pool.give(one.prompt[:-1], one.cache)
        best = max(likelihood.values())
        return {tool: value - best for tool, value in likelihood.items()}

    def _reading(self, text: str, tool: Tool) -> _Reading:
        prompt = self._dialect.ended([Turn("user")], [tool])[:-1]
        whole = self._dialect.ended([Turn("user", text)], [tool])
        words = whole[len(prompt) :][-MOST_WORDS:]
        cache = self._pool.take(prompt, len(prompt) + len(words))
        ids = [*prompt[cache.length :], *words[:-1]]
        asked = Forward(ids, len(ids), len(prompt) - 1 - cache.length, prefill=True)
        return _Reading(tool.name, prompt, words, cache, asked)

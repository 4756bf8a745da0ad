"""Which tool is meant, asked the other way round: how likely the user's words are under each.

A small model that has to pick one of many names reads all declarations at once and is often in
doubt. Read behind a single declaration, the words of a request are likelier under the tool that
serves it. By Bayes' rule p(tool | words) is proportional to p(tool) p(words | tool); here the
model's own choice stands for the first, and what each tool gains is the logarithm of the second.

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
"""Tools that one forward reads."""
MOST_WORDS = 64
"""Tokens of a message that are read, the last ones."""
KEPT_BYTES = 32 * 2**20
"""Memory for keys and values of declarations, which come with every turn."""


@dataclass(frozen=True, slots=True)
class _Part:
    """One tool's reading: its cache, what was forwarded, and what is looked at."""

    tool: str
    prompt: list[int]
    words: list[int]
    cache: Cache
    forward: Forward


class ToolLikelihoods:
    """Reads messages behind declarations, for one checkpoint that was taught to.

    Args:
        dialect: That it speaks.
        make: Builds an empty cache of a capacity.
    """

    def __init__(self, dialect: Dialect, make: Callable[[int], Cache]) -> None:
        self._dialect = dialect
        self._pool = PrefixPool(make, KEPT_BYTES)

    def gains(self, text: str, tools: Sequence[Tool]) -> Steps[dict[str, float]]:
        """What each tool gains by a message, in nats; 0 for the best.

        Args:
            text: What the user says.
            tools: At least one.

        Returns:
            By name; 0 for all where there is no memory to read in.
        """
        likelihood: dict[str, float] = {}
        for start in range(0, len(tools), TOGETHER):
            try:
                parts = [self._part(text, tool) for tool in tools[start : start + TOGETHER]]
            except queue.Full:
                return dict.fromkeys((tool.name for tool in tools), 0.0)
            rows = yield SideForwards(tuple((part.cache, part.forward) for part in parts))
            for part, logits in zip(parts, rows, strict=True):
                likelihood[part.tool] = log_probability(logits, part.words)
                # All but the mark before the words, which is to be forwarded again.
                part.cache.commit(len(part.prompt) - 1 - part.cache.length)
                self._pool.give(part.prompt[:-1], part.cache)
        best = max(likelihood.values())
        return {tool: value - best for tool, value in likelihood.items()}

    def _part(self, text: str, tool: Tool) -> _Part:
        prompt = self._dialect.ended([Turn("user")], [tool])[:-1]
        whole = self._dialect.ended([Turn("user", text)], [tool])
        words = whole[len(prompt) :][-MOST_WORDS:]
        cache = self._pool.take(prompt, len(prompt) + MOST_WORDS)
        ids = [*prompt[cache.length :], *words[:-1]]
        wish = Forward(ids, len(ids), len(prompt) - 1 - cache.length, prefill=True)
        return _Part(tool.name, prompt, words, cache, wish)

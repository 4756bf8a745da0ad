"""Removes optional arguments from a finished call if the call is likelier without them.

A call is written from left to right, each parameter's name before its value. Once the name is
written, some of the user's words must be the value, however badly they fit ("can" as a quantity).
In a finished call, the likelihoods with and without the argument can be compared.
"""

from __future__ import annotations

import queue
from collections.abc import Sequence
from itertools import islice

from torch import Tensor

from dlm.decoding.decoder import Decoder
from dlm.decoding.forwards import Forward, SideForwards, Steps
from dlm.decoding.score import log_probability
from dlm.kv_cache.cache import Cache
from dlm.language.chat_format import Dialect, MarkedCalls
from dlm.language.messages import AnswerError, Tool
from dlm.language.template import split


class ArgumentPruning:
    """Prunes the arguments of calls to some tools in finished answers of a dialect."""

    def __init__(self, dialect: Dialect, calls: MarkedCalls, tools: Sequence[Tool]) -> None:
        self._dialect = dialect
        self._marks = calls
        self._tools = {tool.name: tool for tool in tools}

    def forwards(
        self, decoder: Decoder, answer: Sequence[int]
    ) -> tuple[tuple[Cache, Forward], ...]:
        """Forwards that score an answer, and the answer without each of its optional arguments.

        The decoder's cache must hold the prompt, except perhaps its last token. Empty if no
        argument can be removed, or there is no memory for the forwards.
        """
        return self._forwards(decoder, [answer, *self.shortened(answer)])

    def steps(self, decoder: Decoder, logits: Sequence[Tensor] | None = None) -> Steps[None]:
        """Remove arguments from a finished answer, one by one, as long as that makes it likelier.

        ``logits`` are the outputs of `forwards` for this answer, if they were computed already.
        """
        tokens = list(decoder.progress.tokens)
        while shorter := self.shortened(tokens):
            answers = [tokens, *shorter]
            if logits is None:
                parts = self._forwards(decoder, answers)
                if not parts:
                    break
                logits = yield SideForwards(parts)
                decoder.progress.forwards += 1
            whole, *scores = (
                log_probability(rows, answer) for rows, answer in zip(logits, answers, strict=True)
            )
            gains = [
                score - whole - self.evidence(tokens, one)
                for score, one in zip(scores, shorter, strict=True)
            ]
            logits, best = None, gains.index(max(gains))
            if gains[best] <= 0:
                break
            tokens = shorter[best]
        decoder.replace_answer(tokens)

    def evidence(self, tokens: Sequence[int], shorter: Sequence[int]) -> float:
        """By how many nats the shorter answer must be likelier for its argument to be removed."""
        return 0.0

    def shortened(self, tokens: Sequence[int]) -> list[list[int]]:
        """An answer without each of its optional arguments; empty for a malformed answer."""
        try:
            answer = self._dialect.answer(tokens, list(self._tools.values()))
        except AnswerError:
            return []
        written = [part.count(self._marks.key) for part in split(tokens, self._marks.call)[1:]]
        optional = [
            key not in self._tools[call.name].required
            for call, count in zip(answer.calls, written, strict=True)
            # Further arguments are nulls that were not written but added when the call was read.
            for key in islice(call.arguments, count)
        ]
        starts = [at for at, token in enumerate(tokens) if token == self._marks.key]
        ends = {self._marks.key, self._marks.call, self._dialect.end}
        out = []
        for start, removable in zip(starts, optional, strict=True):
            end = next(at for at in range(start + 1, len(tokens)) if tokens[at] in ends)
            if removable:
                out.append([*tokens[:start], *tokens[end:]])
        return out

    def _forwards(
        self, decoder: Decoder, answers: Sequence[Sequence[int]]
    ) -> tuple[tuple[Cache, Forward], ...]:
        if len(answers) < 2:
            return ()
        known = len(decoder.prompt) - 1
        parts = []
        for answer in answers:
            try:
                # Sized like the dialogue's own cache, so that freed memory of that size is reused.
                cache = decoder.cache.copy(known, decoder.cache.capacity)
            except queue.Full:
                # Pruning is optional: without memory the answer stays as it is.
                return ()
            ids = [decoder.prompt[-1], *answer[:-1]]
            parts.append((cache, Forward(ids, len(ids))))
        return tuple(parts)

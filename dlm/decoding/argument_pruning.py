"""Optional arguments that a call is likelier without: looked at again once the call is whole.

Written left to right, a parameter is named before its value is: once it is, some words of the user
have to be its value, however little they suit ("can" as a quantity). Of the whole call and of the
call without the argument the model knows which is likelier.
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
    """Looks at the calls of finished answers, for requests with some tools.

    Args:
        dialect: Of the answers.
        calls: How it spells calls.
        tools: That are offered.
    """

    def __init__(self, dialect: Dialect, calls: MarkedCalls, tools: Sequence[Tool]) -> None:
        self._dialect = dialect
        self._marks = calls
        self._tools = {tool.name: tool for tool in tools}

    def parts(self, decoder: Decoder, answer: Sequence[int]) -> tuple[tuple[Cache, Forward], ...]:
        """Forwards that tell how likely an answer is, and each that is shorter by an argument.

        Args:
            decoder: Whose cache holds the prompt, save its last token at most.
            answer: Finished, its own or one that may become so.

        Returns:
            One for each; none where nothing can be left out, or there is no memory for it.
        """
        return self._parts(decoder, [answer, *self.without_one(answer)])

    def steps(self, decoder: Decoder, rows: Sequence[Tensor] | None = None) -> Steps[None]:
        """Take arguments out of a finished answer, one by one, as long as it gets likelier.

        Args:
            decoder: Whose answer has come to its end.
            rows: What served `parts` of it, where they were asked for already.
        """
        tokens = list(decoder.progress.tokens)
        while shorter := self.without_one(tokens):
            answers = [tokens, *shorter]
            if rows is None:
                parts = self._parts(decoder, answers)
                if not parts:
                    break
                rows = yield SideForwards(parts)
                decoder.progress.forwards += 1
            scores = [
                log_probability(logits, answer)
                for logits, answer in zip(rows, answers, strict=True)
            ]
            rows, best = None, scores.index(max(scores))
            if best == 0:
                break
            tokens = answers[best]
        decoder.settle(tokens)

    def without_one(self, tokens: Sequence[int]) -> list[list[int]]:
        """A finished answer without each of its optional arguments; none for a malformed one."""
        try:
            answer = self._dialect.answer(tokens, list(self._tools.values()))
        except AnswerError:
            return []
        written = [part.count(self._marks.key) for part in split(tokens, self._marks.call)[1:]]
        keys = [
            key not in self._tools[call.name].required
            for call, count in zip(answer.calls, written, strict=True)
            # Behind what was written there are nulls that were not.
            for key in islice(call.arguments, count)
        ]
        starts = [at for at, token in enumerate(tokens) if token == self._marks.key]
        ends = {self._marks.key, self._marks.call, self._dialect.end}
        cuts = []
        for start, optional in zip(starts, keys, strict=True):
            end = next(at for at in range(start + 1, len(tokens)) if tokens[at] in ends)
            if optional:
                cuts.append([*tokens[:start], *tokens[end:]])
        return cuts

    def _parts(
        self, decoder: Decoder, answers: Sequence[Sequence[int]]
    ) -> tuple[tuple[Cache, Forward], ...]:
        if len(answers) < 2:
            return ()
        known = len(decoder.prompt) - 1
        parts = []
        for answer in answers:
            try:
                # Of the size of the dialogue's own, whose memory is there to be used again.
                cache = decoder.cache.copy(known, decoder.cache.capacity)
            except queue.Full:
                # It is worth no failure.
                return ()
            ids = [decoder.prompt[-1], *answer[:-1]]
            parts.append((cache, Forward(ids, len(ids))))
        return tuple(parts)

"""Optional arguments that a call is likelier without: looked at again once the call is whole.

Written left to right, a parameter is named before its value is: once it is, some words of the user
have to be its value, however little they suit ("can" as a quantity). Of the whole call and of the
call without the argument the model knows which is likelier.
"""

from __future__ import annotations

import queue
from collections.abc import Sequence

from dlm.decode import Decoder
from dlm.dialect import Dialect, MarkedCalls
from dlm.forwards import Asides, Forward, Steps
from dlm.score import log_probability
from dlm.template import AnswerError, Tool


class SecondLook:
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

    def steps(self, decoder: Decoder) -> Steps[None]:
        """Take arguments out of a finished answer, one by one, as long as it gets likelier."""
        tokens = list(decoder.progress.tokens)
        while shorter := self.without_one(tokens):
            answers = [tokens, *shorter]
            try:
                wish = self._wish(decoder, answers)
            except queue.Full:
                # It is worth no failure.
                break
            rows = yield wish
            decoder.progress.forwards += 1
            scores = [
                log_probability(logits, answer)
                for logits, answer in zip(rows, answers, strict=True)
            ]
            best = scores.index(max(scores))
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
        keys = [
            key not in self._tools[call.name].required
            for call in answer.calls
            for key, value in call.arguments.items()
            if value is not None or key not in self._tools[call.name].nulled
        ]
        starts = [at for at, token in enumerate(tokens) if token == self._marks.key]
        ends = {self._marks.key, self._marks.call, self._dialect.end}
        cuts = []
        for start, optional in zip(starts, keys, strict=True):
            end = next(at for at in range(start + 1, len(tokens)) if tokens[at] in ends)
            if optional:
                cuts.append([*tokens[:start], *tokens[end:]])
        return cuts

    def _wish(self, decoder: Decoder, answers: Sequence[Sequence[int]]) -> Asides:
        known = len(decoder.prompt) - 1
        parts = []
        for answer in answers:
            # Of the size that the dialogue's own has, whose memory is there to be used again.
            cache = decoder.cache.copy(known, decoder.cache.capacity)
            ids = [decoder.prompt[-1], *answer[:-1]]
            parts.append((cache, Forward(ids, len(ids))))
        return Asides(tuple(parts))

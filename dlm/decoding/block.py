"""Decoding for checkpoints whose positions see all of their block, and that commit it as it is.

Blocks begin at multiples of their size, counted from the first token of the sequence, as these
checkpoints were trained; so the end of the prompt belongs to the first block that is denoised. A
block is denoised over the cache of those before it. The forward that writes its keys and values,
exactly, is the first one of the next block as well.

Source: SDAR (arXiv 2510.06303), A2D (dLLM), Fast-dLLM v2 (arXiv 2509.26328).
"""

from __future__ import annotations

import torch
from torch import Tensor

from dlm.decoding.decoder import PREFILL_CHUNK, Decoder, Plan, checked
from dlm.decoding.forwards import Forward, Steps
from dlm.decoding.masked_block import Constraint, MaskedBlock
from dlm.grammar.matcher import Matcher


def decode_block(
    decoder: Decoder, plan: Plan, matcher: Matcher | None = None, shift: bool = False
) -> Steps[None]:
    """Answer the prompt; `Decoder.progress` tells how far it has come.

    Args:
        decoder: Its cache holds whole blocks.
        plan: How to decode; ``verified`` does not matter.
        matcher: At the beginning of the answer.
        shift: Whether a position's logits predict the next token.

    Raises:
        ValueError: No token may be generated.
    """
    checked(plan)
    return _Blocks(decoder, plan, matcher, shift).steps()


class _Blocks:
    def __init__(self, decoder: Decoder, plan: Plan, matcher: Matcher | None, shift: bool) -> None:
        self.decoder = decoder
        self.plan = plan
        self.constraint = None if matcher is None else Constraint(matcher)
        self.shift = shift
        self.size = decoder.block_size
        # Tokens of the last block, final and not committed.
        self.pending: list[int] = []
        # (1, V): behind the last committed position, where logits are shifted.
        self.behind: Tensor | None = None

    def steps(self) -> Steps[None]:
        """See `decode_block`."""
        progress, mask = self.decoder.progress, self.decoder.vocabulary.mask
        tail = yield from self._prefill()
        while True:
            here = len(progress.tokens)
            count = self.size - len(tail)
            earlier = [] if self.constraint else list(self.plan.earlier[here : here + count])
            tokens = [*earlier, *[mask] * (count - len(earlier))]
            canvas = MaskedBlock(tokens, here, self.plan, self.decoder.vocabulary, self.constraint)
            if self.shift and not tail:
                yield from self._commit()
                assert self.behind is not None
                canvas.begin(self.behind)
            while not canvas.over and not self._full:
                canvas.take((yield from self._denoise(tail, canvas)))
                self._tell(canvas, here)
            self._tell(canvas, here)
            if progress.complete or self._full:
                progress.draft = []
                return
            self.pending, tail = [*tail, *canvas.tokens], []

    def _prefill(self) -> Steps[list[int]]:
        """Commit the whole blocks of the prompt; returns what is left of it."""
        decoder, size = self.decoder, self.size
        whole = len(decoder.prompt) // size * size
        chunk = max(1, PREFILL_CHUNK // size) * size
        while (start := decoder.cache.length) < whole:
            end = min(whole, (start // chunk + 1) * chunk)
            ids = decoder.prompt[start:end]
            wish = Forward(ids, 0, len(ids) - 1, block=size, prefill=True)
            self.behind = yield from decoder.ask(wish)
            decoder.cache.commit(len(ids))
        return decoder.prompt[whole:]

    def _denoise(self, tail: list[int], canvas: MaskedBlock) -> Steps[Tensor]:
        """Logits of the canvas, row i predicting its position i."""
        decoder, before = self.decoder, [*self.pending, *tail]
        # Where logits are shifted, the row before each position; a block's first has its own.
        first = len(before) - (1 if self.shift and before else 0)
        count = len(canvas.tokens)
        wish = Forward([*before, *canvas.tokens], 0, first, count, block=self.size)
        logits = yield from decoder.ask(wish)
        decoder.progress.steps += 1
        decoder.cache.commit(len(self.pending))
        self.pending = []
        if self.shift and not before:
            logits = torch.cat((logits[:1], logits[:-1]))
        return logits

    def _commit(self) -> Steps[None]:
        if self.pending:
            wish = Forward(self.pending, 0, len(self.pending) - 1, block=self.size)
            self.behind = yield from self.decoder.ask(wish)
            self.decoder.cache.commit(len(self.pending))
            self.pending = []

    @property
    def _full(self) -> bool:
        return len(self.decoder.progress.tokens) == self.plan.max_tokens

    def _tell(self, canvas: MaskedBlock, here: int) -> None:
        progress, decided = self.decoder.progress, canvas.decided
        # What may still be corrected is not final.
        if canvas.over or self.plan.refinement.editing >= 1:
            room = self.plan.max_tokens - here
            progress.tokens[here:] = decided[:room]
            end = self.decoder.vocabulary.end
            progress.complete = progress.tokens[-1:] == [end]
            pairs = zip(progress.tokens, self.plan.earlier, strict=False)
            progress.kept = sum(token == before for token, before in pairs)
        progress.draft = canvas.tokens[len(progress.tokens) - here :]

"""Decoding for checkpoints that commit blocks as they were denoised, without verification.

Blocks are decided from left to right. `dlm.network.config.ModelConfig.commit` tells the two kinds
of such checkpoints apart:

- ``block``: each position sees all of its block and what stands before it. A block is denoised over
  the exact cache of the blocks before it; the forward that writes its keys and values is also the
  first one of the next block. Blocks begin at multiples of their size, counted from the first token
  of the sequence, as these checkpoints were trained; so the end of the prompt belongs to the first
  block that is denoised. Source: SDAR (arXiv 2510.06303), A2D (dLLM), Fast-dLLM v2
  (arXiv 2509.26328).
- ``full``: each position sees every other one, masks of later blocks included. The first forward of
  a block reads everything and keeps the keys and values of what stands before the block; the later
  ones read only from the block on, over keys and values that are then slightly stale. Source:
  LLaDA (arXiv 2502.09992), Dream (arXiv 2508.15487), Fast-dLLM's prefix cache (arXiv 2505.22618).
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
    """Answer the prompt with a checkpoint of the kind ``block``; see `Decoder.progress`.

    The decoder's cache must hold whole blocks. ``Plan.verified`` has no effect. ``shift`` tells
    whether a position's logits predict the next token.
    """
    checked(plan)
    return _BlockDecoding(decoder, plan, matcher, shift).steps()


def decode_full(
    decoder: Decoder, plan: Plan, matcher: Matcher | None = None, shift: bool = False
) -> Steps[None]:
    """Like `decode_block`, with a checkpoint of the kind ``full``.

    The decoder's cache must be empty, and is empty again at the end: no other prompt could use it.
    """
    checked(plan)
    return _full_steps(decoder, plan, None if matcher is None else Constraint(matcher), shift)


class _BlockDecoding:
    def __init__(self, decoder: Decoder, plan: Plan, matcher: Matcher | None, shift: bool) -> None:
        self.decoder = decoder
        self.plan = plan
        self.constraint = None if matcher is None else Constraint(matcher)
        self.shift = shift
        self.size = decoder.block_size
        # Tokens of the last block: decided but not committed.
        self.pending: list[int] = []
        # (1, V): logits of the last committed position, kept if logits are shifted.
        self.next_logits: Tensor | None = None

    def steps(self) -> Steps[None]:
        progress, mask = self.decoder.progress, self.decoder.vocabulary.mask
        tail = yield from self._prefill()
        while True:
            start = len(progress.tokens)
            count = self.size - len(tail)
            earlier = [] if self.constraint else list(self.plan.earlier[start : start + count])
            tokens = [*earlier, *[mask] * (count - len(earlier))]
            block = MaskedBlock(tokens, start, self.plan, self.decoder.vocabulary, self.constraint)
            if self.shift and not tail:
                yield from self._commit()
                assert self.next_logits is not None
                block.decide_first(self.next_logits)
            while not block.complete and not self._full:
                block.denoise((yield from self._block_logits(tail, block)))
                _report(self.decoder, self.plan, block, start)
            _report(self.decoder, self.plan, block, start)
            if progress.complete or self._full:
                progress.draft = []
                return
            self.pending, tail = [*tail, *block.tokens], []

    def _prefill(self) -> Steps[list[int]]:
        """Commit the whole blocks of the prompt; returns the tokens after them."""
        decoder, size = self.decoder, self.size
        whole = len(decoder.prompt) // size * size
        chunk = max(1, PREFILL_CHUNK // size) * size
        while (start := decoder.cache.length) < whole:
            end = min(whole, (start // chunk + 1) * chunk)
            ids = decoder.prompt[start:end]
            reading = Forward(ids, 0, len(ids) - 1, block=size, prefill=True)
            self.next_logits = yield from decoder.logits(reading)
            decoder.cache.commit(len(ids))
        return decoder.prompt[whole:]

    def _block_logits(self, tail: list[int], block: MaskedBlock) -> Steps[Tensor]:
        """Logits of the block, row i predicting its position i; commits the block before it."""
        decoder, before = self.decoder, [*self.pending, *tail]
        # If logits are shifted, take the row before each position.
        first = len(before) - (1 if self.shift and before else 0)
        ids = [*before, *block.tokens]
        step = Forward(ids, 0, first, len(block.tokens), block=self.size)
        logits = yield from decoder.logits(step)
        decoder.progress.steps += 1
        decoder.cache.commit(len(self.pending))
        self.pending = []
        if self.shift and not before:
            logits = torch.cat((logits[:1], logits[:-1]))
        return logits

    def _commit(self) -> Steps[None]:
        if self.pending:
            step = Forward(self.pending, 0, len(self.pending) - 1, block=self.size)
            self.next_logits = yield from self.decoder.logits(step)
            self.decoder.cache.commit(len(self.pending))
            self.pending = []

    @property
    def _full(self) -> bool:
        return len(self.decoder.progress.tokens) == self.plan.max_tokens


def _full_steps(
    decoder: Decoder, plan: Plan, constraint: Constraint | None, shift: bool
) -> Steps[None]:
    progress, vocabulary = decoder.progress, decoder.vocabulary
    earlier = () if constraint else plan.earlier[: plan.max_tokens]
    answer = [*earlier, *[vocabulary.mask] * (plan.max_tokens - len(earlier))]
    for start in range(0, plan.max_tokens, decoder.block_size):
        tokens = answer[start : start + decoder.block_size]
        block = MaskedBlock(tokens, start, plan, vocabulary, constraint)
        decoder.cache.length = 0
        while not block.complete:
            block.denoise((yield from _full_logits(decoder, answer, start, len(tokens), shift)))
            answer[start : start + len(tokens)] = block.tokens
            if not block.complete:
                _report(decoder, plan, block, start)
        answer[start : start + len(tokens)] = block.tokens
        _report(decoder, plan, block, start)
        if progress.complete:
            break
    progress.draft = []
    decoder.cache.length = 0


def _full_logits(
    decoder: Decoder, answer: list[int], start: int, count: int, shift: bool
) -> Steps[Tensor]:
    """Logits (count, V) of the answer's positions from ``start`` on."""
    whole = [*decoder.prompt, *answer]
    # Where logits are shifted, a position is predicted by the row before it.
    begin = len(decoder.prompt) + start - shift
    known = decoder.cache.length
    logits = yield from decoder.logits(Forward(whole[known:], 0, begin - known, count))
    decoder.progress.steps += 1
    decoder.cache.commit(begin - known)
    return logits


def _report(decoder: Decoder, plan: Plan, block: MaskedBlock, start: int) -> None:
    """Update the progress from a block that begins at position ``start`` of the answer."""
    progress = decoder.progress
    progress.tokens[start:] = block.decided[: plan.max_tokens - start]
    progress.complete = progress.tokens[-1:] == [decoder.vocabulary.end]
    pairs = zip(progress.tokens, plan.earlier, strict=False)
    progress.kept = sum(token == before for token, before in pairs)
    progress.draft = block.tokens[len(progress.tokens) - start :]

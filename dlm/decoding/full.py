"""Decoding for checkpoints whose positions all see each other: prompt, answer and what is masked.

The answer is a canvas of its longest length, decided block by block from left to right. The first
forward of a block reads everything and keeps the keys and values of what stands before the block;
those that follow read from the block on, over these keys and values, which are then a little stale:
the prefix cache of Fast-dLLM.

Source: LLaDA (arXiv 2502.09992), Dream (arXiv 2508.15487), Fast-dLLM (arXiv 2505.22618).
"""

from __future__ import annotations

from torch import Tensor

from dlm.decoding.decoder import Decoder, Plan, checked
from dlm.decoding.forwards import Forward, Steps
from dlm.decoding.masked_block import Constraint, MaskedBlock
from dlm.grammar.matcher import Matcher


def decode_full(
    decoder: Decoder, plan: Plan, matcher: Matcher | None = None, shift: bool = False
) -> Steps[None]:
    """Answer the prompt; `Decoder.progress` tells how far it has come.

    Args:
        decoder: Its cache is empty, and in the end holds nothing that another prompt could use.
        plan: How to decode; ``verified`` does not matter.
        matcher: At the beginning of the answer.
        shift: Whether a position's logits predict the next token.

    Raises:
        ValueError: No token may be generated.
    """
    checked(plan)
    return _steps(decoder, plan, None if matcher is None else Constraint(matcher), shift)


def _steps(decoder: Decoder, plan: Plan, constraint: Constraint | None, shift: bool) -> Steps[None]:
    progress, vocabulary = decoder.progress, decoder.vocabulary
    earlier = () if constraint else plan.earlier[: plan.max_tokens]
    masks = [vocabulary.mask] * (plan.max_tokens - len(earlier))
    answer = [*earlier, *masks]
    for here in range(0, plan.max_tokens, decoder.block_size):
        stretch = answer[here : here + decoder.block_size]
        canvas = MaskedBlock(stretch, here, plan, vocabulary, constraint)
        decoder.cache.length = 0
        while not canvas.over:
            canvas.take((yield from _denoise(decoder, answer, here, len(stretch), shift)))
            answer[here : here + len(stretch)] = canvas.tokens
            if not canvas.over:
                _tell(decoder, plan, canvas, here)
        answer[here : here + len(stretch)] = canvas.tokens
        _tell(decoder, plan, canvas, here)
        if progress.complete:
            break
    progress.draft = []
    decoder.cache.length = 0


def _denoise(
    decoder: Decoder, answer: list[int], here: int, count: int, shift: bool
) -> Steps[Tensor]:
    """Logits (count, V) of the answer's positions from ``here`` on."""
    whole = [*decoder.prompt, *answer]
    # Where logits are shifted, a position is predicted by the row before it.
    begin = len(decoder.prompt) + here - shift
    known = decoder.cache.length
    logits = yield from decoder.ask(Forward(whole[known:], 0, begin - known, count))
    decoder.progress.steps += 1
    decoder.cache.commit(begin - known)
    return logits


def _tell(decoder: Decoder, plan: Plan, canvas: MaskedBlock, here: int) -> None:
    progress, decided = decoder.progress, canvas.decided
    # What may still be corrected is not final.
    if canvas.over or plan.refinement.editing >= 1:
        progress.tokens[here:] = decided
        progress.complete = progress.tokens[-1:] == [decoder.vocabulary.end]
        pairs = zip(progress.tokens, plan.earlier, strict=False)
        progress.kept = sum(token == before for token, before in pairs)
    progress.draft = canvas.tokens[len(progress.tokens) - here :]

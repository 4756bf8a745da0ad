"""One request's decoding, a forward at a time.

`decode` is a generator: it yields after every forward, so that whoever runs it can interleave
requests and stop any of them between two steps. It knows nothing of threads, queues or text.

Shapes: T new positions, L positions of a block, V vocabulary.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from dataclasses import dataclass, field

import torch
from torch import Tensor

from dlm.cache import KVCache
from dlm.effort import Refinement
from dlm.grammar import Matcher
from dlm.model import Transformer
from dlm.tokenizer import Mark
from dlm.unmask import threshold
from dlm.verify import Verdict, choose, verify

PREFILL_CHUNK = 256


@dataclass(frozen=True, slots=True)
class Plan:
    """How to decode.

    Attributes:
        refinement: Draft forwards per block and their threshold.
        verified: Whether drafts are verified causally (then they equal greedy decoding, and may
            have a grammar), or committed as drafted.
        max_tokens: Longest answer, end mark included; at least 1.
    """

    refinement: Refinement
    verified: bool
    max_tokens: int


@dataclass(slots=True)
class Progress:
    """What a request has produced so far; one object, changed from step to step.

    Attributes:
        tokens: Final tokens of the answer, end mark included when ``complete``.
        draft: Tokens being worked on behind them, for display; the mask id where unsure.
        forwards: Model forwards spent, prefill included.
        cached: Prompt tokens that did not need a forward.
        complete: Whether the end mark was reached.
    """

    tokens: list[int] = field(default_factory=list)
    draft: list[int] = field(default_factory=list)
    forwards: int = 0
    cached: int = 0
    complete: bool = False


class Decoder:
    """Runs forwards of one model over one cache."""

    def __init__(self, model: Transformer, cache: KVCache, prompt: Sequence[int]) -> None:
        self.model = model
        self.cache = cache
        self.prompt = list(prompt)
        self.progress = Progress(cached=cache.length)

    def forward(self, ids: Sequence[int], causal: int, first: int = 0) -> Tensor:
        """Logits of new positions; nothing is committed.

        Args:
            ids: T new tokens.
            causal: So many of them, from the left, see what stands before them and themselves; the
                others see all new tokens as well.
            first: Index of the first one whose logits are wanted.

        Returns:
            (T - first, V) on the CPU; the marks that never answer are banned with -inf.
        """
        device = self.model.embed_tokens.weight.device
        start = self.cache.length
        tokens = torch.tensor([ids], device=device)
        positions = torch.arange(start, start + len(ids), device=device)[None]
        mask = None
        if causal > 0 and len(ids) > 1:
            mask = torch.ones(len(ids), start + len(ids), dtype=torch.bool, device=device)
            mask[:causal] = mask[:causal].tril(diagonal=start)
            mask = mask[None, None]
        hidden = self.model(tokens, positions, mask, self.cache)[0, first:]
        logits = self.model.logits(hidden).float().cpu()
        logits[:, : len(Mark)].masked_fill_(_NEVER, -torch.inf)
        self.progress.forwards += 1
        return logits

    def prefill(self) -> Generator[None, None, Tensor]:
        """Commit the prompt in chunks; returns the logits (V,) behind its last token."""
        logits = torch.empty(0)
        for start in range(self.cache.length, len(self.prompt), PREFILL_CHUNK):
            chunk = self.prompt[start : start + PREFILL_CHUNK]
            logits = self.forward(chunk, causal=len(chunk), first=len(chunk) - 1)[0]
            self.cache.commit(len(chunk))
            yield
        return logits

    def draft(
        self, known: Sequence[int], refinement: Refinement
    ) -> Generator[None, None, list[int]]:
        """Denoise a block that begins with the last of the known tokens.

        Args:
            known: Decided but not committed; those before the last are read causally, as they will
                be once they are committed.
            refinement: How often and from what confidence on.

        Returns:
            The tokens behind the known ones, cut after the first end mark.
        """
        tokens = torch.full((self.model.config.block_size - 1,), int(Mark.MASK))
        masked = tokens == Mark.MASK
        drafted = tokens.tolist()
        for left in range(refinement.steps, 0, -1):
            if not bool(masked[: len(drafted)].any()):
                break
            ids = [*known, *tokens.tolist()]
            logits = self.forward(ids, causal=len(known) - 1, first=len(known))
            best, accepted = threshold(logits, masked, refinement.threshold)
            sure = torch.where(accepted, best, tokens)
            tokens = sure if left > 1 else torch.where(masked, best, tokens)
            masked = masked & ~accepted
            drafted = until_end(tokens.tolist())
            # A last step also guesses what it is unsure of: to be verified, not to be shown.
            self.progress.draft = sure[: len(drafted)].tolist()
            yield
        return drafted


def decode(
    decoder: Decoder, plan: Plan, matcher: Matcher | None = None
) -> Generator[None, None, None]:
    """Answer the prompt; `Decoder.progress` tells how far it has come. Yields after each forward.

    Raises:
        ValueError: A grammar is given for unverified drafts, which are not final left to right; or
            no token may be generated.
    """
    if matcher is not None and not plan.verified:
        raise ValueError("a grammar needs verified drafts")
    if plan.max_tokens < 1:
        raise ValueError(f"max_tokens: got {plan.max_tokens}, expected at least 1")
    progress = decoder.progress
    refinement = plan.refinement
    if not plan.verified:
        # What is committed must have been decided: as many steps as it takes.
        refinement = Refinement(decoder.model.config.block_size, refinement.threshold)
    known = choose((yield from decoder.prefill()), matcher)
    while True:
        progress.tokens += known[: plan.max_tokens - len(progress.tokens)]
        room = plan.max_tokens - len(progress.tokens)
        progress.complete = progress.tokens[-1] == Mark.END
        if progress.complete or room == 0:
            # The last tokens were never forwarded, so they stay out of the cache.
            return
        draft = (yield from decoder.draft(known, refinement))[:room]
        ids = [*known, *draft]
        logits = decoder.forward(ids, causal=len(ids), first=len(known) - 1)
        verdict = verify(draft, logits, matcher) if plan.verified else commit(draft, logits)
        decoder.cache.commit(len(known) + len(verdict.accepted))
        progress.tokens += verdict.accepted
        progress.draft = []
        known = verdict.given
        yield


def commit(draft: list[int], logits: Tensor) -> Verdict:
    """Accept a draft as it is; arguments as in `verify`, whose counterpart it is."""
    return Verdict(draft, [] if Mark.END in draft else [int(logits[-1].argmax())])


def until_end(tokens: Sequence[int]) -> list[int]:
    """Tokens up to and including the first end mark."""
    out: list[int] = []
    for token in tokens:
        out.append(token)
        if token == Mark.END:
            break
    return out


_NEVER = torch.tensor([m not in (Mark.END, Mark.CALL, Mark.KEY, Mark.VALUE) for m in Mark])

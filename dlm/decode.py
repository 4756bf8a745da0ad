"""One request's decoding, a forward at a time.

`decode` is a generator: it yields after every forward, so that whoever runs it can interleave
requests and stop any of them between two steps. It knows nothing of threads, queues or text.

Shapes: L positions of a block, V vocabulary.
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
from dlm.verify import choose, verify

PREFILL_CHUNK = 256


@dataclass(frozen=True, slots=True)
class Plan:
    """How to decode.

    Attributes:
        refinement: Draft forwards per block and their threshold.
        verified: Whether drafts are verified causally (then they equal greedy decoding, and may
        have a
            grammar), or committed as drafted.
        max_tokens: Longest answer, end mark included.
    """

    refinement: Refinement
    verified: bool
    max_tokens: int


@dataclass(slots=True)
class Progress:
    """What a request has produced so far; one object, changed from step to step.

    Attributes:
        tokens: Final tokens of the answer, end mark included when ``complete``.
        draft: Tokens being worked on behind them, for display; the mask id where undecided.
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

    def forward(self, ids: Sequence[int], causal: bool) -> Tensor:
        """Logits of new positions, which see all committed ones and, if not causal, each other.

        Returns:
            (T, V); the mask id and the other marks that never answer are banned with -inf.
        """
        device = self.model.embed_tokens.weight.device
        start = self.cache.length
        tokens = torch.tensor([ids], device=device)
        positions = torch.arange(start, start + len(ids), device=device)[None]
        mask = None
        if causal and len(ids) > 1:
            mask = torch.ones(len(ids), start + len(ids), dtype=torch.bool, device=device)
            mask = mask.tril(diagonal=start)[None, None]
        hidden = self.model(tokens, positions, mask, self.cache)[0]
        logits = self.model.logits(hidden).float().cpu()
        logits[:, _NEVER] = -torch.inf
        self.progress.forwards += 1
        return logits

    def prefill(self) -> Generator[None, None, Tensor]:
        """Commit the prompt in chunks; returns the logits (V,) behind its last token."""
        logits = torch.empty(0)
        for start in range(self.cache.length, len(self.prompt), PREFILL_CHUNK):
            chunk = self.prompt[start : start + PREFILL_CHUNK]
            logits = self.forward(chunk, causal=True)[-1]
            self.cache.commit(len(chunk))
            yield
        return logits

    def draft(
        self, known: Sequence[int], refinement: Refinement
    ) -> Generator[None, None, list[int]]:
        """Denoise a block whose first tokens are known.

        Returns:
            The tokens behind the known ones, cut after the first end mark.
        """
        size = max(self.model.config.block_size, len(known) + 1)
        block = [*known, *[int(Mark.MASK)] * (size - len(known))]
        masked = torch.tensor([token == Mark.MASK for token in block])
        tokens = torch.tensor(block)
        for step in range(refinement.steps):
            logits = self.forward(tokens.tolist(), causal=False)
            best, accepted = threshold(logits, masked, refinement.threshold)
            last = step == refinement.steps - 1
            keep = masked if last else accepted
            tokens = torch.where(keep, best, tokens)
            masked = masked & ~keep
            self.progress.draft = until_end(tokens[len(known) :].tolist())
            yield
            if not bool(masked[: len(known) + len(self.progress.draft)].any()):
                break
        return self.progress.draft

    def settle(
        self, known: Sequence[int], refinement: Refinement
    ) -> Generator[None, None, list[int]]:
        """Denoise a block until every position before its end mark is decided.

        Returns:
            The tokens behind the known ones, cut after the first end mark.
        """
        patient = Refinement(self.model.config.block_size, refinement.threshold)
        return (yield from self.draft(known, patient))


def decode(
    decoder: Decoder, plan: Plan, matcher: Matcher | None = None
) -> Generator[None, None, None]:
    """Answer the prompt; `Decoder.progress` tells how far it has come. Yields after each forward.

    Raises:
        ValueError: A grammar is given for unverified drafts, which are not final left to right.
    """
    if matcher is not None and not plan.verified:
        raise ValueError("a grammar needs verified drafts")
    progress = decoder.progress
    logits = yield from decoder.prefill()
    known = choose(logits, matcher)
    while True:
        room = plan.max_tokens - len(progress.tokens)
        progress.tokens += known[:room]
        if Mark.END in known or room <= len(known):
            progress.complete = Mark.END in known[:room]
            # The last tokens were never forwarded, so they stay out of the cache.
            return
        if plan.verified:
            known, done = yield from _verified(decoder, plan, known, matcher)
        else:
            known, done = yield from _committed(decoder, plan, known)
        progress.draft = []
        if done or len(progress.tokens) >= plan.max_tokens:
            progress.complete = done and progress.tokens[-1] == Mark.END
            return


def _verified(
    decoder: Decoder, plan: Plan, known: list[int], matcher: Matcher | None
) -> Generator[None, None, tuple[list[int], bool]]:
    """One block: draft, verify, keep what agrees; returns the next known tokens and if over."""
    draft = yield from decoder.draft(known, plan.refinement)
    logits = decoder.forward([*known, *draft], causal=True)
    verdict = verify(draft, logits[len(known) - 1 :], matcher)
    room = plan.max_tokens - len(decoder.progress.tokens)
    accepted = verdict.accepted[:room]
    decoder.progress.tokens += accepted
    decoder.cache.commit(len(known) + len(accepted))
    yield
    return verdict.given, verdict.complete and not verdict.given


def _committed(
    decoder: Decoder, plan: Plan, known: list[int]
) -> Generator[None, None, tuple[list[int], bool]]:
    """One block: denoise it, commit it; its last causal logits give the next known token."""
    draft = yield from decoder.settle(known, plan.refinement)
    draft = draft[: plan.max_tokens - len(decoder.progress.tokens)]
    logits = decoder.forward([*known, *draft], causal=True)
    decoder.progress.tokens += draft
    decoder.cache.commit(len(known) + len(draft))
    yield
    done = Mark.END in draft
    return ([] if done else [int(logits[-1].argmax())]), done


def until_end(tokens: Sequence[int]) -> list[int]:
    """Tokens up to and including the first end mark."""
    out: list[int] = []
    for token in tokens:
        out.append(token)
        if token == Mark.END:
            break
    return out


_NEVER = [int(m) for m in Mark if m not in (Mark.END, Mark.CALL, Mark.KEY, Mark.VALUE)]

"""What all ways of decoding share: one request's cache, prompt and progress, and how to decode.

Decoding is a generator of the forwards that it wants (`dlm.decoding.forwards`):
`dlm.decoding.self_speculative`, `dlm.decoding.block`, `dlm.decoding.full`. Whoever runs it may
interleave requests, serve several with one forward, and stop any of them between two steps. It
knows nothing of models, threads, queues or text.

Shapes: T new positions, L positions of a block, V vocabulary.
"""

from __future__ import annotations

import queue
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from dlm.decoding.forwards import Choice, Forward, Steps
from dlm.decoding.sampling import Sampling
from dlm.decoding.unmask import Drift, Proposal, accept, propose
from dlm.decoding.verify import guided
from dlm.effort import Refinement, Rule
from dlm.grammar.matcher import Matcher
from dlm.kv_cache.cache import Cache
from dlm.kv_cache.prefix import common_prefix
from dlm.language.chat_format import Dialect

PREFILL_CHUNK = 128


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """The ids that decoding has to know.

    Attributes:
        mask: Stands for a position that is not decided yet.
        end: Ends an answer.
        never: What an answer never holds, the mask among it.
        ends: Others that end an answer; where one is likelier than ``end`` it counts as that.
    """

    mask: int
    end: int
    never: tuple[int, ...]
    ends: tuple[int, ...] = ()

    @classmethod
    def of(cls, dialect: Dialect, size: int) -> Vocabulary:
        """That of a checkpoint whose model has ``size`` logits, of which some may mean nothing."""
        never = (*dialect.never, *range(dialect.size, size))
        return cls(dialect.mask, dialect.end, never, tuple(sorted(dialect.ends - {dialect.end})))


@dataclass(frozen=True, slots=True)
class Plan:
    """How to decode.

    Attributes:
        refinement: Draft forwards per block and their threshold.
        verified: Whether drafts are verified causally (then they equal decoding left to right, and
            may have a grammar), or committed as drafted.
        max_tokens: Longest answer, end mark included; at least 1.
        sampling: Draws the tokens; None takes the likeliest.
        earlier: Tokens of an earlier answer to the prompt as it was, to be revised.
    """

    refinement: Refinement
    verified: bool
    max_tokens: int
    sampling: Sampling | None = None
    earlier: tuple[int, ...] = ()


@dataclass(slots=True)
class Progress:
    """What a request has produced so far; one object, changed from step to step.

    Attributes:
        tokens: Final tokens of the answer, end mark included when ``complete``.
        draft: Tokens being worked on behind them, for display; the mask id where unsure.
        forwards: Model forwards spent, prefill included.
        prefills: Of these, forwards that only read the prompt.
        steps: Of these, forwards that denoised.
        cached: Prompt tokens that did not need a forward.
        kept: Tokens of the earlier answer that stand.
        complete: Whether the end mark was reached.
    """

    tokens: list[int] = field(default_factory=list)
    draft: list[int] = field(default_factory=list)
    forwards: int = 0
    prefills: int = 0
    steps: int = 0
    cached: int = 0
    kept: int = 0
    complete: bool = False


class Decoder:
    """What all ways of decoding share: one request's cache, prompt and progress.

    Args:
        cache: Holds a beginning of the prompt, and not all of it.
        prompt: Ids, at least one.
        block_size: L.
        vocabulary: Of the checkpoint.
        masks: Whether choices under a grammar are left to who runs the forwards.

    Attributes:
        progress: What it has produced.
        undecided: Whether the last draft chose a tool in doubt (`dlm.grammar.tool_choice`).
    """

    def __init__(
        self,
        cache: Cache,
        prompt: Sequence[int],
        block_size: int,
        vocabulary: Vocabulary,
        masks: bool = False,
    ) -> None:
        self.cache = cache
        self.prompt = list(prompt)
        self.block_size = block_size
        self.vocabulary = vocabulary
        self.masks = masks
        self.progress = Progress(cached=cache.length)
        self.undecided = False
        self._never = torch.tensor([*vocabulary.never, *vocabulary.ends])
        # Compared with every new prompt while this one is under way.
        self.ids = np.asarray(self.prompt, dtype=np.int64)

    @property
    def committed(self) -> NDArray[np.int64]:
        """Ids of what the cache holds."""
        answered = np.asarray(self.progress.tokens, dtype=np.int64)
        return np.concatenate((self.ids, answered))[: self.cache.length]

    def ask(self, wish: Forward) -> Steps[Tensor]:
        """Logits of a forward, (T - first, V); what never answers is banned with -inf."""
        logits: Tensor = yield wish
        self.progress.forwards += 1
        if self.vocabulary.ends:
            end, others = self.vocabulary.end, list(self.vocabulary.ends)
            logits[:, end] = logits[:, [end, *others]].amax(dim=-1)
        # Nobody else reads them: a copy would cost more than the ban.
        return logits.index_fill_(-1, self._never.to(logits.device), -torch.inf)

    def choose(
        self,
        wish: Forward,
        plan: Plan,
        allowed: Callable[[], NDArray[np.int32]] | None = None,
    ) -> Steps[Proposal]:
        """What the model would put behind, or at, each wanted position of a forward."""
        vocabulary, first = self.vocabulary, len(self.progress.tokens)
        entropy = plan.refinement.rule is Rule.ENTROPY
        choice = Choice(vocabulary.never, plan.sampling, first, entropy, allowed)
        proposal: Proposal = yield replace(wish, choice=choice)
        self.progress.forwards += 1
        for other in vocabulary.ends:
            proposal.tokens[proposal.tokens == other] = vocabulary.end
        return proposal

    def _masked(self, plan: Plan) -> bool:
        """Whether choices under a grammar are left to the runner.

        A second mark that ends an answer is nothing that a grammar knows; and a nucleus is of all
        tokens, not of those that are allowed.
        """
        whole = plan.sampling is None or plan.sampling.top_p == 1
        return self.masks and whole and not self.vocabulary.ends

    def judge(
        self, wish: Forward, draft: Sequence[int], plan: Plan, matcher: Matcher | None
    ) -> Steps[Tensor | list[int]]:
        """What `verify` compares a draft with: the causal choices, or logits to choose from."""
        if matcher is None:
            return (yield from self.choose(wish, plan)).tokens.tolist()
        if self._masked(plan) and not matcher.choosing:
            allowed = partial(matcher.allowed, draft)
            return (yield from self.choose(wish, plan, allowed)).tokens.tolist()
        return self.noised((yield from self.ask(wish)), plan)

    def noised(self, logits: Tensor, plan: Plan) -> Tensor:
        """Logits behind the answer so far, as they are chosen from, on the CPU."""
        logits = logits.cpu()
        if plan.sampling is None:
            return logits
        return plan.sampling.perturb(logits, len(self.progress.tokens))

    def prefill(self) -> Steps[list[int]]:
        """Commit the prompt up to its last chunk; returns that chunk, of at least one id.

        Chunks end at multiples of their size, whatever was cached and whoever else is served.
        """
        while True:
            start = self.cache.length
            end = (start // PREFILL_CHUNK + 1) * PREFILL_CHUNK
            if end >= len(self.prompt):
                return self.prompt[start:]
            chunk = self.prompt[start:end]
            yield from self.ask(Forward(chunk, len(chunk), len(chunk) - 1, prefill=True))
            self.progress.prefills += 1
            self.cache.commit(len(chunk))

    def draft(
        self,
        known: Sequence[int],
        plan: Plan,
        canvas: Sequence[int] = (),
        matcher: Matcher | None = None,
        begun: Tensor | None = None,
    ) -> Steps[list[int]]:
        """Denoise a block that begins with the last of the known tokens.

        Args:
            known: Decided but not committed; those before the last are read causally, as they will
                be once they are committed.
            plan: How often and from what confidence on.
            canvas: What the block begins with behind the known token: decided tokens, or masks.
            matcher: Of the answer so far; the draft keeps to its grammar.
            begun: Logits of what the first step would forward, (n, V), for n positions behind the
                known tokens, where another forward has brought them.

        Returns:
            The tokens behind the known ones, cut after the first end mark.
        """
        mask, refinement = self.vocabulary.mask, plan.refinement
        tokens = torch.full((self.block_size - 1 if begun is None else len(begun),), mask)
        tokens[: len(canvas)] = torch.tensor(canvas[: len(tokens)], dtype=torch.int64)
        masked = tokens == mask
        self.undecided = False
        drafted = self.until_end(tokens.tolist())
        logits, drift = None, Drift() if refinement.rule is Rule.STABLE else None
        for left in range(refinement.steps, 0, -1):
            if not bool(masked[: len(drafted)].any()):
                break
            wish = Forward([*known, *tokens.tolist()], len(known) - 1, len(known))
            if begun is None and drift is None and (matcher is None or self._masked(plan)):
                logits, proposal = None, (yield from self.choose(wish, plan))
            else:
                logits = (yield from self.ask(wish)) if begun is None else begun
                begun = None
                entropy = refinement.rule is Rule.ENTROPY
                here = len(self.progress.tokens)
                proposal = propose(logits, plan.sampling, here, entropy, drift)
            self.progress.steps += 1
            accepted = accept(proposal, masked, refinement, left)
            sure = torch.where(accepted, proposal.tokens, tokens)
            tokens = sure if left > 1 else torch.where(masked, proposal.tokens, tokens)
            masked = masked & ~accepted
            drafted = self.until_end(tokens.tolist())
            # A last step also guesses what it is unsure of: to be verified, not to be shown.
            self.progress.draft = sure[: len(drafted)].tolist()
        if matcher is None or (logits is None and not self._masked(plan)):
            return drafted
        rows = None if logits is None else self.noised(logits, plan)
        guide = guided(tokens, rows, matcher)
        self.undecided = guide.undecided
        return guide.tokens

    def settle(self, tokens: list[int]) -> None:
        """Take other tokens for the answer's, and forget keys and values of those that go.

        Where there is no memory for that the answer stands.
        """
        shared = common_prefix(np.asarray(self.progress.tokens), np.asarray(tokens))
        length = len(self.prompt) + shared
        if length < self.cache.length:
            try:
                self.cache = self.cache.cut(length)
            except queue.Full:
                return
        self.progress.tokens = tokens

    def until_end(self, tokens: Sequence[int]) -> list[int]:
        """Tokens up to and including the first end mark."""
        tokens, end = list(tokens), self.vocabulary.end
        return tokens[: tokens.index(end) + 1] if end in tokens else tokens


def checked(plan: Plan) -> None:
    """Refuse a plan for an answer of no tokens.

    Raises:
        ValueError: It is one.
    """
    if plan.max_tokens < 1:
        raise ValueError(f"max_tokens: got {plan.max_tokens}, expected at least 1")

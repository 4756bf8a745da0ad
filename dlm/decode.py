"""One request's decoding as a generator of the forwards that it wants (`dlm.forwards`).

Whoever runs it may interleave requests, serve several with one forward, and stop any of them
between two steps. It knows nothing of models, threads, queues or text.

`decode` is for checkpoints whose committed positions are causal: a block is drafted
bidirectionally, then one causal forward verifies it and commits it, or commits it as it is.

Shapes: T new positions, L positions of a block, V vocabulary.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from dlm.cache import Cache
from dlm.dialect import Dialect
from dlm.echo import Echo
from dlm.effort import Refinement, Rule
from dlm.forwards import Choice, Forward, Steps
from dlm.grammar import Matcher
from dlm.prefix import common_prefix
from dlm.revision import Earlier, doubted
from dlm.sampling import Sampling
from dlm.unmask import Drift, Proposal, accept, propose
from dlm.verify import Verdict, guided, verify

PREFILL_CHUNK = 128

Gains = Callable[[], Steps[Mapping[str, float]]]
"""Finds out what each tool gains by something that the model does not see while it chooses."""
Look = Callable[["Decoder"], Steps[None]]
"""Looks at a whole answer again, and may `Decoder.settle` for another."""


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
        steps: Of these, forwards that denoised.
        cached: Prompt tokens that did not need a forward.
        kept: Tokens of the earlier answer that stand.
        complete: Whether the end mark was reached.
    """

    tokens: list[int] = field(default_factory=list)
    draft: list[int] = field(default_factory=list)
    forwards: int = 0
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
        logits = (yield from self.ask(wish)).cpu()
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
            self.cache.commit(len(chunk))

    def draft(
        self,
        known: Sequence[int],
        plan: Plan,
        canvas: Sequence[int] = (),
        matcher: Matcher | None = None,
    ) -> Steps[list[int]]:
        """Denoise a block that begins with the last of the known tokens.

        Args:
            known: Decided but not committed; those before the last are read causally, as they will
                be once they are committed.
            plan: How often and from what confidence on.
            canvas: What the block begins with behind the known token: decided tokens, or masks.
            matcher: Of the answer so far; the draft keeps to its grammar.

        Returns:
            The tokens behind the known ones, cut after the first end mark.
        """
        mask, refinement = self.vocabulary.mask, plan.refinement
        tokens = torch.full((self.block_size - 1,), mask)
        tokens[: len(canvas)] = torch.tensor(canvas[: len(tokens)], dtype=torch.int64)
        masked = tokens == mask
        drafted = self.until_end(tokens.tolist())
        logits, drift = None, Drift() if refinement.rule is Rule.STABLE else None
        for left in range(refinement.steps, 0, -1):
            if not bool(masked[: len(drafted)].any()):
                break
            wish = Forward([*known, *tokens.tolist()], len(known) - 1, len(known))
            if drift is None and (matcher is None or self._masked(plan)):
                proposal = yield from self.choose(wish, plan)
            else:
                logits = yield from self.ask(wish)
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
        rows = None if logits is None else logits.cpu()
        if rows is not None and plan.sampling is not None:
            rows = plan.sampling.perturb(rows, len(self.progress.tokens))
        return guided(tokens, rows, matcher)

    def settle(self, tokens: list[int]) -> None:
        """Take other tokens for the answer's, and forget keys and values of those that go."""
        shared = common_prefix(np.asarray(self.progress.tokens), np.asarray(tokens))
        length = len(self.prompt) + shared
        if length < self.cache.length:
            self.cache = self.cache.copy(length, self.cache.capacity)
        self.progress.tokens = tokens

    def until_end(self, tokens: Sequence[int]) -> list[int]:
        """Tokens up to and including the first end mark."""
        tokens, end = list(tokens), self.vocabulary.end
        return tokens[: tokens.index(end) + 1] if end in tokens else tokens


def decode(
    decoder: Decoder,
    plan: Plan,
    matcher: Matcher | None = None,
    gains: Gains | None = None,
    look: Look | None = None,
) -> Steps[None]:
    """Answer the prompt; `Decoder.progress` tells how far it has come.

    Args:
        decoder: Of the request.
        plan: How to decode.
        matcher: Of the answer's grammar.
        gains: What each tool gains by what the model does not see while it chooses one, in nats;
            asked where the matcher is undecided, at most once.
        look: Taken at an answer that has come to its end.

    Raises:
        ValueError: A grammar is given for unverified drafts, which are not final left to right; or
            no token may be generated.
    """
    if matcher is not None and not plan.verified:
        raise ValueError("a grammar needs verified drafts")
    checked(plan)
    if not plan.verified:
        return _drafted(decoder, plan)
    return _verified(decoder, plan, matcher, gains, look)


def checked(plan: Plan) -> None:
    """Refuse a plan for an answer of no tokens.

    Raises:
        ValueError: It is one.
    """
    if plan.max_tokens < 1:
        raise ValueError(f"max_tokens: got {plan.max_tokens}, expected at least 1")


def _verified(
    decoder: Decoder,
    plan: Plan,
    matcher: Matcher | None,
    gains: Gains | None,
    look: Look | None,
) -> Steps[None]:
    progress, end = decoder.progress, decoder.vocabulary.end
    earlier = Earlier(plan.earlier)
    echo = Echo(decoder.ids, decoder.vocabulary.never)
    known = yield from decoder.prefill()
    draft = earlier.proposed(plan.max_tokens)
    if not draft and matcher is not None:
        # What an answer has to begin with costs nothing beside the prompt.
        draft = matcher.forced()[: plan.max_tokens]
    before = progress.forwards
    while True:
        ids = [*known, *draft]
        wish = Forward(ids, len(ids), len(known) - 1, prefill=not progress.tokens)
        rows = yield from decoder.judge(wish, draft, plan, matcher)
        verdict = verify(draft, rows, matcher, end)
        if verdict.undecided and matcher is not None and gains is not None:
            matcher.weigh((yield from gains()))
            progress.forwards += 1
            sure = len(verdict.accepted)
            rest = verify(draft[sure:], rows[sure:], matcher, end)
            verdict = Verdict(verdict.accepted + rest.accepted, rest.given)
        decoder.cache.commit(len(known) + len(verdict.accepted))
        known = verdict.given
        progress.kept += earlier.judged(verdict)
        progress.draft = []
        progress.tokens += verdict.accepted
        progress.tokens += known[: plan.max_tokens - len(progress.tokens)]
        progress.complete = progress.tokens[-1] == end
        room = plan.max_tokens - len(progress.tokens)
        if progress.complete and look is not None:
            yield from look(decoder)
        if progress.complete or room == 0:
            # The last tokens were never forwarded, so they stay out of the cache.
            return
        if draft:
            echo.judged(len(verdict.accepted), progress.forwards - before)
        before = progress.forwards
        draft = earlier.proposed(room)
        if not draft and plan.refinement.steps:
            draft = echo.proposed(progress.tokens, room)
            if not draft:
                draft = (yield from decoder.draft(known, plan, (), matcher))[:room]


def _drafted(decoder: Decoder, plan: Plan) -> Steps[None]:
    """Commit drafts as they are; what stands of an earlier answer is the canvas that they fill."""
    # What is committed must have been decided: as many steps as it takes.
    plan = replace(plan, refinement=replace(plan.refinement, steps=decoder.block_size))
    progress, end, mask = decoder.progress, decoder.vocabulary.end, decoder.vocabulary.mask
    earlier = plan.earlier[: plan.max_tokens]
    ids = yield from decoder.prefill()
    size = len(ids)
    wish = Forward([*ids, *earlier], size + len(earlier), size - 1, prefill=True)
    logits = yield from decoder.ask(wish)
    decoder.cache.commit(size)
    canvas = doubted(earlier, logits.cpu(), plan.refinement.threshold, mask)
    logits = logits[:1]
    while True:
        here = len(progress.tokens)
        known = canvas[here : here + 1]
        if known in ([], [mask]):
            known = propose(logits, plan.sampling, here).tokens.tolist()
        progress.tokens += known
        progress.draft = []
        room = plan.max_tokens - len(progress.tokens)
        if known == [end] or room == 0:
            break
        draft = (yield from decoder.draft(known, plan, canvas[here + 1 :]))[:room]
        ids = [*known, *draft]
        logits = yield from decoder.ask(Forward(ids, len(ids), len(ids) - 1))
        decoder.cache.commit(len(ids))
        progress.tokens += draft
        if progress.tokens[-1] == end or len(progress.tokens) == plan.max_tokens:
            break
    progress.draft = []
    progress.complete = progress.tokens[-1] == end
    progress.kept = sum(token != mask for token in canvas[: len(progress.tokens)])

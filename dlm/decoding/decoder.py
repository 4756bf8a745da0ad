"""What all ways of decoding share: one request's cache, prompt and progress, and how to decode.

A decoding (`dlm.decoding.self_speculative`, `dlm.decoding.block_diffusion`) is a generator that
yields the forwards it needs (`dlm.decoding.forwards`). Its caller may interleave requests, serve
several with one forward, and stop any of them between two steps. Decoding knows nothing of models,
threads, queues or text.

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
from dlm.decoding.unmask import Proposal, accept, propose
from dlm.decoding.verify import draft_under_grammar
from dlm.effort import Refinement
from dlm.grammar.matcher import Matcher
from dlm.kv_cache.cache import Cache
from dlm.kv_cache.prefix import common_prefix
from dlm.language.chat_format import Dialect

PREFILL_CHUNK = 128


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """Special ids of a checkpoint.

    Attributes:
        mask: Stands for a position that is not decided yet.
        end: Ends an answer.
        never: Ids that no answer holds, the mask among them.
        ends: Other ids that end an answer; each of them counts as ``end``.
    """

    mask: int
    end: int
    never: tuple[int, ...]
    ends: tuple[int, ...] = ()

    @classmethod
    def of(cls, dialect: Dialect, size: int) -> Vocabulary:
        """The special ids of a dialect; ids from ``dialect.size`` to ``size`` mean nothing."""
        never = (*dialect.never, *range(dialect.size, size))
        return cls(dialect.mask, dialect.end, never, tuple(sorted(dialect.ends - {dialect.end})))


@dataclass(frozen=True, slots=True)
class Plan:
    """How to decode.

    Attributes:
        refinement: Number of draft forwards per block, and their threshold.
        verified: Whether drafts are verified causally, so that the result equals decoding from left
            to right and may follow a grammar; if not, they are committed as drafted.
        max_tokens: Longest answer, end mark included; at least 1.
        sampling: How tokens are drawn; None takes the likeliest.
        earlier: Tokens of the answer to an earlier form of the prompt, to be revised.
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
        draft: Drafted tokens after the final ones, for display; the mask id where undecided.
        forwards: Model forwards spent, prefill included.
        prefills: Forwards that only read the prompt.
        steps: Forwards that denoised.
        cached: Prompt tokens that did not need a forward.
        kept: Tokens of the earlier answer that the answer keeps.
        complete: Whether the end mark was reached.
        confidence: Confidence in the answer's calls (`dlm.decoding.call_confidence`); None if
            unknown.
    """

    tokens: list[int] = field(default_factory=list)
    draft: list[int] = field(default_factory=list)
    forwards: int = 0
    prefills: int = 0
    steps: int = 0
    cached: int = 0
    kept: int = 0
    complete: bool = False
    confidence: float | None = None


class Decoder:
    """What all ways of decoding share: one request's cache, prompt and progress.

    Args:
        cache: Holds a beginning of the prompt, but not all of it.
        prompt: Token ids, at least one.
        block_size: L.
        applies_grammar: Whether the runner can choose tokens under a grammar.

    Attributes:
        ahead: Positions of the next draft after the last known token; at most, and first, L - 1.
        in_doubt: Whether the last draft was in doubt about a tool (`dlm.grammar.tool_choice`).
    """

    def __init__(
        self,
        cache: Cache,
        prompt: Sequence[int],
        block_size: int,
        vocabulary: Vocabulary,
        applies_grammar: bool = False,
    ) -> None:
        self.cache = cache
        self.prompt = list(prompt)
        self.block_size = block_size
        self.ahead = block_size - 1
        self.vocabulary = vocabulary
        self._applies_grammar = applies_grammar
        self.progress = Progress(cached=cache.length)
        self.in_doubt = False
        self._never = torch.tensor([*vocabulary.never, *vocabulary.ends])
        # An array, because every new request compares its prompt with it.
        self.ids = np.asarray(self.prompt, dtype=np.int64)

    @property
    def committed(self) -> NDArray[np.int64]:
        """The ids whose keys and values the cache holds."""
        answered = np.asarray(self.progress.tokens, dtype=np.int64)
        return np.concatenate((self.ids, answered))[: self.cache.length]

    def logits(self, asked: Forward) -> Steps[Tensor]:
        """The logits of a forward, (wanted, V), with -inf for ids that no answer holds."""
        logits: Tensor = yield asked
        self.progress.forwards += 1
        if self.vocabulary.ends:
            end, others = self.vocabulary.end, list(self.vocabulary.ends)
            logits[:, end] = logits[:, [end, *others]].amax(dim=-1)
        # In place: no other request reads these logits, and a copy would cost more than filling.
        return logits.index_fill_(-1, self._never.to(logits.device), -torch.inf)

    def choices(
        self,
        asked: Forward,
        plan: Plan,
        allowed: Callable[[], NDArray[np.int32]] | None = None,
    ) -> Steps[Proposal]:
        """The token that the model would choose for each wanted position of a forward."""
        vocabulary, first = self.vocabulary, len(self.progress.tokens)
        choice = Choice(vocabulary.never, plan.sampling, first, allowed)
        proposal: Proposal = yield replace(asked, choice=choice)
        self.progress.forwards += 1
        for other in vocabulary.ends:
            proposal.tokens[proposal.tokens == other] = vocabulary.end
        return proposal

    def _runner_chooses(self, plan: Plan) -> bool:
        """Whether the runner makes choices under a grammar.

        It does not if there are other end marks, which the grammar does not know, nor with a
        nucleus (``top_p``), which is a share of all tokens and not of the allowed ones.
        """
        whole = plan.sampling is None or plan.sampling.top_p == 1
        return self._applies_grammar and whole and not self.vocabulary.ends

    def verification(
        self, asked: Forward, draft: Sequence[int], plan: Plan, matcher: Matcher | None
    ) -> Steps[Tensor | list[int]]:
        """What `verify` compares a draft with: the causal choices, or the logits to choose from."""
        if matcher is None:
            return (yield from self.choices(asked, plan)).tokens.tolist()
        if self._runner_chooses(plan) and not matcher.needs_logits:
            allowed = partial(matcher.allowed, draft)
            return (yield from self.choices(asked, plan, allowed)).tokens.tolist()
        return self.with_noise((yield from self.logits(asked)), plan)

    def with_noise(self, logits: Tensor, plan: Plan) -> Tensor:
        """Logits of the answer's next positions, moved to the CPU, with the sampling's noise."""
        logits = logits.cpu()
        if plan.sampling is None:
            return logits
        return plan.sampling.perturb(logits, len(self.progress.tokens))

    def prefill(self) -> Steps[list[int]]:
        """Commit the prompt up to its last chunk; returns that chunk, of at least one id.

        Chunks end at multiples of their size, whatever was cached.
        """
        while True:
            start = self.cache.length
            end = (start // PREFILL_CHUNK + 1) * PREFILL_CHUNK
            if end >= len(self.prompt):
                return self.prompt[start:]
            chunk = self.prompt[start:end]
            yield from self.logits(Forward(chunk, len(chunk), len(chunk) - 1, prefill=True))
            self.progress.prefills += 1
            self.cache.commit(len(chunk))

    def draft(
        self,
        known: Sequence[int],
        plan: Plan,
        block: Sequence[int] = (),
        matcher: Matcher | None = None,
        first_logits: Tensor | None = None,
    ) -> Steps[list[int]]:
        """Denoise a block that begins with the last of the known tokens.

        Args:
            known: Tokens that are decided but not committed. Those before the last are read
                causally, as they will be once they are committed.
            plan: The number of steps, and the confidence from which on a token is accepted.
            block: The first tokens of the block after the last known one: decided tokens, or masks.
            matcher: State of the answer so far; the draft keeps to its grammar.
            first_logits: Logits of the first step, (n, V), for n positions after the known tokens,
                if another forward has brought them.

        Returns:
            The tokens after the known ones, cut after the first end mark.
        """
        mask, refinement = self.vocabulary.mask, plan.refinement
        size = self.ahead if first_logits is None else len(first_logits)
        tokens = torch.full((size,), mask)
        tokens[: len(block)] = torch.tensor(block[:size], dtype=torch.int64)
        masked = tokens == mask
        self.in_doubt = False
        drafted = self.until_end(tokens.tolist())
        logits = None
        for left in range(refinement.steps, 0, -1):
            if not bool(masked[: len(drafted)].any()):
                break
            asked = Forward([*known, *tokens.tolist()], len(known) - 1, len(known))
            if first_logits is None and (matcher is None or self._runner_chooses(plan)):
                logits, proposal = None, (yield from self.choices(asked, plan))
            else:
                logits = (yield from self.logits(asked)) if first_logits is None else first_logits
                first_logits = None
                proposal = propose(logits, plan.sampling, len(self.progress.tokens))
            self.progress.steps += 1
            accepted = accept(proposal, masked, refinement)
            sure = torch.where(accepted, proposal.tokens, tokens)
            tokens = sure if left > 1 else torch.where(masked, proposal.tokens, tokens)
            masked = masked & ~accepted
            drafted = self.until_end(tokens.tolist())
            # The last step also guesses unsure positions; guesses are verified, but not shown.
            self.progress.draft = sure[: len(drafted)].tolist()
        if matcher is None or (logits is None and not self._runner_chooses(plan)):
            return drafted
        rows = None if logits is None else self.with_noise(logits, plan)
        draft = draft_under_grammar(tokens, rows, matcher)
        self.in_doubt = draft.in_doubt
        return draft.tokens

    def replace_answer(self, tokens: list[int]) -> None:
        """Replace the answer's tokens, and drop the keys and values from the first difference on.

        If there is no memory for that, the answer stays as it is.
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
    """Raise a ValueError if a plan allows no tokens."""
    if plan.max_tokens < 1:
        raise ValueError(f"max_tokens: got {plan.max_tokens}, expected at least 1")

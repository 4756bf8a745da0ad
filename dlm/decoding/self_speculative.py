"""Decoding for checkpoints whose committed positions are causal.

A block is drafted bidirectionally; then one causal forward verifies and commits it, or commits it
unverified. Work that will probably be needed shares a forward with work that is needed now: if the
answer's first token can be guessed, the first block is drafted along with the prompt. The forwards
that settle a doubtful choice of a tool, and those whose scores argument pruning compares, run along
with the verification.
"""

from __future__ import annotations

import queue
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from torch import Tensor

from dlm.decoding.argument_pruning import ArgumentPruning
from dlm.decoding.call_confidence import confidence, log_probabilities
from dlm.decoding.decoder import Decoder, Plan, checked
from dlm.decoding.draft_reuse import DraftReuse, mask_doubted
from dlm.decoding.forwards import Forward, SideForwards, Steps, together
from dlm.decoding.prompt_lookup import PromptLookup
from dlm.decoding.unmask import propose
from dlm.decoding.verify import Verdict, verify
from dlm.grammar.matcher import Matcher
from dlm.language.chat_format import MarkedCalls

Gains = Callable[[], Steps[Mapping[str, float]]]
"""Computes the log-likelihood of the user's message under each tool, less that of the best tool."""
LEAST_AHEAD = 3
"""Fewest positions of a draft, if a block has as many."""


@dataclass(frozen=True, slots=True)
class Aids:
    """Aids that correct or speed up an answer with tools.

    Attributes:
        gains: Computes each tool's gain in nats (`dlm.decoding.tool_likelihood`); called at most
            once, when the model is in doubt between tools.
        pruning: Removes unlikely arguments from a finished answer.
        first_tokens: Tokens that the answer will probably begin with; used only under a grammar.
        calls: How calls are written; None if the confidence in them is not wanted.
    """

    gains: Gains | None = None
    pruning: ArgumentPruning | None = None
    first_tokens: tuple[int, ...] = ()
    calls: MarkedCalls | None = None


def decode_causal(
    decoder: Decoder, plan: Plan, matcher: Matcher | None = None, aids: Aids | None = None
) -> Steps[None]:
    """Answer the prompt; `Decoder.progress` shows how far the answer has come.

    Raises:
        ValueError: A grammar is given for unverified drafts, whose tokens are not decided from left
            to right; or the plan allows no tokens.
    """
    if matcher is not None and not plan.verified:
        raise ValueError("a grammar needs verified drafts")
    checked(plan)
    if not plan.verified:
        return _unverified(decoder, plan)
    return _Verified(decoder, plan, matcher, aids or Aids()).steps()


class _Verified:
    def __init__(self, decoder: Decoder, plan: Plan, matcher: Matcher | None, aids: Aids) -> None:
        self.decoder = decoder
        self.plan = plan
        self.matcher = matcher
        self.aids = aids
        self.reuse = DraftReuse(plan.earlier)
        self.lookup = PromptLookup(decoder.ids, decoder.vocabulary.never)
        # Decided tokens that are not committed yet.
        self.known: list[int] = []
        # Whether the draft to be verified was denoised.
        self.denoised = False
        # Logits of the next draft's first step, if a forward has already brought them.
        self.next_logits: Tensor | None = None
        # Gains of the tools, once they were asked for.
        self.gains: Mapping[str, float] | None = None
        # Set if gains changed the choice of a tool: the number of tokens before that choice, and
        # the grammar's state there, so that the model's own choice can be restored.
        self.without_gains: tuple[int, Matcher] | None = None
        # Log-probability of each token of the answer, if the confidence is wanted.
        self.logs: list[float] = []
        # Logits for argument pruning, if they came along with the verification.
        self.pruning_logits: Sequence[Tensor] | None = None

    def steps(self) -> Steps[None]:
        progress = self.decoder.progress
        self.known = yield from self.decoder.prefill()
        draft = self.reuse.propose(self.plan.max_tokens)
        first_tokens = [] if draft else self._first_tokens()
        if first_tokens and self.plan.refinement.steps:
            yield from self._verify_and_draft(first_tokens)
        else:
            yield from self._verify(draft or first_tokens)
        # After a right guess of the first token, most drafts are accepted as a whole.
        expected = bool(first_tokens) and self.next_logits is not None
        while self._rewinds_tool_choice() or (self._room and not progress.complete):
            before, drafts_anew = progress.forwards, self.next_logits is None
            draft = yield from self._draft()
            goes_on = 0 < len(draft) < self._room and draft[-1] != self.decoder.vocabulary.end
            verify = self._verify_and_draft if expected and goes_on else self._verify
            accepted = yield from verify(draft)
            if self.denoised:
                self.decoder.ahead = self._ahead(len(draft), accepted)
            if draft and drafts_anew:
                self.lookup.learn(accepted, progress.forwards - before)
        if progress.complete and self.aids.calls is not None:
            end = self.decoder.vocabulary.end
            progress.confidence = confidence(progress.tokens, self.logs, self.aids.calls, end)
        if progress.complete and self.aids.pruning is not None:
            yield from self.aids.pruning.steps(self.decoder, self.pruning_logits)

    @property
    def _room(self) -> int:
        return self.plan.max_tokens - len(self.decoder.progress.tokens)

    def _first_tokens(self) -> list[int]:
        """Tokens that the answer must begin with by its grammar, or will probably begin with."""
        if self.matcher is None:
            return []
        forced = self.matcher.forced()[: self.plan.max_tokens]
        likely = self.aids.first_tokens if self.plan.refinement.steps else ()
        return forced or list(likely[: self.plan.max_tokens])

    def _verify_and_draft(self, draft: list[int]) -> Steps[int]:
        """Verify a draft, except its last token, and draft a block after that in the same forward.

        Returns the number of the draft's tokens that are accepted.
        """
        decoder, known = self.decoder, self.known
        self.pruning_logits = None
        masks = [decoder.vocabulary.mask] * decoder.ahead
        ids, causal = [*known, *draft, *masks], len(known) + len(draft) - 1
        asked = Forward(ids, causal, len(known) - 1, prefill=not decoder.progress.tokens)
        logits, _ = yield from together(
            decoder.cache, decoder.logits(asked), self._ask_gains_in_doubt()
        )
        *sure, last = draft
        rows = decoder.with_noise(logits[: len(draft)], self.plan)
        accepted = yield from self._commit(sure, rows)
        if accepted == len(sure) and self.known[:1] == [last]:
            # The block was drafted without the tokens that the grammar forces after the draft. Its
            # logits are used all the same: drafts are verified.
            rest = logits[len(draft) + len(self.known) :]
            self.next_logits = rest if len(rest) else None
        return accepted

    def _draft(self) -> Steps[list[int]]:
        """Draft the tokens after the known ones: reused, looked up in the prompt, or denoised."""
        decoder, room = self.decoder, self._room
        logits, self.next_logits = self.next_logits, None
        draft = self.reuse.propose(room) if logits is None else []
        self.denoised = False
        if draft or not self.plan.refinement.steps:
            return draft
        if logits is None:
            draft = self.lookup.propose(decoder.progress.tokens, room)
        self.denoised = not draft
        if not draft:
            drafting = decoder.draft(self.known, self.plan, (), self.matcher, logits)
            draft = (yield from drafting)[:room]
        return draft

    def _verify(self, draft: list[int]) -> Steps[int]:
        """Verify and commit a draft; returns the number of its tokens that are accepted."""
        decoder, tokens = self.decoder, self.decoder.progress.tokens
        ids = [*self.known, *draft]
        asked = Forward(ids, len(ids), len(self.known) - 1, prefill=not tokens)
        whole = [*tokens, *draft]
        rows, pruning_logits, _ = yield from together(
            decoder.cache,
            decoder.verification(asked, draft, self.plan, self.matcher),
            self._ask_pruning_logits(whole),
            self._ask_gains_in_doubt(),
        )
        accepted = yield from self._commit(draft, rows)
        self.pruning_logits = pruning_logits if tokens == whole else None
        return accepted

    def _ask_pruning_logits(self, answer: list[int]) -> Steps[Sequence[Tensor] | None]:
        """Logits for argument pruning of an answer that is being verified, if it is complete."""
        decoder, pruning = self.decoder, self.aids.pruning
        ends = answer[-1:] == [decoder.vocabulary.end]
        if pruning is None or not ends or decoder.cache.length < len(decoder.prompt) - 1:
            return None
        parts = pruning.forwards(decoder, answer)
        return (yield SideForwards(parts)) if parts else None

    def _ask_gains_in_doubt(self) -> Steps[None]:
        """Ask for gains if the draft was in doubt, because the verification will then be, too."""
        if self.gains is None and self.decoder.in_doubt:
            # Their first forward is shared with the verification, which counts it.
            yield from self._ask_gains(counted=1)

    def _ask_gains(self, counted: int = 0) -> Steps[None]:
        """Ask for gains, if the answer has that aid; ``counted`` forwards are counted already."""
        if self.aids.gains is None:
            return
        steps, answer, made = self.aids.gains(), None, 0
        while True:
            try:
                asked = steps.send(answer)
            except StopIteration as over:
                self.gains = over.value
                return
            made += 1
            self.decoder.progress.forwards += made > counted
            answer = yield asked

    def _commit(self, draft: list[int], rows: Tensor | Sequence[int]) -> Steps[int]:
        """Verify a draft against a forward's rows and commit what agrees.

        Returns the number of the draft's tokens that are accepted.
        """
        decoder, matcher, progress = self.decoder, self.matcher, self.decoder.progress
        end, before = decoder.vocabulary.end, len(progress.tokens)
        verdict = verify(draft, rows, matcher, end)
        if verdict.in_doubt and matcher is not None and self.aids.gains is not None:
            if self.gains is None:
                yield from self._ask_gains()
            assert self.gains is not None
            sure = len(verdict.accepted)
            verdict = self._with_gains(verdict, draft[sure:], rows[sure:], self.gains)
        decoder.cache.commit(len(self.known) + len(verdict.accepted))
        self.known = verdict.added
        progress.kept += self.reuse.learn(verdict)
        progress.draft = []
        progress.tokens += verdict.accepted
        progress.tokens += self.known[: self._room]
        if self.aids.calls is not None:
            self.logs += log_probabilities(rows, progress.tokens[before:], verdict.decided)
        progress.complete = progress.tokens[-1] == end
        return len(verdict.accepted)

    def _ahead(self, drafted: int, accepted: int) -> int:
        """How many positions to draft next: few behind a draft that failed early.

        Every position costs time, and those behind a wrong one are in vain.
        """
        now, most = self.decoder.ahead, self.decoder.block_size - 1
        # The last token may be decided in the next forward.
        held = accepted + 1 >= max(2, min(drafted, now))
        return min(2 * now + 1, most) if held else min(max(accepted + 2, LEAST_AHEAD), now)

    def _with_gains(
        self,
        sure: Verdict,
        draft: list[int],
        rows: Tensor | Sequence[int],
        gains: Mapping[str, float],
    ) -> Verdict:
        """Verify the rest of a draft, from where the tools' names differ, with the tools' gains."""
        assert self.matcher is not None
        count = len(sure.accepted)
        own, end = self.matcher.copy(), self.decoder.vocabulary.end
        own.set_gains(dict.fromkeys(gains, 0.0))
        self.matcher.set_gains(gains)
        before = own.copy()
        alone, rest = (verify(draft, rows, one, end) for one in (own, self.matcher))
        if (alone.accepted + alone.added)[0] != (rest.accepted + rest.added)[0]:
            self.without_gains = (len(self.decoder.progress.tokens) + count, before)
        decided = (*sure.decided, *(count + at for at in rest.decided))
        return Verdict(sure.accepted + rest.accepted, rest.added, decided=decided)

    def _rewinds_tool_choice(self) -> bool:
        """Go back to the choice of the first tool if gains changed it and a second call begins.

        Gains take the user's words as a request for one tool, so they are not valid for several.
        Returns whether it went back.
        """
        if self.without_gains is None or self.matcher is None or not self.matcher.several_calls:
            return False
        decoder, (count, own) = self.decoder, self.without_gains
        self.without_gains = None
        tokens = decoder.progress.tokens[:count]
        try:
            # The last of these tokens is forwarded again, for the logits that follow it.
            decoder.cache = decoder.cache.cut(len(decoder.prompt) + count - 1)
        except queue.Full:
            return False
        decoder.progress.tokens, decoder.progress.complete = tokens, False
        del self.logs[count:]
        decoder.progress.kept = min(decoder.progress.kept, count)
        self.known, self.matcher = tokens[-1:], own
        self.next_logits, self.pruning_logits = None, None
        self.reuse = DraftReuse(())
        return True


def _unverified(decoder: Decoder, plan: Plan) -> Steps[None]:
    """Commit drafts as they are; the blocks begin with undoubted tokens of an earlier answer."""
    # Every token must be decided before it is committed, so allow as many steps as that takes.
    plan = replace(plan, refinement=replace(plan.refinement, steps=decoder.block_size))
    progress, end, mask = decoder.progress, decoder.vocabulary.end, decoder.vocabulary.mask
    earlier = plan.earlier[: plan.max_tokens]
    ids = yield from decoder.prefill()
    size = len(ids)
    asked = Forward([*ids, *earlier], size + len(earlier), size - 1, prefill=True)
    logits = yield from decoder.logits(asked)
    decoder.cache.commit(size)
    answer = mask_doubted(earlier, logits.cpu(), plan.refinement.threshold, mask)
    logits = logits[:1]
    while True:
        start = len(progress.tokens)
        known = answer[start : start + 1]
        if known in ([], [mask]):
            known = propose(logits, plan.sampling, start).tokens.tolist()
        progress.tokens += known
        progress.draft = []
        room = plan.max_tokens - len(progress.tokens)
        if known == [end] or room == 0:
            break
        draft = (yield from decoder.draft(known, plan, answer[start + 1 :]))[:room]
        ids = [*known, *draft]
        logits = yield from decoder.logits(Forward(ids, len(ids), len(ids) - 1))
        decoder.cache.commit(len(ids))
        progress.tokens += draft
        if progress.tokens[-1] == end or len(progress.tokens) == plan.max_tokens:
            break
    progress.draft = []
    progress.complete = progress.tokens[-1] == end
    progress.kept = sum(token != mask for token in answer[: len(progress.tokens)])

"""Decoding for checkpoints whose committed positions are causal.

A block is drafted bidirectionally, then one causal forward verifies it and commits it, or commits
it as it is. What can be asked ahead shares a forward: a block behind what the answer will probably
begin with is drafted along with the prompt; what a doubtful choice of a tool is weighed with, and
what a finished answer is looked at again with, goes along with the verification.
"""

from __future__ import annotations

import queue
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from torch import Tensor

from dlm.decoding.decoder import Decoder, Plan, checked
from dlm.decoding.draft_reuse import Earlier, doubted
from dlm.decoding.forwards import Forward, SideForwards, Steps, together
from dlm.decoding.prompt_lookup import PromptLookup
from dlm.decoding.unmask import propose
from dlm.decoding.verify import Verdict, verify
from dlm.grammar.matcher import Matcher
from dlm.kv_cache.cache import Cache

Gains = Callable[[], Steps[Mapping[str, float]]]
"""Finds out what each tool gains by something that the model does not see while it chooses."""


class Look(Protocol):
    """Looks at a whole answer again."""

    def parts(self, decoder: Decoder, answer: Sequence[int]) -> tuple[tuple[Cache, Forward], ...]:
        """Forwards that an answer would be looked at with; none where there is nothing to see."""
        ...

    def steps(self, decoder: Decoder, rows: Sequence[Tensor] | None = None) -> Steps[None]:
        """Look at a decoder's finished answer, which it may `settle` for another.

        Args:
            decoder: Whose answer has come to its end.
            rows: What served `parts` of this answer, where they were asked for already.
        """
        ...


@dataclass(frozen=True, slots=True)
class Aids:
    """What has a say in an answer beside the model's choices, or hastens them.

    Attributes:
        gains: What each tool gains by what the model does not see while it chooses one, in nats;
            asked where the matcher is undecided, at most once.
        look: Taken at an answer that has come to its end.
        opening: Tokens that the answer will probably begin with, one at least of a call's; used
            under a grammar alone.
    """

    gains: Gains | None = None
    look: Look | None = None
    opening: tuple[int, ...] = ()


def decode_causal(
    decoder: Decoder, plan: Plan, matcher: Matcher | None = None, aids: Aids | None = None
) -> Steps[None]:
    """Answer the prompt; `Decoder.progress` tells how far it has come.

    Args:
        decoder: Of the request.
        plan: How to decode.
        matcher: Of the answer's grammar.
        aids: For verified drafts.

    Raises:
        ValueError: A grammar is given for unverified drafts, which are not final left to right; or
            no token may be generated.
    """
    if matcher is not None and not plan.verified:
        raise ValueError("a grammar needs verified drafts")
    checked(plan)
    if not plan.verified:
        return _drafted(decoder, plan)
    return _Verified(decoder, plan, matcher, aids or Aids()).steps()


class _Verified:
    def __init__(self, decoder: Decoder, plan: Plan, matcher: Matcher | None, aids: Aids) -> None:
        self.decoder = decoder
        self.plan = plan
        self.matcher = matcher
        self.aids = aids
        self.earlier = Earlier(plan.earlier)
        self.echo = PromptLookup(decoder.ids, decoder.vocabulary.never)
        # Decided, and not committed yet.
        self.known: list[int] = []
        # Logits of the next draft's first step, where they are known already.
        self.begun: Tensor | None = None
        # What tools gain, once it was asked.
        self.gained: Mapping[str, float] | None = None
        # Where gains changed the choice of a tool: the tokens before it, and the model's own way.
        self.other: tuple[int, Matcher] | None = None
        # What a second look at the answer wants, where it was asked for with the verification.
        self.seen: Sequence[Tensor] | None = None

    def steps(self) -> Steps[None]:
        """See `decode_causal`."""
        progress = self.decoder.progress
        self.known = yield from self.decoder.prefill()
        draft = self.earlier.proposed(self.plan.max_tokens)
        opening = [] if draft else self._opening()
        if opening and self.plan.refinement.steps:
            yield from self._open(opening)
        else:
            yield from self._verify(draft or opening)
        # An answer of the kind that was expected is most often drafted right.
        expected = bool(opening) and self.begun is not None
        while self._goes_back() or (self._room and not progress.complete):
            before, costly = progress.forwards, self.begun is None
            draft = yield from self._draft()
            goes_on = 0 < len(draft) < self._room and draft[-1] != self.decoder.vocabulary.end
            verify = self._open if expected and goes_on else self._verify
            accepted = yield from verify(draft)
            if draft and costly:
                self.echo.judged(accepted, progress.forwards - before)
        if progress.complete and self.aids.look is not None:
            yield from self.aids.look.steps(self.decoder, self.seen)

    @property
    def _room(self) -> int:
        return self.plan.max_tokens - len(self.decoder.progress.tokens)

    def _opening(self) -> list[int]:
        """What the answer has to begin with, or may be expected to."""
        if self.matcher is None:
            return []
        forced = self.matcher.forced()[: self.plan.max_tokens]
        likely = self.aids.opening if self.plan.refinement.steps else ()
        return forced or list(likely[: self.plan.max_tokens])

    def _open(self, draft: list[int]) -> Steps[int]:
        """Verify a draft but for its last token, with which a block begins that comes along.

        Returns:
            How much of it is accepted.
        """
        decoder, known = self.decoder, self.known
        self.seen = None
        masks = [decoder.vocabulary.mask] * (decoder.block_size - 1)
        ids, causal = [*known, *draft, *masks], len(known) + len(draft) - 1
        wish = Forward(ids, causal, len(known) - 1, prefill=not decoder.progress.tokens)
        asking = decoder.ask(wish)
        logits, _ = yield from together(decoder.cache, asking, self._weighed())
        *sure, last = draft
        rows = decoder.noised(logits[: len(draft)], self.plan)
        accepted = yield from self._take(sure, rows)
        if accepted == len(sure) and self.known[:1] == [last]:
            # The draft knew nothing of what the grammar forces behind it, and stands all the same.
            begun = logits[len(draft) + len(self.known) :]
            self.begun = begun if len(begun) else None
        return accepted

    def _draft(self) -> Steps[list[int]]:
        """What may follow the known tokens."""
        decoder, room = self.decoder, self._room
        begun, self.begun = self.begun, None
        draft = self.earlier.proposed(room) if begun is None else []
        if draft or not self.plan.refinement.steps:
            return draft
        if begun is None:
            draft = self.echo.proposed(decoder.progress.tokens, room)
        if not draft:
            drafting = decoder.draft(self.known, self.plan, (), self.matcher, begun)
            draft = (yield from drafting)[:room]
        return draft

    def _verify(self, draft: list[int]) -> Steps[int]:
        """Verify and commit a draft; returns how much of it is accepted."""
        decoder, tokens = self.decoder, self.decoder.progress.tokens
        ids = [*self.known, *draft]
        wish = Forward(ids, len(ids), len(self.known) - 1, prefill=not tokens)
        whole = [*tokens, *draft]
        rows, seen, _ = yield from together(
            decoder.cache,
            decoder.judge(wish, draft, self.plan, self.matcher),
            self._looked_at(whole),
            self._weighed(),
        )
        accepted = yield from self._take(draft, rows)
        self.seen = seen if tokens == whole else None
        return accepted

    def _looked_at(self, answer: list[int]) -> Steps[Sequence[Tensor] | None]:
        """Serve a second look at an answer that is being verified, if it is whole."""
        decoder, look = self.decoder, self.aids.look
        ends = answer[-1:] == [decoder.vocabulary.end]
        if look is None or not ends or decoder.cache.length < len(decoder.prompt) - 1:
            return None
        parts = look.parts(decoder, answer)
        return (yield SideForwards(parts)) if parts else None

    def _weighed(self) -> Steps[None]:
        """Ask what tools gain, where the draft chose in doubt: the model will doubt as well."""
        if self.aids.gains is not None and self.gained is None and self.decoder.undecided:
            self.gained = yield from self.aids.gains()

    def _take(self, draft: list[int], rows: Tensor | Sequence[int]) -> Steps[int]:
        """Commit what a forward says of a draft; returns how much of it is accepted."""
        decoder, matcher, progress = self.decoder, self.matcher, self.decoder.progress
        end = decoder.vocabulary.end
        verdict = verify(draft, rows, matcher, end)
        if verdict.undecided and matcher is not None and self.aids.gains is not None:
            if self.gained is None:
                self.gained = yield from self.aids.gains()
                progress.forwards += 1
            sure = len(verdict.accepted)
            verdict = self._weigh(verdict.accepted, draft[sure:], rows[sure:], self.gained)
        decoder.cache.commit(len(self.known) + len(verdict.accepted))
        self.known = verdict.given
        progress.kept += self.earlier.judged(verdict)
        progress.draft = []
        progress.tokens += verdict.accepted
        progress.tokens += self.known[: self._room]
        progress.complete = progress.tokens[-1] == end
        return len(verdict.accepted)

    def _weigh(
        self,
        accepted: list[int],
        draft: list[int],
        rows: Tensor | Sequence[int],
        gains: Mapping[str, float],
    ) -> Verdict:
        """Judge the rest of a draft from where tools part, by what they gain."""
        assert self.matcher is not None
        own, end = self.matcher.copy(), self.decoder.vocabulary.end
        own.weigh(dict.fromkeys(gains, 0.0))
        self.matcher.weigh(gains)
        before = own.copy()
        alone, rest = (verify(draft, rows, way, end) for way in (own, self.matcher))
        if (alone.accepted + alone.given)[0] != (rest.accepted + rest.given)[0]:
            self.other = (len(self.decoder.progress.tokens) + len(accepted), before)
        return Verdict(accepted + rest.accepted, rest.given)

    def _goes_back(self) -> bool:
        """Go back to the first tool's choice if gains changed it and another call is begun.

        The user's words were read as one request for one tool.
        """
        if self.other is None or self.matcher is None or not self.matcher.several:
            return False
        decoder, (count, own) = self.decoder, self.other
        self.other = None
        tokens = decoder.progress.tokens[:count]
        try:
            # What comes behind the last of them is to be chosen again.
            decoder.cache = decoder.cache.cut(len(decoder.prompt) + count - 1)
        except queue.Full:
            return False
        decoder.progress.tokens, decoder.progress.complete = tokens, False
        decoder.progress.kept = min(decoder.progress.kept, count)
        self.known, self.matcher, self.begun, self.seen = tokens[-1:], own, None, None
        self.earlier = Earlier(())
        return True


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

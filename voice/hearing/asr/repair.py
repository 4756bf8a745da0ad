"""Repairs a transcript with words its domain expects, where the recogniser was in doubt.

First, among the wordings at the end of a beam search, one of which the domain knows more is chosen
even if the sound makes it somewhat less likely. This is done only if the domain knows most of it;
talk about anything else is left as it was recognised.

Second, misheard names are replaced. A recogniser of general English writes "a dark rose latte"
where a shop's menu has a dark roast. Spans of up to four words that the domain does not know are
compared with its names by their sounds, and close names are proposed. The recogniser then says how
likely the sound makes either wording. The name wins even if it is less likely, by up to a nat for
each of its sounds, minus the cost of the sounds that differ. So what was heard clearly stays,
whatever it resembles.

The numbers were tuned on coffee orders and on requests to the tools of a clinic, a bank and a
garden shop, in synthetic voices, so that no read sentence and no small talk got worse
(docs/LOG.md).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from text_to_num import text2num

from voice.hearing.asr.domain import Domain, Words, words_of
from voice.hearing.asr.pronunciation import (
    Pronunciation,
    counted,
    distances,
    in_common,
    in_rows,
)
from voice.hearing.spoken_form import spoken_with_places

Token = tuple[int, float]
"""Where a token ends in the text, and its log probability given the sound and earlier tokens."""
Likelihood = Callable[[str], Sequence[Token]]

_LONGEST_SPAN = 4
_FEWEST_SOUNDS, _MOST_SOUNDS = 4, 26
_SHORT = 7
"""A name with fewer sounds than this is easily found in other words."""
_LEAST_IN_COMMON = 0.75
"""Least share of the longer one's sounds that both have, in any order; a quick test."""
_FURTHEST = 0.33
"""Greatest distance for each sound of the longer one."""
_PER_DISTANCE = 2.0
_IN_PLACE = 1.5
"""What a name gains if the domain knows it next to the word before or after it."""
_DEAREST = 0.4
"""Highest cost for each sound of the name; a dearer name is hardly ever what was said."""
_ROUNDS = 2
"""How many wordings are tried."""
_PER_KNOWN = 1.5
"""What a known word, or a known pair of neighbours, is worth, in nats."""
_PARTLY, _MOSTLY = 0.5, 0.8
"""Least share of known words and pairs in the likeliest wording, and in one that replaces it."""


@dataclass(frozen=True, slots=True)
class Proposal:
    """A name to replace the spoken words from ``start`` up to ``end``.

    Attributes:
        sounds: How many sounds the name has.
        cost: Cost of the sounds that do not fit, less a bonus for known neighbours.
    """

    start: int
    end: int
    name: str
    sounds: int
    cost: float

    @property
    def worth(self) -> float:
        """By how many nats it may be less likely than what was heard."""
        return self.sounds - self.cost


class Repair:
    """Repairs transcripts of one domain; may be used from any thread.

    Args:
        domain: What is likely to be said.
        pronunciation: Gives the sounds of its words and of transcripts.
        ordinary: Tells whether a word is so common that the recogniser knows it well.
    """

    def __init__(
        self, domain: Domain, pronunciation: Pronunciation, ordinary: Callable[[str], bool]
    ) -> None:
        self._domain = domain
        self._pronunciation = pronunciation
        self._ordinary = ordinary
        read = [
            (name, words, pronunciation.of(words))
            for name in domain.names
            if (words := words_of(name))
        ]
        read = [known for known in read if _FEWEST_SOUNDS <= len(known[2]) <= _MOST_SOUNDS]
        self._names = [(name, words) for name, words, _ in read]
        self._rows = in_rows([sounds for _, _, sounds in read])
        self._counted = counted([sounds for _, _, sounds in read])
        self._lengths = np.array([len(sounds) for _, _, sounds in read], np.float32)

    def __call__(self, written: str, likelihood: Likelihood) -> str:
        """A transcript with the names put in that were probably said.

        Args:
            written: The transcript as the recogniser wrote it.
            likelihood: Judges a wording. Called up to three times, but usually not at all or once.
        """
        wording = _Wording(written)
        proposals = self.proposals(wording.words)
        if not proposals:
            return written
        heard = likelihood(written)
        left = [proposal for proposal in proposals if _possible(proposal, wording, heard)]
        taken: list[Proposal] = []
        for _ in range(_ROUNDS):
            tried = wording.apart(left, taken)
            if len(tried) == len(taken):
                break
            gains = wording.gains(tried, heard, likelihood)
            left = [proposal for proposal in left if proposal not in tried]
            taken = [
                proposal
                for proposal, gain in zip(tried, gains, strict=True)
                if proposal in taken or gain + proposal.worth > 0
            ]
        return wording.with_names(taken)

    def likeliest(self, wordings: Sequence[tuple[str, float]]) -> str:
        """The one of some wordings that was probably said.

        Args:
            wordings: At least one, each with its log probability given the sound, the likeliest
                first.
        """
        heard, *others = [(text, score, *self._known(words_of(text))) for text, score in wordings]
        if heard[2] < _PARTLY * heard[3]:
            return heard[0]
        ours = [heard, *(one for one in others if one[2] >= _MOSTLY * one[3])]
        return max(ours, key=lambda one: one[1] + _PER_KNOWN * one[2])[0]

    def proposals(self, words: Sequence[str]) -> list[Proposal]:
        """Names that sound like words the domain does not know, the cheapest first."""
        spans = [span for span in _spans(len(words)) if not self._domain.knows(words[slice(*span)])]
        if not spans or not self._names:
            return []
        sounds = [self._pronunciation.of(words[start:end]) for start, end in spans]
        lengths = np.array([len(phones) for phones in sounds], np.float32)
        longer = np.maximum(lengths[:, None], self._lengths)
        pairs = np.nonzero(in_common(counted(sounds), self._counted) >= _LEAST_IN_COMMON * longer)
        apart = distances(in_rows(sounds)[pairs[0]], self._rows[pairs[1]])
        near = np.flatnonzero(apart <= _FURTHEST * longer[pairs])
        found = [
            self._proposed(words, spans[pairs[0][at]], int(pairs[1][at]), float(apart[at]))
            for at in near
        ]
        worthy = (p for p in found if p and p.cost <= _DEAREST * p.sounds)
        return sorted(worthy, key=lambda proposal: proposal.cost)

    def _proposed(
        self, words: Sequence[str], span: tuple[int, int], index: int, distance: float
    ) -> Proposal | None:
        (start, end), (name, new) = span, self._names[index]
        sounds = int(self._lengths[index])
        before, after = (*words[max(0, start - 1) : start],), (*words[end : end + 1],)
        beside = sum(
            pair in self._domain.pairs
            for pair in (*pairwise((*before, new[0])), *pairwise((new[-1], *after)))
        )
        needed = self._neighbours_needed(words[start:end], new, sounds)
        gained = self._strangeness((*before, *words[start:end], *after)) - self._strangeness(
            (*before, *new, *after)
        )
        if (
            gained <= 0
            or beside < needed
            or _same_but_for_more("".join(words[start:end]), "".join(new))
            or _is_number(_differing(words[start:end], new))
        ):
            return None
        cost = _PER_DISTANCE * distance - _IN_PLACE * (beside > 0)
        return Proposal(start, end, name, sounds, cost)

    def _neighbours_needed(self, said: Sequence[str], new: Words, sounds: int) -> int:
        """How many neighbours the domain must know beside a name that is easily misheard.

        Short names, and ordinary words in place of or for one another, resemble much of English.
        """
        common = len(new) == 1 and self._ordinary(new[0])
        if sounds < _SHORT:
            return 2 if common else 1
        return int(len(said) == len(new) == 1 and self._ordinary(said[0]))

    def _strangeness(self, words: Sequence[str]) -> int:
        """How many words and pairs of neighbours the domain does not know."""
        known, of = self._known(words)
        return of - known

    def _known(self, words: Sequence[str]) -> tuple[int, int]:
        """How many words and pairs of neighbours the domain knows, and how many there are.

        Repeats count once, because a beam may hold a wording that says all of another twice.
        """
        said, pairs = {*words}, {*pairwise(words)}
        known = len(said & self._domain.words) + len(pairs & self._domain.pairs)
        return known, len(said) + len(pairs)


class _Wording:
    """A transcript as written, and its spoken words with the place of each in it."""

    def __init__(self, written: str) -> None:
        self.written = written
        places = [*spoken_with_places(written)]
        self.words = [word for word, _ in places]
        self._ends = [end for _, end in places]
        starts = {end: start for start, end in pairwise((0, *dict.fromkeys(self._ends)))}
        self._starts = [starts[end] for end in self._ends]

    def place(self, proposal: Proposal) -> tuple[int, int]:
        """Start and end of the written words that a proposal changes, without the last mark."""
        start, end = self._starts[proposal.start], self._ends[proposal.end - 1]
        written = self.written[start:end]
        return end - len(written.lstrip()), start + len(written.rstrip(" ,;:.!?"))

    def apart(self, proposals: Sequence[Proposal], taken: Sequence[Proposal]) -> list[Proposal]:
        """The proposals taken, plus, in order, those that overlap none chosen before; by place."""
        chosen = [*taken]
        for proposal in proposals:
            start, end = self.place(proposal)
            places = [self.place(other) for other in chosen]
            if all(end <= other_start or other_end <= start for other_start, other_end in places):
                chosen.append(proposal)
        return sorted(chosen, key=lambda proposal: proposal.start)

    def with_names(self, proposals: Sequence[Proposal]) -> str:
        """The text with the names put in; they must not overlap, and be sorted by place."""
        return "".join(self._pieces(proposals))

    def gains(
        self, proposals: Sequence[Proposal], heard: Sequence[Token], likelihood: Likelihood
    ) -> list[float]:
        """How much likelier each name makes its part of the text, in nats; usually negative.

        A part reaches to the next name, because the probability of later tokens depends on it.
        """
        pieces = [*self._pieces(proposals)]
        new = likelihood("".join(pieces))
        lengths = np.cumsum([len(piece) for piece in pieces])
        old_starts = [self.place(proposal)[0] for proposal in proposals]
        before = _summed(heard, [*old_starts, len(self.written)])
        after = _summed(new, [*(int(length) for length in lengths[:-1:2]), int(lengths[-1])])
        return [now - then for now, then in zip(after, before, strict=True)]

    def _pieces(self, proposals: Sequence[Proposal]) -> Iterator[str]:
        """The pieces of the new text: kept text and names in turn, beginning and ending kept."""
        at = 0
        for proposal in proposals:
            start, end = self.place(proposal)
            yield self.written[at:start]
            yield self._fitted(proposal)
            at = end
        yield self.written[at:]

    def _fitted(self, proposal: Proposal) -> str:
        """A name as it is written in the text.

        Where it replaces only part of a written word, the rest is added. A capital is kept.
        """
        first = self._starts.index(self._starts[proposal.start])
        behind = self._starts[proposal.end - 1]
        rest = [
            word for word, start in zip(self.words, self._starts, strict=True) if start == behind
        ]
        last = self._starts.index(behind) + len(rest)
        name = " ".join(
            (*self.words[first : proposal.start], proposal.name, *self.words[proposal.end : last])
        )
        capital = self.written[self.place(proposal)[0]].isupper()
        return name[0].upper() + name[1:] if capital else name


def _differing(said: Sequence[str], new: Sequence[str]) -> Sequence[str]:
    """The new words without those they share with the old at both ends; () if none are replaced."""
    while said and new and said[0] == new[0]:
        said, new = said[1:], new[1:]
    while said and new and said[-1] == new[-1]:
        said, new = said[:-1], new[:-1]
    return new if said else ()


def _is_number(words: Sequence[str]) -> bool:
    """Whether the words are a number, which the recogniser writes in figures and knows well.

    True for no words too.
    """
    if not words:
        return True
    try:
        text2num(" ".join(words), "en")
    except ValueError:
        return False
    return True


def _spans(count: int) -> Iterator[tuple[int, int]]:
    for start in range(count):
        for end in range(start + 1, min(count, start + _LONGEST_SPAN) + 1):
            yield start, end


def _same_but_for_more(said: str, name: str) -> bool:
    """Whether nothing was misheard: the name is part of what was said, or adds only a plural."""
    return said != name and (name in said or name in (f"{said}s", f"{said}es"))


def _possible(proposal: Proposal, wording: _Wording, heard: Sequence[Token]) -> bool:
    """Whether the recogniser left enough probability to other words for the name to win."""
    start, end = wording.place(proposal)
    sure = sum(score for at, score in heard if start < at <= end)
    return proposal.worth + float(np.log(max(1e-9, -np.expm1(sure)))) > 0


def _summed(tokens: Sequence[Token], starts: Sequence[int]) -> list[float]:
    """Log probability of the tokens that end in each stretch between successive places."""
    return [
        sum(score for end, score in tokens if start < end <= until)
        for start, until in pairwise(starts)
    ]

"""How long a silence must last before the user's turn is over: words, model and voice together.

Evidence is counted in log odds and adds up: what the words say, what the language model expects to
come next, how the voice ended. A silence adds its own, since pauses inside turns are about
exponentially long: each `MS_PER_NAT` of it makes the end e times as likely. The turn is over when
the sum reaches the profile's bar; so the needed silence falls in a straight line with the evidence.

`WEIGHTS` was fitted by ``python -m benchmarks.voice.fit_endings``, which says on what.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from voice.completeness import Completeness, is_short_answer, reads_complete
from voice.prosody import Prosody


class Profile(StrEnum):
    """How eager the agent is to take its turn."""

    EAGER = "eager"
    BALANCED = "balanced"
    PATIENT = "patient"


@dataclass(frozen=True, slots=True)
class Cues:
    """What is known about a pause, besides its length.

    Attributes:
        text: The turn's newest transcript; "" while no word is known.
        sure: The recogniser's confidence in it, in [0, 1].
        opinion: The language model's probability that the message ends here; None while unknown.
        prosody: How the speech before the pause sounded; None while unknown.
    """

    text: str = ""
    sure: float = 1.0
    opinion: float | None = None
    prosody: Prosody | None = None


@dataclass(frozen=True, slots=True)
class Weights:
    """Log odds for each cue.

    Attributes:
        no_text: While no word is known; like `PROFILES`, set on the tuning half of
            benchmarks/voice/endpointing.py.
        alone: What the words read as, where that is all there is.
        beside: The same beside the model's opinion.
        short_answer: A whole answer of a word or two ("yeah", "stop"), whatever the model expects:
            it has met few of them. Set by hand.
        short_answer_sure: Confidence from which on a short answer is taken for one: the beginning
            of something longer may be misheard as a word.
        opinion: For each unit of the log odds of the model's probability, within `opinion_range`.
        prosody: For each field of `Prosody`, per unit.
        prosody_at: The value of each field that says nothing.
        prosody_beside: Share of the voice's evidence that counts once words are known: the two
            are not independent.
    """

    no_text: float
    alone: Mapping[Completeness, float]
    beside: Mapping[Completeness, float]
    short_answer: float
    short_answer_sure: float
    opinion: float
    opinion_range: tuple[float, float]
    prosody: tuple[float, ...]
    prosody_at: tuple[float, ...]
    prosody_beside: float


@dataclass(frozen=True, slots=True)
class Limits:
    """A profile's bar, and how far evidence may shorten and lengthen the silence.

    Attributes:
        bar: Log odds at which the turn is over.
        shortest_ms: However sure it is.
        longest_ms: However unsure, by what the words read as.
        no_text_ms: However unsure, while no word is known.
    """

    bar: float
    shortest_ms: int
    longest_ms: Mapping[Completeness, int]
    no_text_ms: int


MS_PER_NAT = 250
"""Mean length of pauses inside turns, of those that last at all (160 ms): the longest silences in
read speech, and the shortest among people who look for words."""

_COMPLETE, _NEUTRAL, _INCOMPLETE = Completeness

WEIGHTS = Weights(
    no_text=-1.0,
    alone={_COMPLETE: 1.35, _NEUTRAL: 0.19, _INCOMPLETE: -2.78},
    beside={_COMPLETE: 1.94, _NEUTRAL: 1.80, _INCOMPLETE: 0.36},
    short_answer=3.0,
    short_answer_sure=0.8,
    opinion=0.91,
    opinion_range=(-8.0, 2.0),
    prosody=(-0.0777, 0.0147, -0.0261, 0.0199, -0.0011, -0.2496),
    prosody_at=(-2.1, -0.8, -14.8, -11.5, 184.2, 0.6),
    prosody_beside=0.5,
)

PROFILES: Mapping[Profile, Limits] = {
    Profile.EAGER: Limits(1.5, 160, {_COMPLETE: 400, _NEUTRAL: 500, _INCOMPLETE: 900}, 700),
    Profile.BALANCED: Limits(2.25, 160, {_COMPLETE: 750, _NEUTRAL: 700, _INCOMPLETE: 1200}, 900),
    Profile.PATIENT: Limits(4.0, 240, {_COMPLETE: 900, _NEUTRAL: 1200, _INCOMPLETE: 1800}, 1200),
}


def evidence(cues: Cues, weights: Weights = WEIGHTS) -> float:
    """Log odds that the turn is over, by all but the silence."""
    spoken = voice_evidence(cues.prosody, weights)
    if not cues.text:
        return weights.no_text + spoken
    return _words_evidence(cues, weights) + weights.prosody_beside * spoken


def _words_evidence(cues: Cues, weights: Weights) -> float:
    if cues.sure >= weights.short_answer_sure and is_short_answer(cues.text):
        return weights.short_answer
    reads = reads_complete(cues.text)
    if cues.opinion is None:
        return weights.alone[reads]
    lowest, highest = weights.opinion_range
    opinion = max(lowest, min(highest, log_odds(cues.opinion)))
    return weights.beside[reads] + weights.opinion * opinion


def voice_evidence(prosody: Prosody | None, weights: Weights = WEIGHTS) -> float:
    """Log odds that the turn is over, by how the speech sounded alone."""
    if prosody is None:
        return 0.0
    parts = zip(weights.prosody, prosody.vector(), weights.prosody_at, strict=True)
    return float(sum(weight * (value - at) for weight, value, at in parts))


def needed_silence_ms(cues: Cues, profile: Profile) -> float:
    """How long the silence must be, in milliseconds, before the turn is over."""
    limits = PROFILES[profile]
    longest = limits.longest_ms[reads_complete(cues.text)] if cues.text else limits.no_text_ms
    return max(limits.shortest_ms, min(longest, (limits.bar - evidence(cues)) * MS_PER_NAT))


def log_odds(probability: float) -> float:
    """ln(p / (1 - p)), finite for every p in [0, 1]."""
    inside = max(1e-9, min(1 - 1e-9, probability))
    return math.log(inside / (1 - inside))

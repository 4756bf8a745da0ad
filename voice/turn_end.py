"""How long a silence must last before the user's turn is over: words, model and voice together.

Evidence is counted in log odds and adds up: what the words say, what the language model expects to
come next, how the voice ended. A silence adds its own, since pauses inside turns are about
exponentially long: each `MS_PER_NAT` of it makes the end e times as likely. The turn is over when
the sum reaches the profile's bar; so the needed silence falls in a straight line with the evidence.
Where no word was understood there is nothing to answer, so nothing is gained by being quick.

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
        alone: What the words read as, where that is all there is: 1.25 less than the regression
            finds, because the bars are low for an opinion that counts twice, and would be soon
            reached without one.
        beside: The same beside the model's opinion.
        short_answer: A whole answer of a word or two ("yeah", "stop"), whatever the model expects:
            it has met few of them. Set by hand.
        short_answer_sure: Confidence from which on a short answer is taken for one: the beginning
            of something longer may be misheard as a word.
        opinion: For each unit of the log odds of the model's probability, within `opinion_range`.
            The regression finds half of it, on whole messages and beginnings of text; on the tuning
            half of the recordings twice that ends as few turns early after shorter silences.
        doubt: For each unit by which the log odds of the recogniser's confidence lie below
            `doubt_below`; like `PROFILES`, set on the tuning half of
            benchmarks/voice/endpointing.py.
        prosody: For each field of `Prosody`, per unit.
        prosody_at: The value of each field that says nothing.
        prosody_share: How much of the voice's evidence counts: words and voice are not independent.
    """

    alone: Mapping[Completeness, float]
    beside: Mapping[Completeness, float]
    short_answer: float
    short_answer_sure: float
    opinion: float
    opinion_range: tuple[float, float]
    doubt: float
    doubt_below: float
    prosody: tuple[float, ...]
    prosody_at: tuple[float, ...]
    prosody_share: float


@dataclass(frozen=True, slots=True)
class Limits:
    """A profile's bar, and how far evidence may shorten and lengthen the silence.

    Attributes:
        bar: Log odds at which the turn is over.
        shortest_ms: However sure it is.
        longest_ms: However unsure, as long as nothing says that the words go on.
        unfinished_ms: However unsure, where the words read unfinished or the model takes them for
            less than `UNLIKELY` to be all.
        no_text_ms: The silence while no word is known.
    """

    bar: float
    shortest_ms: int
    longest_ms: int
    unfinished_ms: int
    no_text_ms: int


MS_PER_NAT = 250
"""Mean length of pauses inside turns, of those that last at all (160 ms): the longest silences in
read speech, and the shortest among people who look for words."""
UNLIKELY = 0.01
"""Probability below which the model's opinion counts like a conjunction at the end."""

_COMPLETE, _NEUTRAL, _INCOMPLETE = Completeness

WEIGHTS = Weights(
    alone={_COMPLETE: 0.01, _NEUTRAL: -1.01, _INCOMPLETE: -3.67},
    beside={_COMPLETE: 2.62, _NEUTRAL: 2.18, _INCOMPLETE: 1.73},
    short_answer=3.5,
    short_answer_sure=0.7,
    opinion=2.0,
    opinion_range=(-8.0, 2.0),
    doubt=1.5,
    doubt_below=0.85,
    prosody=(-0.0777, 0.0147, -0.0261, 0.0199, -0.0011, -0.2496),
    prosody_at=(-2.1, -0.8, -14.8, -11.5, 184.2, 0.6),
    prosody_share=0.25,
)

PROFILES: Mapping[Profile, Limits] = {
    Profile.EAGER: Limits(1.0, 160, 400, 1200, 900),
    Profile.BALANCED: Limits(1.75, 160, 500, 1200, 1200),
    Profile.PATIENT: Limits(3.0, 240, 900, 1800, 1500),
}


def evidence(cues: Cues, weights: Weights = WEIGHTS) -> float:
    """Log odds that the turn is over, by all but the silence; of cues with words."""
    below = min(0.0, log_odds(cues.sure) - weights.doubt_below)
    spoken = weights.prosody_share * voice_evidence(cues.prosody, weights)
    return _words_evidence(cues, weights) + weights.doubt * below + spoken


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
    return silence_within(cues, PROFILES[profile])


def silence_within(cues: Cues, limits: Limits) -> float:
    """The same for limits that are no profile's."""
    if not cues.text:
        return limits.no_text_ms
    longest = limits.unfinished_ms if _goes_on(cues) else limits.longest_ms
    return max(limits.shortest_ms, min(longest, (limits.bar - evidence(cues)) * MS_PER_NAT))


def _goes_on(cues: Cues) -> bool:
    """Whether anything says that there is more to come."""
    unlikely = cues.opinion is not None and cues.opinion < UNLIKELY
    return unlikely or reads_complete(cues.text) is Completeness.INCOMPLETE


def log_odds(probability: float) -> float:
    """ln(p / (1 - p)), finite for every p in [0, 1]."""
    inside = max(1e-9, min(1 - 1e-9, probability))
    return math.log(inside / (1 - inside))

"""How long a silence must last before the user's turn is over: the words and the language model.

A logistic regression gives the log odds that a pause is the end. A silence adds its own, since
pauses inside turns are about exponentially long: each `MS_PER_NAT` of it makes the end e times as
likely. The turn is over when the sum reaches the profile's bar, so the needed silence falls in a
straight line with the evidence. Where no word was recognised there is nothing to answer, so nothing
is gained by being quick.

``python -m benchmarks.voice.fit_endings`` fits `BIAS` and `WEIGHTS`, to a new
checkpoint or to other inputs.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from voice.hearing.completeness import Completeness, is_short_answer, reads_complete


class Profile(StrEnum):
    """How eager the agent is to take its turn."""

    EAGER = "eager"
    BALANCED = "balanced"
    PATIENT = "patient"


@dataclass(frozen=True, slots=True)
class Cues:
    """What is known about a pause, besides its length; `inputs_of` makes numbers of it.

    Attributes:
        text: The words recognised up to it; "" while there are none.
        end_of_message: The language model's probability that the message ends here; None while
            unknown.
    """

    text: str = ""
    end_of_message: float | None = None


@dataclass(frozen=True, slots=True)
class Limits:
    """A profile's bar, and how far evidence may shorten and lengthen the silence.

    Attributes:
        bar: Log odds at which the turn is over.
        shortest_ms: The least silence that ends a turn.
        unjudged_ms: The same while the model's probability is unknown. Of what is read aloud, or
            recognised in pieces, many beginnings look whole without it.
        longest_ms: The longest silence where nothing indicates more words.
        unfinished_ms: The longest silence where the words read unfinished, or the model's
            probability is below `UNLIKELY`.
        no_text_ms: The silence while no word is known.
    """

    bar: float
    shortest_ms: int
    unjudged_ms: int
    longest_ms: int
    unfinished_ms: int
    no_text_ms: int


MS_PER_NAT = 250
"""Mean length of pauses inside turns, of those that last at all (160 ms): the longest silences in
read speech, and the shortest among people who look for words."""
UNLIKELY = 0.004
"""A lower probability of the model's has the effect of a conjunction at the end."""

PROFILES: Mapping[Profile, Limits] = {
    Profile.EAGER: Limits(2.25, 160, 250, 400, 1200, 900),
    Profile.BALANCED: Limits(2.75, 160, 440, 460, 1200, 1200),
    Profile.PATIENT: Limits(3.5, 240, 750, 900, 1800, 1500),
}

BIAS = -1.597
WEIGHTS = (1.627, -2.448, 2.947, 0.839, 1.916)
"""One for each number of `inputs_of`, in that order."""
_LOWEST_ODDS, _HIGHEST_ODDS = -10.0, 2.0
"""Log odds of the model beyond which more says no more."""


def inputs_of(text: str, end_of_message: float | None) -> tuple[float, ...]:
    """The numbers that the log odds are a weighted sum of, scaled to about the size of one.

    Args:
        text: The words recognised up to the pause, not empty.
        end_of_message: See `Cues`.

    Returns:
        Whether the text reads complete; whether it reads unfinished; the model's log odds; whether
        these are unknown; how many words there are.
    """
    reads = reads_complete(text)
    odds = -3.0
    if end_of_message is not None:
        odds = max(_LOWEST_ODDS, min(_HIGHEST_ODDS, log_odds(end_of_message)))
    return (
        float(reads is Completeness.COMPLETE),
        float(reads is Completeness.INCOMPLETE),
        (odds + 3) / 4,
        float(end_of_message is None),
        math.log1p(len(text.split())) - 1.5,
    )


def evidence(cues: Cues) -> float:
    """Log odds that the turn is over, by all but the silence; of cues with words."""
    inputs = inputs_of(cues.text, cues.end_of_message)
    return BIAS + sum(weight * value for weight, value in zip(WEIGHTS, inputs, strict=True))


def needed_silence_ms(cues: Cues, profile: Profile) -> float:
    """How long the silence must be, in milliseconds, before the turn is over."""
    return silence_within(cues, PROFILES[profile], evidence(cues) if cues.text else 0.0)


def silence_within(cues: Cues, limits: Limits, odds: float) -> float:
    """The same for limits that are no profile's, and any log odds that the turn is over."""
    if not cues.text:
        return limits.no_text_ms
    longest = limits.unfinished_ms if _goes_on(cues) else limits.longest_ms
    if is_short_answer(cues.text):
        return limits.shortest_ms
    shortest = limits.unjudged_ms if cues.end_of_message is None else limits.shortest_ms
    return max(shortest, min(longest, (limits.bar - odds) * MS_PER_NAT))


def _goes_on(cues: Cues) -> bool:
    """Whether anything indicates more words."""
    unlikely = cues.end_of_message is not None and cues.end_of_message < UNLIKELY
    return unlikely or reads_complete(cues.text) is Completeness.INCOMPLETE


def log_odds(probability: float) -> float:
    """ln(p / (1 - p)), finite for every p in [0, 1]."""
    inside = max(1e-9, min(1 - 1e-9, probability))
    return math.log(inside / (1 - inside))

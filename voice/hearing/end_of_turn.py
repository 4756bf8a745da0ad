"""How long a silence must last before the user's turn is over, given the words and the model.

A logistic regression gives the log odds that a pause is the end of the turn. The silence itself is
evidence too: the lengths of pauses inside turns are about exponentially distributed, so each
`MS_PER_NAT` of silence multiplies the odds of an end by e. The turn is over when the sum reaches
the profile's bar, so the needed silence falls linearly with the evidence. If no word was
recognised, there is nothing to answer and nothing to gain from being quick.

``python -m benchmarks.voice.fit_endings`` refits `BIAS` and `WEIGHTS` for a new checkpoint or for
other inputs.
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
    """What is known about a pause besides its length; `inputs_of` turns it into numbers.

    Attributes:
        text: The words recognised before the pause; "" while there are none.
        end_of_message: The language model's probability that the message ends here; None while
            unknown.
    """

    text: str = ""
    end_of_message: float | None = None


@dataclass(frozen=True, slots=True)
class Limits:
    """A profile's bar, and the bounds within which evidence sets the needed silence.

    Attributes:
        bar: Log odds at which the turn is over.
        shortest_ms: The shortest silence that ends a turn.
        unjudged_ms: The same while the model's probability is unknown. Without it, the beginning of
            a text that is read aloud or recognised in pieces often looks complete.
        longest_ms: The longest silence needed where nothing indicates more words.
        unfinished_ms: The longest silence needed where the words read as unfinished, or the model's
            probability is below `UNLIKELY`.
        no_text_ms: The silence needed while no word is known.
    """

    bar: float
    shortest_ms: int
    unjudged_ms: int
    longest_ms: int
    unfinished_ms: int
    no_text_ms: int


MS_PER_NAT = 250
"""Mean length of pauses inside turns, counting those of 160 ms or more. That is as long as the
longest silences in read speech, and as short as the shortest of people searching for words."""
UNLIKELY = 0.004
"""A model probability below this counts like a conjunction at the end of the words."""

PROFILES: Mapping[Profile, Limits] = {
    Profile.EAGER: Limits(2.25, 160, 250, 400, 1200, 900),
    Profile.BALANCED: Limits(2.75, 160, 440, 460, 1200, 1200),
    Profile.PATIENT: Limits(3.5, 240, 750, 900, 1800, 1500),
}

BIAS = -1.597
WEIGHTS = (1.627, -2.448, 2.947, 0.839, 1.916)
"""One for each number of `inputs_of`, in that order."""
_LOWEST_ODDS, _HIGHEST_ODDS = -10.0, 2.0
"""The model's log odds are clipped to these: more extreme values carry no more information."""


def inputs_of(text: str, end_of_message: float | None) -> tuple[float, ...]:
    """The inputs of the logistic regression, each scaled to about one.

    Args:
        text: The words recognised before the pause, not empty.
        end_of_message: See `Cues`.

    Returns:
        Whether the text reads as complete; whether it reads as unfinished; the model's log odds;
        whether these are unknown; how many words there are.
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
    """Log odds, from all but the silence, that the turn is over; the cues must have words."""
    inputs = inputs_of(cues.text, cues.end_of_message)
    return BIAS + sum(weight * value for weight, value in zip(WEIGHTS, inputs, strict=True))


def needed_silence_ms(cues: Cues, profile: Profile) -> float:
    """How long the silence must be, in milliseconds, before the turn is over."""
    return silence_within(cues, PROFILES[profile], evidence(cues) if cues.text else 0.0)


def silence_within(cues: Cues, limits: Limits, odds: float) -> float:
    """As `needed_silence_ms`, for any limits and any log odds that the turn is over."""
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

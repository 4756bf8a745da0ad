"""How long a silence must last before the user's turn is over: words, model and voice together.

A small network gives the log odds that a pause is the end (`voice.hearing.end_of_turn_network`). A
silence adds its own, since pauses inside turns are about exponentially long: each `MS_PER_NAT` of
it makes the end e times as likely. The turn is over when the sum reaches the profile's bar; so the
needed silence falls in a straight line with the evidence. Words that the recogniser doubts are no
evidence of an end. Where no word was understood there is nothing to answer, so nothing is gained by
being quick.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from voice.hearing.completeness import Completeness, is_short_answer, reads_complete
from voice.hearing.end_of_turn_network import inputs_of, load, score
from voice.hearing.prosody import Prosody


class Profile(StrEnum):
    """How eager the agent is to take its turn."""

    EAGER = "eager"
    BALANCED = "balanced"
    PATIENT = "patient"


@dataclass(frozen=True, slots=True)
class Cues:
    """What is known about a pause, besides its length.

    Attributes:
        text: What was understood up to it; "" while no word is known.
        sure: The recogniser's confidence in the last words of it, in [0, 1].
        opinion: The language model's probability that the message ends here; None while unknown.
        prosody: How the speech before the pause sounded; None while unknown.
    """

    text: str = ""
    sure: float = 1.0
    opinion: float | None = None
    prosody: Prosody | None = None


@dataclass(frozen=True, slots=True)
class Limits:
    """A profile's bar, and how far evidence may shorten and lengthen the silence.

    Attributes:
        bar: Log odds at which the turn is over.
        shortest_ms: However sure it is.
        unasked_ms: However sure, while the model's opinion is unknown. It mostly comes in time, and
            of what is read aloud, or heard in pieces, many beginnings look whole without it.
        longest_ms: However unsure, as long as nothing says that the words go on; also where they
            are not `TRUSTED`, since then nothing says that they are all.
        unfinished_ms: However unsure, where the words read unfinished or the model takes them for
            less than `UNLIKELY` to be all.
        no_text_ms: The silence while no word is known.
    """

    bar: float
    shortest_ms: int
    unasked_ms: int
    longest_ms: int
    unfinished_ms: int
    no_text_ms: int


MS_PER_NAT = 250
"""Mean length of pauses inside turns, of those that last at all (160 ms): the longest silences in
read speech, and the shortest among people who look for words."""
UNLIKELY = 0.01
"""Probability below which the model's opinion counts like a conjunction at the end."""
TRUSTED = 0.65
"""Confidence from which on words count as heard. Then "yeah" or "stop" is a whole answer, whatever
the model expects: it has met few of them. With less the recogniser may have put words that it knows
in place of others, and how whole those look tells nothing of what was said. In the middle of what
does equally well on recordings: at 0.4 as at 0.75 the same turns are cut off, above it all wait."""

PROFILES: Mapping[Profile, Limits] = {
    Profile.EAGER: Limits(2.0, 160, 250, 400, 1200, 900),
    Profile.BALANCED: Limits(2.5, 160, 440, 500, 1200, 1200),
    Profile.PATIENT: Limits(3.5, 240, 750, 900, 1800, 1500),
}


def evidence(cues: Cues) -> float:
    """Log odds that the turn is over, by all but the silence; of cues with words."""
    inputs = inputs_of(cues.text, cues.sure, cues.opinion, cues.prosody)
    return float(score(inputs, load()))


def needed_silence_ms(cues: Cues, profile: Profile) -> float:
    """How long the silence must be, in milliseconds, before the turn is over."""
    limits = PROFILES[profile]
    return silence_within(cues, limits, evidence(cues) if cues.text else 0.0)


def silence_within(cues: Cues, limits: Limits, odds: float) -> float:
    """The same for limits that are no profile's, and any log odds that the turn is over."""
    if not cues.text:
        return limits.no_text_ms
    longest = limits.unfinished_ms if _goes_on(cues) else limits.longest_ms
    if cues.sure < TRUSTED:
        return longest
    if is_short_answer(cues.text):
        return limits.shortest_ms
    shortest = limits.unasked_ms if cues.opinion is None else limits.shortest_ms
    return max(shortest, min(longest, (limits.bar - odds) * MS_PER_NAT))


def _goes_on(cues: Cues) -> bool:
    """Whether anything says that there is more to come."""
    unlikely = cues.opinion is not None and cues.opinion < UNLIKELY
    return unlikely or reads_complete(cues.text) is Completeness.INCOMPLETE

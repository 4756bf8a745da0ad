"""Plain deeds as actions: any verb done to any thing, where only the words tell what is meant.

A deed's verb is said as it stands in the tool's name, so that what is learned is to match words.
"""

from __future__ import annotations

from functools import cache
from random import Random

from dlm.datagen import nouns
from dlm.datagen.composed_words import Action

_SAY = (
    "!VERB REF", "!VERB the NOUN", "!VERB a NOUN", "!VERB my NOUN",
    "i need to VERB the NOUN", "is it time to VERB the NOUN?", "it's time to VERB the NOUN",
    "!VERB the NOUN again", "!VERB all [the] NOUNs", "can we VERB the NOUN?",
    "someone has to VERB the NOUN", "!VERB that NOUN", "!VERB our NOUN",
    "!VERB one of the NOUNs", "!VERB REF please",
)  # fmt: skip
_RESULTS = (
    "Done.", "NOUN: done.", "OK", "Job {id} started.", "The NOUN is {state}.",
)  # fmt: skip
_REPLIES = (
    "Done.", "Okay, that's done.", "The NOUN is taken care of.", "Job {id} has started.",
    "The NOUN is {state}.",
)  # fmt: skip
_KINDS = (
    "when", "day", "room", "duration", "percent", "for_person", "with_person", "text", "place",
    "quantity", "mode", "color", "priority", "reason", "category",
)  # fmt: skip


@cache
def deed(verb: str) -> Action:
    """The action of a verb, in the notation of tool names."""
    said = tuple(form.replace("VERB", verb.replace("_", " ")) for form in _SAY)
    return Action(nouns.ANY, verb, (verb,), said, _RESULTS, _REPLIES, _KINDS)


def draw(rng: Random) -> Action:
    """A random deed."""
    return deed(rng.choice(nouns.deeds()))

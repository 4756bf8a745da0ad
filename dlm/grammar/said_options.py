"""Limits a parameter to the options that a message says: "a tandem for Peter" means no city bike.

A model that has seen few lists of options chooses by an option's place in the list. If the message
says some of the options in so many words, only those are allowed; if it says none, all are.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache, partial

from dlm.grammar.distinct_spans import Candidates, Place, Spans
from dlm.language.identifiers import words
from dlm.language.messages import Tool
from dlm.language.schema import options

KEPT_OPTIONS = 4096
LONGEST_REQUEST = 20
"""In words; a longer text says many things in passing."""
_SMALL = frozenset((
    "a", "an", "all", "any", "as", "at", "be", "by", "do", "down", "for", "i", "in", "is", "it",
    "no", "none", "not", "of", "off", "on", "one", "or", "other", "out", "the", "to", "up", "yes",
))  # fmt: skip
"""Words that a message may say in passing; options of such words alone are ignored."""
_NOTHING = re.compile(r"(?!)")


def said_options(tool: Tool, message: str) -> dict[str, Candidates]:
    """For each parameter of a tool, the options that a short message says.

    Empty for a long message. "Light blue" does not say "light" if "light blue" is an option, too.
    """
    found: dict[str, Candidates] = {}
    if len(message.split()) > LONGEST_REQUEST:
        return found
    for name, schema in tool.properties.items():
        texts = [one for one in options(schema) if isinstance(one, str)]
        at = {one: [match.span() for match in said_as(one).finditer(message)] for one in texts}
        every = [place for places in at.values() for place in places]
        said = {
            one: [message[slice(*place)] for place in places if not _is_inside(place, every)]
            for one, places in at.items()
        }
        if any(said.values()):
            find = partial(_standing, {one: spans for one, spans in said.items() if spans})
            found[name] = Candidates(find, certain=True)
    return found


@lru_cache(KEPT_OPTIONS)
def said_as(option: str) -> re.Pattern[str]:
    """A pattern that finds an option, singular or plural; it finds no option of small words."""
    said = words(option).split()
    if _SMALL.issuperset(said):
        return _NOTHING
    text = r"[\s_-]+".join(map(re.escape, said))
    return re.compile(rf"(?i)(?<!\w){text}(?:e?s)?(?!\w)")


def _is_inside(place: Place, others: Sequence[Place]) -> bool:
    return any(one[0] <= place[0] and place[1] <= one[1] and one != place for one in others)


def _standing(said: Mapping[str, Sequence[str]], spans: Spans) -> Mapping[bytes, Sequence[Place]]:
    return {
        option.strip().encode(): tuple(
            place for text in texts for place in spans.occurrences(text.encode())
        )
        for option, texts in said.items()
    }

"""What is said after tools have run: their own words, and none of the model's that state a fact.

A small model that rephrases a result sometimes changes or drops a word, which shows only once it
has finished. So results are told by rule (`voice.tools.spoken_results`), and without asking the
model if all calls for a request are in one answer.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from voice.tools.spoken_results import spoken_result
from voice.types import Message, Role, ToolSpec
from voice.understanding.english import plain

_ASKING = """
a all and any anything are be can correct do does else for get happy have help i i'll in is it
like may me more need of okay or order please right shall some something sound sounds so that
that's the there this to want we what what's will with would you your
"""
"""Words of questions that only hand the turn over and state nothing."""


def own_words(messages: Sequence[Message]) -> str:
    """The results since either side last spoke, as sentences; empty for none."""
    told: list[str] = []
    for message in reversed(messages):
        if message.role is Role.TOOL:
            told.append(spoken_result(message.content))
        elif message.role is Role.USER or message.content.strip():
            break
    return " ".join(dict.fromkeys(reversed(told)))


def closing_question(text: str) -> str:
    """The question that ends a model's words, if it states nothing; otherwise empty.

    >>> closing_question("One latte, got it. Anything else?")
    'Anything else?'
    """
    last = re.split(r"(?<=[.!?])\s+", text.strip())[-1]
    words = re.findall(r"[^\W_]+(?:'[^\W_]+)?", last.lower().replace("’", "'"))
    return last if last.endswith("?") and words and set(_ASKING.split()).issuperset(words) else ""


def names_a_deed(message: str, tools: Mapping[str, ToolSpec]) -> bool:
    """Whether a message has the verb of a tool that changes something: "have you booked it"."""
    verbs = [re.escape(n.partition("_")[0]) for n, one in tools.items() if not one.read_only]
    return re.search(rf"\b(?:{'|'.join(verbs)}|do(?:ne)?\b)", plain(message)) is not None

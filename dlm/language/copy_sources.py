"""The texts that string arguments are copied from: the user's last messages, calls and results.

Callers of the engine pass them as `dlm.engine.request.Request.copy_sources`. This module knows
nothing of tokens or of tools' schemas.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any

from dlm.language.messages import Turn

USER_MESSAGES = 3
"""How many of the user's last messages have words that may be arguments."""
RESULTS = 3
"""How many of the last results have values that may be arguments: "book the first one" needs its
code."""
MOST_VALUES = 32
"""Most values taken from these results, from the newest first."""
LONGEST_VALUE = 64
"""In characters; a longer value is a text rather than a name or code."""


def sources(turns: Sequence[Turn]) -> tuple[str, ...]:
    """The texts that string arguments of the next answer to a dialogue may be spans of.

    These are the user's last messages, oldest first; then the string arguments of the last message
    that called tools, because a change like "make it ten" keeps the other arguments, however old
    their words are; then short strings of the last results that are JSON. Arguments and results
    that occur in the messages are left out, because words that occur twice may be used for two
    arguments of one call (`dlm.grammar.distinct_spans`).
    """
    messages = [turn.content for turn in turns if turn.role == "user" and turn.content]
    found = messages[-USER_MESSAGES:]
    called = next((turn.calls for turn in reversed(turns) if turn.calls), ())
    given = [value for call in called for value in call.arguments.values()]
    results = [turn.content for turn in turns if turn.role == "tool"][: -RESULTS - 1 : -1]
    values = islice((one for result in results for one in _values(result)), MOST_VALUES)
    for value in (*given, *values):
        if isinstance(value, str) and not any(value in text for text in found):
            found.append(value)
    return tuple(found)


def _values(result: str) -> Iterator[str]:
    """The short strings of a JSON result, without field names; none if it is not JSON."""
    try:
        waiting: list[Any] = [json.loads(result)]
    except (ValueError, RecursionError):
        return
    while waiting:
        one = waiting.pop()
        if isinstance(one, dict):
            waiting += reversed(one.values())
        elif isinstance(one, list):
            waiting += reversed(one)
        elif isinstance(one, str) and 0 < len(one) <= LONGEST_VALUE:
            yield one

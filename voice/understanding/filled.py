"""Optional values that a request says and its calls have left out: "a mocha, medium".

A small model drops a detail now and then. The tool's readers know the words of each, so a span that
one of them can read, and that no argument carries, is that value; of several, of the one that is
declared first. What is denied is no value.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from voice.types import Reading, ToolCall, ToolSpec
from voice.understanding.english import GRAMMAR, NUMBERS, word_set
from voice.understanding.left_out import carriers

_LONGEST = 5
"""Words of a value."""
_LONGEST_AT_AN_END = 8
"""Words of a value that a free text begins or ends with."""
_DENYING = word_set("no not never without don't isn't except instead or if")
_EDGES = word_set("and with a an the please to for in on")
_WORD = re.compile(r"[^\W_]+(?:['’-][^\W_]+)*")


def filled(call: ToolCall, request: str, spec: ToolSpec) -> ToolCall:
    """A call with the values that its request says and no argument carries."""
    required = spec.parameters.get("required", ())
    missing = {
        name: reading
        for name, reading in spec.readings.items()
        if name not in (*required, *call.arguments) and not (reading.free or reading.anywhere)
    }
    if not missing:
        return call
    words = _WORD.findall(request)
    folded = [word.casefold() for word in words]
    open_ = [carrier is None for carrier in carriers(folded, [call])]
    values: dict[str, str] = {}
    for length in range(min(_LONGEST, len(words)), 0, -1):
        for start in range(len(words) - length + 1):
            end = start + length
            if not all(open_[start:end]) or not _says_something(folded, start, end):
                continue
            span = " ".join(words[start:end])
            free = (name for name in missing if name not in values)
            if name := next((one for one in free if _reads(missing[one], span)), ""):
                values[name] = span
                open_[start:end] = [False] * length
    return replace(call, arguments={**call.arguments, **values})


def taken_out(call: ToolCall, spec: ToolSpec) -> ToolCall:
    """A call whose free text does not hold another value: "pay the rent, on Friday at two".

    What the text ends or begins with is that value where its reader can read it and it has more to
    it than a number: a table may be "for eight".
    """
    missing = [
        name
        for name, reading in spec.readings.items()
        if name not in call.arguments and not (reading.free or reading.anywhere)
    ]
    texts = [name for name in spec.parameters.get("required", ()) if name not in spec.readings]
    if not missing or len(texts) != 1 or texts[0] not in call.arguments:
        return call
    (text,), name = texts, missing[0]
    words = str(call.arguments[text]).split()
    for length in range(min(_LONGEST_AT_AN_END, len(words) - 1), 0, -1):
        for value, rest in (
            (words[-length:], words[:-length]),
            (words[:length], words[length:]),
        ):
            said = " ".join(value).strip(",.;:!?")
            if _stands_alone(value) and _reads(spec.readings[name], said):
                kept = " ".join(rest).strip(",.;:!? ")
                return replace(call, arguments={**call.arguments, text: kept, name: said})
    return call


def _says_something(words: list[str], start: int, end: int) -> bool:
    """Whether a span is not grammar or a number alone, joins nothing, and is not denied."""
    named = set(words[start:end]) - GRAMMAR - NUMBERS
    edges = {words[start], words[end - 1]} & _EDGES
    return bool(named) and not edges and _DENYING.isdisjoint(words[max(0, start - 2) : end])


def _stands_alone(words: Sequence[str]) -> bool:
    """Whether words are more than a number, or than what a thing may be for."""
    folded = [word.casefold().strip(",.;:!?") for word in words]
    return folded[0] not in ("for", "to", "of") and not NUMBERS.issuperset(folded)


def _reads(reading: Reading, span: str) -> bool:
    meant = reading.read(span)
    return meant is not None and "" not in (meant if isinstance(meant, tuple) else (meant,))

"""Fills in and corrects values of calls from the request: "a mocha, medium".

A small model drops a detail now and then. The tool's readers know the words of each value, so a
span that no argument carries and that a reader can read is that reader's value; if several can read
it, the first one declared gets it. Denied values do not count, nor spans in another clause that has
other words too.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import accumulate, pairwise

from voice.tools.spoken_times import PARTS_OF_DAY
from voice.types import Reading, ToolCall, ToolSpec
from voice.understanding.conditions import days, is_term, tells_time
from voice.understanding.corrections import MAKING
from voice.understanding.english import GRAMMAR, NUMBERS, word_set
from voice.understanding.missed_requests import WORD, carriers

_LONGEST = 5
"""Most words of a value."""
_LONGEST_AT_AN_END = 8
"""Most words of a value at the beginning or end of a free text."""
_DENYING = word_set("no not never without don't isn't except instead than or if hates none much")
_WITHOUT = (
    r"(?:\bwithout|\binstead of|\brather than|(?:\band|\bwith|\bbut|,) no"
    r"|\btoo much) (?:any )?"
)
_REFERRING = re.compile(
    r"\b(?:same|again|another|second|more|like|too|also|usual|it|that|th[eo]se|them|as well)\b"
)
"""Refers to what was said before, of which a call may then carry details."""
_EDGES = word_set("and with a an the please to for in on")
_SMALL = GRAMMAR | {"please", "top"}
_CUT = re.compile(r"[,.;:!?]+\s+|\s+(?=(?:and|but|so|because)\b)")
_SCALE = word_set("""
    by speed level setting mode stage gear channel station notch notches step steps click clicks
    degree degrees
""")
"""Words that say what a number counts, or by how much it changes something."""


def filled(call: ToolCall, request: str, spec: ToolSpec) -> ToolCall:
    """The call, with optional values that its request gives and no argument carries."""
    required = spec.required
    missing = {
        name: reading
        for name, reading in spec.readings.items()
        if name not in (*required, *call.arguments) and not (reading.free or reading.anywhere)
    }
    if not missing:
        return call
    words = WORD.findall(request)
    folded = [word.casefold() for word in words]
    open_ = [carrier is None for carrier in carriers(folded, [call])]
    # Word ranges of the clauses.
    clauses = [
        *pairwise(accumulate((len(WORD.findall(c)) for c in _CUT.split(request)), initial=0))
    ]
    values: dict[str, str] = {}
    for length in range(min(_LONGEST, len(words)), 0, -1):
        for start in range(len(words) - length + 1):
            end = start + length
            if not all(open_[start:end]) or not _says_something(folded, start, end):
                continue
            first, last = next(one for one in clauses if start < one[1])
            if all(open_[first:last]) and not _SMALL.issuperset(
                [*folded[first:start], *folded[end:last]]
            ):
                continue
            span = " ".join(words[start:end])
            free = (name for name in missing if name not in values)
            if name := next((one for one in free if _reads(missing[one], span)), ""):
                values[name] = span
                open_[start:end] = [False] * length
    return replace(call, arguments={**call.arguments, **values})


def taken_out(call: ToolCall, spec: ToolSpec) -> ToolCall:
    """The call, with another value taken out of its free text: "pay the rent, on Friday at two".

    The beginning or end of the text is that value if its reader can read it and it is more than a
    number: a table may be "for eight".
    """
    missing = [
        name
        for name, reading in spec.readings.items()
        if name not in call.arguments and not (reading.free or reading.anywhere)
    ]
    texts = spec.free_texts
    if not missing or len(texts) != 1 or texts[0] not in call.arguments:
        return call
    (text,) = texts
    words = str(call.arguments[text]).split()
    for length in range(min(_LONGEST_AT_AN_END, len(words) - 1), 0, -1):
        for value, rest in (
            (words[-length:], words[:-length]),
            (words[:length], words[length:]),
        ):
            said = " ".join(value).strip(",.;:!?")
            if not _stands_alone(value):
                continue
            if name := next((one for one in missing if _reads(spec.readings[one], said)), ""):
                kept = " ".join(rest).strip(",.;:!? ")
                return replace(call, arguments={**call.arguments, text: kept, name: said})
    return call


def completed(call: ToolCall, request: str, spec: ToolSpec) -> ToolCall:
    """The call, its time completed by a day said apart from it: "noon alarm, on Sunday"."""
    if call.name.partition("_")[0] not in MAKING:
        return call
    for name, reading in spec.readings.items():
        value = call.arguments.get(name)
        before = reading.read(value) if value else None
        if before is None or reading.free or reading.anywhere:
            continue
        for day in days(request, [call]):
            for whole in (f"{value} {day}", f"{day} {value}"):
                if reading.read(whole) not in (None, before):
                    return replace(call, arguments={**call.arguments, name: whole})
    return call


def measured(call: ToolCall, request: str, spec: ToolSpec) -> ToolCall:
    """The call, its bare numbers extended by what they count: "speed three".

    Only if the tool cannot read the whole phrase: it then objects to that, rather than misread the
    number. Times, lengths and read-only tools are left alone.
    """
    if spec.read_only:
        return call
    words = [word.strip(",.;:!?").lower() for word in request.split()]
    open_ = [carrier is None for carrier in carriers(words, [call])]
    values: dict[str, str] = {}
    for name in spec.required:
        reading, number = spec.readings.get(name), str(call.arguments.get(name, "")).lower().split()
        places = [at for at in range(len(words)) if words[at : at + len(number)] == number]
        if reading is None or len(places) != 1 or not all(map(_is_number, number)):
            continue
        start, end = places[0], places[0] + len(number)
        while end < len(words) and open_[end] and words[end] in _SCALE:
            end += 1
        while start and open_[start - 1] and words[start - 1] in _SCALE:
            start -= 1
        whole = " ".join(words[start:end])
        if reading.hardly is None and not tells_time(reading) and reading.read(whole) is None:
            values[name] = whole
    return replace(call, arguments={**call.arguments, **values})


def counted(call: ToolCall, request: str, spec: ToolSpec) -> ToolCall:
    """The call, with the number before its thing, or before the thing's details, as quantity.

    In "three teas and a mocha" that is three for the teas.
    """
    words = [word.casefold() for word in WORD.findall(request)]
    places = [at for name in spec.required[:1] for at in _runs(call.arguments.get(name, ""), words)]
    makes, counting = call.name.partition("_")[0] in MAKING, spec.counting
    if not (makes and counting) or len(places) != 1:
        return call
    details = {
        word
        for name, value in call.arguments.items()
        for word in WORD.findall(str(value).casefold())
        if name != counting and not _is_number(word)
    }
    at = places[0] - 1
    while at >= 0 and words[at] in details:
        at -= 1
    if at < 0 or not _is_number(words[at]) or words[at] == call.arguments.get(counting):
        return call
    if spec.readings[counting].read(words[at]) is None:
        return call
    return replace(call, arguments={**call.arguments, counting: words[at]})


def _runs(value: object, words: Sequence[str]) -> Iterator[int]:
    """The indices at which a value begins among the words."""
    said = [word.casefold() for word in WORD.findall(str(value))]
    yield from (at for at in range(len(words)) if said and [*words[at : at + len(said)]] == said)


def _is_number(word: str) -> bool:
    return word in NUMBERS or word.isdigit()


def without_strays(call: ToolCall, request: str, spec: ToolSpec) -> ToolCall:
    """The call without optional values that were denied, or are times its tool does not take.

    A thing that the request names, and nothing that refers back, has no details from before: "one
    cappuccino" is plain after "one cappuccino with chocolate".
    """
    said, required = request.lower(), spec.required
    things = [str(call.arguments.get(name, "")).lower() for name in required]
    makes = bool(spec.counting) and call.name.partition("_")[0] in MAKING
    anew = makes and all(one in said for one in things) and not _REFERRING.search(said)
    kept = {
        name: value
        for name, value in call.arguments.items()
        if name in required
        or not (
            re.search(rf"{_WITHOUT}{re.escape(str(value).lower())}\b", said)
            or (name not in spec.readings and is_term(str(value), request, spec))
            or (anew and str(value).lower() not in said)
        )
    }
    return replace(call, arguments=kept)


def _says_something(words: list[str], start: int, end: int) -> bool:
    """Whether a span is more than grammar or a number, and neither edged by "and" nor denied."""
    named = {word for word in words[start:end] if not word.isdigit()} - GRAMMAR - NUMBERS
    edges = {words[start], words[end - 1]} & _EDGES
    return bool(named) and not edges and _DENYING.isdisjoint(words[max(0, start - 2) : end])


def _stands_alone(words: Sequence[str]) -> bool:
    """Whether words are more than a number, "evening", or what something is "for", "to" or "of"."""
    folded = [word.casefold().strip(",.;:!?") for word in words]
    bare = len(folded) == 1 and folded[0] in PARTS_OF_DAY
    return not bare and folded[0] not in ("for", "to", "of") and not NUMBERS.issuperset(folded)


def _reads(reading: Reading, span: str) -> bool:
    meant = reading.read(span)
    return meant is not None and "" not in (meant if isinstance(meant, tuple) else (meant,))

"""Fills in and corrects values of calls from the request: "a mocha, medium".

A small model drops a detail now and then. The tool's readers know the words of each value, so a
span that no argument carries and that a reader can read is that reader's value; if several can read
it, the first one declared gets it. Denied values do not count, nor spans in another clause that has
other words too.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import accumulate, islice, pairwise

from voice.tools.spoken_dates import WEEKDAY
from voice.tools.spoken_times import PARTS_OF_DAY
from voice.types import Message, Reading, Role, ToolCall, ToolSpec
from voice.understanding.conditions import days, is_term, tells_time
from voice.understanding.corrections import MAKING
from voice.understanding.english import GRAMMAR, NUMBERS, VERBS, word_set
from voice.understanding.missed_requests import AGAIN, WORD, carriers

_LONGEST = 5
"""Most words of a value."""
_RECENT = 6
"""How many messages, the agent's included, a value may have been said in."""
_LONGEST_AT_AN_END = 8
"""Most words of a value at the beginning or end of a free text."""
_LONGEST_REST = 3
"""Most words that are added to a free text."""
_DETERMINERS = word_set("a an the my our your his her their this that some")
_DENYING = word_set("no not never without don't isn't except instead than or if hates none")
_WITHOUT = r"(?:\bwithout|\binstead of|\brather than|(?:\band|\bwith|\bbut|,) no) (?:any )?"
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


def whole_text(call: ToolCall, request: str, spec: ToolSpec) -> ToolCall:
    """The call, its free text extended to the request's end: "check on the sourdough starter".

    Only if the text is followed by a few words that name something and that the call does not
    carry.
    """
    texts = spec.free_texts
    text = str(call.arguments.get(texts[0], "")) if len(texts) == 1 else ""
    found = re.search(rf"\b{re.escape(text)}(?P<rest>(?: [\w'’-]+)+)\W*$", request, re.I)
    words = found["rest"].lower().split() if found and text else []
    small = GRAMMAR | VERBS | NUMBERS | {*spec.name.split("_")}
    named = words[1:] if words[:1] and words[0] in _DETERMINERS else words
    if found is None or not named or len(named) > _LONGEST_REST or not small.isdisjoint(named):
        return call
    if any(number is not None for number in carriers(words, [call])):
        return call
    if any(_reads(one, " ".join(words)) for one in spec.readings.values()):
        return call
    return replace(call, arguments={**call.arguments, texts[0]: f"{text}{found['rest']}"})


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


def in_full(call: ToolCall, spec: ToolSpec, messages: Sequence[Message]) -> ToolCall:
    """The call, its unreadable values extended to the ones they are a part of: "city bike".

    A small model copies "city" alone from a message further back, and people choose "the city one"
    from a question. A part of two different values, such as "bike", stays as it is.
    """
    said = [one.content for one in reversed(messages) if one.role in (Role.USER, Role.AGENT)]
    texts = [WORD.findall(text) for text in islice(filter(None, said), _RECENT)]
    values: dict[str, str] = {}
    for name in spec.required:
        reading, value = spec.readings.get(name), call.arguments.get(name)
        if reading is None or reading.free or not isinstance(value, str):
            continue
        if not value.strip() or not reading.question(value):
            continue
        around = ([*_around(value, words)] for words in texts)
        spans = next(filter(None, ([s for s in some if _reads(reading, s)] for some in around)), [])
        if len({reading.read(span) for span in spans}) == 1 and not reading.question(spans[0]):
            values[name] = spans[0]
    return replace(call, arguments={**call.arguments, **values})


def _around(value: str, words: Sequence[str]) -> Iterator[str]:
    """The spans of words that contain a value and more, the shortest first."""
    folded, length = [word.casefold() for word in words], len(WORD.findall(value))
    for longer in range(length + 1, _LONGEST + 1):
        for at in _runs(value, folded):
            for start in range(max(0, at + length - longer), min(at, len(words) - longer) + 1):
                yield " ".join(words[start : start + longer])


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


_ON_A_DAY = re.compile(
    rf"\b(?:every|each|daily|today|tomorrow|tonight|week\w*|{WEEKDAY}s?)\b", re.I
)
_EVERY = re.compile(r"\b(?:all|both|each|every\w*|same|too|as well|likewise)\b")


def of_their_own(
    calls: Sequence[ToolCall], request: str, tools: Mapping[str, ToolSpec]
) -> tuple[ToolCall, ...]:
    """Calls for several things, each with only its own number and details.

    In "three teas and a mocha" the number before a thing is its quantity; in "a tea with soy and a
    mocha" a detail said once, before the article of the second thing, belongs to the first.
    """
    words = [word.casefold() for word in WORD.findall(request)]
    found = [_counted(call, words, tools[call.name]) if call.name in tools else call
             for call in calls]  # fmt: skip
    if _EVERY.search(request.lower()):
        return tuple(found)
    return tuple(_without_another(call, found, words, tools) for call in found)


def each_time_again(calls: Sequence[ToolCall]) -> tuple[ToolCall, ...]:
    """Calls at several times, all with the repetition said last: "at six and eight, daily".

    A time that names its own day does not take it over.
    """
    if not calls:
        return ()
    *others, last = calls
    repeats = [
        (name, found[1])
        for name, value in last.arguments.items()
        if (found := AGAIN.search(str(value)))
    ]
    if len(repeats) != 1:
        return tuple(calls)
    ((name, repeat),) = repeats
    made = []
    for call in others:
        own = str(call.arguments.get(name, ""))
        rest = {key: one for key, one in call.arguments.items() if key != name}
        same = call.name == last.name and rest.items() <= last.arguments.items()
        if own and same and not _ON_A_DAY.search(own):
            call = replace(call, arguments={**call.arguments, name: f"{own} {repeat}"})
        made.append(call)
    return (*made, last)


def _counted(call: ToolCall, words: Sequence[str], spec: ToolSpec) -> ToolCall:
    """The call, with the number before its thing, or before the thing's details, as quantity."""
    places = [*_places(call, words, spec)]
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


def _without_another(
    call: ToolCall, calls: Sequence[ToolCall], words: Sequence[str], tools: Mapping[str, ToolSpec]
) -> ToolCall:
    """The call without details that were said once, for another thing before its own."""
    own = [*_places(call, words, tools[call.name])] if call.name in tools else []
    others = [one for one in calls if one is not call and one.name == call.name]
    if len(own) != 1 or not others:
        return call
    kept = dict(call.arguments)
    for name, value in call.arguments.items():
        places = [*_runs(str(value), words)]
        twins = (one for one in others if one.arguments.get(name) == value)
        others_at = [at for one in twins for at in _places(one, words, tools[call.name])]
        first = max([*places, *others_at]) if len(places) == len(others_at) == 1 else own[0]
        optional = name not in tools[call.name].required
        if optional and not (NUMBERS | {"a", "an"}).isdisjoint(words[first + 1 : own[0]]):
            del kept[name]
    return replace(call, arguments=kept)


def _places(call: ToolCall, words: Sequence[str], spec: ToolSpec) -> Iterator[int]:
    """The indices at which the call's thing begins among the words."""
    for name in spec.required[:1]:
        yield from _runs(str(call.arguments.get(name, "")), words)


def _runs(value: str, words: Sequence[str]) -> Iterator[int]:
    said = [word.casefold() for word in WORD.findall(value)]
    yield from (at for at in range(len(words)) if said and [*words[at : at + len(said)]] == said)


def _is_number(word: str) -> bool:
    return word in NUMBERS or word.isdigit()


def without_strays(call: ToolCall, request: str, spec: ToolSpec) -> ToolCall:
    """The call without optional values that were denied, or are times its tool does not take."""
    said, required = request.lower(), spec.required
    kept = {
        name: value
        for name, value in call.arguments.items()
        if name in required
        or not (
            re.search(rf"{_WITHOUT}{re.escape(str(value).lower())}\b", said)
            or (name not in spec.readings and is_term(str(value), request, spec))
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

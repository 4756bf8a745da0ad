"""Details that a message adds to what was made last: "make it a large one, and with oat milk".

Each is read by the tool that changes the thing, so nothing is guessed: every word of the message is
part of such a value, or says nothing by itself. What names a thing is a detail of it only if it is
there already and is pointed at ("the tea with milk", "just one tea"); else it asks for another one.
The words are English.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise

from voice.tools.spoken_numbers import DIGITS
from voice.types import Message, Reading, Role, ToolCall, ToolSpec
from voice.understanding.corrections import MAKING, failed_ones
from voice.understanding.english import (
    ARTICLES,
    GRAMMAR,
    HESITATING,
    NUMBERS,
    as_read,
    asks,
    plain,
    word_set,
)
from voice.understanding.remarks import only_tells
from voice.understanding.told_apart import parts_of

_LONGEST, _MOST = 5, 20
"""Words of a value, and of a message."""
_ANOTHER = word_set(
    "another more second again else different others other too cancel remove not same"
)
"""Words by which something new is asked for, or what there is goes or is not meant."""
_ONLY = word_set("just only total altogether")
_POINTING = word_set("the my that this")
_SMALL = (
    GRAMMAR | ARTICLES | _ONLY | frozenset(HESITATING.split("|"))
    | word_set("add change could i'd i'll i'm it's that's use where which without sort kind bit")
)  # fmt: skip
_LINKS = word_set("and with in on the to for please a an of but or as is it some any")
_IT = "it"
_ALL = "everything"
_TOLD = word_set("that's is be it's was")
"""Behind these all has been said: "that's everything"."""
_NEVER_MIND = re.compile(r"^(?:(?:oh|no|well|ok|okay)\W+)*never ?mind\W+(?=\w+ \w)", re.IGNORECASE)
_IN_WORDS = {digit: name for name, digit in DIGITS.items() if "2" <= digit <= "8"}


def detailed(messages: Sequence[Message], tools: Mapping[str, ToolSpec]) -> ToolCall | None:
    """The call by which the last message changes what the turn before it has made.

    None where it says anything else, or where several things were made.
    """
    *before, last = messages
    said = _NEVER_MIND.sub("", as_read(last.content))
    # "The tea is with milk" tells of something, and is the detail.
    readings = (_detailed(before, one, tools) for one in (said, _without_tales(said)))
    return next(filter(None, readings), None) if last.role is Role.USER else None


def _detailed(
    before: Sequence[Message], said: str, tools: Mapping[str, ToolSpec]
) -> ToolCall | None:
    made = _made(before, tools)
    words = [_IN_WORDS.get(word, word) for word in re.findall(r"[\w'%-]+", plain(said))]
    if not 0 < len(words) <= _MOST or asks(said):
        return None
    verb, _, thing = made[-1].name.partition("_") if made else ("", "", "")
    change = tools.get(f"change_{thing}") if verb in (*MAKING, "change") else None
    if change is None or any(call.name.partition("_")[2] != thing for call in made):
        return None
    named = _named(words, change)
    if named is None or (not named and len(made) > 1):
        return None
    values, left = _values(words, change, named)
    if not values or not {*left} - NUMBERS <= _SMALL or _ANOTHER & {*words} or _swaps(words):
        return None
    if not named and _is_another(words, left, values, made[-1]):
        return None
    (required,) = change.parameters["required"]
    return ToolCall(
        "", change.name, {required: named or _alone(made[-1], required, before), **values}
    )


def shared_out(messages: Sequence[Message], tools: Mapping[str, ToolSpec]) -> tuple[ToolCall, ...]:
    """The calls by which several that were made last get details of their own each.

    That is all of them, in as many parts: "two of them large, the others small", of four.
    """
    *before, last = messages
    made = _made(before, tools)
    said = as_read(last.content)
    if len(made) > 1:
        # "Three of the teas with milk, the rest with lemon."
        made = [call for call in made if re.search(_of_the(call), said, re.IGNORECASE)]
    many = str(made[0].arguments.get("quantity", "")).lower() if len(made) == 1 else ""
    change = tools.get(f"change_{made[0].name.partition('_')[2]}") if many else None
    if last.role is not Role.USER or change is None:
        return ()
    said = re.sub(_of_the(made[0]), "of them", said, flags=re.IGNORECASE)
    calls = []
    (required,) = change.required
    of = " ".join(str(made[0].arguments.get(one, "")) for one in ("size", "roast", required))
    for count, detail in parts_of(said, _IN_WORDS.get(many, many)):
        values, left = _values(plain(detail).split(), change, "")
        if not values or not {*left} <= _SMALL:
            return ()
        given = {required: " ".join(of.split()), "quantity": count, **values}
        calls.append(ToolCall("", change.name, given))
    return tuple(calls)


def _of_the(call: ToolCall) -> str:
    """A pattern of how several of a thing are pointed at."""
    thing = next(iter(call.arguments.values()), "")
    return rf"\bof (?:the|my|those) {re.escape(str(thing))}\b"


def _alone(made: ToolCall, required: str, before: Sequence[Message]) -> str:
    """What a call's thing is called, if nothing else that was made is; else "it"."""
    thing = made.arguments.get(required)
    calls = (one for message in before for one in message.tool_calls if one.name == made.name)
    alike = [one for one in calls if one.arguments.get(required) == thing]
    return str(thing) if thing and alike == [made] else _IT


def _without_tales(said: str) -> str:
    """A message without what it tells behind its first clause: ", my neighbour might come in"."""
    first, *others = re.split(r"(?<=[,.;!?])\s+", said)
    return " ".join([first, *(one for one in others if not only_tells(one))])


def _counts(words: Sequence[str]) -> bool:
    """Whether a number among words is how many there are to be: "just two", "make it two teas"."""
    made = re.search(r"\bmake it (\w+)", " ".join(words))
    return bool(_ONLY & {*words}) or (made is not None and made[1] in NUMBERS)


def _swaps(words: Sequence[str]) -> bool:
    """Whether words name what is to go or stay: "soy instead of oat", "half of them with oat"."""
    pairs = [*pairwise(words)]
    changes = any(one == "change" and two not in ("it", "that", "this") for one, two in pairs)
    instead = not {("instead", "of"), ("rather", "than"), ("half", "of")}.isdisjoint(pairs)
    return instead or (changes and bool({"to", "for"} & {*words}))


def _made(before: Sequence[Message], tools: Mapping[str, ToolSpec]) -> list[ToolCall]:
    """The calls of the turn before, or of the one before that, that have changed anything.

    Turns that only read are none.
    """
    failed = failed_ones(before)
    turns: list[list[ToolCall]] = [[]]
    for one in before:
        turns += [[]] * (one.role is Role.USER)
        turns[-1] = [*turns[-1], *one.tool_calls]
    changing = (
        [c for c in turn if c.name in tools and not tools[c.name].read_only] for turn in turns
    )
    kept = [made for turn, made in zip(turns, changing, strict=True) if made or not turn]
    made = next(filter(None, reversed(kept[-2:])), [])
    return [call for call in made if call.call_id not in failed]


def _named(words: Sequence[str], change: ToolSpec) -> str | None:
    """The thing that is there and that words point at; "" for none, None for another thing."""
    required = change.required
    reading = change.readings.get(required[0]) if len(required) == 1 else None
    if reading is None or not reading.anywhere:
        return None
    for length in range(3, 0, -1):
        for start in range(len(words) - length + 1):
            span = words[start : start + length]
            small = (_POINTING | NUMBERS) & {span[0]} or {*span} <= _SMALL | NUMBERS
            pointed = words[max(0, start - 1) : start]
            # "A small one" is none that is there, "the small one" is.
            any_one = {"one", "ones"} & {*span} and not _POINTING & {*pointed}
            said = " ".join(span)
            if small or any_one or _is_detail(said, change) or not reading.read(said):
                continue
            counted = _counts(words) and NUMBERS & {*pointed}
            if said == _ALL and not _TOLD & {*pointed}:
                return said
            return said if _POINTING & {*pointed} or counted else None
    return ""


def _is_detail(span: str, change: ToolSpec) -> bool:
    """Whether words are a detail of a thing, such as may also point at one: "the small"."""
    return any(one.read(span) for one in change.readings.values() if not (one.free or one.anywhere))


def _values(words: Sequence[str], change: ToolSpec, named: str) -> tuple[dict[str, str], list[str]]:
    """The values of a message by the arguments that they are of, and its other words."""
    required = change.required
    readings = {
        name: one
        for name, one in change.readings.items()
        if name not in required and not (one.free or one.anywhere)
    }
    open_ = [True] * len(words)
    for start in range(len(words)):
        if named and words[start : start + len(named.split())] == named.split():
            open_[start : start + len(named.split())] = [False] * len(named.split())
    values: dict[str, str] = {}
    for here, span in _spans(words):
        if all(open_[here]) and (name := _read(span, readings, values, words)):
            values[name] = span
            open_[here] = [False] * (here.stop - here.start)
    return values, [word for word, left in zip(words, open_, strict=True) if left]


def _spans(words: Sequence[str]) -> Iterator[tuple[slice, str]]:
    """Runs of words, the longest first, that neither begin nor end with a joining word."""
    for length in range(min(_LONGEST, len(words)), 0, -1):
        for start in range(len(words) - length + 1):
            here = slice(start, start + length)
            span = " ".join(words[here])
            joined = {"and", "with"} & {*re.sub("half and half|and a half", "", span).split()}
            # "To go" is one.
            first = {words[here.start]} - {"to"}
            if not joined and not (first | {words[here.stop - 1]}) & _LINKS:
                yield here, span


def _read(
    span: str, readings: Mapping[str, Reading], values: Mapping[str, str], words: Sequence[str]
) -> str:
    """The argument whose value some words are; a number alone is one behind "just" alone."""
    number = {*span.split()} <= NUMBERS | _ONLY | {"of", "the", "them", "those", "no"}
    if number and not ({*span.split()} <= NUMBERS and _counts(words)):
        return ""
    # How many is declared last.
    for name, reading in [*readings.items()][:: -1 if number else 1]:
        meant = None if name in values else reading.read(span)
        if meant is not None and "" not in (meant if isinstance(meant, tuple) else (meant,)):
            return name
    return ""


def _is_another(
    words: Sequence[str], left: Sequence[str], values: Mapping[str, str], made: ToolCall
) -> bool:
    """Whether words may want another thing: "and a small one" behind a large one.

    Or one of several, without saying so.
    """
    again = any(made.arguments.get(name) not in (None, value) for name, value in values.items())
    corrects = {"it", "actually", "make", "no", "wait", "sorry", "that", "change"} & {*words}
    several = str(made.arguments.get("quantity", "one")) not in ("one", "1", "a")
    return (again and not corrects) or (several and "one" in left and "of" not in left)

"""Details that a message adds to what was last made: "make it a large one, and with oat milk".

Each is read by the tool that changes the thing, so nothing is guessed: every word of the message
must be part of such a value or mean nothing by itself. A message that names a thing adds details to
it only if the thing exists and is referred to ("the tea with milk", "just one tea"); otherwise it
asks for another one. English only.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
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
    without_article,
    word_set,
)
from voice.understanding.low_confidence import in_words
from voice.understanding.remarks import only_tells
from voice.understanding.separate_items import parts_of

_LONGEST, _MOST = 5, 20
"""Most words of a value, and of a message."""
_ANOTHER = word_set(
    "another more second again else different others other too cancel remove not same"
)
"""Words that ask for something new, or say that a thing goes or is not meant."""
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
"""After these, "everything" means that all has been said: "that's everything"."""
_NEVER_MIND = re.compile(r"^(?:(?:oh|no|well|ok|okay)\W+)*never ?mind\W+(?=\w+ \w)", re.IGNORECASE)
_IN_WORDS = {digit: name for name, digit in DIGITS.items() if "2" <= digit <= "8"}


def detailed(messages: Sequence[Message], tools: Mapping[str, ToolSpec]) -> ToolCall | None:
    """The call by which the last message changes what was last made.

    None if it says anything else, or if several things were made and it does not name one.
    """
    *before, last = messages
    said = _NEVER_MIND.sub("", as_read(last.content))
    # First as it is: "the tea is with milk" reads like a remark, but is the detail.
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
    many = str(made[-1].arguments.get(change.counting, "one")) not in ("one", "1", "a")
    if not named and _is_another(words, left, values, made[-1], many):
        return None
    (required,) = change.parameters["required"]
    return ToolCall(
        "", change.name, {required: named or _alone(made[-1], required, before), **values}
    )


def shared_out(messages: Sequence[Message], tools: Mapping[str, ToolSpec]) -> tuple[ToolCall, ...]:
    """The calls that give several things made last their own details each.

    The parts must add up to all of them: "two of them large, the others small", of four.
    """
    *before, last = messages
    made = _made(before, tools)
    said = as_read(last.content)
    if len(made) > 1:
        # "Three of the teas with milk, the rest with lemon."
        made = [call for call in made if re.search(_of_the(call), said, re.IGNORECASE)]
    change = tools.get(f"change_{made[0].name.partition('_')[2]}") if len(made) == 1 else None
    if last.role is not Role.USER or change is None or change.counting not in made[0].arguments:
        return ()
    many = str(made[0].arguments[change.counting]).lower()
    said = re.sub(_of_the(made[0]), "of them", said, flags=re.IGNORECASE)
    calls = []
    (required,), maker = change.required, tools[made[0].name]
    alone = {name: value for name, value in made[0].arguments.items() if name != change.counting}
    # "The large latte with oat milk" stays one of them, whatever the others are changed to.
    own = "" if maker is change else in_words(replace(made[0], arguments=alone), maker)
    thing = without_article(own) or alone.get(required, "")
    for count, detail in parts_of(said, _IN_WORDS.get(many, many)):
        values, left = _values(plain(detail).split(), change, "")
        if not values or not {*left} <= _SMALL:
            return ()
        given = {required: thing, change.counting: count, **values}
        calls.append(ToolCall("", change.name, given))
    return tuple(calls)


def _of_the(call: ToolCall) -> str:
    """A pattern of words that refer to some of a thing: "of the teas"."""
    thing = next(iter(call.arguments.values()), "")
    return rf"\bof (?:the|my|those) {re.escape(str(thing))}\b"


def _alone(made: ToolCall, required: str, before: Sequence[Message]) -> str:
    """The name of a call's thing if nothing else was made by that name; otherwise "it"."""
    thing = made.arguments.get(required)
    calls = (one for message in before for one in message.tool_calls if one.name == made.name)
    alike = [one for one in calls if one.arguments.get(required) == thing]
    return str(thing) if thing and alike == [made] else _IT


def _without_tales(said: str) -> str:
    """A message without remarks after its first clause: ", my neighbour might come in"."""
    first, *others = re.split(r"(?<=[,.;!?])\s+", said)
    return " ".join([first, *(one for one in others if not only_tells(one))])


def _counts(words: Sequence[str]) -> bool:
    """Whether a number among the words is a quantity: "just two", "make it two teas"."""
    made = re.search(r"\bmake it (\w+)", " ".join(words))
    return bool(_ONLY & {*words}) or (made is not None and made[1] in NUMBERS)


def _swaps(words: Sequence[str]) -> bool:
    """Whether words also name what is to be replaced or kept: "soy instead of oat"."""
    pairs = [*pairwise(words)]
    changes = any(one == "change" and two not in ("it", "that", "this") for one, two in pairs)
    instead = not {("instead", "of"), ("rather", "than"), ("half", "of")}.isdisjoint(pairs)
    return instead or (changes and bool({"to", "for"} & {*words}))


def _made(before: Sequence[Message], tools: Mapping[str, ToolSpec]) -> list[ToolCall]:
    """The calls of the last turn or the one before it that changed something.

    Turns that only read are skipped, and so are failed calls.
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
    """The existing thing that words refer to; "" if they name none, None if it may be another."""
    required = change.required
    reading = change.readings.get(required[0]) if len(required) == 1 else None
    if reading is None or not reading.anywhere:
        return None
    for length in range(3, 0, -1):
        for start in range(len(words) - length + 1):
            span = words[start : start + length]
            small = (_POINTING | NUMBERS) & {span[0]} or {*span} <= _SMALL | NUMBERS
            pointed = words[max(0, start - 1) : start]
            # "A small one" is a new one, "the small one" exists.
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
    """Whether words are a detail, even if they could also refer to a thing: "the small"."""
    return any(one.read(span) for one in change.readings.values() if not (one.free or one.anywhere))


def _values(words: Sequence[str], change: ToolSpec, named: str) -> tuple[dict[str, str], list[str]]:
    """The values in a message, by argument, and its other words."""
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
    """Runs of words, the longest first, that do not begin or end with a linking word."""
    for length in range(min(_LONGEST, len(words)), 0, -1):
        for start in range(len(words) - length + 1):
            here = slice(start, start + length)
            span = " ".join(words[here])
            joined = {"and", "with"} & {*re.sub("half and half|and a half", "", span).split()}
            # "To go" is a value.
            first = {words[here.start]} - {"to"}
            if not joined and not (first | {words[here.stop - 1]}) & _LINKS:
                yield here, span


def _read(
    span: str, readings: Mapping[str, Reading], values: Mapping[str, str], words: Sequence[str]
) -> str:
    """The argument that can read a span; "" for none, and for a bare number that is no quantity."""
    number = {*span.split()} <= NUMBERS | _ONLY | {"of", "the", "them", "those", "no"}
    if number and not ({*span.split()} <= NUMBERS and _counts(words)):
        return ""
    # The quantity is declared last, so numbers try it first.
    for name, reading in [*readings.items()][:: -1 if number else 1]:
        meant = None if name in values else reading.read(span)
        if meant is not None and "" not in (meant if isinstance(meant, tuple) else (meant,)):
            return name
    return ""


def _is_another(
    words: Sequence[str], left: Sequence[str], values: Mapping[str, str], made: ToolCall, many: bool
) -> bool:
    """Whether words may ask for another thing: "and a small one" after a large one.

    If ``many`` were made, they may also mean one of these without saying so.
    """
    again = any(made.arguments.get(name) not in (None, value) for name, value in values.items())
    corrects = {"it", "actually", "make", "no", "wait", "sorry", "that", "change"} & {*words}
    return (again and not corrects) or (many and "one" in left and "of" not in left)

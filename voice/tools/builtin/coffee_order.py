"""Finds the drink of an order that is meant, and puts drinks into words."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from voice.config.moments import OATHS
from voice.tools import phrasing
from voice.tools.builtin import coffee_details as details
from voice.tools.builtin.coffee_menu import (
    bare,
    drink_named,
    is_cold,
    named_in,
    plural,
    singular,
)
from voice.tools.registry import Choose, ToolError, Unreadable
from voice.tools.scope import Drink
from voice.tools.spoken_numbers import digits

LAST = ("it", "that", "this", "drink", "last", "last one", "that drink", "one")
"""Words for the drink that was ordered last."""
ALL = ("everything", "all", "all of them", "all of it")
"""Words for all drinks of an order."""
_PLACES = ("first", "second", "third", "fourth")
_SWEARING = re.compile(rf"\b(?:{OATHS}) ")
COUNTED = "one|two|three|four|five|six|seven|eight|nine|ten"
"""Numbers of drinks, as a pattern."""


def label_of(drink: Drink, count: int, always_count: bool) -> str:
    """A drink in words, as it is read back: "2 small mochas with oat milk"."""
    named = drink.name if count == 1 else plural(drink.name)
    name = " ".join(filter(None, (drink.size, drink.roast, named)))
    number = f"{count} " if always_count or count > 1 else ""
    added = additions(drink)
    beside = f" with {phrasing.joined(added)}" if added else ""
    beside = re.sub(r"^ with (?=(?:extra|very|not too) hot\b|to go\b)", " ", beside)
    return f"{number}{name}{beside}"


def additions(drink: Drink) -> list[str]:
    """The things that come with a drink: shots, milk, sweetener, extras."""
    return list(filter(None, (drink.shots, drink.milk, drink.sweetener, drink.extras)))


def is_kind_of(name: str, other: str) -> bool:
    """Whether two drinks are the same, or either is a kind of the other: a green tea is a tea."""
    return name == other or name.endswith(f" {other}") or other.endswith(f" {name}")


def _is_part(said: str, ordered: Drink) -> bool:
    """Whether all spoken words belong to a drink, and its name's last word, or "one", is there."""
    has, _, lacks = re.sub(
        r"\b(?:drinks?|ones?|cups?)\b", ordered.name.split()[-1], said
    ).partition("without")
    words, label = set(has.split()), label_of(ordered, 1, always_count=False)
    own = {singular(word) for word in re.findall(r"[\w'-]+", label)}
    own |= set() if is_cold(label) else {"hot"}
    own |= set() if additions(ordered) else {"plain"}
    return words <= own and ordered.name.split()[-1] in words and not own & set(lacks.split())


def called_so(said: str, order: Mapping[Drink, int]) -> list[Drink]:
    """The ordered drinks that some words may name, oldest first."""
    return [
        ordered
        for ordered in order
        if said in (ordered.name, label_of(ordered, 1, always_count=False))
        or _is_part(said, ordered)
    ]


def _styled(said: str, order: Mapping[Drink, int]) -> list[Drink]:
    """The ordered drinks whose size, roast and name include all of some words."""
    own = {one: {*f"{one.size} {one.roast} {one.name}".split()} for one in order}
    return [one for one, words in own.items() if {*said.split()} <= words]


_TAKEN_OFF = re.compile(
    r"(?:^(?=\w+ \w)|\b(?:remove|cancel|take|drop|delete|lose|minus|scrap|skip|bin)"
    r"(?: (?:off|out|away|just|only|back|me|please))* )"
    rf"(?P<count>{COUNTED}|\d+|an?)\b(?! (?:more )?(?:shot|sugar|syrup|pump))",
    re.IGNORECASE | re.MULTILINE,
)


def taken_off(said: str) -> int:
    """How many of a drink to remove: 1 for "remove one latte"; 0 for all of them."""
    found = _TAKEN_OFF.search(said)
    return details.count(found["count"]) if found else 0


_SOME_OF_THEM = re.compile(
    rf"\b({COUNTED}|\d+) of (?:the|my|those|these|them)\b"
    rf"|\b(?:just|only|make|other) ({COUNTED}|\d+)\b"
    r"(?! (?:more |extra )?(?:shot|sugar|syrup|pump|spoon|packet))",
    re.IGNORECASE,
)


def some_of(said: str, values: Sequence[str]) -> int:
    """How many drinks to change to some values: 2 for "make two of them iced"; 0 for all."""
    to = "|".join(map(re.escape, values))
    own = rf"(?<!of the )\b({COUNTED}|\d+) (?:of (?:them|those) )?(?:with |to be |an? )?(?:{to})\b"
    found = (values and re.search(own, said, re.IGNORECASE)) or _SOME_OF_THEM.search(said)
    return details.count(next(filter(None, found.groups()))) if found else 0


def name_of(said: str) -> str:
    """The name of a drink of the order, without the number: "two of the teas" → "tea"."""
    name = re.sub(r"\b(?:just|only|off)\b", "", said.lower()).strip()
    of = r"(?: of (?:the|my|those|these|them)\b)?"
    name = re.sub(rf"^(?:{COUNTED}|\d+)\b{of}(?: (?:{COUNTED}|\d+)\b)?", "", name).strip()
    name = re.sub(r"^.*'s ", "", name)
    name = re.sub(r"^(?:the )?no (?P<what>[\w ]+?) one$", r"drink without \g<what>", name)
    name = singular(bare(f"drink {name}" if name.startswith("with ") else name))
    # A number alone, "two", means so many of one of the drinks; "just" alone names no drink.
    name = name or ("one" if re.search(rf"\b(?:{COUNTED}|\d+|off)\b", said.lower()) else said)
    try:
        return drink_named(name)
    except Unreadable:
        return name


def pointed_at(said: str) -> str:
    """A spoken drink as a question refers to it: "the latte", or "it" if no word names one."""
    name = name_of(said)
    return "it" if name in LAST else name if name in ALL else f"the {bare(said)}"


def newest_of(order: Mapping[Drink, int], told: Sequence[str]) -> Drink | None:
    """The drink that the tools' results named last, else the order's last; None if it is empty."""
    said = " ".join(told)
    ends = {
        one: [*re.finditer(rf": {re.escape(_named(one, n))}\.", said)] for one, n in order.items()
    }
    spoken_of = {one: found[-1].end() for one, found in ends.items() if found}
    return max(spoken_of, key=spoken_of.__getitem__, default=next(reversed([*order]), None))


def _named(drink: Drink, count: int) -> str:
    return label_of(drink, count, always_count=False)


def found_in(drink: str, order: Mapping[Drink, int], newest: Drink | None = None) -> list[Drink]:
    """The ordered drinks that may be meant, oldest first; "it" is ``newest``, or else the last one.

    Raises:
        ToolError: There is none.
    """
    said = name_of(drink)
    first, _, rest = said.partition(" ")
    if said in ALL:
        found = [*order]
    elif said in LAST:
        found = [newest] if newest and newest in order else list(order)[-1:]
    elif first in _PLACES and not called_so(said, order):
        of = list(order) if rest in ("", "one", "drink") else called_so(rest, order)
        found = of[_PLACES.index(first) :][:1]
    else:
        found = called_so(said, order) or _styled(said, order)
    if not found:
        raise ToolError(f"There is no {said} in the order.")
    return found


def meant_in(
    drink: str, order: Mapping[Drink, int], count: int = 0, newest: Drink | None = None
) -> Drink:
    """The one ordered drink that is meant.

    Args:
        drink: The words for it.
        order: Ordered drink → how many.
        count: How many of it are meant, for the question which one; 0 for all.
        newest: The drink that "it" means; None is the last one.

    Raises:
        ToolError: There is none, or several may be meant.
    """
    found = list(order) if count and name_of(drink) == "one" else found_in(drink, order, newest)
    exactly = [one for one in found if label_of(one, 1, always_count=False) == name_of(drink)]
    return only_one(exactly or found, count)


def only_one(found: Sequence[Drink], count: int = 0) -> Drink:
    """The only one of some drinks.

    Raises:
        Choose: There are several; ``count`` goes before each option.
    """
    if len(found) > 1:
        labels = [label_of(one, 1, always_count=False) for one in found]
        which = phrasing.joined([f"the {label}" for label in labels], last="or")
        values = [f"{count or ''} {label}".strip() for label in labels]
        raise Choose(f"Which one: {which}?", "drink", values)
    return found[0]


def put_in_place(order: dict[Drink, int], old: Drink, new: Drink, count: int, left: int) -> None:
    """Put ``count`` of a drink in an order where another stood, of which ``left`` stay."""
    before = list(order.items())
    order.clear()
    for drink, had in before:
        if drink != old:
            order[drink] = order.get(drink, 0) + had
            continue
        if left:
            order[old] = order.get(old, 0) + left
        order[new] = order.get(new, 0) + count


def unoffered(drink: str, message: str) -> str:
    """The full name of a drink in a message, if it is not on the menu; else empty.

    A model copies only what can be read: "latte" from "a pumpkin spice latte".
    """
    newest = _SWEARING.sub("", re.sub(r"[^\w' ]", " ", message.lower()))
    called = rf"\b(?:an?|another|{COUNTED}) ((?:[a-z']+ ){{1,3}}){re.escape(drink.lower())}\b"
    for found in re.finditer(called, newest):
        known = details.are_known(digits(found[1], fractions=False) + " ")
        # Another drink may stand between: "two americanos a latte".
        if not known and not named_in(found[1]):
            return f"{found[1]}{drink.lower()}"
    return ""


_SHOT_OF = re.compile(r"\bshots? of (?!espresso|coffee|decaf)(\w+)")


def check_shot(arguments: Mapping[str, str], message: str) -> None:
    """Refuse a shot of something else than espresso or a syrup.

    Raises:
        ToolError: The message wants one.
    """
    of = _SHOT_OF.search(message.lower())
    if of and arguments.get("shots"):
        raise ToolError(f"Sorry, we do not have {of[1]}.")

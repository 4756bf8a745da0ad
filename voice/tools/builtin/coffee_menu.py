"""What a coffee shop offers, how its drinks are called, and what it can say of them.

It knows of no order. Prices, allergens and waiting times are not known here, and nothing is made
up: what the menu does not say is said to be unknown.
"""

from __future__ import annotations

import difflib
import re

from voice.tools import phrasing
from voice.tools.registry import Unreadable

MENU = {
    "coffee": "filter coffee", "latte": "espresso with steamed milk",
    "cappuccino": "espresso with steamed milk and a lot of foam",
    "flat white": "espresso with a little steamed milk", "americano": "espresso with hot water",
    "espresso": "a small strong coffee", "mocha": "espresso with steamed milk and chocolate",
    "macchiato": "espresso with a spoon of milk foam",
    "cortado": "espresso with as much steamed milk", "cold brew": "coffee steeped cold for hours",
    "iced coffee": "coffee on ice", "tea": "", "chai": "spiced black tea with milk",
    "matcha": "powdered green tea with milk", "hot chocolate": "chocolate with steamed milk",
    "lemonade": "", "water": "", "drip coffee": "", "filter coffee": "", "black coffee": "",
    "ristretto": "a shorter espresso", "lungo": "a longer espresso",
    "affogato": "espresso over ice cream", "red eye": "filter coffee with a shot of espresso",
    "pour over": "", "cafe au lait": "coffee with hot milk", "frappe": "", "steamer": "",
    "green tea": "", "black tea": "", "herbal tea": "", "peppermint tea": "", "earl grey": "",
    "cocoa": "", "steamed milk": "",
}  # fmt: skip
"""Drink → what it is, where a caller may not know; those that are asked for most first."""
STYLES = (
    "iced", "hot", "decaf", "vanilla", "caramel", "hazelnut", "white", "chai", "matcha", "nitro",
    "house", "double", "single", "triple", "turkish", "mocha", "cafe", "latte", "half", "caf",
    "dark", "dirty", "peppermint", "cinnamon", "honey", "skinny", "plain",
)  # fmt: skip
"""Words before a drink of the menu that make another drink."""
SIZES = ("small", "medium", "large", "extra large", "regular", "tall", "big", "short")
_MILKS = ("whole", "skimmed", "oat", "almond", "soy", "coconut")
_SYRUPS = ("vanilla", "caramel", "hazelnut", "honey", "sugar")
_READ_OUT = 14
"""Drinks of the menu, the first ones, that are named where all are asked for."""

_DO_YOU_HAVE = re.compile(
    r"\b(?:(?:do|have|can) (?:you|i|we)(?: guys)? (?:have|got|get|do|sell|serve|make|offer)"
    r"|have you(?: got)?|got) (?:any |some |an? |the )?(?P<thing>[\w ']+)"
)
_KINDS = (
    (r"\b(?:food|eat|cakes?|pastr\w+|muffins?|croissants?|sandwich\w*|toasties?|cookies?|snacks?)\b",
     "We only have drinks, nothing to eat."),
    (r"\b(?:prices?|costs?|total|charge|come to|expensive|cheap|how much(?: is| are|'s| for))\b",
     "Sorry, I do not know the prices."),
    (r"\b(?:ready|how long|take long|when will)\b",
     "Sorry, I do not know how long it takes."),
    (r"\b(?:what|which|how many|kinds? of) sizes?\b|\bhow (?:big|large|small)\b",
     "The sizes are small, medium, large and extra large. I do not know what they hold."),
    (r"\b(?:what|which|kinds? of) (?:\w+ )?milks?\b",
     f"We have {phrasing.joined(_MILKS)} milk."),
    (r"\b(?:what|which|kinds? of) (?:syrups?|flavou?rs?|sweeteners?)\b",
     f"We have {phrasing.joined(_SYRUPS)}."),
)  # fmt: skip
_MENU_ASKED = re.compile(
    r"\b(?:menu|recommend|suggest|what drinks|what (?:do|have|would) you"
    r"(?: (?:have|got|do|sell|serve|offer|drink))?|what (?:can i|is there|there is))\W*$"
    r"|\b(?:menu|recommend)\b"
)
_WHAT_IT_IS = re.compile(
    r"\bwhat(?:'s| is| are|s) (?:in |the difference|an? |the )|\b(?:made of|made with|consist)"
)


def offered(name: str) -> bool:
    """Whether a drink, in the singular, is on the menu, in one of the styles or plain."""
    if name in MENU:
        return True
    return any(
        name.endswith(f" {drink}")
        and all(word in STYLES for word in name.removesuffix(drink).split())
        for drink in MENU
    )


def drink_named(said: str) -> str:
    """A spoken drink, in the singular.

    Raises:
        Unreadable: It is not on the menu.
    """
    name = re.sub(r"^(?:an?|the|cups? of|some)\s+", "", singular(bare(said)))
    if offered(name):
        return name
    close = difflib.get_close_matches(name, MENU, n=1, cutoff=0.8)
    if not close:
        raise Unreadable("drink", said, not_offered(said))
    return close[0]


def not_offered(said: str) -> str:
    """Refuse by its name what is not on the menu, and name the nearest that is."""
    name = bare(said)
    near = [one for one in MENU if {singular(word) for word in name.split()} & {*one.split()}]
    have = phrasing.joined([f"a {one}" for one in near[:3]] or [*MENU][:6], last="or")
    missing = name if 1 <= len(name.split()) <= 3 else "that"
    return f"Sorry, we do not have {missing}. Would you like {have}?"


def answer(question: str) -> str:
    """What the menu says to a question."""
    said = question.lower().replace("’", "'")
    for pattern, told in _KINDS:
        if re.search(pattern, said):
            return told
    drinks = named_in(said)
    if _WHAT_IT_IS.search(said) and (known := [one for one in drinks if MENU.get(one)]):
        return " ".join(f"{phrasing.sentence(_a(one))} is {MENU[one]}." for one in known)
    if _MENU_ASKED.search(said) and not drinks:
        return f"We have {phrasing.joined([*MENU][:_READ_OUT])}."
    if asked := _DO_YOU_HAVE.search(said):
        return _has(asked["thing"])
    things = [f"the {one}" for one in drinks]
    return f"Sorry, I do not know that{f' about {phrasing.joined(things)}' if things else ''}."


def named_in(said: str) -> list[str]:
    """The drinks of the menu that some words name, the longest name of each."""
    found: list[str] = []
    for drink in sorted(MENU, key=len, reverse=True):
        if re.search(rf"\b{drink}(?:e?s)?\b", said) and not any(drink in one for one in found):
            found.append(drink)
    return sorted(found, key=said.find)


def _has(thing: str) -> str:
    name = singular(bare(thing))
    milks = "|".join((*_MILKS, "soya", "skim"))
    if offered(name) or name in (*STYLES, *SIZES, *_SYRUPS) or re.match(rf"(?:{milks})\b", name):
        return f"Yes, we have {thing.strip()}."
    return not_offered(thing)


def bare(said: str) -> str:
    """Words without the article before them."""
    return re.sub(r"^(?:the|my|that|one|an?)\s+", "", said.lower().strip().rstrip("."))


def singular(name: str) -> str:
    """The singular; no drink on the menu ends in a single s."""
    return name if name.endswith("ss") else re.sub(r"(?<=[^s])s$", "", name)


def plural(name: str) -> str:
    """The plural of a drink."""
    return name + ("es" if name.endswith(("ch", "ss", "x")) else "s")


def _a(name: str) -> str:
    return f"{'an' if name[0] in 'aeiou' else 'a'} {name}"

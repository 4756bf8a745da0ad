"""Reads the name for an order, as customers say it."""

from __future__ import annotations

import re
from collections.abc import Sequence

from voice.tools import phrasing
from voice.tools.builtin.coffee_menu import MENU, SIZES, STYLES
from voice.tools.registry import Unreadable
from voice.tools.spoken_numbers import digits

_GIVEN_NAME = (
    r"(?:for|under|names?(?:'s| is| of)?|i'm|i am|it's|this is|that's|call(?: it| me)?|to|on|down)"
)
_NAME_BESIDE = re.compile(
    r"(?:\b(?i:(?:(?:my|the) )?name(?:'s| is|:)|under(?: the name(?: of)?)?"
    r"|(?:it|that|this|order)(?:'s| is) for|call(?:ed)? (?:it|me))"
    r" (?P<sure>[^\W\d_]+(?: (?!please|thanks|then)[^\W\d_]+)?)"
    r"|(?<![^\s,])(?i:for|i'm|i am) (?P<name>[A-Z][^\W\d_]+(?:[- '][A-Z][^\W\d_]+)?))"
    r"(?i:,? (?:please|thanks|then))*(?i:,? with an? [a-z]| ?,? spel[a-z]+ [a-z -]{1,20})?[.!]*$",
)
"""A name at the end of a message; after a mere "for" or "I'm" it must have a capital."""
_NO_NAMES = """
i you he she it we they me him her them his hers my your our their mine yours this that these those
the a an and or but so to of in on at with for from is are was be no not yes yeah ok okay please
thanks thank here there now then all one ones more else order name place good done great right fine
everything nothing go ahead just big bigger wants want same again today later pickup takeaway
delivery takeout everyone hot iced cold me us breakfast lunch work home
"""


def customer(said: str) -> str:
    """A name without the words before it.

    Raises:
        Unreadable: It is not a name.
    """
    bare = re.sub(r"^(?:for|under|my name is|name is|it's)\s+", "", said.strip())
    words = bare.lower().split()
    known = {word for name in (*MENU, *SIZES, *STYLES) for word in name.split()}
    if not 1 <= len(words) <= 3 or not known.union(_NO_NAMES.split()).isdisjoint(words):
        raise Unreadable("name", said)
    if re.search(r"\d", digits(bare)):
        raise Unreadable("name", said)
    return phrasing.name(bare)


def given_customer(said: str, messages: Sequence[str]) -> str:
    """The customer's name, if it is a name and one of the messages, if there are any, gives it."""
    try:
        called = customer(said)
    except Unreadable:
        return ""
    name = re.escape(called.lower())
    given = re.compile(
        rf"{_GIVEN_NAME} (?:the name (?:of )?)?{name}\b|\b{name} (?:is|please|here)\b"
        rf"|^(?:\W|yes|yeah|no|thanks)*{name}\W*$|[,.] {name}\W*$"
    )
    plain = (message.lower().replace("’", "'") for message in messages)
    return called if not messages or any(map(given.search, plain)) else ""


def name_beside(message: str) -> str:
    """The customer's name that a message gives along with an order; empty for none."""
    found = _NAME_BESIDE.search(message.replace("’", "'"))
    if found is None:
        return ""
    try:
        return customer(found["sure"] or found["name"])
    except Unreadable:
        return ""

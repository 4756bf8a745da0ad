"""Reads the name for an order, as customers say it."""

from __future__ import annotations

import re
from collections.abc import Sequence

from voice.tools import phrasing
from voice.tools.builtin.coffee_details import are_known
from voice.tools.builtin.coffee_menu import MENU, SIZES, STYLES
from voice.tools.registry import Unreadable
from voice.tools.spoken_numbers import digits

_GIVEN_NAME = (
    r"(?:for|under|names?(?:'s| is| of)?|i'm|i am|it's|this is|that's|call(?: it| me)?|to|on|down)"
)
_END = r"(?i:,? (?:please|thanks|then|that(?:'s| is|'ll be) (?:all|it|everything)))*"
"""What may follow a name."""
_NAME_BESIDE = re.compile(
    r"(?:\b(?i:(?:(?:my|the) )?name(?:'s| is| of|:)|under(?: the name(?: of)?)?"
    r"|(?:it|that|this|order)(?:'s| is) for|call(?:ed)? (?:it|me))"
    r" (?P<sure>[^\W\d_]+(?: (?!please|thanks|then)[^\W\d_]+)?)"
    r"|(?<![^\s,])(?i:for|i'm|i am) (?P<name>[A-Z][^\W\d_]+(?:[- '][A-Z][^\W\d_]+)?))"
    rf"{_END}(?i:,? with an? [a-z]| ?,? spel[a-z]+ [a-z -]{{1,20}})?[.!]*$",
)
"""A name at the end of a message; after a mere "for" or "I'm" it must have a capital."""
_FOR_WHOM = re.compile(rf"(?!.*\bfor\b.*\bfor\b).* for (?P<name>[a-z]{{2,15}}){_END}[.!]*$")
"""A name at the end of an order in lower case, as people type."""
_NO_NAMES = """
i you he she it we they me him her them his hers my your our their mine yours this that these those
the a an and or but so to of in on at with for from is are was be no not yes yeah ok okay please
thanks thank here there now then all one ones more else order name place good done great right fine
everything nothing go ahead just big bigger wants want same again today later pickup takeaway
delivery takeout everyone hot iced cold me us breakfast lunch work home
dinner dessert school free mum mom dad gran grandma grandpa kids children friends somebody someone
tomorrow tonight monday tuesday wednesday thursday friday saturday sunday collection starters
"""


def customer(said: str, sure: bool = False) -> str:
    """A name without the words before it.

    Args:
        said: The words.
        sure: Whether they are surely a name, though a drink may be called so.

    Raises:
        Unreadable: It is not a name.
    """
    bare = re.sub(r"^(?:for|under|my name is|name is|it's)\s+", "", said.strip())
    words = bare.lower().split()
    known = {word for name in (*MENU, *SIZES, *STYLES) * (not sure) for word in name.split()}
    if not 1 <= len(words) <= 3 or not known.union(_NO_NAMES.split()).isdisjoint(words):
        raise Unreadable("name", said)
    if re.search(r"\d", digits(bare)):
        raise Unreadable("name", said)
    return phrasing.name(bare)


def given_customer(said: str, messages: Sequence[str]) -> str:
    """The customer's name, if it is a name and one of the messages, if there are any, gives it."""
    plain = [message.lower().replace("’", "'") for message in messages]
    sure = re.compile(rf"\bname(?:'s| is) {re.escape(said.lower())}\b")
    try:
        called = customer(said, sure=any(map(sure.search, plain)))
    except Unreadable:
        return ""
    name = re.escape(called.lower())
    given = re.compile(
        rf"{_GIVEN_NAME} (?:the name (?:of )?)?{name}\b|\b{name} (?:is|please|here)\b"
        rf"|^(?:\W|yes|yeah|no|thanks)*{name}\W*$|[,.] {name}\W*$"
    )
    return called if not messages or any(map(given.search, plain)) else ""


def name_beside(message: str, ordering: bool = False) -> str:
    """The customer's name that a message gives along with an order; empty for none.

    Args:
        message: What was said.
        ordering: Whether it orders, so that a name after "for" needs no capital.
    """
    said = message.replace("’", "'")
    named = _NAME_BESIDE.search(said)
    whom = _FOR_WHOM.match(said) if ordering and not named else None
    name = (named["sure"] or named["name"]) if named else whom["name"] if whom else ""
    try:
        return "" if whom and are_known(f"{name} ") else customer(name)
    except Unreadable:
        return ""

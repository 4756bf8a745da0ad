"""The sentences of flows: those that all flows share, and those that name known values."""

from __future__ import annotations

import re
from collections.abc import Mapping
from contextlib import suppress
from datetime import date

from voice.config.flow import PLACE
from voice.understanding.english import agrees, bare, is_courteous

WELCOME = "You're welcome."
NOTHING_ELSE = "All right. Goodbye."
CANNOT_CANCEL = "That is done already, and I cannot cancel it, sorry."
NOTHING_THEN = "All right. If there is something else that I can do, tell me."
ONE_MORE_THING = f"{WELCOME} I need one more thing."
OKAY = "Okay."
WHAT_TO_DO = "What can I do for you?"
I_SEE = "I see."
NOT_UNDERSTOOD = "Sorry, I did not get that."
GREETING = (
    r"hello|hi|there|good (?:morning|afternoon|evening|day)|how are you"
    r"|(?:is )?(?:any|some)(?:one|body) (?:there|here)|are you (?:still )?(?:there|here)"
)
"""Pattern of words to which the flow's question alone is answer enough."""
_YES = re.compile(r"(?:yes|yeah|yep|yup|sure|please)\b")
THANKS = re.compile(r"\b(?:thanks|thank you|cheers)\b")
_OPTIONAL = re.compile(r"\[([^\[\]]*)\]")
"""A part in brackets, which is left out if a value in it is unknown."""
_ISO_DATE = re.compile(r"\d{4}-\d\d-\d\d")


def at_a_loss(message: str) -> str:
    """What is said to a message in which nothing was understood."""
    if THANKS.search(message.lower()):
        return WELCOME
    if agrees(message) and _YES.match(message.lower()):
        # "Okay." would sound as if something had been done.
        return WHAT_TO_DO
    return OKAY if is_courteous(message) or not bare(message, GREETING) else NOT_UNDERSTOOD


def with_values(text: str, known: Mapping[str, str]) -> str:
    """A sentence of an agent's file with known values filled in."""
    text = _OPTIONAL.sub(
        lambda part: part[1] * all(known.get(name) for name in PLACE.findall(part[1])), text
    )
    return PLACE.sub(lambda place: spoken(known.get(place[1], "")), text)


def without_questions(text: str) -> str:
    """The sentences that ask nothing.

    >>> without_questions("This is the nurse's line. What number can we reach you at?")
    "This is the nurse's line."
    """
    return " ".join(one for one in re.split(r"(?<=[.!?])\s+", text) if not one.endswith("?"))


def questions_of(text: str) -> str:
    """The sentences that ask something.

    >>> questions_of("This is the nurse's line. What number can we reach you at?")
    'What number can we reach you at?'
    """
    return " ".join(one for one in re.split(r"(?<=[.!?])\s+", text) if one.endswith("?"))


def spoken(value: str) -> str:
    """A known value as it is spoken: an ISO date as weekday, month and day.

    >>> spoken("2026-12-01"), spoken("10:00 AM")
    ('Tuesday, December 1', '10:00 AM')
    """
    with suppress(ValueError):
        day = date.fromisoformat(value if _ISO_DATE.fullmatch(value) else "")
        return f"{day:%A}, {day:%B} {day.day}"
    return value

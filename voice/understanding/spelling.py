"""What people say of how a value is spelled, and digits that were recognised as other words.

Both are put in the form in which the readers of values expect them. English only.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable

from voice.tools.spoken_numbers import DIGITS
from voice.understanding.english import plain

_REMARK = re.compile(
    r"(,)?\s+with(?:out)? (?:an?|one|two|double) [a-z](?:'?s)?(?: at the (?:end|start|beginning))?"
    r"(?(1)(?:,|(?=[.!?]|$))|(?=[,.!?]|$))",
    re.I,
)
_LETTERS = re.compile(
    r"(?:(?:(?:that|it)(?:'s| is)|which is|i spell (?:it|that)|spell(?:ed|ing)|spelt) )*"
    r"[a-z](?:[ .-]+[a-z]\b){1,40}[ .!]*",
    re.I,
)
_HEARD = {"for": "4", "fore": "4", "to": "2", "too": "2", "won": "1", "ate": "8"}
_LEAD = re.compile(r"(?:(?:yes|yeah|no|sorry|it|it's|that's|my|the|number|is|well|um|uh) )*")
_FEWEST = 3
"""Digits beside which a word such as "for" is one more."""


def without_remarks(message: str) -> str:
    """A message without remarks on single letters.

    >>> without_remarks("Ann, without an E, Cowalski with a C")
    'Ann Cowalski'
    """
    return _REMARK.sub("", message)


def with_spelling(parts: Iterable[str]) -> list[str]:
    """The parts of a message, with letters joined to the part before them.

    >>> with_spelling(["my name is Jon", "that's J O H N", "on Friday"])
    ["my name is Jon, that's J O H N", 'on Friday']
    """
    joined: list[str] = []
    for part in parts:
        if joined and _LETTERS.fullmatch(part.replace("’", "'")):
            joined[-1] += f", {part}"
        else:
            joined.append(part)
    return joined


def misheard_digits(message: str, reads: Callable[[str], bool]) -> str:
    """The digits that a message consists of, if it is read with "for" as four and the like.

    Empty if it is read as it is, or without such a word before it.

    >>> misheard_digits("for 8 2 1 3.", lambda said: said.startswith("4"))
    '4 8 2 1 3'
    """
    words = _LEAD.sub("", plain(message), count=1).split()
    digits = [DIGITS.get(word, word) for word in words]
    others = [word for word in digits if not word.isdigit()]
    if not others or len(digits) - len(others) < _FEWEST or not {*others} <= {*_HEARD}:
        return ""
    said = " ".join(_HEARD.get(word, word) for word in digits)
    as_it_is = any(reads(" ".join(words[first:])) for first in range(2))
    return said if reads(said) and not as_it_is else ""

"""What people say of how a value is spelled or ends, and digits recognised as other words.

They are put in the form in which the readers of values expect them. English only.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable

from voice.tools.kinds import ENDS_IN
from voice.tools.spoken_numbers import DIGITS
from voice.types import Reading
from voice.understanding.english import GRAMMAR, plain

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
_SPELLED = re.compile(r"(?<![\w'])[a-z](?:[ .-]+[a-z](?![\w'])){2,}", re.I)
_BESIDE_LETTERS = GRAMMAR | {"first", "last", "my", "name", "spelled", "spelt", "surname"}
_OTHER_END = re.compile(
    r"\b(?:(?:it|that|the number) )?(?:should )?"
    r"(?:(?:end|ends|ending) (?:in|with)|(?:the )?last (?:\w+ ){0,2}(?:is|are|should be)) ",
    re.I,
)
_LONGEST_END = 12
"""Most words of an end."""
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


def mended(
    message: str, known: str, reading: Reading, answers: Callable[[str], bool]
) -> tuple[str, str]:
    """The known value with its spelling or end as a message gives it, and the rest of the message.

    Both are words that the reading understands; those of the value are empty if there are none.
    """
    if known and reading.free:
        return respelled(message, known, reading.read)
    return other_end(message, known, answers) if known else ("", message)


def respelled(message: str, known: str, read: Callable[[str], object]) -> tuple[str, str]:
    """The known name with the spelling of one of its words, and the rest of the message.

    The words of the name are empty if nothing is spelled, or another name is said as well.

    >>> read = lambda words: words.lower().replace(" ", "")
    >>> respelled("the surname is spelled K O W A L", "Ann Cowal", read)
    ('Ann Cowal, K O W A L', 'the surname is spelled ')
    """
    found = _SPELLED.search(message)
    letters = re.sub(r"\W", "", found[0]).lower() if found else ""
    names = (one for one in re.findall(r"[^\W_]+", message) if len(one) > 1 and one[0].isupper())
    spells = found is not None and read(found[0]) == read(letters)
    if found and spells and {one.lower() for one in names} <= _BESIDE_LETTERS | {letters}:
        words = f"{known}, {found[0]}"
        # What is like none of the words would be one more.
        if read(words) not in (None, read(f"{known} {letters}")):
            return words, message[: found.start()] + message[found.end() :]
    return "", message


def other_end(message: str, known: str, answers: Callable[[str], bool]) -> tuple[str, str]:
    """The known value with the end that a message gives it, "no, it ends in six"; and the rest.

    The words of the value are empty if there is none. Its reader must understand `ENDS_IN`.
    """
    if found := _OTHER_END.search(message):
        words = [*re.finditer(r"[^\s,;!?]+", message[found.end() :])][:_LONGEST_END]
        for last in (found.end() + one.end() for one in reversed(words)):
            ended = f"{known}{ENDS_IN}{message[found.end() : last]}"
            if answers(ended):
                return ended, message[: found.start()] + message[last:]
    return "", message

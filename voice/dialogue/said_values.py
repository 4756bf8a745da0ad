"""The values of a flow that a message says, without a model: "no, Tuesday at ten".

A value is the longest span of the message that its tool can read. What nearly any words can be, a
name or a complaint, is only the whole of an answer to the question for it. It does not know what
the values are for. The words are English.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from itertools import product

from voice.dialogue.english import (
    GRAMMAR,
    HESITATING,
    TAKING_BACK,
    agrees,
    bare,
    disagrees,
    plain,
)
from voice.types import Reading


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_LONGEST, _MOST = 12, 16
"""Words of a value, and of a message that is looked through."""
_WORD = re.compile(r"[^\s,;!?]+")
_CORRECTS = re.compile(rf"(?:{TAKING_BACK}|{HESITATING}|not|change|that's wrong)\b|.*\bwrong\b")
_ASKS = re.compile(r"(?:what|when|where|which|who|how|why|is|are|was|did|will|would|has)\b")
_ALSO_YES = (
    r"(?:that's |that |it's |it |all )?(?:sounds |looks |is )?(?:good|fine|great|perfect|lovely)"
    r"(?: to me| for me)?|(?:that )?works(?: for me)?|(?:book|confirm|place) (?:it|that)|absolutely"
    r"|definitely|(?:that's|it's|all) correct|wonderful"
)
_WRONG = re.compile(
    r"(?:(?:that's|it's|that is|it is|is) )?(?:wrong|not (?:right|correct)|incorrect)"
)
_DENYING = _words("wrong incorrect don't isn't change")
_JOINING = _words("and at by for in on the to")
_GIVES_UP = re.compile(
    r"(?:never mind|forget (?:it|that|about it)|cancel (?:it|that|this|everything|(?:my|the) \w+)"
    r"|start over|start again|(?:let's )?(?:start|begin) (?:over|again)|from the beginning"
    r"|i(?:'ve| have)? changed my mind|i don't want (?:it|that|to)(?: any more| anymore)?)"
)


@dataclass(frozen=True, slots=True)
class Wanted:
    """A value that may be said.

    Attributes:
        reading: What its words must be readable as.
        known: What is known of it; None where it is missing.
    """

    name: str
    reading: Reading
    known: str | None = None

    def reads(self, words: str) -> bool:
        """Whether some words say it, and another one than is known."""
        meant = self.reading.read(words)
        if meant is None or self.known is None:
            return meant is not None
        return words != self.known and meant != self.reading.read(self.known)


def said_values(message: str, wanted: Iterable[Wanted], asked: str) -> Mapping[str, str]:
    """Values by their names, in the words of the message; that which was ``asked`` for first."""
    ordered = sorted(wanted, key=lambda one: (one.name != asked, one.known is not None))
    words = plain(message).split()
    for one in ordered:
        more = {*words} - GRAMMAR - _DENYING - {*one.name.split("_")}
        asked_for = one.name == asked or (one.known and more and _names(words, one.name))
        if one.reading.free and asked_for and one.reads(message):
            return {one.name: message}
    return _spans(message, ordered)


def taken_back(message: str, known: Iterable[str]) -> str:
    """The value that a message says is wrong, "not the time", without saying another; else ""."""
    words = plain(message)
    if _ASKS.match(words) or not (_CORRECTS.match(words) or len(words.split()) < 4):
        return ""
    return next((name for name in known if _names(words.split(), name)), "")


def gives_up(message: str) -> bool:
    """Whether a message takes back all that was said: "never mind", "start over"."""
    return _GIVES_UP.fullmatch(bare(message)) is not None


def answer_to(message: str, known: Iterable[Wanted]) -> bool | None:
    """Whether a message says yes or no to a question; None where it says something else.

    What it repeats of ``known`` values is neither: "yes, Tuesday at ten".
    """
    for span in _spans(message, [replace(one, known=None) for one in known]).values():
        message = message.replace(span, " ", 1)
    words = " ".join(word for word in plain(message).split() if word not in _JOINING)
    if agrees(words, _ALSO_YES):
        return True
    return False if disagrees(_WRONG.sub("no", words)) else None


def _spans(message: str, wanted: Iterable[Wanted]) -> dict[str, str]:
    wanted = [one for one in wanted if not one.reading.free]
    words = [word.rstrip(".") for word in _WORD.findall(message)][:_MOST]
    free = [True] * len(words)
    found: dict[str, str] = {}
    for one, length in product(wanted, range(min(_LONGEST, len(words)), 0, -1)):
        for start in range(len(words) - length + 1) if one.name not in found else ():
            span = " ".join(words[start : start + length])
            if all(free[start : start + length]) and one.reads(span):
                found[one.name] = _trimmed(span, one.reading)
                free[start : start + length] = [False] * length
                break
    return found


def _trimmed(span: str, reading: Reading) -> str:
    """A span without words at its ends that join it to others: "Tuesday" of "on Tuesday at"."""
    words, meant = span.split(), reading.read(span)
    for end, rest in ((-1, slice(None, -1)), (0, slice(1, None))):
        while words[end].lower() in _JOINING and reading.read(" ".join(words[rest])) == meant:
            words = words[rest]
    return " ".join(words)


def _names(words: list[str], value: str) -> bool:
    return set(value.split("_")) <= set(words)

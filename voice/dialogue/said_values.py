"""The values of a flow that a message says, without a model: "no, Tuesday at ten".

A value is the longest span of the message that its tool can read. A bare number is one only as the
whole answer, behind "at" or beside another value: "one moment" is no time. What nearly any words
can be, a name or a complaint, is only the whole of an answer to the question for it, or what stands
behind its name. It does not know what the values are for. The words are English.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from itertools import product

from voice.dialogue.english import (
    GRAMMAR,
    HESITATING,
    NUMBERS,
    TAKING_BACK,
    agrees,
    bare,
    disagrees,
    plain,
    word_set,
)
from voice.types import Reading

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
_DENYING = word_set("wrong incorrect don't isn't change")
_JOINING = word_set("and at by for in on the to")
_POLITE = word_set("thanks thank you well then so")
_COUNTS = NUMBERS - word_set("half quarter noon midnight") | word_set("oh double")
_BESIDE = word_set("""
    and at by for in on the to around about or so then maybe perhaps say said meant make made it
    it's that that's is be would will i i'd i'll we let's do can could take change move prefer
    rather like instead better best good fine great perfect ok okay works suits me us how what not
    no nope yes yeah yep sure sorry please thanks thank you oh ah uh um er erm hmm well wait
    actually hello hi hey
""")
"""What stands beside the value in an answer that says nothing else."""
_BEFORE_NAME = re.compile(
    rf"(?:(?:and|but|{TAKING_BACK}|{HESITATING}|it's|it is|that's|that is)\b[ ,.!]*)+", re.I
)
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
    free = [one for one in ordered if one.reading.free]
    for one in free:
        if named := _named(message, one):
            return {one.name: named}
    spans, rest = _spans(message, ordered)
    if answer_to(message, ordered) is None and not _is_whole(message, ordered):
        for one in free:
            if one.name == asked and one.reads(message):
                return {one.name: message}
        proper = _proper_name(message) if not spans and rest else ""
        names = [one for one in free if one.known and _is_proper(one.known)]
        if proper and names and names[-1].reads(proper):
            return {names[-1].name: proper}
    return spans


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
    for span in _spans(message, _unknown(known))[0].values():
        message = message.replace(span, " ", 1)
    words = " ".join(word for word in plain(message).split() if word not in _JOINING | _POLITE)
    if agrees(words, _ALSO_YES):
        return True
    return False if disagrees(_WRONG.sub("no", words)) else None


def _spans(message: str, wanted: Iterable[Wanted]) -> tuple[dict[str, str], set[str]]:
    """Values by their names, and the words of the message that are in none."""
    wanted = [one for one in wanted if not one.reading.free]
    words = [word.rstrip(".") for word in _WORD.findall(message)][:_MOST]
    open_ = [True] * len(words)
    found: dict[str, str] = {}
    lengths = range(min(_LONGEST, len(words)), 0, -1)
    # Bare numbers last: whether they count depends on what is beside them.
    for bare_ones, one, length in product((False, True), wanted, lengths):
        for start in range(len(words) - length + 1) if one.name not in found else ():
            here = slice(start, start + length)
            span = " ".join(words[here])
            if not all(open_[here]) or not one.reads(span):
                continue
            value = _trimmed(span, one.reading)
            if not bare_ones and _is_bare(value) and not _behind_at(words, here):
                continue
            if bare_ones and not _answers(words, open_, here):
                continue
            found[one.name] = value
            open_[here] = [False] * length
            break
    return found, {word.lower() for word, left in zip(words, open_, strict=True) if left}


def _is_bare(value: str) -> bool:
    """Whether a value is a number alone."""
    words = value.lower().replace("-", " ").split()
    return all(word in _COUNTS or word.isdigit() for word in words)


def _behind_at(words: list[str], here: slice) -> bool:
    return "at" in (word.lower() for word in words[max(0, here.start - 1) : here.stop])


def _answers(words: list[str], open_: list[bool], here: slice) -> bool:
    """Whether a span stands beside another value, or with nothing but words of an answer."""
    if not all(open_[max(0, here.start - 1) : here.stop + 1]):
        return True
    outside = (at for at in range(len(words)) if open_[at] and not here.start <= at < here.stop)
    return {words[at].lower() for at in outside} <= _BESIDE


def _is_whole(message: str, wanted: Iterable[Wanted]) -> bool:
    """Whether a message says values that are not free, known or not, and nothing else."""
    found, rest = _spans(message, _unknown(wanted))
    return bool(found) and rest <= _BESIDE


def _unknown(wanted: Iterable[Wanted]) -> list[Wanted]:
    return [replace(one, known=None) for one in wanted]


def _named(message: str, one: Wanted) -> str:
    """The words of a free value behind its name: "and the name is Mia"; empty for none."""
    name = one.name.replace("_", " ")
    match = re.search(rf"\b{re.escape(name)}(?: is|'s| should be) (.+)", message, re.I)
    words = match[1].strip(" .,!") if match else ""
    more = {*plain(words).split()} - GRAMMAR - _DENYING
    return words if more and one.reads(words) else ""


def _proper_name(message: str) -> str:
    """A name that corrects another, "no, Lea Rott" or "Lea Rott", by its capitals; else empty."""
    lead = _BEFORE_NAME.match(message)
    rest = message[lead.end() if lead else 0 :].strip(" .,!")
    led = lead is not None or len(rest.split()) > 1
    return rest if led and _is_proper(rest) else ""


def _is_proper(words: str) -> bool:
    """Whether every word has a capital, as in a name."""
    return bool(words) and all(word[0].isupper() for word in words.split())


def _trimmed(span: str, reading: Reading) -> str:
    """A span without words at its ends that join it to others: "Tuesday" of "on Tuesday at"."""
    words, meant = span.split(), reading.read(span)
    for end, rest in ((-1, slice(None, -1)), (0, slice(1, None))):
        while words[end].lower() in _JOINING and reading.read(" ".join(words[rest])) == meant:
            words = words[rest]
    return " ".join(words)


def _names(words: list[str], value: str) -> bool:
    return set(value.split("_")) <= set(words)

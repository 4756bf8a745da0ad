"""What a message means after its self-repairs: "a latte, no wait, a mocha" is a mocha.

A repair has three parts: the words that are taken back, an editing term ("no", "i mean"), and the
words in their place. The terms are a closed set. The words taken back begin at the last word of the
same kind as the repair's first: the same word, or another article or number. If there is none,
nothing is taken back, for "no" has many other uses. Nothing is taken back right behind a negation
either: "don't call maria sorry call elena" would come to say its opposite. English only.

Source: Shriberg, Preliminaries to a Theory of Speech Disfluencies (1994).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

from voice.understanding.english import (
    ARTICLES,
    FUNCTION_WORDS,
    HESITATING,
    NUMBERS,
    TAKING_BACK,
    VERBS,
)

_FARTHEST = 8
"""Most words that a repair takes back."""

_MOST = 8
"""Most repairs of one message."""
_TERM = re.compile(
    rf"(?:[,.;-]?\s+(?:{TAKING_BACK}|{HESITATING})\b)+(?: just\b)?[,.]?\s+", re.IGNORECASE
)
_SURE = re.compile(rf"\b(?:{TAKING_BACK})\b", re.IGNORECASE)
_IN_NUMBERS = frozenset(("and", "past", "to", "o'clock"))
"""Words that may join two numbers into one number or time."""
_NEGATION = re.compile(r"not|never|cannot|\w+n't")


@lru_cache(maxsize=256)
def repaired(message: str) -> str:
    """A message without the words that it takes back itself.

    >>> repaired("set a timer for ten no fifteen minutes"), repaired("a latte no sugar")
    ('set a timer for fifteen minutes', 'a latte no sugar')
    """
    for _ in range(_MOST):
        terms = (term for term in _TERM.finditer(message) if _SURE.search(term[0]))
        kept = (_kept(message[: t.start()], message[t.end() :], t[0].strip()) for t in terms)
        shorter = next((one for one in kept if one is not None), None)
        if shorter is None:
            break
        message = shorter
    return message


def _kept(before: str, behind: str, term: str) -> str | None:
    """The words around an editing term once repaired; None if it is not a repair."""
    found = list(re.finditer(r"\S+", before))
    words, repair = [_bare(one[0]) for one in found], [_bare(one) for one in behind.split()]
    kind = kind_of(repair[0]) if repair else ""
    # "With milk, no milk": "no" with a noun denies it, and takes nothing back.
    plain = kind in ("number", "article") or kind in FUNCTION_WORDS | VERBS or term.lower() != "no"
    alike = [at for at in range(len(words)) if kind_of(words[at]) == kind]
    if not alike or not plain or len(words) - alike[-1] > _FARTHEST:
        return None
    start = alike[-1]
    while kind == "number" and _in_number(words, start - 1):
        start -= 1
    if start and negates(words[start - 1]):
        return None
    tail = ""
    if kind == "number":
        rest, said = _past_number(words, start), _past_number(repair, 0)
        while words[rest : rest + 1] == repair[said : said + 1] != []:
            rest, said = rest + 1, said + 1
        # "Ten minutes for the pasta, no fifteen": words that the repair does not replace stay.
        if said == len(repair) and rest < len(words):
            tail = " " + before[found[rest].start() :]
    return before[: found[start].start()] + behind.rstrip(" .") + tail


def _past_number(words: Sequence[str], start: int) -> int:
    return next((at for at in range(start, len(words)) if not _in_number(words, at)), len(words))


def _in_number(words: Sequence[str], at: int) -> bool:
    """Whether a word is a number, or joins two."""
    around = words[max(at - 1, 0) : at + 2]
    if at < 0 or kind_of(words[at]) == "number":
        return at >= 0
    return words[at] in _IN_NUMBERS and [kind_of(one) for one in around[::2]] == ["number"] * 2


def kind_of(word: str) -> str:
    """The kind of a word; in a repair, words of one kind replace each other."""
    if word in NUMBERS or word[:1].isdigit():
        return "number"
    return "article" if word in ARTICLES else word


def negates(word: str) -> bool:
    """Whether a word, maybe with punctuation, denies what follows it."""
    return _NEGATION.fullmatch(_bare(word)) is not None


def _bare(word: str) -> str:
    return re.sub(r"^\W+|\W+$", "", word.lower().replace("’", "'"))

"""What a message means once its speaker has corrected it: "a latte, no wait, a mocha" is a mocha.

A repair has three parts: the words that are taken back, an editing term ("no", "i mean"), and the
words in their place. The term is a closed set; what is taken back begins where the repair's first
word has its like: the same word, another article, another number. Without a like nothing is taken
back, for "no" says so much else. The words are English.

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
"""Words that a repair takes back, at most."""

_MOST = 8
"""Repairs of one message."""
_TERM = re.compile(rf"(?:[,.;-]?\s+(?:{TAKING_BACK}|{HESITATING})\b)+[,.]?\s+", re.IGNORECASE)
_SURE = re.compile(rf"\b(?:{TAKING_BACK})\b", re.IGNORECASE)
_IN_NUMBERS = frozenset(("and", "past", "to", "o'clock"))
"""What may stand between two numbers of one."""


@lru_cache(maxsize=256)
def repaired(message: str) -> str:
    """A message without what its own words take back; any other as it is.

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
    """What is left of the words on either side of an editing term; None where it is none."""
    found = list(re.finditer(r"\S+", before))
    words, repair = [_bare(one[0]) for one in found], [_bare(one) for one in behind.split()]
    kind = kind_of(repair[0]) if repair else ""
    # "With milk, no milk": a noun behind "no" is not there, rather than taken back.
    plain = kind in ("number", "article") or kind in FUNCTION_WORDS | VERBS or term.lower() != "no"
    alike = [at for at in range(len(words)) if kind_of(words[at]) == kind]
    if not alike or not plain or len(words) - alike[-1] > _FARTHEST:
        return None
    start = alike[-1]
    if words[max(0, start - 1)] == "not":
        # "Not the cappuccino, I meant a cortado": what is meant replaces no denial.
        return None
    tail = ""
    if kind == "number":
        while _in_number(words, start - 1):
            start -= 1
        rest, said = _past_number(words, start), _past_number(repair, 0)
        while words[rest : rest + 1] == repair[said : said + 1] != []:
            rest, said = rest + 1, said + 1
        # "Ten minutes for the pasta, no fifteen": what the repair does not say stays.
        if said == len(repair) and rest < len(words):
            tail = " " + before[found[rest].start() :]
    return before[: found[start].start()] + behind.rstrip(" .") + tail


def _past_number(words: Sequence[str], start: int) -> int:
    return next((at for at in range(start, len(words)) if not _in_number(words, at)), len(words))


def _in_number(words: Sequence[str], at: int) -> bool:
    """Whether a word is a number, or stands between two."""
    around = words[max(at - 1, 0) : at + 2]
    if at < 0 or kind_of(words[at]) == "number":
        return at >= 0
    return words[at] in _IN_NUMBERS and [kind_of(one) for one in around[::2]] == ["number"] * 2


def kind_of(word: str) -> str:
    """What a word may stand in for: words of one kind replace each other."""
    if word in NUMBERS or word[:1].isdigit():
        return "number"
    return "article" if word in ARTICLES else word


def _bare(word: str) -> str:
    return re.sub(r"^\W+|\W+$", "", word.lower().replace("’", "'"))

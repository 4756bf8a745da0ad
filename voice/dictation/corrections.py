"""Applies self-repairs: "on tuesday i mean wednesday", "book the, please book two".

A self-repair has three parts: the words that are taken back, an editing term, and the words that
replace them. `voice.understanding.repairs` handles repairs in messages to an agent, where a term
proves little. People who dictate use editing terms plainly, and break off more often. The words are
English.

Source: Shriberg, Preliminaries to a Theory of Speech Disfluencies (1994).
"""

from __future__ import annotations

import re
from enum import IntEnum

from voice.dictation.names import is_name
from voice.understanding.english import ARTICLES, FUNCTION_WORDS, word_set
from voice.understanding.repairs import kind_of, negates, repaired

HUM = r"(?:u+h*m+|u+h+|e+rm*|h+m+|mm+)"
DELETING = r"(?:delete|strike|erase|scratch) that"
OPENING = ARTICLES | FUNCTION_WORDS | word_set("""
    and but or so because that if as than i you he she it we they your his its our their am be been
    has have had will would should could may might just i'm it's he's she's we're they're that's
    there's i've i'll
""")  # fmt: skip
"""Words that open a phrase: no phrase ends with one, and saying one twice is a slip."""

_STRONG = (
    r"i mean(?! (?:it|that|what|business)\b)|i meant|or rather|make that|oops|excuse me|pardon me"
    r"|correction|sorry(?! (?:for|about|that|to|if)\b)"
)
_WEAK = rf"{_STRONG}|{DELETING}|no|nope|wait"
_PART = rf"(?:(?:well|actually|rather|or|oh|{_WEAK}|{HUM})(?![\w'-]),? )"
_TERM = re.compile(
    rf"(?<=[\w'])(?P<comma>,?) (?P<term>(?=(?:{_PART}){{0,9}}?(?:{_WEAK}|{HUM})(?![\w'-]))"
    rf"{_PART}{{1,9}})",
    re.I,
)
_NO_TERM = re.compile(
    r"\b(?:i'm|am|so|very|are|is|was|be|feel|say|the|a|my|what|not|do|to|than),?"
    rf" (?:{_STRONG}|{DELETING})|\b(?:\w+n't|not|to|will|would|can|could|must|should) wait\b",
    re.I,
)
"""Phrases in which the words are not an editing term: "I'm sorry", "don't wait"."""
_BROKEN_OFF = re.compile(
    r"\b(?:the|a|an|my|to|of|for|with|from|at|i|we)"
    r"(?:,? (?=(?:i|we|he|she|they|there)\b)|, (?=\S))(?P<term>)(?P<comma>)",
    re.I,
)
_REPEAT = re.compile(r"\b(?P<once>[\w']+(?: [\w']+){0,4})[,…]?(?: (?P=once)(?![\w'-]))+", re.I)
_SLIP = re.compile(r"\b(\w+)-,? (?=\1)", re.I)
_MEANT_TWICE = word_set("that this had no so is it you her and")
_ASKING = word_set("what which who whom whose when where why how")
_FARTHEST, _NEAR, _ALIGNED = 8, 4, 3
"""How many words back the first replacing word may match, how many the others may, and how many
replacing words are tried."""
_MOST = 20
"""Most corrections in a sentence."""


class _Reach(IntEnum):
    """How much a term may take back.

    Everything from the same word on, from a similar opening word, or from any similar word; if no
    word matches, the last word or the whole sentence.
    """

    SAME = 0
    OPENING = 1
    ALIKE = 2
    LAST_WORD = 3
    SENTENCE = 4


def without_corrections(sentence: str) -> str:
    """A sentence without the words it takes back; it comes without its end mark.

    >>> without_corrections("The bus leaves from the north, er, the south entrance")
    'The bus leaves from the south entrance'
    """
    text = repaired(sentence)
    for _ in range(_MOST):
        found = [*_TERM.finditer(text), *_BROKEN_OFF.finditer(text)]
        terms = (term for term in found if not _NO_TERM.search(text[: term.end()][-40:]))
        shorter = next((kept for term in terms if (kept := _kept(text, term)) is not None), None)
        if shorter is None:
            break
        text = shorter
    return text


def without_repeats(sentence: str) -> str:
    """A sentence without words that are repeated at once: "we should, we should", "the the"."""
    return _REPEAT.sub(_once, _SLIP.sub("", sentence))


def _once(repeat: re.Match[str]) -> str:
    words = repeat["once"].lower().split()
    slip = words[0] in OPENING - _MEANT_TWICE if len(words) == 1 else words[-1] != "and"
    counts = any(kind_of(word) == "number" for word in words)
    return repeat["once"] if slip and not counts else repeat[0]


def _kept(text: str, term: re.Match[str]) -> str | None:
    """The text without a term and the words it takes back; None if it takes nothing back."""
    before, behind = text[: term.start("term")].split(), text[term.end("term") :].split()
    if not behind or re.fullmatch(rf"(?:{_PART}|yes,? |yeah,? )*", f"{' '.join(before)} ", re.I):
        return None
    back = _taken_back(before, behind, _reach(term), _ALIGNED if term["term"] else 1)
    # "Do not give aspirin, no, give paracetamol" would come to say its opposite.
    if back is None or (back and negates(before[back - 1])):
        return None
    return " ".join([*before[:back], *behind])


def _reach(term: re.Match[str]) -> _Reach:
    said = term["term"].lower()
    if re.search(DELETING, said):
        return _Reach.SENTENCE
    apart = term["comma"] and said.endswith(", ") and re.match("no|sorry|or|wait", said)
    if apart or len(re.findall(rf"\b(?:{_WEAK})\b", said)) > 1:
        return _Reach.LAST_WORD
    if re.search(_STRONG, said) or (not said and term[0].endswith(", ")):
        return _Reach.ALIKE
    return _Reach.OPENING if re.search(r"\b(?:no|nope|wait)\b", said) else _Reach.SAME


def _taken_back(before: list[str], behind: list[str], reach: _Reach, aligned: int) -> int | None:
    """Index in ``before`` of the first word that is taken back; None if there is none."""
    kinds = [_kind(word, reach) for word in before]
    for offset, word in enumerate(behind[: aligned if reach >= _Reach.ALIKE else 1]):
        kind = _kind(word, reach)
        opens = kind in OPENING or kind in ("article", "number", "asking")
        far = _NEAR if offset else _FARTHEST
        near = range(max(0, len(kinds) - far), len(kinds))
        start = max((at for at in near if kinds[at] == kind), default=-1)
        if start >= offset and (opens or reach > _Reach.OPENING):
            while kind == "number" and start and kinds[start - 1] == kind:
                start -= 1
            return max(start - offset, 0)
    names = is_name(kinds[-1]) and is_name(_kind(behind[0], reach))
    if reach is _Reach.LAST_WORD or (names and reach > _Reach.SAME):
        return len(before) - 1
    return 0 if reach is _Reach.SENTENCE else None


def _kind(word: str, reach: _Reach) -> str:
    """The kind of word that a word may replace; "there's" counts as "there"."""
    bare = re.sub(r"['’].*|\W+", "", word.lower())
    if bare in _ASKING:
        return "asking"
    return bare if reach is _Reach.SAME else kind_of(bare)

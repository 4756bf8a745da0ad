"""Cuts a reply, while it is being generated, into segments that can be spoken one by one.

The first segment is as short as still sounds whole, so that speech can begin early; later ones are
sentences or long clauses. The cuts depend on the text alone, never on the pieces in which it
arrived.
"""

from __future__ import annotations

import re

from voice.speech.normalization.abbreviations import ENDINGS, TITLES

FIRST_WORDS = 3
"""Fewest words of a clause that may be spoken first; one more if no punctuation ends it."""

CLAUSE_WORDS = 12
"""Fewest words of a later clause for it to be cut from its sentence."""

LONGEST_CHARS = 240
"""A segment without a pause is cut at white space before it grows longer than this."""

HARD_CHARS = 1000
"""A segment without white space is cut anywhere once it is longer than this."""

_BOUNDARY = re.compile(
    r"""
      (?P<full>[.!?…]+|[。！？]+)["'”’»)\]*_`]*                 # the end of a sentence
    | [,;:]["'”’)\]*_]*(?=\s) | — | (?<=\s)[–-](?=\s)          # a pause inside one
    | (?P<line>\n)
    | \s(?P<joint>and|but|so|because)(?=\s)                    # a new clause without a mark
    """,
    re.VERBOSE,
)
_LABEL = re.compile(r"\[[^\[\]\n]{0,200}(?:\](?P<link>\()?)?")
"""The label of a Markdown link, or what may become one."""
_SPACE = re.compile(r"\s")
_WORD = re.compile(r"\w[\w'’.,:@/-]*")
_INITIALS = re.compile(r"(?:[A-Za-z]\.)+")
_NO_BREAK_AFTER = frozenset((
    "hundred", "thousand", "million", "billion", "dollars", "euros", "pounds",
    "monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday",
))  # fmt: skip
"""Words after which a number or a date may go on: "one hundred and five", "Friday, November 27"."""

_MONTH = re.compile("(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)")
_DATED = frozenset((
    "Jan", "Feb", "Mar", "Apr", "Jun", "Jul", "Aug", "Sep", "Sept", "Oct", "Nov", "Dec",
    "Mon", "Tue", "Tues", "Wed", "Thu", "Thur", "Thurs", "Fri", "Sat", "Sun",
))  # fmt: skip
"""Months and days after which a date may go on: "Nov. 30", "Fri. morning", "Tue. Nov. 24"."""

_NO_CUT = 0
_UNKNOWN_YET = -1


class SegmentCutter:
    """Text deltas in, speakable segments out; one cutter serves one reply.

    The segments joined with nothing between them are the reply as written, except white space at
    its very end: each segment includes the white space before it.
    """

    def __init__(self) -> None:
        self._pending = ""
        self._first = True

    def push(self, delta: str) -> list[str]:
        """Add text of the reply; return the segments that this completes, in order."""
        segments = []
        # In pieces, because each cut looks through all that is pending.
        for start in range(0, len(delta), HARD_CHARS):
            self._pending += delta[start : start + HARD_CHARS]
            segments += self._cut_all(final=False)
        return segments

    def flush(self) -> list[str]:
        """End the reply and return its last segments. The cutter can then take another reply."""
        segments = self._cut_all(final=True)
        rest = self._pending.rstrip()
        self._pending = ""
        self._first = True
        return [*segments, rest] if rest else segments

    def _cut_all(self, final: bool) -> list[str]:
        segments = []
        while (end := _first_cut(self._pending, self._first, final)) > 0:
            segments.append(self._pending[:end])
            self._pending = self._pending[end:]
            self._first = False
        return segments


def _first_cut(text: str, first: bool, final: bool) -> int:
    """Where the first segment of the text ends; 0 or less if that is not known yet."""
    for match in _BOUNDARY.finditer(text, _begin(text)):
        if match.end() > LONGEST_CHARS:
            break
        end = _cut_at(match, first)
        if end == _UNKNOWN_YET and not final:
            return _UNKNOWN_YET
        if end > 0:
            return end
    return _forced_cut(text)


def _cut_at(match: re.Match[str], first: bool) -> int:
    text, end = match.string, match.end()
    words = len(_WORD.findall(text, 0, match.start()))
    if words == 0:
        return _NO_CUT
    label = _LABEL.match(text, max(0, text.rfind("[", 0, match.start())))
    if label and label.end() > match.start() and (label["link"] or label.end() == len(text)):
        # A link in two segments would no longer be one, and its address would be read aloud.
        return _NO_CUT if label["link"] else _UNKNOWN_YET
    if match["line"]:
        follows = _following(text, end)
        if not follows:
            return _UNKNOWN_YET
        # A next line in lower case continues the sentence.
        return _NO_CUT if follows.islower() else match.start()
    if match["full"]:
        return _sentence_end(match)
    fewest = (FIRST_WORDS + bool(match["joint"])) if first else CLAUSE_WORDS
    if words < fewest:
        return _NO_CUT
    return _clause_end(match)


def _clause_end(match: re.Match[str]) -> int:
    text, end = match.string, match.end()
    last = _last_token(text, match.start())
    follows = _following(text, end)
    if last.lower() in _NO_BREAK_AFTER:
        return _NO_CUT
    if match["joint"]:
        return _NO_CUT if last[-1:].isdigit() else match.start()
    if end == len(text):
        return _UNKNOWN_YET
    if last[-1:].isdigit():
        # "May 5, 2026" and "5 - 3" go on; "at 5, then" does not.
        return (_NO_CUT if follows.isdigit() else end) if follows else _UNKNOWN_YET
    return end


def _sentence_end(match: re.Match[str]) -> int:
    text, end = match.string, match.end()
    if end == len(text):
        # More may follow: another mark, a digit, the rest of an address.
        return _UNKNOWN_YET
    if match["full"][0] in "。！？":
        return end
    if not text[end].isspace():
        return _NO_CUT
    if set(match["full"]) & set("!?"):
        return end
    token = _last_token(text, match.end("full"))
    stem = token[:-1]
    if match["full"] == ".":
        if stem in TITLES or _is_list_number(text, stem, match.start()):
            return _NO_CUT
        if stem in _DATED:
            return _date_end(text, end)
        if stem not in ENDINGS and stem != "No" and not _INITIALS.fullmatch(token):
            return end
    follows = _following(text, end)
    if not follows:
        return _UNKNOWN_YET
    if stem == "No":
        return _NO_CUT if follows.isdigit() else end
    # Initials before a capital are part of a name: "J. Smith", "the U.S. Army".
    initials = _INITIALS.fullmatch(token) and token.lower() not in ("a.m.", "p.m.", "i.")
    return end if follows.isupper() and not initials else _NO_CUT


def _date_end(text: str, end: int) -> int:
    rest = text[end:].lstrip()
    if len(rest) < 3 and not rest[:1].isdigit():
        return _UNKNOWN_YET
    return _NO_CUT if rest[0].isdigit() or rest[0].islower() or _MONTH.match(rest) else end


def _is_list_number(text: str, stem: str, end: int) -> bool:
    """Whether the digits before text[end] begin a line, as in "1. Milk"."""
    line = text[text.rfind("\n", 0, end) + 1 : end]
    return stem.isdigit() and line.strip("*_#> \t") == stem


def _last_token(text: str, end: int) -> str:
    """The characters between the last white space and text[end], without opening quotes."""
    before = text[max(0, end - 64) : end].split()
    return before[-1].lstrip("\"'([*_“‘") if before else ""


def _following(text: str, start: int) -> str:
    """The first character after white space and opening quotes; empty if there is none yet."""
    return text[start:].lstrip(" \t\r\n\"'([*_“‘")[:1]


def _forced_cut(text: str) -> int:
    if len(text) <= LONGEST_CHARS:
        return _NO_CUT
    begin = _begin(text)
    if begin == len(text):
        return _NO_CUT
    # The cut must be the same as if the text had arrived letter by letter.
    hard = begin + HARD_CHARS
    spaces = [match.start() for match in _SPACE.finditer(text, begin, hard + 1)]
    early = [space for space in spaces if space < LONGEST_CHARS]
    if early:
        return early[-1]
    if spaces:
        return spaces[0]
    return hard if len(text) > hard else _NO_CUT


def _begin(text: str) -> int:
    """Index of the first character that is not white space."""
    return len(text) - len(text.lstrip())

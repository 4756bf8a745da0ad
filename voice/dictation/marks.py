"""Carries out dictated commands: "comma", "new paragraph", "open quote", "scratch that".

The name of a mark is an ordinary word after an article ("the comma"), and before "of" or a verb
("the period was long"). Marks that the recogniser put around a command are removed. The words are
English.
"""

from __future__ import annotations

import re

from voice.dictation.corrections import DELETING

_AFTER = {
    "comma": ",", "period": ".", "full stop": ".", "new sentence": ".", "colon": ":",
    "semicolon": ";", "semi colon": ";", "question mark": "?", "exclamation mark": "!",
    "exclamation point": "!", "ellipsis": "…", "dot dot dot": "…", "close quote": '"',
    "close quotes": '"', "unquote": '"', "end quote": '"', "close bracket": ")",
    "close parenthesis": ")",
}  # fmt: skip
_BEFORE = {
    "open quote": '"', "open quotes": '"', "quote": '"', "open bracket": "(",
    "open parenthesis": "(",
}  # fmt: skip
_BETWEEN = {"dash": "-", "hyphen": "-", "ampersand": " & "}
_BREAKS = {
    "new line": "\n", "newline": "\n", "next line": "\n", "new paragraph": "\n\n",
    "next paragraph": "\n\n", "bullet": "\n- ", "bullet point": "\n- ", "next bullet": "\n- ",
    "next item": "\n- ",
}  # fmt: skip
_MARKS = _AFTER | _BEFORE | _BETWEEN | _BREAKS
_NAMED = re.compile(
    r"(?P<lead>(?<![,.;:!?])[,.;:!?]++|)(?:^|(?<!\s)\s++)"
    rf"(?P<name>{'|'.join(sorted(_MARKS, key=len, reverse=True))})"
    r"(?P<tail>[,.;:!?]*)(?=\s|$)(?! of\b)",
    re.I,
)
_BEHIND_ARTICLE = re.compile(
    r"(?:^|\s)(?:an?|the|this|that|my|your|his|her|our|their|each|every|one|another|word|first"
    r"|last|whole)$",
    re.I,
)
_TOLD_OF = re.compile(r" (?:was|is|were|are|has|had|will|would|and|began|ended)\b", re.I)
_CLOSING = re.compile(r"\b(?:un|end |close )quote", re.I)
_DELETED = re.compile(rf"(?<![^.!?\n])[^.!?\n]*[.!?]\s+{DELETING}[,.!]+(?=\s|$)\s*", re.I)
"""A sentence, followed by a sentence of its own that takes it back."""
_MUCH_SPACE = re.compile(r"(\s{20})\s+")
"""More space than anybody means; it is cut, because later patterns would scan it repeatedly."""
_SPACE = re.compile(r"(?P<item>[^\S\n]*+\n\s*+- +)|\s++")
"""All the space between two words, scanned once, however much it is."""
_WITH_CAPITALS = re.compile(r"\ball caps,? (\w+)", re.I)


def with_marks(said: str) -> str:
    r"""The text with dictated marks and breaks put in, and without sentences that were taken back.

    >>> with_marks("well comma he put the comma there period new line bye")
    'well, he put the comma there.\nbye'
    """
    # A NUL character marks a place where no space may follow.
    named = _NAMED.sub(_mark, _MUCH_SPACE.sub(r"\1", said))
    text = re.sub(r"\0\s*", "", _DELETED.sub("", named))
    text = _WITH_CAPITALS.sub(lambda word: word[1].upper(), text)
    text = _SPACE.sub(_item, text)
    return "\n".join(line.strip(" ") for line in text.split("\n"))


def _item(space: re.Match[str]) -> str:
    """The space; before a list item, exactly one line break and the item's dash."""
    return "\n- " if space["item"] else space[0]


def _mark(named: re.Match[str]) -> str:
    name, lead, text = named["name"].lower(), named["lead"], named.string
    spoken_of = _BEHIND_ARTICLE.search(text[max(0, named.start() - 30) : named.start()])
    told_of = " " not in name and _TOLD_OF.match(text, named.end())
    apart = lead == named["tail"] == ","
    if (spoken_of and not lead) or told_of or (name == "dash" and not apart):
        return named[0]
    if name == "quote" and not _CLOSING.search(text, named.end()):
        return named[0]
    if name in _BREAKS:
        return lead.replace(",", "") + _MARKS[name]
    if name in _BEFORE:
        return f"{lead} {_MARKS[name]}\0"
    return f"{_MARKS[name]}\0" if name in _BETWEEN else _MARKS[name]

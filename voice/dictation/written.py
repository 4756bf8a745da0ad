"""Writes words as sentences, with capitals and end marks; the words are English."""

from __future__ import annotations

import re

from voice.dictation.names import is_name, is_word
from voice.hearing.completeness import Completeness, reads_complete

_WORD = re.compile(r"(?<![\w@./_-])[A-Za-z][\w'’]*(?![\w@]|[./_-]\w)")
_TITLED = re.compile(
    r"\b(?P<title>mr|mrs|ms|dr|prof|st|doctor|professor|aunt|uncle|saint)(?P<dot>\.?)"
    r" (?P<name>[a-z][\w'-]+)",
    re.I,
)
_DEAR = re.compile(r"^(?:dear|hi|hello|hey) [^,\n]{1,40},?(?=\n)", re.I | re.M)
_MONTH = re.compile(
    r"(?:(?<=\bin )|(?<=\bof )|(?<=\bby )|(?<=\b(?:last|next|this|from) )|(?<=\b(?:since|until) )"
    r"|(?<=\d ))(?:may|march)\b(?! (?:be|have|i|not)\b)|\b(?:may|march)(?= \d)"
)
_SENTENCE = re.compile(
    r"(?:^|(?<=[.?!]\s)(?<!\b[ap]\.m\.\s)|(?<=^- )|(?<=^\d\. )|(?<=^[a-h]\) ))([\"(]?)([a-z])", re.M
)
_AUXILIARY = (
    r"(?:is|are|was|were|do|does|did|can|could|will|would|should|have|has|had|am|isn't|aren't|don't"
    r"|didn't|doesn't|won't|can't|couldn't|wouldn't|shouldn't)"
)
_QUESTION = re.compile(
    r"(?:(?:and|but|so|well|oh|hey|okay|please),? )?(?:(?:what|which|who|whom|whose|when|where|why"
    rf"|how)(?: \w+){{0,3}}? {_AUXILIARY}|(?:what|who|where|when|how|why)'s|how come"
    rf"|(?:what|how) about|{_AUXILIARY} (?:i|you|he|she|it|we|they|this|that|there|the|my|your|his"
    r"|her|our|their|any\w*|some\w*|every\w*|(?-i:[A-Z]\w+)))\b",
    re.I,
)
_ENDED = re.compile(r"[.?!:;,…—-][\")]?$")
_ENTRY = re.compile(r"- |\w[.)] ")
_ANSWER = re.compile(
    r"(?:^|(?<=[.?!\n] ))(yes|no|yeah|well|oh|okay)(?= (?:i|we|you|it|that's|it's)\b)", re.I
)


def as_written(text: str) -> str:
    r"""The text with capitals and end marks added; existing ones stay.

    >>> as_written("where did emma go\nshe moved to prague in may")
    'Where did Emma go?\nShe moved to Prague in May.'
    """
    text = _WORD.sub(lambda word: _named(word[0]), _ANSWER.sub(r"\1,", text))
    text = _MONTH.sub(lambda month: month[0].capitalize(), text)
    text = _DEAR.sub(_greeted, _TITLED.sub(_titled, text))
    text = _SENTENCE.sub(lambda start: start[1] + start[2].upper(), text)
    lines = text.split("\n")
    return "\n".join(_with_end(line, among=len(lines) > 1) for line in lines)


def _named(word: str) -> str:
    name = word == "i" or word.startswith(("i'", "i’")) or is_name(re.sub(r"['’].*", "", word))
    return word[0].upper() + word[1:] if name else word


def _titled(found: re.Match[str]) -> str:
    title, name = found["title"], found["name"]
    # "The doctor said" contains no name.
    if len(title) > len("prof") and is_word(name):
        return found[0]
    return f"{title.capitalize()}{found['dot']} {name[0].upper()}{name[1:]}"


def _greeted(line: re.Match[str]) -> str:
    return re.sub(r"\b(?!or\b|and\b|all\b)[a-z]", lambda letter: letter[0].upper(), line[0])


def _with_end(line: str, among: bool) -> str:
    """A line with an end mark, unless it reads unfinished.

    Entries of lists, and short lines among others, such as signatures, get none either.
    """
    if not line or _ENDED.search(line) or _ENTRY.match(line) or (among and len(line.split()) < 4):
        return line
    if reads_complete(line) is Completeness.INCOMPLETE and not line[-1].isdigit():
        return line
    return line + ("?" if _QUESTION.match(re.split(r"(?<=[.?!])\s+", line)[-1]) else ".")

"""Removes markdown, HTML and emoji from a text and records where each character came from.

`voice.speech.normalization` then reads the result.
"""

from __future__ import annotations

import html
import re
import unicodedata
from dataclasses import dataclass

_REPLACED = {
    "’": "'", "‘": "'", "ʼ": "'", "′": "'", "“": '"', "”": '"', "″": '"',
    "−": "-", "‐": "-", "‑": "-", "⁄": "/", "∕": "/", "÷": " divided by ", "×": " times ",
    "≈": "~", "№": "#", "•": "\n", "。": ". ", "、": ", ",
    "₩": "KRW ", "₽": "RUB ", "₪": "ILS ", "₴": "UAH ", "฿": "THB ", "₫": "VND ",
}  # fmt: skip
"""Characters that NFKC leaves alone or would read wrongly ("2×3" is not "2x3")."""

_RAISED = dict(zip("⁰¹²³⁴⁵⁶⁷⁸⁹⁻", "0123456789-", strict=True))
_EXPONENT = re.compile(r"\^-?\d*$")

_MARKUP = re.compile(
    r"""
      ^[ \t]*(?:```|~~~)[^\n]{0,200}$                        # a fence and its language
    | ^[ \t]{0,8}\#{1,6}[ \t]+                                # heading
    | ^[ \t]{0,8}>(?![=\d])[ \t]?                             # quotation
    | ^[ \t]{0,8}(?:[-*_][ \t]?){3,80}$                       # rule
    | ^[ \t]{0,8}[-*+][ \t]+(?:\[[ xX]\][ \t])?               # bullet
    | ^[ \t]{0,8}\|?[ \t]?:?-{2,20}:?(?:[ \t]?\|[ \t]?:?-{2,20}:?){0,20}[ \t]?\|?[ \t]*$
    | !?\[(?P<label>[^\[\]\n]{0,200})\]\([^()\s]{0,500}\)     # link or image: the label stays
    | <!--.{0,500}?-->
    | </?[A-Za-z][^<>\s]{0,300}                               # HTML tag, not "a<b and c>d"
      (?:[ \t](?=[^<>=\n]{0,300}=)[^<>\n]{0,300})?[ \t]?/?>
    | (?P<entity>&(?:\#\d{1,7}|\#[xX][0-9a-fA-F]{1,6}|[A-Za-z]{2,31});)
    | (?<![\w*])\*{1,3}(?=[^\s*]) | (?<=[^\s*])\*{1,3}(?![\w*])
    | (?<![\w_])_{1,3}(?=[^\s_]) | (?<=[^\s_])_{1,3}(?![\w_])
    | ~~(?=\S) | (?<=\S)~~
    | `{1,3}
    """,
    re.VERBOSE | re.MULTILINE,
)


SIGNS = "—–€£¥₹¢°±≤≥≠√∞"
"""The non-ASCII characters that are kept, besides letters and their accents."""


@dataclass(frozen=True, slots=True)
class Plain:
    """A text without markup.

    Attributes:
        text: What is left to read.
        origin: For each character of ``text``, the index of its origin in the original text.
    """

    text: str
    origin: tuple[int, ...]


def strip_markup(text: str) -> Plain:
    """Remove what is not read aloud.

    Emoji, control characters and other symbols become spaces, so that they separate words;
    compatibility forms (full-width digits, ligatures, vulgar fractions) become the plain
    characters they stand for.
    """
    out = _Collector()
    position = 0
    for match in _MARKUP.finditer(text):
        out.add(text, position, match.start())
        position = match.end()
        if match["label"] is not None:
            out.add(text, *match.span("label"))
        elif match["entity"] is not None:
            for char in html.unescape(match["entity"]):
                out.add_char(char, match.end() - 1)
        elif match.group().startswith("<"):
            out.add_char(" ", match.start())
    out.add(text, position, len(text))
    return Plain("".join(out.chars), tuple(out.origin))


class _Collector:
    """Gathers plain characters with their origins."""

    def __init__(self) -> None:
        self.chars: list[str] = []
        self.origin: list[int] = []

    def add(self, text: str, start: int, end: int) -> None:
        """Add text[start:end]."""
        for index in range(start, end):
            self.add_char(text[index], index)

    def add_char(self, char: str, origin: int) -> None:
        """Add the plain form of a character that came from ``origin``."""
        for plain in self._raised(char) if char in _RAISED else _plain_forms(char):
            if unicodedata.category(plain).startswith("M"):
                self._combine(plain, origin)
            else:
                self.chars.append(plain)
                self.origin.append(origin)

    def _raised(self, char: str) -> str:
        """The plain form of a superscript: "10⁻⁶" becomes "10^-6", with one "^"."""
        goes_on = _EXPONENT.search("".join(self.chars[-8:])) is not None
        return _RAISED[char] if goes_on else "^" + _RAISED[char]

    def _combine(self, mark: str, index: int) -> None:
        """Put an accent on the letter before it; drop it if there is none."""
        if not self.chars or unicodedata.category(self.chars[-1])[0] not in "LM":
            return
        composed = unicodedata.normalize("NFC", self.chars[-1] + mark)
        if len(composed) == 1:
            self.chars[-1] = composed
            self.origin[-1] = index
        else:
            self.chars.append(mark)
            self.origin.append(index)


def _plain_forms(char: str) -> str:
    if char in _REPLACED:
        return _REPLACED[char]
    if char.isspace():
        return "\n" if char in "\n\r\u2028\u2029\x0b\x0c\x85" else " "
    decomposed = unicodedata.normalize("NFKC", char)
    if unicodedata.decomposition(char).startswith("<fraction>"):
        # "2½" is two and a half, not twenty-one halves.
        return " " + decomposed.replace("\u2044", "/")
    return "".join(_visible(part) for part in decomposed)


def _visible(char: str) -> str:
    digit = unicodedata.decimal(char, None)
    if digit is not None:
        return str(digit)
    if char.isascii() or char in SIGNS or unicodedata.category(char)[0] in "LM":
        return char
    # Joiners and variation selectors occur inside words and emoji; they never separate words.
    return "" if unicodedata.category(char) == "Cf" else " "

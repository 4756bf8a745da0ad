"""Splits documents into passages with their headings: Markdown, HTML, PDF and plain text.

A file that cannot be read is skipped; the log says why, without quoting its text.
"""

from __future__ import annotations

import logging
import re
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from html.parser import HTMLParser
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING

from voice.tools import pdf_text

if TYPE_CHECKING:
    from markdown_it.token import Token

_log = logging.getLogger(__name__)

_LARGEST_BYTES = 1_000_000
_LARGEST_PDF_BYTES = 50_000_000
_PASSAGE_CHARS = 800
"""About how long the parts are into which a long paragraph, or a page without any, is cut."""
_BLOCKS = frozenset(
    ("p", "li", "dt", "dd", "td", "th", "tr", "pre", "div", "section", "article", "table")
)
_UNSAID = frozenset(("script", "style", "nav", "noscript", "template"))


@dataclass(frozen=True, slots=True)
class Passage:
    """A paragraph; ``heading`` is the one above it, ``opens`` whether it directly follows that."""

    text: str
    heading: str = ""
    opens: bool = False


def passages(path: Path) -> list[Passage]:
    """The passages of a file; none if it cannot be read."""
    suffix = path.suffix.lower()
    try:
        largest = _LARGEST_PDF_BYTES if suffix == ".pdf" else _LARGEST_BYTES
        if path.stat().st_size > largest:
            _log.warning("%s: larger than %s MB, not searched", path.name, largest // 1_000_000)
            return []
        text = _pdf(path) if suffix == ".pdf" else path.read_text(encoding="utf-8")
        return [part for passage in READERS[suffix](text) for part in _in_parts(passage)]
    # The HTML and Markdown parsers raise the last two for malformed or too deeply nested text.
    except (OSError, UnicodeDecodeError, AssertionError, RecursionError) as error:
        _log.warning("%s: not searched: %s", path.name, type(error).__name__)
    except _Unreadable as error:
        _log.warning("%s: not searched: %s", path.name, error)
    return []


class _Unreadable(Exception):
    pass


def _in_parts(passage: Passage) -> Iterator[Passage]:
    """A passage in one part or, if it is too long, several, cut between sentences or else words."""
    text = passage.text
    while len(text) > 2 * _PASSAGE_CHARS:
        end = max(text.rfind(mark, 0, _PASSAGE_CHARS) for mark in (". ", "? ", "! "))
        end = end + 1 if end > 0 else max(text.rfind(" ", 0, _PASSAGE_CHARS), 1)
        yield Passage(text[:end].strip(), passage.heading, passage.opens)
        text, passage = text[end:].strip(), Passage("", passage.heading)
    yield Passage(text, passage.heading, passage.opens)


def _paragraphs(text: str) -> Iterator[Passage]:
    for part in re.split(r"\n\s*\n", text):
        if part.strip():
            yield Passage(" ".join(part.split()))


def _markdown(text: str) -> Iterator[Passage]:
    """A passage for each outermost block of Markdown."""
    from markdown_it import MarkdownIt

    blocks = _Blocks()
    for token in MarkdownIt("commonmark").parse(text):
        if token.type in ("inline", "fence", "code_block"):
            blocks.words += _words(token).split()
        if not token.level and token.nesting != 1:
            yield from blocks.end(heading=token.type == "heading_close")
    yield from blocks.rest()


def _words(token: Token) -> str:
    if token.children is None:
        return token.content
    breaks = ("softbreak", "hardbreak")
    return "".join(" " if part.type in breaks else part.content for part in token.children)


class _Blocks:
    """Makes passages of words and headings."""

    def __init__(self) -> None:
        self.words: list[str] = []
        self._heading, self._opens = "", False

    def end(self, heading: bool) -> Iterator[Passage]:
        """End a block: the words so far are a heading or a paragraph."""
        said, self.words = " ".join(self.words), []
        if said and heading:
            yield from self.rest()
            self._heading, self._opens = said, True
        elif said:
            yield Passage(said, self._heading, self._opens)
            self._opens = False

    def rest(self) -> Iterator[Passage]:
        """The last heading as a passage of its own, if nothing came below it."""
        if self._opens:
            yield Passage(self._heading)


def _html(text: str) -> Iterator[Passage]:
    reader = _HtmlReader()
    reader.feed(text)
    reader.close()
    yield from reader.finished()


class _HtmlReader(HTMLParser):
    """Collects the words of HTML; scripts, styles and navigation are left out."""

    def __init__(self) -> None:
        super().__init__()
        self._blocks = _Blocks()
        self._found: list[Passage] = []
        self._unsaid = 0
        self._apart = True

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._unsaid += tag in _UNSAID
        self._apart = self._apart or tag == "br"
        if tag in _BLOCKS or _is_heading(tag):
            self._end(heading=False)

    def handle_endtag(self, tag: str) -> None:
        self._unsaid = max(self._unsaid - (tag in _UNSAID), 0)
        if tag in _BLOCKS or _is_heading(tag):
            self._end(heading=_is_heading(tag))

    def handle_data(self, data: str) -> None:
        if not self._unsaid:
            # A tag within a word does not split it.
            joined = self._blocks.words and data[:1].strip() and not self._apart
            words = data.split()
            if joined and words:
                self._blocks.words[-1] += words.pop(0)
            self._blocks.words += words
            self._apart = data[-1:].isspace()

    def finished(self) -> list[Passage]:
        self._end(heading=False)
        return [*self._found, *self._blocks.rest()]

    def _end(self, heading: bool) -> None:
        self._found += self._blocks.end(heading)
        self._apart = True


def _is_heading(tag: str) -> bool:
    return tag == "title" or re.fullmatch("h[1-6]", tag) is not None


def _pdf(path: Path) -> str:
    """The text of a PDF, read in a process of its own; each page is a paragraph."""
    command = [sys.executable, "-I", str(pdf_text.__file__), str(path)]
    try:
        done = subprocess.run(command, capture_output=True, timeout=2 * pdf_text.LIMIT_S)
    except subprocess.TimeoutExpired as error:
        raise _Unreadable("takes too long") from error
    if done.returncode:
        why = done.stderr.decode("utf-8", "replace").strip() if done.returncode == 3 else ""
        raise _Unreadable(why or "takes too long or too much memory")
    return done.stdout.decode("utf-8").replace("\n", "\n\n")


READERS: Mapping[str, Callable[[str], Iterator[Passage]]] = MappingProxyType(
    {
        ".md": _markdown,
        ".txt": _paragraphs,
        ".html": _html,
        ".htm": _html,
        ".pdf": _paragraphs,
    }
)
"""Suffix of a file's name → reader."""

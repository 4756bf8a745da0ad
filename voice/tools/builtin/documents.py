"""Full-text search over a folder of the user's text files, by SQLite's FTS5.

Paragraphs are indexed in memory on the first search; files that changed since are read again. Only
.txt and .md files below 1 MB are read, and no link that leads out of the folder is followed.
"""

from __future__ import annotations

import logging
import re
import sqlite3
from pathlib import Path
from threading import Lock

from markdown_it import MarkdownIt
from markdown_it.token import Token

from voice.tools.registry import ToolError, tool

logger = logging.getLogger(__name__)

_SUFFIXES = (".txt", ".md")
_LARGEST_FILE_BYTES = 1_000_000
_PASSAGE_CHARS = 200
_MOST_WORDS = 32
"""Longest query: for two thousand words the index takes many seconds, and is locked."""
_STOP_WORDS = """
a about an and any anything are at be by did do does for from had has have how i in is it me my of
on or our say tell that the their there this to was we were what when where which who will with you
your
"""


class Documents:
    """An index of a folder with its subfolders; None has no documents."""

    def __init__(self, folder: Path | None) -> None:
        self._folder = folder
        self._lock = Lock()
        self._seen: dict[Path, float] = {}
        self._index = sqlite3.connect(":memory:", check_same_thread=False)
        self._index.execute(
            "CREATE VIRTUAL TABLE passages USING fts5(text, path UNINDEXED, tokenize='porter')"
        )

    def search(self, query: str) -> tuple[str, str] | None:
        """The best passage for the first 32 words that are no stop words, from any thread.

        Returns:
            The file's name without suffix and a passage of at most 200 characters, or None.
        """
        stops = _STOP_WORDS.split()
        said = dict.fromkeys(re.findall(r"\w+", query.lower()))
        words = [word for word in said if word not in stops][:_MOST_WORDS]
        if not words or self._folder is None:
            return None
        with self._lock:
            self._refresh(self._folder)
            # All of the words if a paragraph has them, else any of them.
            for joint in (" AND ", " OR "):
                row = self._index.execute(
                    "SELECT path, text FROM passages WHERE passages MATCH ? ORDER BY rank LIMIT 1",
                    (joint.join(f'"{word}"' for word in words),),
                ).fetchone()
                if row is not None:
                    return Path(row[0]).stem.replace("_", " "), _passage(row[1], words)
        return None

    def close(self) -> None:
        """Drop the index; may be called again."""
        with self._lock:
            self._index.close()

    def _refresh(self, folder: Path) -> None:
        inside = folder.resolve()
        present = {
            path: path.stat().st_mtime
            for path in sorted(folder.rglob("*"))
            if path.suffix.lower() in _SUFFIXES
            and path.is_file()
            and path.resolve().is_relative_to(inside)
        }
        changed = {path for path, mtime in present.items() if self._seen.get(path) != mtime}
        for path in changed | (self._seen.keys() - present.keys()):
            self._index.execute("DELETE FROM passages WHERE path = ?", (str(path),))
        for path in sorted(changed):
            self._index.executemany(
                "INSERT INTO passages (text, path) VALUES (?, ?)",
                [(paragraph, str(path)) for paragraph in _paragraphs(path)],
            )
        self._seen = present


@tool(read_only=True)
def search_documents(query: str, *, documents: Documents) -> str:
    """Search the user's documents."""
    found = documents.search(query)
    if found is None:
        raise ToolError(f"Nothing about {query} was found.")
    return f"From {found[0]}: {found[1]}"


def _paragraphs(path: Path) -> list[str]:
    try:
        if path.stat().st_size > _LARGEST_FILE_BYTES:
            logger.warning("%s: larger than 1 MB, not searched", path.name)
            return []
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        logger.warning("%s: not searched: %s", path.name, type(error).__name__)
        return []
    if path.suffix.lower() == ".md":
        return _blocks(text)
    return [" ".join(part.split()) for part in re.split(r"\n\s*\n", text) if part.strip()]


def _blocks(text: str) -> list[str]:
    """The words of Markdown's outermost blocks; a heading is put before the block below it."""
    blocks: list[str] = []
    heading, words = "", []
    for token in MarkdownIt("commonmark").parse(text):
        if token.type in ("inline", "fence", "code_block"):
            words += _words(token).split()
        if token.level or token.nesting == 1 or not words:
            continue
        said, words = " ".join(words), []
        if token.type == "heading_close":
            heading = f"{said}: "
        else:
            blocks.append(heading + said)
            heading = ""
    return [*blocks, heading.removesuffix(": ")] if heading else blocks


def _words(token: Token) -> str:
    if token.children is None:
        return token.content
    breaks = ("softbreak", "hardbreak")
    return "".join(" " if part.type in breaks else part.content for part in token.children)


def _passage(paragraph: str, words: list[str]) -> str:
    """As many sentences as fit, from the one with the most of the words on."""
    sentences = re.split(r"(?<=[.!?])\s+", paragraph)
    scores = [sum(word[:5] in sentence.lower() for word in words) for sentence in sentences]
    start = scores.index(max(scores))
    passage = sentences[start]
    for sentence in sentences[start + 1 :]:
        if len(passage) + 1 + len(sentence) > _PASSAGE_CHARS:
            break
        passage += f" {sentence}"
    if len(passage) <= _PASSAGE_CHARS:
        return passage
    return f"{passage[: _PASSAGE_CHARS - 1].rsplit(' ', 1)[0]}…"

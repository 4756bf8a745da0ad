"""Full-text search over a folder of the user's documents, by SQLite's FTS5.

Passages are indexed in a file in the user's data folder, which the next start uses again; only
files that have changed are read again. No link that leads out of the folder is followed.
`voice.tools.document_text` reads the formats.
"""

from __future__ import annotations

import hashlib
import logging
import os
import re
import sqlite3
import time
from collections import defaultdict
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from threading import Event, Lock
from typing import Any

from voice.config import data_path
from voice.tools.document_text import READERS, Passage, passages
from voice.tools.full_text import content_words, phrase_query
from voice.tools.registry import ToolError, tool

_log = logging.getLogger(__name__)

_PASSAGE_CHARS = 200
_MOST_FILES = 10_000
_MOST_PAGES = 65_536
"""Largest size of the index, in pages of 4 KiB."""
_BUDGET_S = 2.0
"""A search reads changed files for no longer than this; later ones read the rest."""
_LONGEST_WAIT_S = 3600.0
_SHORT_WAIT_S = 0.02
_STEM = 5
"""Letters that other forms of a word share with it."""
_SHORT = 3
"""Most content words of a question whose rarest word must be in the passage."""
_GENERAL = frozenset((
    "allowed", "available", "far", "get", "give", "go", "if", "include", "included", "late", "long",
    "many", "may", "much", "need", "next", "offer", "often", "open", "possible", "take", "time",
    "use",
))  # fmt: skip
"""Words that name no thing, and that a passage which answers the question need not have."""
_VERSION = 1
_TABLES = """
CREATE TABLE files (path TEXT PRIMARY KEY, state TEXT NOT NULL);
CREATE VIRTUAL TABLE passages USING fts5(
    title, heading, text, path UNINDEXED, opens UNINDEXED, tokenize='porter'
);
"""
_WEIGHTS = "8.0, 4.0, 1.0"
"""Weights of title, heading and text: a heading names what its passages are about."""
_WEIGHTS_IN_FILE = "0.0, 1.0, 2.0"
_RANKED, _OF_FILE = 400, 3
"""Passages looked at, and how many of one file are summed up; a single one may fit by chance."""


class Documents:
    """An index of a folder with its subfolders.

    Args:
        folder: The documents; None if there are none.
        file: Where the index is kept; None is the user's data folder, "" is memory.
    """

    def __init__(self, folder: Path | None, file: str | None = None) -> None:
        self._folder = folder
        self._closed = Event()
        self._reading = Lock()
        self._lock = Lock()
        self._index = _opened(_file_for(folder) if file is None and folder else file or "")

    def read(self) -> None:
        """Read all new and changed files, however long it takes."""
        self._read(float("inf"))

    def search(self, query: str) -> tuple[str, str] | None:
        """Find the best passage for the first content words of a query; from any thread.

        Returns:
            The file's name without suffix and a passage of at most 200 characters, or None.

        Raises:
            ToolError: The index is damaged.
        """
        words = content_words(query)
        if not words or self._folder is None:
            return None
        self._read(_BUDGET_S)
        try:
            with self._lock:
                found = _best_passage(self._index, words)
        except sqlite3.Error as error:
            _log.warning("documents: the index cannot be read: %s", error)
            raise ToolError("The documents cannot be searched.") from error
        if found is None:
            return None
        path, heading, text = found
        return Path(path).stem.replace("_", " "), heading + _passage(text, words)

    def tells(self, question: str) -> bool:
        """Whether the best indexed passage has at least half of a question's content words.

        A short question's rarest word must be among them: what parking costs tells nobody what a
        room costs. May be called in any thread, even the event loop's: False if the index is being
        written, or is damaged.
        """
        words = content_words(question)
        if not self._lock.acquire(timeout=_SHORT_WAIT_S):
            return False
        try:
            found = _best_passage(self._index, words) if words else None
            thing = _rarest(self._index, words) if len(words) <= _SHORT else ""
        except sqlite3.Error:
            return False
        finally:
            self._lock.release()
        if found is None:
            return False
        # "Wi-Fi" answers a question about the wifi.
        passage = f"{found[1]}{found[2]}".lower().replace("-", "")
        half = 2 * sum(word[:_STEM] in passage for word in words) >= len(words)
        return half and thing[:_STEM] in passage

    def ranked(self, query: str) -> list[str]:
        """Paths of the indexed files that match a query, the best first."""
        with self._lock:
            return _ranking(self._index, content_words(query))

    def close(self) -> None:
        """Close the index; may be called again."""
        self._closed.set()
        with self._lock:
            self._index.close()

    def _read(self, budget_s: float) -> None:
        """Read changed files for about ``budget_s``; waits as long for a thread that is reading."""
        if self._folder is None:
            return
        end_s = time.monotonic() + budget_s
        if not self._reading.acquire(timeout=min(budget_s, _LONGEST_WAIT_S)):
            return
        try:
            present = _present(self._folder)
            with self._lock:
                seen = dict(self._index.execute("SELECT path, state FROM files"))
            for path in seen.keys() - present.keys():
                self._put(path, "", [])
            for path in sorted(path for path, state in present.items() if seen.get(path) != state):
                if self._closed.is_set() or time.monotonic() > end_s:
                    break
                self._put(path, present[path], passages(Path(path)))
        except sqlite3.Error as error:
            if not self._closed.is_set():
                _log.warning("documents: the index cannot be written: %s", error)
        finally:
            self._reading.release()

    def _put(self, path: str, state: str, found: list[Passage]) -> None:
        """Index a file in place of its earlier content; one with an empty state is removed."""
        title = f"{Path(path).stem.replace('_', ' ')} {found[0].heading if found else ''}"
        rows = [(title, each.heading, each.text, path, each.opens) for each in found]
        with self._lock, self._index:
            self._index.execute("DELETE FROM passages WHERE path = ?", (path,))
            self._index.execute("DELETE FROM files WHERE path = ?", (path,))
            if state:
                self._index.executemany("INSERT INTO passages VALUES (?, ?, ?, ?, ?)", rows)
                self._index.execute("INSERT INTO files VALUES (?, ?)", (path, state))


def _says_nothing(given: Mapping[str, Any], message: str, *, documents: Documents) -> None:
    """Refuse a whole message as the query if no passage answers it: nobody asked for a search."""
    if given["query"] == message and not documents.tells(message):
        raise ToolError("Nothing about that was found.")


@tool(read_only=True, looks_up=True, refuses=_says_nothing)
def search_documents(query: str, *, documents: Documents) -> str:
    """Search the user's documents."""
    found = documents.search(query)
    if found is None:
        raise ToolError(f"Nothing about {query} was found.")
    return f"From {found[0]}: {found[1]}"


def _file_for(folder: Path) -> str:
    """The file for the index of a folder."""
    name = hashlib.sha256(str(folder.resolve()).encode()).hexdigest()[:16]
    return str(data_path(f"documents/{name}.sqlite3"))


def _opened(file: str) -> sqlite3.Connection:
    """The index in a file; a new one if it is missing or unusable, in memory if need be."""
    for place in (file, file, "") if file else ("",):
        try:
            return _connected(place)
        except (OSError, sqlite3.Error) as error:
            _log.warning("documents: %s: %s", place, error)
            with suppress(OSError):
                os.unlink(place)
    raise sqlite3.OperationalError("no index can be made")


def _connected(file: str) -> sqlite3.Connection:
    if file:
        Path(file).parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        os.close(os.open(file, os.O_RDWR | os.O_CREAT, 0o600))
        os.chmod(file, 0o600)
    index = sqlite3.connect(file or ":memory:", check_same_thread=False)
    try:
        index.execute(f"PRAGMA max_page_count = {_MOST_PAGES}")
        (version,) = index.execute("PRAGMA user_version").fetchone()
        if version not in (0, _VERSION):
            raise sqlite3.DatabaseError(f"of version {version}; a new one is made")
        if version == 0:
            index.executescript(f"BEGIN; {_TABLES} PRAGMA user_version = {_VERSION}; COMMIT;")
    except sqlite3.Error:
        index.close()
        raise
    return index


def _present(folder: Path) -> dict[str, str]:
    """Path of each document in a folder → a state that changes whenever the file does."""
    inside = folder.resolve()
    found: dict[str, str] = {}
    for path in sorted(folder.rglob("*")):
        # A file may be deleted meanwhile.
        with suppress(OSError):
            if path.suffix.lower() in READERS and path.resolve().is_relative_to(inside):
                status = path.stat()
                if path.is_file():
                    found[str(path)] = f"{status.st_mtime_ns} {status.st_size}"
        if len(found) == _MOST_FILES:
            _log.warning("documents: more than %s files, the others are not searched", _MOST_FILES)
            break
    return found


def _ranking(index: sqlite3.Connection, words: list[str]) -> list[str]:
    """Paths of files for some words, the best first."""
    rows = index.execute(
        f"SELECT path, bm25(passages, {_WEIGHTS}) FROM passages WHERE passages MATCH ?"
        " ORDER BY 2 LIMIT ?",
        (phrase_query(words), _RANKED),
    ).fetchall()
    files: dict[str, list[float]] = defaultdict(list)
    for path, score in rows:
        files[path].append(score)
    # A lower score is better, and the best of a file comes first.
    return sorted(files, key=lambda path: (sum(files[path][:_OF_FILE]), path))


def _best_passage(index: sqlite3.Connection, words: list[str]) -> tuple[str, str, str] | None:
    """Path, heading as it is read aloud, and text of the best passage of the best file."""
    ranked = _ranking(index, words)
    if not ranked:
        return None
    path, heading, text, opens = index.execute(
        "SELECT path, heading, text, opens FROM passages WHERE passages MATCH ? AND path = ?"
        f" ORDER BY bm25(passages, {_WEIGHTS_IN_FILE}), rowid LIMIT 1",
        (phrase_query(words), ranked[0]),
    ).fetchone()
    return path, f"{heading}: " if opens else "", text


def _rarest(index: sqlite3.Connection, words: list[str]) -> str:
    """The word that fewest passages have, apart from words that name nothing; empty for none."""
    count = "SELECT count(*) FROM passages WHERE passages MATCH ?"
    found = {one: index.execute(count, (phrase_query([one]),)).fetchone() for one in words}
    # In the order of the question, not of a set: among equally rare words the first counts.
    named = (one for one in words if one not in _GENERAL)
    return min(named, key=lambda one: found[one], default="")


def _passage(paragraph: str, words: list[str]) -> str:
    """As many sentences as fit, starting with the one that has most of the words."""
    sentences = re.split(r"(?<=[.!?])\s+", paragraph)
    scores = [sum(word[:_STEM] in sentence.lower() for word in words) for sentence in sentences]
    start = scores.index(max(scores))
    passage = sentences[start]
    for sentence in sentences[start + 1 :]:
        if len(passage) + 1 + len(sentence) > _PASSAGE_CHARS:
            break
        passage += f" {sentence}"
    if len(passage) <= _PASSAGE_CHARS:
        return passage
    return f"{passage[: _PASSAGE_CHARS - 1].rsplit(' ', 1)[0]}…"

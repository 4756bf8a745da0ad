"""The folder of kept conversations: one folder for each, with a JSON object and a file of sound.

What is read here may be written to at the same moment, be cut short by a server that was killed, or
be deleted by somebody else. All of it may block: it is for threads.
"""

from __future__ import annotations

import io
import json
import logging
import os
import re
import shutil
import statistics
import zipfile
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any

from voice.callers import Caller
from voice.config import RecordsConfig, data_path
from voice.errors import StoreError

WORDS, SOUND = "conversation.json", "sound.opus"
_NAME = re.compile(r"(\d{8}T\d{6})Z-[0-9a-f]{16}")
_TIME = "%Y%m%dT%H%M%S"
_DELETED = ".deleted-"

_log = logging.getLogger(__name__)

Document = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Query:
    """Which conversations are wanted.

    Attributes:
        text: Stands in what was said, a call or its result, in any case; empty for any.
        caller: Its written form begins so.
        agent: Its name; empty for any.
        only: With orders, errors or unanswered requests, as `summary` names them; empty for any.
        since: Began at this moment or later; as ISO 8601 writes it, or the beginning of that.
        until: Began before the end of it; likewise.
        before: Id of the one that they are older than; empty for none.
        limit: Most that are wanted.
    """

    text: str = ""
    caller: str = ""
    agent: str = ""
    only: str = ""
    since: str = ""
    until: str = ""
    before: str = ""
    limit: int = 50

    def takes(self, found: Document) -> bool:
        """Whether a conversation of that time is one."""
        return (
            str(found.get("caller")).startswith(self.caller)
            and self.agent in ("", found.get("agent"))
            and (not self.text or self.text.casefold() in _all_text(found))
        )


def name_of(began: datetime, session_id: str) -> str:
    """The id of a session's conversation, and its folder's name."""
    return f"{began.astimezone(UTC):{_TIME}}Z-{session_id.removeprefix('sess_')}"


class Conversations:
    """The conversations that are kept.

    Args:
        config: Where.
    """

    def __init__(self, config: RecordsConfig) -> None:
        self.path = Path(config.folder or data_path("conversations"))

    def make(self, name: str = "") -> Path:
        """Make a conversation's folder, or that of all; nobody else may enter it.

        Raises:
            OSError: It cannot be made.
        """
        made = self.path / name
        made.mkdir(mode=0o700, parents=not name, exist_ok=not name)
        return made

    def append(self, name: str, data: bytes) -> None:
        """Make a conversation's sound longer.

        Raises:
            OSError: It cannot be written; FileNotFoundError where the conversation is deleted.
        """
        with open(self.path / name / SOUND, "ab", opener=_private) as file:
            file.write(data)

    def replace(self, name: str, text: str) -> None:
        """Write a conversation's words anew; a reader sees those before, or these.

        Raises:
            OSError: As `append`.
        """
        written = self.path / name / f".{WORDS}"
        with open(written, "w", encoding="utf-8", opener=_private) as file:
            file.write(text)
        written.replace(self.path / name / WORDS)

    def names(self) -> list[str]:
        """Ids of all, the newest first."""
        with suppress(FileNotFoundError):
            return sorted(filter(_NAME.fullmatch, os.listdir(self.path)), reverse=True)
        return []

    def file(self, name: str, kind: str) -> Path | None:
        """A file of a conversation; None where there is none, or the id is no id."""
        path = self.path / name / kind
        return path if _NAME.fullmatch(name) and path.is_file() else None

    def read(self, name: str) -> Document | None:
        """A conversation; None where there is none that can be read."""
        path = self.file(name, WORDS)
        try:
            found = json.loads(path.read_text(encoding="utf-8")) if path else None
        except (OSError, ValueError) as error:
            _log.warning("conversation %s cannot be read: %s", name, type(error).__name__)
            return None
        return found if isinstance(found, dict) and found.get("id") == name else None

    def each(self, query: Query) -> Iterator[Document]:
        """The conversations that are wanted, the newest first."""
        since, until = (re.sub("[^0-9T]", "", each) for each in (query.since, query.until))
        for name in self.names():
            day = name[: len(until)]
            if (query.before and name >= query.before) or day > until > "":
                continue
            if name < since:
                return
            if (found := self.read(name)) and query.takes(found):
                yield found

    def search(self, query: Query) -> list[Document]:
        """What the conversations that are wanted are about."""
        found = map(summary, self.each(query))
        wanted = (about for about in found if not query.only or about[query.only])
        return list(islice(wanted, query.limit))

    def hours(self, query: Query) -> list[Document]:
        """The latency of turns by the hour, the newest first; see `hour`."""
        turns: dict[str, list[Document]] = {}
        for found in self.each(query):
            turns.setdefault(str(found["began"])[:13], []).extend(found["turns"])
        return [hour(began, those) for began, those in turns.items()]

    def zipped(self, name: str) -> bytes:
        """A conversation as a ZIP file, or nothing where there is none."""
        packed = io.BytesIO()
        paths = [path for kind in (WORDS, SOUND) if (path := self.file(name, kind))]
        with zipfile.ZipFile(packed, "w") as archive:
            for path in paths:
                archive.write(path, f"{name}/{path.name}")
        return packed.getvalue() if paths else b""

    def of(self, caller: Caller) -> list[Document]:
        """All of one caller's."""
        mine = self.each(Query(caller=str(caller)))
        return [found for found in mine if found["caller"] == str(caller)]

    def counted(self, callers: Iterable[Document]) -> list[Document]:
        """What the database tells of callers, with how many conversations are kept of each."""
        counts: dict[tuple[str, str], int] = {}
        for found in self.each(Query()):
            of = str(found["agent"]), str(found["caller"])
            counts[of] = counts.get(of, 0) + 1
        told = []
        for one in callers:
            entries = {"conversations": counts.pop((one["agent"], one["caller"]), 0)}
            told.append({**one, "entries": {**one["entries"], **entries}})
        rest = [
            {"agent": agent, "caller": caller, "entries": {"conversations": count}}
            for (agent, caller), count in counts.items()
        ]
        return sorted([*told, *rest], key=lambda one: (one["agent"], one["caller"]))

    def delete(self, caller: Caller) -> int:
        """Delete all of one caller's, one that is under way too; returns how many there were.

        Raises:
            StoreError: They cannot be deleted.
        """
        mine = [found["id"] for found in self.of(caller)]
        for name in mine:
            self._remove(name)
        return len(mine)

    def sweep(self, keep_days: float, now: datetime) -> None:
        """Delete what has been kept for long enough, and what is left of what was deleted.

        Raises:
            StoreError: As `delete`.
        """
        oldest = f"{now.astimezone(UTC) - timedelta(days=keep_days):{_TIME}}"
        for name in self.names():
            if name < oldest:
                self._remove(name)
        for left in self.path.glob(f"{_DELETED}*"):
            shutil.rmtree(left, ignore_errors=True)

    def _remove(self, name: str) -> None:
        # Whoever still writes finds no folder of that name, and begins no new one.
        moved = self.path / f"{_DELETED}{name}"
        try:
            (self.path / name).rename(moved)
            shutil.rmtree(moved)
        except FileNotFoundError:
            _log.debug("somebody else has deleted %s", name)
        except OSError as error:
            raise StoreError(f"cannot delete a conversation: {error.strerror}") from error


def summary(found: Document) -> Document:
    """What a conversation is about: who, how long, how it went."""
    turns = found["turns"]
    replies = [reply for turn in turns for reply in turn["replies"]]
    tools = [tool for reply in replies for tool in reply["tools"]]
    asked = [turn for turn in turns if turn["text"]]
    failed = [tool for tool in tools if tool["error"]]
    orders = [tool for tool in tools if tool["placed"] and tool["result"] and not tool["error"]]
    latencies = _latencies(turns, typed=False)
    return {
        **{name: found[name] for name in ("id", "began", "agent", "caller", "door", "seconds")},
        "ended": found["ended"],
        "first": asked[0]["text"] if asked else "",
        "turns": len(asked),
        "unanswered": sum(not is_answered(turn) for turn in asked),
        "errors": len(failed) + len(found["problems"]),
        "orders": [tool["result"] for tool in orders],
        "latency_ms": round(statistics.median(latencies), 1) if latencies else None,
    }


def is_answered(turn: Document) -> bool:
    """Whether the user has heard, or read, something of a reply to a turn."""
    return any(
        reply["heard"] or (reply["status"] == "completed" and reply["text"])
        for reply in turn["replies"]
    )


def hour(began: str, turns: list[Document]) -> Document:
    """How long turns took to be answered, and how many were cut off too early.

    Args:
        began: The hour, as the beginning of a moment in ISO 8601.
        turns: Of the conversations that began in it.
    """
    told: Document = {"hour": began, "cut_off": sum(turn["cut_off"] for turn in turns)}
    for kind, typed in (("spoken", False), ("typed", True)):
        latencies = sorted(_latencies(turns, typed))
        told[kind] = {
            "turns": len(latencies),
            "p50_ms": _quantile(latencies, 0.5),
            "p95_ms": _quantile(latencies, 0.95),
        }
    return told


def _latencies(turns: Iterable[Document], typed: bool) -> list[float]:
    """From the end of speech, or the request, to the first sound, or to the first words."""
    marks = [turn["marks_ms"] for turn in turns if turn["typed"] is typed]
    found = (each.get("first_audio", each.get("reply_committed")) for each in marks)
    return [ms for ms in found if ms is not None]


def _quantile(ordered: list[float], share: float) -> float | None:
    """The nearest rank of ordered values."""
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))] if ordered else None


def _all_text(found: Document) -> str:
    said = [
        text
        for turn in found["turns"]
        for reply in [{"text": turn["text"], "tools": ()}, *turn["replies"]]
        for text in (
            reply["text"],
            *(f"{t['name']} {t['arguments']} {t['result']}" for t in reply["tools"]),
        )
    ]
    return "\n".join(map(str, said)).casefold()


_private = partial(os.open, mode=0o600)

"""The folder of kept conversations: each has a folder with a JSON object and a sound file.

What is read here may at the same moment be written to, cut short by a killed server, or deleted by
somebody else. All methods may block, so they belong in threads.
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
        text: Occurs in what was said, in a call or in its result, in any case; empty for any.
        caller: The caller's written form begins with this.
        agent: The agent's name; empty for any.
        only: "orders", "errors" or "unanswered" for conversations with any, as `summary` counts
            them; empty for all.
        since: The conversation began at this time or later: ISO 8601, in UTC unless it tells its
            offset, or the beginning of such a text.
        until: The conversation began before the end of this time; likewise.
        before: The conversation is older than the one with this id; empty for any.
        limit: Most conversations wanted.
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
        """Whether a conversation matches by caller, agent and text."""
        return (
            str(found.get("caller")).startswith(self.caller)
            and self.agent in ("", found.get("agent"))
            and (not self.text or self.text.casefold() in _all_text(found))
        )


def name_of(began: datetime, session_id: str) -> str:
    """The id of a session's conversation, which is also its folder's name."""
    return f"{began.astimezone(UTC):{_TIME}}Z-{session_id.removeprefix('sess_')}"


class Conversations:
    """The conversations that are kept.

    Args:
        config: Names the folder.
    """

    def __init__(self, config: RecordsConfig) -> None:
        self.path = Path(config.folder or data_path("conversations"))

    def make(self, name: str = "") -> Path:
        """Make the folder of a conversation, or of all; other users cannot enter it.

        Raises:
            OSError: The folder cannot be made.
        """
        made = self.path / name
        made.mkdir(mode=0o700, parents=not name, exist_ok=not name)
        return made

    def append(self, name: str, data: bytes) -> None:
        """Append to a conversation's sound.

        Raises:
            OSError: It cannot be written; FileNotFoundError if the conversation has been deleted.
        """
        with open(self.path / name / SOUND, "ab", opener=_private) as file:
            file.write(data)

    def replace(self, name: str, text: str) -> None:
        """Replace a conversation's JSON; a reader sees either the old text or the new.

        Raises:
            OSError: As for `append`.
        """
        written = self.path / name / f".{WORDS}"
        with open(written, "w", encoding="utf-8", opener=_private) as file:
            file.write(text)
        written.replace(self.path / name / WORDS)

    def names(self) -> list[str]:
        """The ids of all conversations, newest first."""
        with suppress(FileNotFoundError):
            return sorted(filter(_NAME.fullmatch, os.listdir(self.path)), reverse=True)
        return []

    def file(self, name: str, kind: str) -> Path | None:
        """A file of a conversation; None if there is none, or the id is not valid."""
        path = self.path / name / kind
        return path if _NAME.fullmatch(name) and path.is_file() else None

    def read(self, name: str) -> Document | None:
        """A conversation; None if there is none or it cannot be read."""
        path = self.file(name, WORDS)
        try:
            found = json.loads(path.read_text(encoding="utf-8")) if path else None
        except (OSError, ValueError) as error:
            _log.warning("conversation %s cannot be read: %s", name, type(error).__name__)
            return None
        return found if isinstance(found, dict) and found.get("id") == name else None

    def each(self, query: Query) -> Iterator[Document]:
        """The conversations that match in time, caller, agent and text, newest first."""
        since, until = map(_as_in_names, (query.since, query.until))
        for name in self.names():
            day = name[: len(until)]
            if (query.before and name >= query.before) or day > until > "":
                continue
            if name < since:
                return
            if (found := self.read(name)) and query.takes(found):
                yield found

    def search(self, query: Query) -> list[Document]:
        """Summaries of the matching conversations."""
        found = map(summary, self.each(query))
        wanted = (about for about in found if not query.only or about[query.only])
        return list(islice(wanted, query.limit))

    def hours(self, query: Query) -> list[Document]:
        """The latency of turns for each hour, newest first; see `hour`."""
        turns: dict[str, list[Document]] = {}
        for found in self.each(query):
            turns.setdefault(str(found["began"])[:13], []).extend(found["turns"])
        return [hour(began, those) for began, those in turns.items()]

    def zipped(self, name: str) -> bytes:
        """A conversation as a ZIP file; empty if there is none."""
        packed = io.BytesIO()
        paths = [path for kind in (WORDS, SOUND) if (path := self.file(name, kind))]
        with suppress(FileNotFoundError):
            with zipfile.ZipFile(packed, "w") as archive:
                for path in paths:
                    archive.write(path, f"{name}/{path.name}")
            return packed.getvalue() if paths else b""
        return b""

    def sound(self, name: str) -> bytes:
        """A conversation's sound; empty if there is none."""
        with suppress(FileNotFoundError):
            return path.read_bytes() if (path := self.file(name, SOUND)) else b""
        return b""

    def of(self, caller: Caller) -> list[Document]:
        """All conversations of a caller."""
        mine = self.each(Query(caller=str(caller)))
        return [found for found in mine if found["caller"] == str(caller)]

    def counted(self, callers: Iterable[Document]) -> list[Document]:
        """What the database says of callers, with each caller's number of conversations added."""
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
        """Delete all of a caller's conversations, even one under way; returns how many there were.

        Raises:
            StoreError: They cannot be deleted.
        """
        mine = [found["id"] for found in self.of(caller)]
        self._remove(mine)
        return len(mine)

    def sweep(self, keep_days: float, now: datetime) -> None:
        """Delete conversations that have been kept for long enough.

        Raises:
            StoreError: As for `delete`.
        """
        oldest = f"{now.astimezone(UTC) - timedelta(days=keep_days):{_TIME}}"
        self._remove([name for name in self.names() if name < oldest])

    def _remove(self, names: Iterable[str]) -> None:
        """Delete conversations, and what earlier deletions could not."""
        faults: list[OSError] = []
        for name in names:
            # A writer then finds no folder of that name, and does not make a new one.
            try:
                (self.path / name).rename(self.path / f"{_DELETED}{name}")
            except OSError as error:
                faults.append(error)
        for left in self.path.glob(f"{_DELETED}*"):
            try:
                shutil.rmtree(left)
            except OSError as error:
                faults.append(error)
        for fault in faults:
            # Another server may delete the same.
            if not isinstance(fault, FileNotFoundError):
                raise StoreError(f"cannot delete a conversation: {fault.strerror}") from fault


def _as_in_names(time: str) -> str:
    """A time, or the beginning of one, as ids begin."""
    with suppress(ValueError):
        read = datetime.fromisoformat(time)
        if read.tzinfo is not None:
            time = f"{read.astimezone(UTC):{_TIME}}"
    return re.sub("[^0-9T]", "", time)


def summary(found: Document) -> Document:
    """A conversation's summary: who, how long, how it went."""
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
    """Whether the user heard, or read, any part of a reply to a turn."""
    return any(
        reply["heard"] or (reply["status"] == "completed" and reply["text"])
        for reply in turn["replies"]
    )


def hour(began: str, turns: list[Document]) -> Document:
    """How long turns took to be answered, and how many were cut off too early.

    Args:
        began: The hour, as the beginning of an ISO 8601 time.
        turns: The turns of the conversations that began in it.
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
    """From the end of speech, or the request, to the first audio, or else to the first words."""
    marks = [turn["marks_ms"] for turn in turns if turn["typed"] is typed]
    found = (each.get("first_audio", each.get("reply_committed")) for each in marks)
    return [ms for ms in found if ms is not None]


def _quantile(ordered: list[float], share: float) -> float | None:
    """A quantile of ordered values, by nearest rank."""
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

"""Metrics: Prometheus series, and JSON lines of turns and sessions if configured.

The series hold no text of a conversation, and no label that a client can choose. The lines hold
transcripts only if configured. `voice.compare` reads them.
"""

from __future__ import annotations

import asyncio
import json
import logging
import os
import stat
import time
from collections import Counter as Counts
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram
from prometheus_client.exposition import CONTENT_TYPE_LATEST, generate_latest

from voice.config import MetricsConfig
from voice.errors import ConfigError
from voice.events import (
    DraftsUsed,
    Failure,
    FinalTranscript,
    ReplyEnded,
    ReplyStarted,
    ReplyStatus,
    ReplyText,
    ReplyToolResult,
    SessionEnded,
    SessionEvent,
    TurnMeasured,
)

if TYPE_CHECKING:
    from voice.session.resources import Resources
    from voice.session.session import Session
    from voice.session.variants import Assigned

CONTENT_TYPE = CONTENT_TYPE_LATEST

Observe = Callable[[SessionEvent], None]
Follow = Callable[["Session", "Resources"], AbstractContextManager[Observe]]
"""Follows a session for as long as the context lasts; the context gives what takes its events."""

MARKS = ("asr_final", "end_of_turn", "first_token", "reply_committed", "first_audio")
STAGES = ("asr", "llm", "tts")
OUTCOMES = (
    *("turns", "not_understood", "replies", "cut_replies"),
    *("tools", "failed_tools", "failures"),
)
"""What is counted for each session: user turns, and those in which no word was understood; replies,
and those that were cut off; tool calls, and those that failed; failures of a part."""
OTHER = "other"

_log = logging.getLogger(__name__)

_TOOL = "tool."
_BUCKETS_S = (0.025, 0.05, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.6, 0.8, 1.0, 1.2, 1.5, 2.0, 3.0, 5.0)


class Metrics:
    """The series of one server.

    Args:
        config: Where JSON lines go, and what they hold.
        tools: Names of tools that may be a label; any other counts as "other".
        clock: Returns seconds since the epoch, for the lines.
        follow: Something else that follows conversations, such as traces.

    Raises:
        ConfigError: The file for the lines cannot be opened.
    """

    def __init__(
        self,
        config: MetricsConfig,
        tools: Iterable[str] = (),
        clock: Callable[[], float] = time.time,
        follow: Follow | None = None,
    ) -> None:
        self._config = config
        self._tools = frozenset(tools)
        self._clock = clock
        self._follow = follow
        self._lines = _open_lines(config)
        self.registry = CollectorRegistry()
        self._marks = self._histogram(
            "turn_mark_seconds", "From the end of the user's speech to a stage of the turn", "mark"
        )
        self._tool_times = self._histogram("tool_seconds", "How long tools took", "tool")
        self._turns = self._counter("turns", "Turns measured")
        self._replies = self._counter("replies", "Replies by how they ended", "status")
        self._failures = self._counter("failures", "Failures by stage", "stage")
        self._refused = self._counter("refused", "Connections refused", "reason")
        self._sessions = self._counter("sessions", "Sessions begun")
        self._live = Gauge("quicksilver_live_sessions", "Sessions now", registry=self.registry)
        tasks = Gauge("quicksilver_tasks", "Tasks of the event loop now", registry=self.registry)
        tasks.set_function(_tasks)
        self._drafts = self._counter(
            "drafts", "Replies drafted while the user spoke, or not for want of time", "made"
        )
        self._revised = self._counter(
            "drafts_revised", "Drafts of which tokens come from the one before"
        )
        self._unlikely = self._counter(
            "drafts_unlikely", "Drafts not made because the user's words were not likely to be all"
        )
        self._outcomes = self._counter(
            "draft_outcomes", "Turns by what became of their drafts", "outcome"
        )
        self._forwards = self._counter("draft_forwards", "Model forwards made for drafts", "used")
        # A series that first appears with its first event shows no increase then, and alerts would
        # miss the event.
        for counter, labels in (
            (self._replies, [status.value for status in ReplyStatus]),
            (self._failures, STAGES),
            (self._refused, ["capacity"]),
        ):
            for label in labels:
                counter.labels(label)

    def _counter(self, name: str, text: str, *labels: str) -> Counter:
        return Counter(f"quicksilver_{name}", text, labels, registry=self.registry)

    def _histogram(self, name: str, text: str, label: str) -> Histogram:
        name = f"quicksilver_{name}"
        return Histogram(name, text, [label], buckets=_BUCKETS_S, registry=self.registry)

    @contextmanager
    def conversation(self, session: Session, assigned: Assigned[Resources]) -> Iterator[Observe]:
        """Count a conversation for as long as the context lasts; yields what takes its events."""
        following = self._follow(session, assigned.resources) if self._follow else nullcontext()
        named = session.session_id, assigned.variant, assigned.bucket
        with self.session(*named) as measured, following as follow:

            def observe(event: SessionEvent) -> None:
                measured.observe(event)
                if follow is not None:
                    follow(event)

            yield observe

    @contextmanager
    def session(
        self, session_id: str, variant: str = "", bucket: int = 0
    ) -> Iterator[SessionMetrics]:
        """Count a session for as long as the context lasts.

        Args:
            session_id: Id of the session.
            variant: The session's variant, if several are compared; empty otherwise.
            bucket: The caller's bucket, as in `voice.session.variants`.
        """
        self._sessions.inc()
        named: dict[str, object] = {"session": session_id}
        if variant:
            named |= {"variant": variant, "bucket": bucket}
        began_s = self._clock()
        measured = SessionMetrics(self, named, self._config.transcripts)
        try:
            with self._live.track_inprogress():
                yield measured
        finally:
            measured.end(self._clock() - began_s)

    def refused(self, reason: str) -> None:
        """Count a connection that was refused; ``reason`` is one of the server's own codes."""
        self._refused.labels(reason).inc()

    def turn(self, measured: TurnMeasured) -> None:
        """Record a turn's marks."""
        self._turns.inc()
        for mark, value_ms in measured.marks_ms.items():
            if mark.startswith(_TOOL):
                tool = mark.removeprefix(_TOOL)
                label = tool if tool in self._tools else OTHER
                self._tool_times.labels(label).observe(value_ms / 1000)
            else:
                self._marks.labels(mark if mark in MARKS else OTHER).observe(value_ms / 1000)

    def drafts(self, used: DraftsUsed) -> None:
        """Count a turn's drafts."""
        self._drafts.labels("yes").inc(used.made)
        self._drafts.labels("no").inc(used.skipped)
        self._revised.inc(used.revised)
        self._unlikely.inc(used.unlikely)
        self._forwards.labels("yes").inc(used.forwards - used.discarded)
        self._forwards.labels("no").inc(used.discarded)
        if used.outcome:
            self._outcomes.labels(used.outcome).inc()

    def reply(self, ended: ReplyEnded) -> None:
        """Count a reply."""
        self._replies.labels(ended.status.value).inc()

    def failure(self, failure: Failure) -> None:
        """Count a failure."""
        self._failures.labels(failure.stage if failure.stage in STAGES else OTHER).inc()

    def write_line(self, fields: dict[str, object]) -> None:
        """Append a JSON line, if configured; after a failed write no more are written."""
        if self._lines is None:
            return
        line = {"time": round(self._clock(), 3), **fields}
        try:
            self._lines.write(json.dumps(line, ensure_ascii=False) + "\n")
        except OSError as error:
            _log.warning(
                "metrics.json_lines: cannot write %r: %s; no more lines are written",
                self._config.json_lines,
                error.strerror,
            )
            self.close()

    def render(self) -> bytes:
        """All series in Prometheus's text format."""
        return generate_latest(self.registry)

    def close(self) -> None:
        """Close the file of lines; may be called again."""
        lines, self._lines = self._lines, None
        if lines is not None:
            # Closing flushes again, which fails on a full disk; the file is closed all the same.
            with suppress(OSError):
                lines.close()


class SessionMetrics:
    """Counts the events of one session, and writes its lines.

    Args:
        metrics: The server's metrics.
        named: The fields that each line begins with: the session and its variant.
        transcripts: Whether lines hold what was said.
    """

    def __init__(self, metrics: Metrics, named: Mapping[str, object], transcripts: bool) -> None:
        self._metrics = metrics
        self._named = named
        self._transcripts = transcripts
        self._user: tuple[int, str] = (0, "")
        self._agent: tuple[int, str] = (0, "")
        self._outcome: Counts[str] = Counts(dict.fromkeys(OUTCOMES, 0))
        self._reason = ""

    def observe(self, event: SessionEvent) -> None:
        """Take an event of the session."""
        self._count(event)
        match event:
            case FinalTranscript(turn_id=turn_id, text=text):
                self._user = (turn_id, text)
            case ReplyStarted(turn_id=turn_id):
                self._agent = (turn_id, "")
            case ReplyText(delta=delta):
                self._agent = (self._agent[0], self._agent[1] + delta)
            case ReplyEnded():
                self._metrics.reply(event)
            case Failure():
                self._metrics.failure(event)
            case DraftsUsed():
                self._metrics.drafts(event)
            case TurnMeasured():
                self._metrics.turn(event)
                self._metrics.write_line(self._line(event))

    def end(self, seconds: float) -> None:
        """The session is over; write a line with its outcome."""
        outcome = {"reason": self._reason, "seconds": round(seconds, 1), **self._outcome}
        self._metrics.write_line({**self._named, "outcome": outcome})

    def _count(self, event: SessionEvent) -> None:
        counts = self._outcome
        match event:
            case FinalTranscript(text=text):
                counts["turns"] += 1
                counts["not_understood"] += not text
            case ReplyEnded(status=status):
                counts["replies"] += 1
                counts["cut_replies"] += status is ReplyStatus.CANCELLED
            case ReplyToolResult(result=result):
                counts["tools"] += 1
                counts["failed_tools"] += result.error
            case Failure():
                counts["failures"] += 1
            case SessionEnded(reason):
                self._reason = reason

    def _line(self, measured: TurnMeasured) -> dict[str, object]:
        turn_id = measured.turn_id
        marks = {mark: round(value, 1) for mark, value in measured.marks_ms.items()}
        line: dict[str, object] = {**self._named, "turn_id": turn_id, "marks_ms": marks}
        if self._transcripts:
            line["user"] = self._user[1] if self._user[0] == turn_id else ""
            line["agent"] = self._agent[1] if self._agent[0] == turn_id else ""
        return line


def _tasks() -> int:
    """Number of tasks in the running event loop; 0 outside of one."""
    try:
        return len(asyncio.all_tasks())
    except RuntimeError:
        return 0


def _open_lines(config: MetricsConfig) -> TextIO | None:
    path = config.json_lines
    if not path:
        return None
    opener = _open_private if config.transcripts else None
    try:
        Path(path).parent.mkdir(parents=True, exist_ok=True)
        # Line-buffered: a reader sees a turn as soon as it ends.
        return open(path, "a", encoding="utf-8", buffering=1, opener=opener)
    except OSError as error:
        raise ConfigError(f"metrics.json_lines: cannot open {path!r}: {error.strerror}") from error


def _open_private(path: str, flags: int) -> int:
    """Open a file that nobody else on this machine may read, even if it was there before."""
    opened = os.open(path, flags, mode=0o600)
    if stat.S_ISREG(os.fstat(opened).st_mode):
        os.chmod(path, 0o600)
    return opened

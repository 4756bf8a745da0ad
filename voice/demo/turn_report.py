"""The outcome of a turn, from the events that a Realtime client received.

Pure functions over events with arrival times; sockets and audio are not handled here.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Received:
    """A server event and when it arrived, in seconds on the event loop's clock."""

    at_s: float
    event: dict[str, Any]

    @property
    def type(self) -> str:
        """The event's type."""
        return str(self.event["type"])


@dataclass(frozen=True, slots=True)
class ToolUse:
    """A tool that ran in the server. ``result`` is empty if none came."""

    name: str
    arguments: dict[str, Any]
    result: str


@dataclass(frozen=True, slots=True)
class Turn:
    """The outcome of a turn.

    Attributes:
        transcript: As recognised; the parts of a turn that was split are joined.
        reply: Text of the reply, whether played or not.
        status: Status of the reply, or "none" if there was no reply.
        marks_ms: As in quicksilver.latency; empty if the server sent none.
        voice_to_voice_ms: From the last sample of speech to the first audible sample of the reply.
        after_commit_ms: From the arrival of the last commit, which is the end-of-turn decision, to
            the same sample.
        commits: Number of turns that the server committed.
        early_commits: Number of these committed before the speech had ended.
    """

    transcript: str
    tools: tuple[ToolUse, ...]
    reply: str
    status: str
    marks_ms: dict[str, float]
    voice_to_voice_ms: float | None
    after_commit_ms: float | None
    commits: int
    early_commits: int


def of_type(events: Sequence[Received], kind: str) -> list[Received]:
    """The events of one type, in order."""
    return [received for received in events if received.type == kind]


def answer(events: Sequence[Received]) -> Received | None:
    """The end of the reply to the last turn; None if there is none yet.

    A reply that the user's speech cancelled answers nothing, and neither does one that ended before
    the last turn was committed.
    """
    starts = [i for i, r in enumerate(events) if r.type == "input_audio_buffer.speech_started"]
    rest = list(events[starts[-1] :]) if starts else []
    commits = [i for i, r in enumerate(rest) if r.type == "input_audio_buffer.committed"]
    if not commits:
        return None
    done = of_type(rest[commits[-1] :], "response.done")
    return next((r for r in done if r.event["response"]["status"] != "cancelled"), None)


def understood_nothing(events: Sequence[Received]) -> bool:
    """Whether the last transcript has arrived and is empty."""
    kind = "conversation.item.input_audio_transcription.completed"
    transcripts = of_type(events, kind)
    return bool(transcripts) and not transcripts[-1].event["transcript"].strip()


def item_of(events: Sequence[Received], response_id: str) -> str | None:
    """The item of a response's audio; None if it had no audio."""
    deltas = of_type(events, "response.output_audio.delta")
    return next((r.event["item_id"] for r in deltas if r.event["response_id"] == response_id), None)


def report(events: Sequence[Received], speech_end_s: float, first_audible_s: float | None) -> Turn:
    """The outcome of a turn.

    Args:
        events: All events since the user began to speak.
        speech_end_s: When the last sample of speech was captured.
        first_audible_s: When the first audible sample of the reply sounded, if one did.
    """
    end = answer(events)
    response: dict[str, Any] = end.event["response"] if end else {"id": "", "status": "none"}
    said = of_type(events, "conversation.item.input_audio_transcription.completed")
    commits = of_type(events, "input_audio_buffer.committed")
    latency = of_type(events, "quicksilver.latency")
    texts = [
        r.event.get("transcript") or r.event.get("text") or ""
        for kind in ("response.output_audio_transcript.done", "response.output_text.done")
        for r in of_type(events, kind)
        if r.event["response_id"] == response["id"]
    ]
    return Turn(
        transcript=" ".join(r.event["transcript"].strip() for r in said).strip(),
        tools=tools_used(events),
        reply=" ".join(text.strip() for text in texts),
        status=response["status"],
        marks_ms=dict(latency[-1].event["marks_ms"]) if latency else {},
        voice_to_voice_ms=_ms_between(speech_end_s, first_audible_s),
        after_commit_ms=_ms_between(commits[-1].at_s, first_audible_s) if commits else None,
        commits=len(commits),
        early_commits=sum(r.at_s < speech_end_s for r in commits),
    )


def tools_used(events: Sequence[Received]) -> tuple[ToolUse, ...]:
    """The tools that ran in the server, in the order of their calls, with their results."""
    results = {
        r.event["call_id"]: r.event["content"] for r in of_type(events, "quicksilver.tool_result")
    }
    return tuple(
        ToolUse(r.event["name"], dict(r.event["arguments"]), results.get(r.event["call_id"], ""))
        for r in of_type(events, "quicksilver.tool_call")
    )


def _ms_between(from_s: float, to_s: float | None) -> float | None:
    return None if to_s is None else 1000 * (to_s - from_s)

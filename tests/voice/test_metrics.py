import json
from pathlib import Path
from typing import Any

import pytest

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
from voice.metrics import Metrics
from voice.types import ToolResult

MARKS = TurnMeasured(
    4, {"end_of_turn": 240.04, "first_audio": 260.0, "tool.get_time": 3.0, "tool.mine": 7.0}
)
TURN: list[SessionEvent] = [
    FinalTranscript(4, "i1", "What time is it?", 0.9, 1.0),
    ReplyStarted("r1", "i2", 4, "i1"),
    ReplyText("r1", "It is "),
    ReplyText("r1", "noon."),
    ReplyEnded("r1", ReplyStatus.COMPLETED, "", "It is noon.", 1, 1),
    MARKS,
]


def lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def test_marks_are_histograms_in_seconds() -> None:
    metrics = Metrics(MetricsConfig(), tools=("get_time",))
    metrics.turn(MARKS)
    sample = metrics.registry.get_sample_value
    assert sample("quicksilver_turn_mark_seconds_sum", {"mark": "first_audio"}) == 0.26
    bucket = {"mark": "end_of_turn", "le": "0.3"}
    assert sample("quicksilver_turn_mark_seconds_bucket", bucket) == 1
    assert sample("quicksilver_turn_mark_seconds_bucket", bucket | {"le": "0.2"}) == 0
    assert sample("quicksilver_turns_total") == 1


def test_no_client_can_make_a_label() -> None:
    metrics = Metrics(MetricsConfig(), tools=("get_time",))
    metrics.turn(MARKS)
    metrics.turn(TurnMeasured(5, {"surprise": 1.0}))
    metrics.failure(Failure(1, "surprise", "x"))
    text = metrics.render().decode()
    assert 'quicksilver_tool_seconds_count{tool="get_time"} 1.0' in text
    assert 'quicksilver_tool_seconds_count{tool="other"} 1.0' in text
    assert 'quicksilver_turn_mark_seconds_count{mark="other"} 1.0' in text
    assert 'quicksilver_failures_total{stage="other"} 1.0' in text
    assert "mine" not in text
    assert "surprise" not in text


def test_sessions_replies_failures_and_refusals_are_counted() -> None:
    metrics = Metrics(MetricsConfig())
    sample = metrics.registry.get_sample_value
    with metrics.session("s1") as one, metrics.session("s2"):
        assert sample("quicksilver_live_sessions") == 2
        for event in TURN:
            one.observe(event)
        one.observe(Failure(4, "tts", "no voice"))
    metrics.refused("invalid_api_key")
    assert sample("quicksilver_live_sessions") == 0
    assert sample("quicksilver_sessions_total") == 2
    assert sample("quicksilver_replies_total", {"status": "completed"}) == 1
    assert sample("quicksilver_failures_total", {"stage": "tts"}) == 1
    assert sample("quicksilver_refused_total", {"reason": "invalid_api_key"}) == 1


def test_lines_hold_marks_and_no_words(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "turns.jsonl"
    metrics = Metrics(MetricsConfig(json_lines=str(path)), clock=lambda: 1700000000.1234)
    with metrics.session("s1") as session:
        for event in TURN:
            session.observe(event)
        assert lines(path) == [
            {
                "time": 1700000000.123,
                "session": "s1",
                "turn_id": 4,
                "marks_ms": {
                    "end_of_turn": 240.0,
                    "first_audio": 260.0,
                    "tool.get_time": 3.0,
                    "tool.mine": 7.0,
                },
            }
        ]
    metrics.close()
    metrics.close()


def test_lines_hold_words_when_asked(tmp_path: Path) -> None:
    path = tmp_path / "turns.jsonl"
    # From before words were asked for, when others were allowed to read it.
    path.touch(mode=0o644)
    metrics = Metrics(MetricsConfig(json_lines=str(path), transcripts=True))
    with metrics.session("s1") as session:
        for event in TURN:
            session.observe(event)
        session.observe(TurnMeasured(5, {}))
    metrics.close()
    first, second, last = lines(path)
    assert "outcome" in last
    assert (first["user"], first["agent"]) == ("What time is it?", "It is noon.")
    assert (second["user"], second["agent"]) == ("", "")
    assert path.stat().st_mode & 0o077 == 0


def test_the_last_line_of_a_session_is_its_outcome(tmp_path: Path) -> None:
    path = tmp_path / "turns.jsonl"
    seconds = iter((100.0, 107.25, 107.5))
    metrics = Metrics(MetricsConfig(json_lines=str(path)), clock=lambda: next(seconds))
    with metrics.session("s1", "b", 42) as session:
        session.observe(FinalTranscript(4, "i1", "What time is it?", 0.9, 1.0))
        session.observe(FinalTranscript(5, "i3", "", 0.0, 1.0))
        session.observe(ReplyEnded("r1", ReplyStatus.COMPLETED, "", "It is noon.", 1, 1))
        session.observe(ReplyEnded("r2", ReplyStatus.CANCELLED, "turn_detected", "It", 1, 1))
        session.observe(ReplyToolResult("r1", ToolResult("c1", "get_time", "No.", error=True)))
        session.observe(Failure(5, "asr", "x"))
        session.observe(SessionEnded("idle"))
    metrics.close()
    assert lines(path) == [
        {
            "time": 107.5,
            "session": "s1",
            "variant": "b",
            "bucket": 42,
            "outcome": {
                "reason": "idle",
                "seconds": 7.2,
                "turns": 2,
                "not_understood": 1,
                "replies": 2,
                "cut_replies": 1,
                "tools": 1,
                "failed_tools": 1,
                "failures": 1,
            },
        }
    ]


def test_a_file_that_cannot_be_opened_is_a_wrong_option(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"metrics\.json_lines"):
        Metrics(MetricsConfig(json_lines=str(tmp_path)))


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full on this machine")
def test_a_full_disk_ends_the_lines_and_nothing_else(caplog: pytest.LogCaptureFixture) -> None:
    metrics = Metrics(MetricsConfig(json_lines="/dev/full"))
    with metrics.session("s1") as session:
        for event in [*TURN, *TURN]:
            session.observe(event)
    metrics.close()
    assert metrics.registry.get_sample_value("quicksilver_turns_total") == 2
    (told,) = caplog.messages
    assert told.startswith("metrics.json_lines: cannot write '/dev/full': No space left on device")


def test_drafts_are_counted_with_what_they_cost() -> None:
    metrics = Metrics(MetricsConfig())
    with metrics.session("s") as session:
        session.observe(
            DraftsUsed(1, "stood", 3, 1, forwards=9, discarded=5, unlikely=4, revised=2)
        )
        session.observe(DraftsUsed(2, "", made=0, skipped=2, forwards=0, discarded=0))
    sample = metrics.registry.get_sample_value
    assert sample("quicksilver_drafts_total", {"made": "yes"}) == 3
    assert sample("quicksilver_drafts_total", {"made": "no"}) == 3
    assert sample("quicksilver_drafts_unlikely_total") == 4
    assert sample("quicksilver_drafts_revised_total") == 2
    assert sample("quicksilver_draft_forwards_total", {"used": "yes"}) == 4
    assert sample("quicksilver_draft_forwards_total", {"used": "no"}) == 5
    assert sample("quicksilver_draft_outcomes_total", {"outcome": "stood"}) == 1
    assert 'outcome=""' not in metrics.render().decode()

import wave
from contextlib import asynccontextmanager
from io import StringIO

import httpx
import numpy as np
import pytest
from rich.console import Console

from tests.support.fake_realtime import FakeRealtime
from voice.demo import __main__ as demo
from voice.demo.recordings import CONVERSATIONS, Line
from voice.demo.server import EMBEDDED, ServerProcess, as_arguments
from voice.demo.turn_report import ToolUse, Turn
from voice.demo.virtual_audio import AUDIBLE_ABOVE

TIME = Line("assistant-6-time", "what time is it", "get_time")
LIGHT = Line("assistant-7-light", "turn on the kitchen light", "set_device")


def turn(**changes) -> Turn:
    told = {
        "transcript": "what time is it",
        "tools": (ToolUse("get_time", {}, "It is noon."),),
        "reply": "It is noon.",
        "status": "completed",
        "marks_ms": {"asr_final": 100.0, "end_of_turn": 250.0, "first_audio": 300.0},
        "voice_to_voice_ms": 500.0,
        "after_commit_ms": 250.0,
        "commits": 1,
        "early_commits": 0,
    }
    return Turn(**{**told, **changes})


def shown(said: Line, made: Turn) -> list[str]:
    file = StringIO()
    demo.show(said, made, Console(file=file, width=100))
    return [" ".join(text.split()) for text in file.getvalue().splitlines() if text.strip()]


def test_a_turn_is_shown_with_its_waterfall():
    lines = shown(TIME, turn())
    assert lines[:3] == [
        "user what time is it",
        "tool get_time() → It is noon.",
        "agent It is noon.",
    ]
    assert [text.split()[0] for text in lines[3:]] == [
        "asr_final",
        "end_of_turn",
        "first_audio",
        "audible",
    ]
    assert lines[-1].endswith("500 ms")


def test_the_median_of_two_times_is_between_them():
    turns = [turn(voice_to_voice_ms=ms) for ms in (900.0, None, 400.0)]
    assert demo.timing(turns) == "voice to voice: 650 ms median, 900 ms longest"
    assert demo.timing([turn(voice_to_voice_ms=None)]) == ""


def test_what_went_wrong_is_shown():
    nothing = turn(transcript="", tools=(), reply="", status="none", voice_to_voice_ms=None)
    assert shown(TIME, nothing)[:4] == [
        "user (not understood)",
        "user said: what time is it",
        "error get_time was not called",
        "agent (no reply: none)",
    ]


def test_bars_follow_one_another_and_stay_in_their_place():
    marks = {"asr_final": 250.0, "end_of_turn": 500.0, "first_audio": 40_000.0}
    rows = demo.waterfall(turn(marks_ms=marks, voice_to_voice_ms=-50.0)).plain.splitlines()
    spans = [(row.index("█"), row.rindex("█") + 1) for row in rows]
    assert spans[0] == (26, 36)
    assert spans[1] == (36, 46)
    assert spans[2] == (46, 66)
    assert spans[3] == (26, 27)
    assert len({row.index(" ms") for row in rows}) == 1


@pytest.fixture
def fake_serving(monkeypatch):
    """The demo's server is a fake one in this process."""
    fake = FakeRealtime(transcripts=["what time is it", "turn on the light"])

    @asynccontextmanager
    async def serve(arguments):
        async with fake.running() as url:
            port = httpx.URL(url).port
            yield ServerProcess("127.0.0.1", port, pid=0, started_s=0.0)

    monkeypatch.setattr(demo, "serving", serve)
    return fake


def test_a_missing_tool_call_fails_the_demo(fake_serving, monkeypatch, tmp_path, capsys):
    monkeypatch.setitem(CONVERSATIONS, "assistant", (TIME, LIGHT))
    file = tmp_path / "new" / "talk.wav"
    assert demo.main(["--out", str(file)]) == 1
    printed = capsys.readouterr().out
    assert "set_device was not called" in printed
    assert "get_time was not called" not in printed
    assert "1 of 2 turns called the expected tool" in printed
    assert channels(file).shape[1] == 2


def test_a_mistake_is_one_line_on_standard_error(capsys):
    assert demo.main(["--set", "asr.engin=sphinx"]) == 1
    assert capsys.readouterr().err.count("\n") == 1


def channels(file) -> np.ndarray:
    with wave.open(str(file), "rb") as wav:
        assert (wav.getnchannels(), wav.getsampwidth(), wav.getframerate()) == (2, 2, 24_000)
        return np.frombuffer(wav.readframes(wav.getnframes()), "<i2").reshape(-1, 2)


@pytest.mark.e2e
@pytest.mark.parametrize("agent", sorted(CONVERSATIONS))
def test_the_demo_through_the_real_server(agent, monkeypatch, tmp_path, capsys):
    # The first and the last line: the others are recognised in tests/voice/hearing/asr.
    lines = CONVERSATIONS[agent]
    monkeypatch.setitem(CONVERSATIONS, agent, (lines[0], lines[-1]))
    file = tmp_path / "talk.wav"
    status = demo.main([agent, *as_arguments(EMBEDDED), "--out", str(file)])
    printed = capsys.readouterr().out
    turns = len(CONVERSATIONS[agent])
    assert f"{turns} of {turns} turns called the expected tool" in printed, printed
    assert status == 0
    user, talker = channels(file).T.astype(np.int32)
    assert (np.abs(user) > AUDIBLE_ABOVE).sum() > 24_000 * turns / 4
    assert (np.abs(talker) > AUDIBLE_ABOVE).sum() > 24_000 * turns / 4

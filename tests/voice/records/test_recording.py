"""What is kept of conversations: by scripted parts on virtual time, whose answers are known."""

from __future__ import annotations

import asyncio
import json
import logging
import os
import shutil
import stat
import subprocess
import sys
from collections.abc import AsyncGenerator, Generator, Iterator
from contextlib import asynccontextmanager, suppress
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import av
import numpy as np
import pytest

from tests.support.virtual_parts import (
    Call,
    Model,
    Recognizer,
    Tape,
    VirtualParts,
    Voice,
    call,
    calling,
    last_user,
    parts,
)
from tests.support.virtual_time import now, virtual
from voice.callers import Caller
from voice.config import RecordsConfig
from voice.errors import ConfigError, ModelError, ProtocolError, StoreError
from voice.events import FinalTranscript, ReplyEnded, ReplyHeard, ReplyToolResult, SessionEvent
from voice.llm.base import Prompt
from voice.records import recorder as recording
from voice.records import transcript
from voice.records.folder import Conversations, Query
from voice.records.recorder import Recorder
from voice.records.soundtrack import Soundtrack
from voice.types import (
    SAMPLE_RATE_HZ,
    Message,
    Role,
    SaidWord,
    Samples,
    Segment,
    SpeechChunk,
    ToolCall,
)

SAID = "how are you"
ADA = Caller.parse("user:ada")


def sound_of(path: Path) -> Samples:
    """(2, T) int16 at 48 kHz: the user's side and the agent's."""
    with av.open(str(path)) as file:
        fit = av.AudioResampler("s16p", "stereo", 48_000)
        frames = [part for frame in file.decode(audio=0) for part in fit.resample(frame)]
        return np.concatenate([frame.to_ndarray() for frame in frames], axis=1)


def loud_ms(side: Samples, above: int = 400) -> tuple[float, float]:
    """When something is heard first and last."""
    heard = np.flatnonzero(np.abs(side.astype(np.int32)) > above)
    return float(heard[0]) / 48, float(heard[-1]) / 48


def near(*expected_ms: float) -> list[object]:
    """Within what the detector needs to hear that somebody speaks."""
    return [pytest.approx(ms, abs=40) for ms in expected_ms]


class Tone(Voice):
    """Sounds as Opus can carry it."""

    def synthesize(self, segment: Segment, speed: float = 1.0) -> Iterator[SpeechChunk]:
        for chunk in super().synthesize(segment, speed):
            wave = np.sin(np.arange(len(chunk.samples)) * 2 * np.pi * 400 / chunk.sample_rate_hz)
            yield replace(chunk, samples=(8000 * wave).astype(np.int16))


class Kept:
    """A call that is recorded."""

    def __init__(self, folder: Path) -> None:
        self.recorder = Recorder(RecordsConfig(keep_days=1, folder=str(folder)))
        self.folder = folder

    @asynccontextmanager
    async def calling(self, loaded: VirtualParts) -> AsyncGenerator[Call, None]:
        async with (
            self.recorder.running(),
            calling(loaded, ADA, self.recorder.open) as call,
        ):
            yield call

    def settle(self) -> None:
        """Wait until what was to be written is: the thread that writes is not on virtual time."""
        self.recorder.submit(lambda: None).result()

    def one(self) -> tuple[dict[str, Any], Path]:
        """The only conversation: its words, and where its sound is."""
        (name,) = self.recorder.kept.names()
        found = self.recorder.kept.read(name)
        assert found is not None
        return found, self.folder / name / "sound.opus"


@pytest.fixture
def kept(tmp_path: Path) -> Kept:
    return Kept(tmp_path / "kept")


def answers(prompt: Prompt) -> str | ToolCall | Exception:
    said = last_user(prompt)
    if "table" in said:
        return call("book", what="a table")
    if "broken" in said:
        return ModelError("the model has failed")
    return "Fine, thank you very much indeed."


@virtual
async def test_a_conversation_is_kept_as_it_went(kept: Kept) -> None:
    async with kept.calling(parts(Model(answers), Tone())) as call:
        await call.say("how are you")
        await call.next(ReplyHeard, lambda heard: heard.chars == 33)
        await call.say("book a table")
        await call.next(ReplyToolResult)
        await call.next(ReplyEnded)
        await asyncio.sleep(3)
        began, held = call.turns_said, asyncio.get_running_loop().time()
    found, path = kept.one()
    assert (found["agent"], found["caller"], found["door"]) == ("test", "user:ada", "realtime")
    assert found["ended"] == {"by": "error", "reason": "closed"}
    first, second = found["turns"]
    assert (first["text"], second["text"]) == ("how are you", "book a table")
    assert first["end_ms"] - first["start_ms"] == pytest.approx(720, abs=80)
    assert first["end_ms"] / 1000 == pytest.approx(began[0], abs=0.08)
    assert {"end_of_turn", "first_audio"} <= first["marks_ms"].keys()
    assert [first["text"][:end] for end, _ in first["words"]] == ["how", "how are", "how are you"]
    assert [ms - first["start_ms"] for _, ms in first["words"]] == near(240, 480, 720)
    assert not first["estimated"]
    (reply,) = first["replies"]
    assert reply["text"] == "Fine, thank you very much indeed."
    assert (reply["heard"], reply["status"]) == (33, "completed")
    assert reply["start_ms"] == pytest.approx(
        first["end_ms"] + first["marks_ms"]["first_audio"], abs=40
    )
    ends = [char for char, _ in reply["words"]]
    assert [reply["text"][:end].split()[-1] for end in ends] == reply["text"].split()
    (tool,) = second["replies"][0]["tools"]
    assert (tool["name"], tool["arguments"]) == ("book", {"what": "a table"})
    assert tool["result"] and not tool["error"]
    both = sound_of(path)
    assert both.shape[1] / 48_000 == pytest.approx(found["seconds"], abs=0.05)
    assert found["seconds"] == pytest.approx(held, abs=0.2)
    # The voice sounds from the first word's begin to the last one's end.
    until = round(48 * (second["replies"][0]["start_ms"] - 50))
    start_ms, end_ms = loud_ms(both[1, :until])
    assert start_ms == pytest.approx(reply["start_ms"], abs=20)
    assert end_ms == pytest.approx(reply["words"][-1][1], abs=30)


@virtual
async def test_words_are_looked_for_once_nobody_waits_for_an_answer(kept: Kept) -> None:
    asked_s: list[float] = []

    def finds_none() -> tuple[SaidWord, ...]:
        asked_s.append(now())
        return ()

    loaded = parts(Model(answers), None, Recognizer(Tape(), find=finds_none))
    async with kept.calling(loaded) as call:
        with loaded.load_monitor.request():
            await call.say("how are you")
            await asyncio.sleep(3)
            until_s = now()
        await asyncio.sleep(3)
    assert len(asked_s) == 1
    assert until_s < asked_s[0] < until_s + 1
    (turn,) = kept.one()[0]["turns"]
    assert turn["estimated"]
    # Three letters, seven and eleven of eleven, with the blanks before them.
    assert [ms - turn["start_ms"] for _, ms in turn["words"]] == near(196, 458, 720)


@virtual
async def test_words_are_found_behind_the_end_too(kept: Kept) -> None:
    loaded = parts(Model(answers))
    async with kept.recorder.running():
        with loaded.load_monitor.request():
            async with calling(loaded, ADA, kept.recorder.open) as call:
                await call.say("how are you")
                await call.next(FinalTranscript)
            await asyncio.sleep(5)
    found, path = kept.one()
    assert not found["turns"][0]["estimated"]
    assert sound_of(path).shape[1] / 48_000 == pytest.approx(found["seconds"], abs=0.05)


@virtual
async def test_words_that_are_not_found_stay_where_they_are_guessed(
    kept: Kept, caplog: pytest.LogCaptureFixture
) -> None:
    def fails() -> tuple[SaidWord, ...]:
        raise ModelError(SAID)

    async with kept.calling(parts(Model(answers), None, Recognizer(Tape(), find=fails))) as call:
        await call.say(SAID)
        await call.next(ReplyHeard, lambda heard: heard.chars == 33)
    (turn,) = kept.one()[0]["turns"]
    assert turn["estimated"] and len(turn["words"]) == 3
    assert turn["replies"][0]["status"] == "completed"
    assert "are not found: ModelError" in caplog.text
    assert SAID not in caplog.text


@virtual
async def test_a_typed_turn_is_measured_as_well(kept: Kept) -> None:
    async with kept.calling(parts(Model(answers))) as call:
        session = call.session
        # A client that has come back brings what was said before.
        session.add_item("old", Message(Role.USER, "hello"), None)
        session.add_item("older", Message(Role.AGENT, "Hello."), None)
        session.add_item("typed", Message(Role.USER, "book a table"), None)
        session.create_response()
        with pytest.raises(ProtocolError):
            session.create_response()
        await call.next(ReplyEnded)
        session.add_item("again", Message(Role.USER, "are you broken"), None)
        session.create_response()
        await call.next(ReplyEnded)
        session.create_response(out_of_band=True)
        await call.next(ReplyEnded)
    found, _ = kept.one()
    first, second = found["turns"]
    assert (first["text"], first["typed"], first["start_ms"]) == ("book a table", True, None)
    assert (first["words"], first["estimated"]) == ([], False)
    assert 0 < first["marks_ms"]["reply_committed"] <= first["marks_ms"]["first_audio"] < 2000
    assert "tool.book" in first["marks_ms"]
    assert len(first["replies"]) == 1
    assert second["replies"][-1]["status"] == "failed"
    (about,) = kept.recorder.kept.search(Query())
    assert (about["turns"], about["unanswered"], about["errors"]) == (2, 1, 2)
    (hour,) = kept.recorder.kept.hours(Query())
    assert (hour["typed"]["turns"], hour["spoken"]["turns"]) == (2, 0)


@virtual
async def test_words_of_an_item_of_sound_are_kept_whenever_they_are_known(kept: Kept) -> None:
    tape = Tape()
    async with kept.calling(parts(Model(answers), recognizer=Recognizer(tape))) as call:
        session = call.session
        session.add_item("before", Message(Role.USER, ""), None)
        session.hear_item("before", tape.record("how are you"), SAMPLE_RATE_HZ)
        await call.next(FinalTranscript)
        session.create_response()
        # What is sent while there is a reply waits for the next one.
        session.add_item("behind", Message(Role.USER, ""), None)
        session.hear_item("behind", tape.record("book a table"), SAMPLE_RATE_HZ)
        with pytest.raises(ProtocolError):
            session.create_response()
        await call.next(FinalTranscript)
        await call.next(ReplyEnded)
        session.create_response()
        await call.next(ReplyEnded)
    found, _ = kept.one()
    assert [turn["text"] for turn in found["turns"]] == ["how are you", "book a table"]


@virtual
async def test_a_turn_that_was_not_over_counts_as_cut_off(kept: Kept) -> None:
    async with kept.calling(parts(Model(answers))) as call:
        await call.say("how are you")
        await asyncio.sleep(0.9)
        await call.say("my friend")
        await call.next(ReplyHeard, lambda heard: heard.chars == 33)
    found, _ = kept.one()
    assert [turn["cut_off"] for turn in found["turns"]] == [True, False]
    (hour,) = kept.recorder.kept.hours(Query())
    assert hour["cut_off"] == 1


@pytest.fixture
def small_disk(tmp_path: Path) -> Generator[Path, None, None]:
    place = tmp_path / "disk"
    place.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", "size=512k", "tmpfs", str(place)]
    if sys.platform != "linux" or subprocess.run(command, capture_output=True).returncode:
        pytest.skip("may not mount a disk here")
    yield place
    subprocess.run(["umount", "--lazy", str(place)], check=True)


async def converse(kept: Kept) -> None:
    async with calling(parts(Model(answers)), ADA, kept.recorder.open) as call:
        await call.say(SAID)
        await call.next(ReplyHeard, lambda heard: heard.chars == 33)


@pytest.mark.parametrize("given_up", [False, True])
@virtual
async def test_who_is_forgotten_is_so_by_the_records(
    kept: Kept, monkeypatch: pytest.MonkeyPatch, given_up: bool
) -> None:
    model = Model(lambda prompt: call("forget_me") if "forget" in last_user(prompt) else "Fine.")
    loaded = parts(model)
    loaded = replace(loaded, agent=loaded.agent.model_copy(update={"tools": ("forget_me",)}))
    async with kept.recorder.running():
        await converse(kept)
        if given_up:
            monkeypatch.setattr(recording.Transcript, "observe", None)
        question = "That deletes what I keep for you. Shall I delete it all?"
        async with calling(loaded, ADA, kept.recorder.open) as line:
            await line.say("forget all about me")
            await line.next(ReplyHeard, lambda heard: heard.chars == len(question))
            kept.settle()
            assert kept.recorder.kept.names()
            assert bool(kept.recorder.live) is not given_up
            await line.say("yes")
            await line.next(ReplyEnded, lambda ended: ended.text.startswith("I have deleted"))
    assert not kept.recorder.kept.names()
    assert not [path for path in kept.folder.rglob("*") if path.suffix in (".json", ".opus")]


@virtual
async def test_who_hangs_up_before_all_is_forgotten_is_forgotten_too(kept: Kept) -> None:
    async with kept.calling(parts(Model(answers))) as line:
        await line.say(SAID)
        await line.next(ReplyEnded)
        line.session.close("client disconnected")
        await asyncio.sleep(1)
        kept.settle()
        assert len(kept.recorder.kept.names()) == 1
        # A tool that has begun is finished all the same.
        line.session.scope.forget()
    assert not kept.recorder.kept.names()


def test_a_disk_that_fills_or_may_not_be_written_costs_the_record_and_no_conversation(
    small_disk: Path, caplog: pytest.LogCaptureFixture
) -> None:
    @virtual
    async def hold() -> None:
        kept = Kept(small_disk)
        with suppress(OSError), (small_disk / "filler").open("wb", buffering=0) as filler:
            while True:
                filler.write(bytes(4096))
        async with kept.recorder.running():
            for _ in range(2):
                await converse(kept)
            kept.settle()
            (small_disk / "filler").unlink()
            await converse(kept)
        assert len(kept.recorder.kept.search(Query(text="HOW ARE YOU"))) == 1

    with caplog.at_level(logging.WARNING):
        hold()
    lines = [r.getMessage() for r in caplog.records if r.levelno > logging.WARNING]
    assert len(lines) == 1
    assert "No space left on device" in lines[0]
    subprocess.run(["mount", "-o", "remount,ro", str(small_disk)], check=True)
    with pytest.raises(StoreError, match=r"cannot delete .*Read-only"):
        Conversations(RecordsConfig(folder=str(small_disk))).delete(ADA)
    with pytest.raises(ConfigError, match=r"records\.folder: cannot write to .*Read-only"):
        Kept(small_disk)


@virtual
async def test_a_folder_that_disappears_is_told_once(
    kept: Kept, caplog: pytest.LogCaptureFixture
) -> None:
    async with kept.recorder.running():
        shutil.rmtree(kept.folder)
        await converse(kept)
        await converse(kept)
    (line,) = [r.getMessage() for r in caplog.records]
    assert "No such file or directory; conversations go on" in line


@virtual
async def test_a_folder_that_cannot_be_read_is_told_and_the_server_runs_on(
    kept: Kept, caplog: pytest.LogCaptureFixture
) -> None:
    shutil.rmtree(kept.folder)
    kept.folder.touch()
    async with kept.recorder.running():
        kept.recorder.forget(ADA)
        await asyncio.sleep(recording.SWEEP_EVERY_S + 1)
    lines = [r.getMessage() for r in caplog.records]
    assert len(lines) == 3
    assert all("Not a directory" in line for line in lines)


@virtual
async def test_what_nobody_foresaw_costs_the_record_and_no_conversation(
    kept: Kept, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(*_: object) -> None:
        raise RuntimeError(SAID)

    monkeypatch.setattr(recording.Transcript, "observe", fails)
    async with kept.calling(parts(Model(answers))) as call:
        await call.say(SAID)
        await call.next(ReplyHeard, lambda heard: heard.chars == 33)
        assert kept.recorder.live == {}
    assert "is not kept on: RuntimeError" in caplog.text
    assert SAID not in caplog.text


@virtual
async def test_a_conversation_whose_client_takes_nothing_more_is_over(kept: Kept) -> None:
    def take(event: SessionEvent) -> None:
        raise ProtocolError("the line does not take audio")

    async with kept.recorder.running():
        session = kept.recorder.open(parts(Model(answers)), caller=ADA)
        asyncio.get_running_loop().call_soon(session.create_response)
        with pytest.raises(ExceptionGroup):
            await session.run(take)
    assert kept.one()[0]["ended"] == {"by": "error", "reason": "failed"}


@virtual
async def test_who_is_deleted_during_a_conversation_stays_deleted(
    kept: Kept, caplog: pytest.LogCaptureFixture
) -> None:
    async with kept.calling(parts(Model(answers))) as call:
        await call.say("how are you")
        await call.next(ReplyEnded)
        kept.settle()
        assert kept.recorder.kept.delete(ADA) == 1
        await call.say("and now")
        await call.next(ReplyEnded)
    assert [path.name for path in kept.folder.iterdir()] == [".writable"]
    assert caplog.text == ""


@virtual
async def test_files_are_their_users_alone_and_go_in_time(kept: Kept) -> None:
    before = os.umask(0)
    try:
        async with kept.calling(parts(Model(answers))) as call:
            await call.say("how are you")
            await call.next(ReplyEnded)
    finally:
        os.umask(before)
    modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in kept.folder.rglob("*")}
    (name,) = kept.recorder.kept.names()
    assert modes == {
        ".writable": 0o600, name: 0o700, "conversation.json": 0o600, "sound.opus": 0o600
    }  # fmt: skip
    kept.recorder.kept.sweep(1, datetime.now(UTC) + timedelta(hours=23))
    assert kept.recorder.kept.names() == [name]
    kept.recorder.kept.sweep(1, datetime.now(UTC) + timedelta(hours=25))
    assert [path.name for path in kept.folder.rglob("*")] == [".writable"]


def test_what_could_not_be_deleted_is_not_taken_for_deleted(kept: Kept) -> None:
    folder, names = kept.recorder.kept, [f"2026110{day}T120000Z-{day:016x}" for day in (1, 2)]
    for name in names:
        folder.make(name)
        folder.replace(name, json.dumps({"id": name, "caller": str(ADA), "agent": "test"}))
    busy = kept.folder / names[1] / "busy"
    busy.mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "tmpfs", str(busy)], capture_output=True).returncode:
        pytest.skip("may not mount a disk here")
    try:
        for delete in (lambda: folder.delete(ADA), lambda: folder.sweep(1, datetime.now(UTC))):
            with pytest.raises(StoreError, match="busy"):
                delete()
            # Nor does it keep others.
            assert not folder.names()
            assert not (kept.folder / f".deleted-{names[0]}").exists()
    finally:
        (left,) = kept.folder.glob("*/busy")
        subprocess.run(["umount", str(left)], check=True)
    assert folder.delete(ADA) == 0
    assert [path.name for path in kept.folder.iterdir()] == [".writable"]


def test_what_is_searched_for(tmp_path: Path) -> None:
    kept = Conversations(RecordsConfig(folder=str(tmp_path)))
    for day, caller, said in ((1, "phone:+49", "A large Latte"), (2, "user:ada", "the time")):
        name = f"2026110{day}T120000Z-{day:016x}"
        tool = {"name": "tell", "arguments": {}, "result": f"of day {day}", "placed": day == 1}
        reply = {
            "text": "Yes.",
            "heard": 4,
            "status": "completed",
            "tools": [tool | {"error": False}],
        }
        turn = {"text": said, "typed": False, "replies": [reply], "cut_off": False}
        found = {"id": name, "began": f"2026-11-0{day}T12:00:00.000+00:00", "caller": caller}
        found |= {"agent": f"agent{day}", "door": "realtime", "seconds": 1, "ended": None}
        kept.make(name)
        kept.replace(name, json.dumps(found | {"problems": [], "turns": [turn | {"marks_ms": {}}]}))
    older, newer = reversed(kept.names())
    (tmp_path / "20261103T120000Z-0000000000000009").mkdir()
    (tmp_path / "20261103T120000Z-0000000000000009" / "conversation.json").write_text('{"id": ')
    for query, expected in (
        (Query(), [newer, older]),
        (Query(limit=1), [newer]),
        (Query(before=newer), [older]),
        (Query(text="latte"), [older]),
        (Query(text="OF DAY 2"), [newer]),
        (Query(caller="phone"), [older]),
        (Query(agent="agent2"), [newer]),
        (Query(since="2026-11-02"), [newer]),
        (Query(until="2026-11-01"), [older]),
        (Query(since="2026-11-01T12:00", until="2026-11-01T12"), [older]),
        (Query(since="2026-11-02T14:00:00+02:00"), [newer]),
        (Query(until="2026-11-01T07:30:00.000-05:00"), [older]),
        (Query(text="nothing of it"), []),
        (Query(only="orders"), [older]),
        (Query(only="unanswered"), []),
    ):
        assert [found["id"] for found in kept.search(query)] == expected, query
    for trick in ("", "..", f"../{older}", f"{older}/", f"{older}\n", "/etc", ".writable"):
        assert kept.file(trick, "conversation.json") is None
        assert kept.read(trick) is None
        assert kept.zipped(trick) == b""


def test_a_refused_turn_is_taken_back_even_if_it_was_the_last_that_fits(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(transcript, "MOST_TURNS", 1)
    words = transcript.Transcript({}, Soundtrack(lambda: 0.0))
    words.typed("hello", ["i1"])
    words.untyped(["i1"])
    assert json.loads(words.text())["turns"] == []
    words.typed("hello again", ["i2"])
    words.typed("one too many", ["i3"])
    words.untyped(["i3"])
    assert [turn["text"] for turn in json.loads(words.text())["turns"]] == ["hello again"]

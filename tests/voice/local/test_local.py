import asyncio
import math
from io import StringIO
from types import SimpleNamespace

import numpy as np
import pytest
from rich.console import Console

from voice import events
from voice.demo.recordings import load
from voice.errors import DeviceError
from voice.local.__main__ import ECHO_TAIL_S, LocalConversation, canceller_of, cleaning, main
from voice.local.echo_canceller import can_cancel
from voice.local.playback_queue import PlaybackQueue
from voice.local.terminal import Terminal
from voice.types import ToolCall, ToolResult

RATE_HZ = 1000


class ScriptedSession:
    """A session whose events the test puts in; it notes what it is told."""

    def __init__(self) -> None:
        self.options = SimpleNamespace(interrupt_response=True)
        self.told: list[tuple] = []
        self.audio: list[np.ndarray] = []
        self._events: asyncio.Queue[events.SessionEvent | None] = asyncio.Queue()

    def emit(self, *happened: events.SessionEvent | None) -> None:
        for event in happened:
            self._events.put_nowait(event)

    async def run(self, take) -> None:
        self.told.append(("run",))
        while (event := await self._events.get()) is not None:
            take(event)

    def append_audio(self, samples, rate_hz):
        self.audio.append(samples)

    def greet(self):
        self.told.append(("greet",))

    def played(self, reply_id, played_ms):
        self.told.append(("played", reply_id, played_ms))

    def truncate(self, reply_id, played_ms):
        self.told.append(("truncate", reply_id, played_ms))


class Local:
    """A conversation whose sound card is the test's."""

    def __init__(self, rate_hz: int = RATE_HZ) -> None:
        self.session = ScriptedSession()
        self.queue = PlaybackQueue(rate_hz)
        self.now_s = 0.0
        self.file = StringIO()
        screen = Terminal(Console(file=self.file, width=100))
        self.conversation = LocalConversation(self.session, self.queue, lambda: self.now_s, screen)

    async def happen(self, *happened: events.SessionEvent) -> None:
        self.session.emit(*happened, None)
        await self.conversation.run()

    @property
    def lines(self) -> list[str]:
        return [" ".join(text.split()) for text in self.file.getvalue().splitlines()]


LOUD = np.full(20, 500, np.int16)
STARTED = events.ReplyStarted("r1", "i1", 1, None)


def audio(count: int) -> events.ReplyAudio:
    return events.ReplyAudio("r1", np.full(count, 9, np.int16), RATE_HZ)


def ended(status: events.ReplyStatus, text: str) -> events.ReplyEnded:
    return events.ReplyEnded("r1", status, "", text, 1, 1)


async def test_a_turn_is_shown_and_played():
    local = Local()
    await local.happen(
        events.InterimTranscript(1, "u1", "set a"),
        events.FinalTranscript(1, "u1", "set a timer for ten minutes", 0.9, 2.0),
        STARTED,
        events.ReplyToolCall("r1", "f1", ToolCall("c1", "set_timer", {"duration": "ten"}), False),
        events.ReplyToolResult("r1", ToolResult("c1", "set_timer", "Timer set.")),
        events.ReplyText("r1", "Done."),
        audio(5),
        ended(events.ReplyStatus.COMPLETED, "Done."),
        events.Failure(1, "tts", "no voice"),
    )
    assert local.lines == [
        "user set a timer for ten minutes",
        "tool set_timer(duration='ten') → Timer set.",
        "agent Done.",
        "error tts: no voice",
    ]
    assert local.queue.pull(6, 0.0).tolist() == [9, 9, 9, 9, 9, 0]


async def test_the_last_words_are_played_out():
    local = Local()
    begun_s = asyncio.get_running_loop().time()
    await local.happen(STARTED, audio(200))
    assert asyncio.get_running_loop().time() - begun_s >= 0.2


async def test_a_lost_device_ends_the_conversation():
    local = Local()
    local.conversation.lost()
    with pytest.raises(ExceptionGroup) as failed:
        await local.conversation.run()
    assert [type(error) for error in failed.value.exceptions] == [DeviceError]


async def test_an_interruption_drops_the_sound_and_tells_how_much_was_heard():
    local = Local()
    local.queue.push("r1", np.full(300, 9, np.int16))
    local.queue.pull(120, 0.0)
    await local.happen(
        STARTED,
        events.UserSpeechStarted(2, "u2", 0),
        events.AudioStopped(),
        events.ReplyHeard("r1", 7),
        ended(events.ReplyStatus.CANCELLED, "It is a long story."),
    )
    assert ("truncate", "r1", 120.0) in local.session.told
    assert not local.queue.pull(50, 0.2).any()
    assert local.lines == ["agent It is a long story."]


async def test_playback_is_reported_while_it_lasts():
    local = Local()
    local.queue.push("r1", np.full(300, 9, np.int16))
    local.queue.pull(300, 0.0)
    local.now_s = 0.1
    await local.happen(STARTED)
    assert ("played", "r1", pytest.approx(100)) in local.session.told


@pytest.mark.parametrize("echo", [False, True])
async def test_where_there_is_an_echo_it_does_not_listen_to_itself(echo):
    local = Local()
    hear, heard = local.conversation.hear, local.session.audio
    hear(LOUD, 16_000, 0.0, echo)
    local.queue.push("r1", np.full(100, 9, np.int16))
    hear(LOUD, 16_000, 0.0, echo)
    local.queue.pull(100, 0.0)
    hear(LOUD, 16_000, 0.1 + ECHO_TAIL_S - 0.01, echo)
    hear(LOUD, 16_000, 0.1 + ECHO_TAIL_S + 0.01, echo)
    assert [bool(block.any()) for block in heard] == [True, not echo, not echo, True]
    assert [len(block) for block in heard] == [20] * 4
    assert local.lines == ["Listening. Ctrl-C ends the conversation."]
    assert local.session.told == [("greet",)]


async def test_when_a_block_was_captured_counts_and_not_when_it_comes():
    local = Local()
    local.queue.push("r1", np.full(100, 9, np.int16))
    local.queue.pull(100, 0.0)
    local.now_s = 9.0
    for captured_s in (0.05, 5.0):
        local.conversation.hear(LOUD, 16_000, captured_s, echo=True)
    # What is held does not sound.
    local.queue.push("r1", LOUD)
    local.queue.hold()
    local.conversation.hear(LOUD, 16_000, 5.0, echo=True)
    assert [bool(block.any()) for block in local.session.audio] == [False, True, True]


def card_of(rate_hz: int = 16_000) -> SimpleNamespace:
    """A sound card of one rate that has not run yet."""
    queue = PlaybackQueue(rate_hz)
    return SimpleNamespace(
        queue=queue, input_rate_hz=rate_hz, echo_delay_s=0.1, dropout_s=-math.inf
    )


@pytest.mark.parametrize("headset", [False, True])
def test_without_a_canceller_the_echo_is_there_unless_there_is_a_headset(headset):
    told = []
    cleaning(lambda *block: told.append(block), card_of(8000), None, headset)(LOUD, 1.5)
    [(samples, *rest)] = told
    assert samples.tolist() == LOUD.tolist()
    assert rest == [8000, 1.5, not headset]


def loudest(samples: np.ndarray) -> float:
    """The loudest tenth of a second of (T,) int16 at 16 kHz, in dB."""
    tenths = samples[: len(samples) // 1600 * 1600].reshape(-1, 1600).astype(float)
    return float(10 * np.log10((tenths**2).mean(axis=1).max() + 1e-9))


@pytest.mark.skipif(not can_cancel(), reason="the extra 'local' is not installed")
async def test_an_agent_whose_loudspeaker_runs_dry_hears_the_user_and_not_itself():
    local, card = Local(16_000), card_of()
    canceller = canceller_of("cancel", card)
    take = cleaning(local.conversation.hear, card, canceller, headset=False)
    voice = np.concatenate([load("assistant-1-timer"), load("coffee-1-latte")] * 4)
    local.queue.push("r1", voice)
    dry, again, user_at, user = 48_000, 51_200, 9 * 16_000, load("assistant-6-time")
    # It sounds 100 ms after it was handed over; from 3 s on the card takes nothing for 200 ms.
    heard = np.concatenate([np.zeros(1600, np.int16), voice // 2])
    heard = np.insert(heard, dry + 1600, np.zeros(again - dry, np.int16))
    heard[user_at : user_at + len(user)] += user // 2
    for at in range(0, len(voice) // 320 * 320, 320):
        if not dry <= at < again:
            canceller.played(local.queue.pull(320, at / 16_000))
        if at == again:
            card.dropout_s = at / 16_000
        take(heard[at : at + 320], at / 16_000)
    listened_to = np.concatenate(local.session.audio)
    assert loudest(heard[dry:user_at]) > 65
    assert loudest(listened_to[:user_at]) < 45
    assert loudest(listened_to[user_at : user_at + len(user)]) > 55


def test_a_mistake_is_one_line_on_standard_error(capsys):
    assert main(["--set", "local.ecko=headset"]) == 1
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err.startswith("error: ")
    assert "did you mean 'echo'" in printed.err
    assert printed.err.count("\n") == 1


async def test_the_sound_is_held_and_goes_on():
    local = Local()
    local.queue.push("r1", np.full(100, 9, np.int16))
    await local.happen(STARTED, events.ReplyHeld("r1"))
    local.queue.pull(20, 0.0)
    assert local.queue.pull(20, 0.0).tolist() == [0] * 20
    await local.happen(events.ReplyReleased("r1"))
    assert local.queue.pull(20, 0.0).tolist() == [9] * 20


def test_a_canceller_is_used_where_it_can_be(monkeypatch):
    card = card_of()
    assert canceller_of("headset", card) is None
    assert canceller_of("half_duplex", card) is None
    monkeypatch.setattr("voice.local.__main__.can_cancel", lambda: False)
    assert canceller_of("auto", card) is None
    with pytest.raises(DeviceError, match=r"-e '\.\[local\]'"):
        canceller_of("cancel", card)

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager
from types import SimpleNamespace

import pytest

from benchmarks.voice.interruptions import BACKCHANNEL, GO_ON, HUM, STOP, Sound
from benchmarks.voice.short_words import ShortWord
from benchmarks.voice.talking_over import TalkedOver
from benchmarks.voice.turns import (
    OVER_A_GREETING,
    OVER_GREETINGS,
    Chosen,
    Run,
    disturb_all,
    sounds,
)
from voice.demo.virtual_audio import room_tone
from voice.types import SAMPLE_RATE_HZ


@pytest.mark.parametrize("most", [None, 3])
def test_what_is_made_over_a_greeting_is_by_others_than_was_learned_from(
    most: int | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    samples = room_tone(1.0, SAMPLE_RATE_HZ)

    def each_by_another(words: Sequence[str], each: int) -> Iterator[ShortWord]:
        for number in range(each * len(words)):
            yield ShortWord(words[number % len(words)], True, samples, str(number))

    def others() -> Iterator[Sound]:
        for number in range(40):
            yield Sound(f"{BACKCHANNEL}, somebody's", samples, 0, number % 2 == 1)

    monkeypatch.setattr("benchmarks.voice.turns.each_by_another", each_by_another)
    monkeypatch.setattr("benchmarks.voice.turns.backchannels", others)
    sentences = [Sound("sentence", samples, 0)] * 9
    monkeypatch.setattr("benchmarks.voice.turns.sentences", lambda: iter(sentences))
    found = sounds(most)
    told = Counter(sound.kind for sound in found)
    assert told == {kind: min(most or count, count) for kind, count in OVER_A_GREETING.items()}
    assert {GO_ON, HUM, BACKCHANNEL, STOP} <= told.keys()
    assert all(sound.held_out for sound in found if sound.kind != "sentence")


async def test_sounds_over_greetings_are_made_in_some_calls_at_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    made = [Sound(HUM, room_tone(0.1, SAMPLE_RATE_HZ), 0, True, str(n)) for n in range(5)]
    calls: list[int] = []
    settings: list[str] = []

    @asynccontextmanager
    async def serving(arguments: Sequence[str]) -> AsyncIterator[SimpleNamespace]:
        settings.extend(arguments)
        yield SimpleNamespace(realtime_url="ws://here")

    async def disturb(url: str, sound: Sound, after_s: float) -> TalkedOver | None:
        calls.append(int(sound.name))
        most = len(calls)
        for _ in range(10):
            await asyncio.sleep(0)
        assert len(calls) <= most + OVER_GREETINGS
        return TalkedOver(sound.kind, 1000 * after_s, None, False) if calls[-1] else None

    monkeypatch.setattr("benchmarks.voice.conversing.APART_S", 0.0)
    monkeypatch.setattr("benchmarks.voice.turns.sounds", lambda most: made[:most])
    monkeypatch.setattr("benchmarks.voice.turns.serving", serving)
    monkeypatch.setattr("benchmarks.voice.turns.disturb", disturb)
    run = Run()
    await disturb_all(run, Chosen(["backchannels"], [], 4), ["llm.engine=embedded"])
    assert [sound.name for sound, _ in run.disturbed] == ["0", "1", "2", "3"]
    assert calls == [0, 1, 2, 3]
    assert all(came and came.kind == HUM for _, came in run.disturbed[1:])
    assert settings[-1].endswith("llm.engine=embedded")
    assert list(run.seconds) == ["backchannels"]

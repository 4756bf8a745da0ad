from __future__ import annotations

import numpy as np
import pytest

from benchmarks.voice.corpus import PAUSES_MS, demo_lines, orders, people, speech_end, with_pauses
from benchmarks.voice.noise import with_noise
from voice.demo.virtual_audio import room_tone, speech_span
from voice.prove.words import errors, words
from voice.types import SAMPLE_RATE_HZ, samples_of_ms


def test_a_click_after_the_last_word_is_not_speech():
    line = demo_lines("assistant")[0]
    assert speech_end(line.samples, line.text) == speech_span(line.samples, SAMPLE_RATE_HZ)[1]
    clicked = np.concatenate([line.samples, np.zeros(8000, np.int16)])
    clicked[-800:] = line.samples[4000:4800]
    assert abs(speech_end(clicked, line.text) - line.end) < samples_of_ms(120)
    assert speech_end(clicked, None) > line.end + 7000


def test_each_line_of_enough_words_gets_each_pause():
    lines = demo_lines("assistant")[:1] + demo_lines("assistant")[-1:]
    paused = with_pauses(lines, PAUSES_MS)
    assert [p.pause_ms for p in paused] == list(PAUSES_MS)
    assert {p.name for p in paused} == {lines[0].name}
    assert [p.end - lines[0].end for p in paused] == [samples_of_ms(ms) for ms in PAUSES_MS]
    again = with_pauses(lines, PAUSES_MS)
    assert all(np.array_equal(a.samples, b.samples) for a, b in zip(paused, again, strict=True))


def test_recordings_of_people_say_what_they_are(shared_audio):
    found = {utterance.name: utterance for utterance in people()}
    assert len(found) == 45
    assert found["voice2json-11-what-time-is-it"].tool == "get_time"
    assert found["tts-41-has-never-been-surpassed"].kind == "read"
    assert found["python-docs-samples-19-today"].tool is None
    assert {order.tool for order in orders()} == {"order_drink"}
    assert all(order.slots["coffeeDrink"] for order in orders())


def test_words_are_compared_as_they_sound():
    assert words("Set a Timer, for 30 seconds!") == [
        "set", "a", "timer", "for", "thirty", "seconds",
    ]  # fmt: skip
    assert words("forty-two o'clock") == ["forty", "two", "o'clock"]


@pytest.mark.parametrize(
    ("reference", "heard", "count"),
    [
        ("a b c", "a b c", 0), ("a b c", "a x c", 1), ("a b c", "a c", 1), ("a b c", "a b b c", 1),
        ("a b c", "", 3), ("", "a b", 2), ("a b c d", "b c d e", 2),
    ],
)  # fmt: skip
def test_errors_are_the_fewest_edits(reference, heard, count):
    assert errors(reference.split(), heard.split()) == count


LINES = demo_lines("assistant")[:3]
NOISES = [room_tone(1.0, SAMPLE_RATE_HZ, -40), room_tone(2.0, SAMPLE_RATE_HZ, -30)]


def test_noise_is_as_loud_as_the_ratio_says() -> None:
    for noisy in with_noise(LINES[:1], NOISES, (20, 5)):
        assert noisy.around is not None
        begin, end = speech_span(noisy.samples, SAMPLE_RATE_HZ)
        powers = [np.mean(x.astype(float) ** 2) for x in (noisy.samples[begin:end], noisy.around)]
        assert 10 * np.log10(powers[0] / powers[1]) == pytest.approx(noisy.snr_db, abs=0.5)
        assert not noisy.plain

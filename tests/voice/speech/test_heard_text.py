from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from voice.errors import ProtocolError
from voice.speech.heard_text import Playout, PlayoutEstimate
from voice.speech.normalization import spoken
from voice.speech.tts.espeak import EspeakSynthesizer
from voice.types import Segment, SpeechChunk, WordTiming

VOICE_HZ = 16_000
CLIENT_HZ = 24_000


def segment(text: str, index: int = 0) -> Segment:
    return Segment(1, index, text, spoken(text))


def chunk(
    of: Segment, ms: float, last: bool = True, words: tuple[WordTiming, ...] = ()
) -> SpeechChunk:
    return SpeechChunk(of, np.zeros(round(ms * 16), np.int16), VOICE_HZ, last, words)


def send(playout: Playout, sent: SpeechChunk) -> None:
    playout.sent(sent, len(sent.samples) * CLIENT_HZ // VOICE_HZ)


def word(end_char: int, end_ms: int) -> WordTiming:
    return WordTiming(end_char, end_ms * VOICE_HZ // 1000)


def test_a_word_is_heard_once_it_has_been_played_to_its_end() -> None:
    playout = Playout(CLIENT_HZ)
    words = (word(6, 400), word(11, 700), word(16, 1000))
    send(playout, chunk(segment("Hello there user"), 1100, words=words))
    heard = []
    for position_ms in (0, 399, 400, 699, 700, 1000, 1100):
        playout.played(position_ms)
        heard.append(playout.heard_text())
    assert heard == [
        "",
        "",
        "Hello ",
        "Hello ",
        "Hello there",
        "Hello there user",
        "Hello there user",
    ]


def test_segments_are_joined_with_their_own_spacing() -> None:
    playout = Playout(CLIENT_HZ)
    send(playout, chunk(segment("Sure."), 500, words=(word(5, 400),)))
    send(playout, chunk(segment("  It is on.", 1), 500, words=(word(4, 100), word(11, 400))))
    playout.played(600)
    assert playout.heard_text() == "Sure.  It"
    assert playout.heard_chars() == len("Sure.  It")
    assert playout.sent_text == "Sure.  It is on."
    assert playout.total_ms == 1000


def test_words_are_estimated_without_timing() -> None:
    playout = Playout(CLIENT_HZ)
    send(playout, chunk(segment("one two three four"), 1000))
    playout.played(500)
    assert playout.heard_text() == "one two"


def test_a_growing_segment_is_never_heard_beyond_its_audio() -> None:
    playout = Playout(CLIENT_HZ)
    text = segment("one two three four five six seven eight")
    send(playout, chunk(text, 300, last=False))
    playout.played(300)
    assert playout.heard_text() in ("", "one")
    send(playout, chunk(text, 3000))
    playout.played(3300)
    assert playout.heard_text() == text.text


def test_finished_needs_all_sent_and_played() -> None:
    playout = Playout(CLIENT_HZ)
    send(playout, chunk(segment("Hello"), 500))
    playout.played(9999)
    assert playout.position_ms == 500
    assert not playout.finished
    playout.complete()
    assert playout.finished


def test_a_reply_without_sound_is_finished_at_once() -> None:
    playout = Playout(CLIENT_HZ)
    send(playout, chunk(segment("👍"), 0))
    playout.complete()
    assert playout.finished
    assert playout.heard_text() == "👍"


def test_truncate_takes_back_what_was_only_estimated() -> None:
    playout = Playout(CLIENT_HZ)
    send(playout, chunk(segment("one two"), 1000, words=(word(3, 400), word(7, 900))))
    playout.played(1000)
    playout.truncate(500)
    assert playout.heard_text() == "one"
    playout.played(1000)
    assert playout.heard_text() == "one"
    assert playout.position_ms == 500


@pytest.mark.parametrize("position_ms", [-1, 1002, 1e9])
def test_truncate_rejects_what_was_never_sent(position_ms: float) -> None:
    playout = Playout(CLIENT_HZ)
    send(playout, chunk(segment("one two"), 1000))
    with pytest.raises(ProtocolError, match="expected 0 to 1000") as caught:
        playout.truncate(position_ms)
    assert caught.value.param == "audio_end_ms"
    playout.played(1000)
    assert playout.heard_text() == "one two"


def test_segments_come_one_after_the_other() -> None:
    playout = Playout(CLIENT_HZ)
    send(playout, chunk(segment("one"), 100, last=False))
    with pytest.raises(ValueError, match="expected segment 0"):
        send(playout, chunk(segment("two", 1), 100))
    send(playout, chunk(segment("one"), 100))
    playout.complete()
    with pytest.raises(ValueError, match="expected none"):
        send(playout, chunk(segment("two", 1), 100))


WORDS = st.sampled_from(["Hello", "$49.95", "3:35 p.m.", "👍", "don't", "…", "a\nb", "e.g."])
TEXTS = st.lists(WORDS, min_size=1, max_size=6).map(" ".join)


@given(
    texts=st.lists(TEXTS, min_size=1, max_size=4),
    lengths=st.lists(st.integers(0, 3000), min_size=8, max_size=8),
    positions=st.lists(st.floats(0, 30_000), max_size=12),
)
def test_what_is_heard_is_a_growing_prefix_of_whole_words(
    texts: list[str], lengths: list[int], positions: list[float]
) -> None:
    playout = Playout(CLIENT_HZ)
    heard = [0]
    steps = iter([*positions, *[0.0] * 20])
    for index, text in enumerate(texts):
        written = segment(" " * bool(index) + text, index)
        for last in (False, True):
            send(playout, chunk(written, lengths[2 * index + last], last))
            playout.played(next(steps))
            heard.append(playout.heard_chars())
    playout.complete()
    for position_ms in sorted(positions):
        playout.played(position_ms)
        heard.append(playout.heard_chars())
        assert playout.heard_text() == playout.sent_text[: playout.heard_chars()]
    whole = "".join((" " * bool(index)) + text for index, text in enumerate(texts))
    assert all(before <= after for before, after in pairwise(heard))
    for chars in heard:
        assert chars in (0, len(whole)) or whole[chars].isspace()
    playout.played(playout.total_ms)
    assert playout.heard_text() == whole
    assert playout.finished


def test_words_of_a_real_voice_are_heard_in_order() -> None:
    playout = Playout(22_050)
    text = segment("It costs $49.95 at 3:35 p.m. today, sir.")
    for part in EspeakSynthesizer().synthesize(text):
        playout.sent(part, len(part.samples))
    playout.complete()
    heard = []
    for position_ms in range(0, round(playout.total_ms) + 10, 10):
        playout.played(position_ms)
        if playout.heard_text() not in heard:
            heard.append(playout.heard_text())
    assert heard == [
        "",
        "It",
        "It costs",
        "It costs $49.95",
        "It costs $49.95 at",
        "It costs $49.95 at 3:35 p.m.",
        "It costs $49.95 at 3:35 p.m. today,",
        "It costs $49.95 at 3:35 p.m. today, sir.",
    ]


def test_the_estimate_plays_what_it_has_and_waits_for_more() -> None:
    estimate = PlayoutEstimate()
    assert estimate.left_ms(5000) == 0
    estimate.sent(now_ms=5000, duration_ms=200)
    assert estimate.left_ms(5100) == 100
    assert estimate.left_ms(5900) == 0
    estimate.sent(now_ms=6000, duration_ms=300)
    estimate.sent(now_ms=6010, duration_ms=300)
    assert estimate.left_ms(6100) == 500
    assert estimate.left_ms(9000) == 0


def test_the_estimate_stands_still_while_playback_is_held() -> None:
    estimate = PlayoutEstimate()
    estimate.sent(0, 1000)
    estimate.hold(300)
    estimate.hold(350)
    assert estimate.left_ms(800) == 700
    estimate.sent(800, 500)
    assert estimate.left_ms(900) == 1200
    estimate.release(1300)
    assert estimate.left_ms(1300) == 1200
    assert estimate.left_ms(1500) == 1000
    assert estimate.left_ms(9999) == 0


def test_a_reply_of_any_lengths_is_heard_to_its_end_by_the_estimate() -> None:
    """Lengths that no float holds: added up in another order they are another sum."""
    for length in range(1000, 1200):
        playout, estimate = Playout(CLIENT_HZ), PlayoutEstimate()
        for index in range(3):
            said = segment("Hello there.", index)
            for last in (False, True):
                chunk = SpeechChunk(said, np.zeros(8, np.int16), CLIENT_HZ, last)
                playout.sent(chunk, length + index)
                estimate.sent(length / 7, (length + index) * 1000 / CLIENT_HZ)
        playout.complete()
        playout.played(playout.total_ms - estimate.left_ms(1e6))
        assert playout.finished
        assert not estimate.left_ms(1e6)

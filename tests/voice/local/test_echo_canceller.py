"""WebRTC's canceller on recordings: a loudspeaker that the microphone hears, and a user."""

from __future__ import annotations

import numpy as np
import pytest

from voice.audio import StreamResampler
from voice.demo.recordings import load
from voice.demo.virtual_audio import room_tone
from voice.local.echo_canceller import SETTLING_S, EchoCanceller, can_cancel
from voice.types import SAMPLE_RATE_HZ, Samples

pytestmark = pytest.mark.skipif(not can_cancel(), reason="the extra 'local' is not installed")

DELAY = SAMPLE_RATE_HZ * 12 // 100


def agent() -> Samples:
    return np.concatenate(
        [load("assistant-1-timer"), load("assistant-2-sum"), load("coffee-1-latte")]
    )


def echo_of(played: Samples) -> Samples:
    """What a microphone 6 dB away hears, 120 ms later, off two walls."""
    room = np.zeros(500)
    room[[0, 200, 499]] = 0.5, 0.15, 0.07
    heard = np.convolve(np.concatenate([np.zeros(DELAY), played]), room)[: len(played)]
    return np.asarray(heard + room_tone(len(played) / SAMPLE_RATE_HZ, SAMPLE_RATE_HZ)).astype("i2")


def level(samples: Samples) -> float:
    return float(20 * np.log10(np.sqrt(np.mean(samples.astype(float) ** 2)) + 1e-9))


def cleaned(played: Samples, heard: Samples, played_hz: int = SAMPLE_RATE_HZ) -> Samples:
    canceller = EchoCanceller(played_hz, SAMPLE_RATE_HZ, delay_ms=100)
    out = []
    for at in range(0, len(heard), 320):
        here = slice(at * played_hz // SAMPLE_RATE_HZ, (at + 320) * played_hz // SAMPLE_RATE_HZ)
        canceller.played(played[here])
        out.append(canceller.clean(heard[at : at + 320]))
    return np.concatenate(out)


@pytest.mark.parametrize("played_hz", [16_000, 24_000, 44_100])
def test_the_agents_own_voice_is_taken_out(played_hz: int) -> None:
    voice = agent()
    played = StreamResampler(SAMPLE_RATE_HZ, played_hz).push(voice)
    heard = echo_of(voice)
    out = cleaned(played, heard, played_hz)
    settled = slice(SAMPLE_RATE_HZ, len(played) * SAMPLE_RATE_HZ // played_hz - 8000)
    assert level(out[settled]) < level(heard[settled]) - 25


def test_the_user_stays_while_both_speak() -> None:
    voice, user = agent(), load("assistant-6-time")
    heard = echo_of(voice)
    at = 3 * SAMPLE_RATE_HZ
    both = heard.astype(np.int32)
    both[at : at + len(user)] += user
    out = cleaned(voice, both.clip(-32768, 32767).astype(np.int16))
    assert level(out[at : at + len(user)]) > level(user) - 9


def loudest(samples: Samples) -> float:
    """The level of the loudest tenth of a second."""
    return max(level(samples[at : at + 1600]) for at in range(0, len(samples) - 1599, 1600))


@pytest.mark.parametrize(
    ("dry_ms", "swallowed_ms"),
    [(100, 0), (200, 0), (500, 0), (1000, 0), (0, 100), (0, 300), (0, 1000), (0, 3000), (200, 100)],
)
def test_a_while_after_a_dropout_the_voice_is_taken_out_again(
    dry_ms: int, swallowed_ms: int
) -> None:
    voice = np.concatenate([agent(), agent()])
    before = 3 * SAMPLE_RATE_HZ
    dry, swallowed = (ms * SAMPLE_RATE_HZ // 1000 for ms in (dry_ms, swallowed_ms))
    silence = np.zeros(dry, np.int16)
    heard = echo_of(np.concatenate([voice[:before], silence, voice[before + swallowed :]]))
    canceller, out, handed = EchoCanceller(SAMPLE_RATE_HZ, SAMPLE_RATE_HZ, delay_ms=100), [], 0
    for at in range(0, len(heard) // 320 * 320, 320):
        if not before <= at < before + dry:
            # A driver that finds its buffer empty takes a lot at once, of which nothing sounds.
            count = 320 + swallowed * (at == before + dry)
            canceller.played(voice[handed : handed + count])
            handed += count
        out.append(canceller.clean(heard[at : at + 320]))
    settled = before + dry + int(SETTLING_S * SAMPLE_RATE_HZ)
    assert loudest(np.concatenate(out)[before:settled]) > 50
    assert loudest(np.concatenate(out)[settled:]) < 40


def test_blocks_of_any_length() -> None:
    canceller = EchoCanceller(24_000, 48_000, delay_ms=-5)
    lengths = [len(canceller.clean(np.zeros(size, np.int16))) for size in (100, 1000, 4801, 0)]
    assert sum(lengths) % 160 == 0
    assert 5901 // 3 - 400 <= sum(lengths) <= 5901 // 3

"""Rates, frames, bytes and telephone codes."""

from __future__ import annotations

import numpy as np
import pytest

from voice.audio import (
    Framer,
    StreamResampler,
    alaw_from_samples,
    level_dbfs,
    mulaw_from_samples,
    pcm16_from_samples,
    samples_from_alaw,
    samples_from_mulaw,
    samples_from_pcm16,
)
from voice.types import Samples

ALL_SAMPLES = np.arange(-32768, 32768).astype(np.int16)


def tone(hz: float, rate_hz: int, seconds: float = 1.0) -> Samples:
    time_s = np.arange(round(rate_hz * seconds)) / rate_hz
    return (np.sin(2 * np.pi * hz * time_s) * 10000).astype(np.int16)


def resampled(samples: Samples, from_hz: int, to_hz: int, chunk: int) -> Samples:
    stream = StreamResampler(from_hz, to_hz)
    parts = [stream.push(samples[at : at + chunk]) for at in range(0, len(samples), chunk)]
    return np.concatenate([*parts, stream.flush()])


@pytest.mark.parametrize("from_hz", [8000, 11025, 22050, 24000, 44100, 48000])
def test_a_tone_keeps_its_pitch_level_and_length(from_hz: int) -> None:
    out = resampled(tone(1000, from_hz), from_hz, 16000, from_hz // 50)
    assert out.dtype == np.int16
    assert abs(len(out) - 16000) <= 2
    middle = out[2000:14000]
    spectrum = np.abs(np.fft.rfft(middle * np.hanning(len(middle))))
    assert spectrum.argmax() * 16000 / len(middle) == pytest.approx(1000, abs=2)
    assert level_dbfs(middle) == pytest.approx(level_dbfs(tone(1000, 16000)), abs=0.1)


def test_what_the_lower_rate_cannot_hold_is_filtered_out() -> None:
    assert level_dbfs(resampled(tone(12000, 48000), 48000, 16000, 960)[200:-200]) < -70


@pytest.mark.parametrize("chunk", [1, 77, 480, 48000])
def test_chunking_does_not_matter(chunk: int) -> None:
    audio = tone(700, 48000, 0.3)
    whole = resampled(audio, 48000, 16000, len(audio))
    out = resampled(audio, 48000, 16000, chunk)
    np.testing.assert_allclose(out, whole, rtol=0, atol=2, err_msg="more than rounding")


@pytest.mark.parametrize(("from_hz", "to_hz"), [(8000, 16000), (48000, 16000), (24000, 8000)])
def test_the_lag_of_a_stream_stays_below_35_ms(from_hz: int, to_hz: int) -> None:
    stream = StreamResampler(from_hz, to_hz)
    given = taken = 0
    for _ in range(50):
        given += from_hz // 50
        taken += len(stream.push(np.zeros(from_hz // 50, np.int16)))
        assert given / from_hz - taken / to_hz < 0.035


def test_a_flushed_stream_begins_anew() -> None:
    stream = StreamResampler(24000, 16000)
    audio = tone(500, 24000, 0.2)
    first = np.concatenate([stream.push(audio), stream.flush()])
    np.testing.assert_array_equal(np.concatenate([stream.push(audio), stream.flush()]), first)


def test_equal_rates_pass_through() -> None:
    stream = StreamResampler(16000, 16000)
    audio = tone(500, 16000, 0.1)
    np.testing.assert_array_equal(stream.push(audio), audio)
    assert len(stream.flush()) == 0


@pytest.mark.parametrize("rates", [(0, 16000), (16000, -1)])
def test_a_rate_must_be_positive(rates: tuple[int, int]) -> None:
    with pytest.raises(ValueError, match="expected positive rates"):
        StreamResampler(*rates)


def test_samples_of_another_type_are_refused() -> None:
    with pytest.raises(ValueError, match="float32"):
        Framer().push(np.zeros(320, np.float32))  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="shape"):
        StreamResampler(8000, 16000).push(np.zeros((2, 320), np.int16))


def test_frames_are_full_and_count_on() -> None:
    framer = Framer(start_sample=1000)
    audio = np.arange(1000).astype(np.int16)
    frames = [frame for at in range(0, 1000, 150) for frame in framer.push(audio[at : at + 150])]
    assert [frame.start_sample for frame in frames] == [1000, 1320, 1640]
    np.testing.assert_array_equal(np.concatenate([f.samples for f in frames]), audio[:960])
    assert [f.start_sample for f in framer.push(np.zeros(280, np.int16))] == [1960]


def test_pcm_bytes_round_trip_little_endian() -> None:
    assert pcm16_from_samples(np.array([1, -2], np.int16)) == b"\x01\x00\xfe\xff"
    np.testing.assert_array_equal(samples_from_pcm16(pcm16_from_samples(ALL_SAMPLES)), ALL_SAMPLES)


def test_half_a_sample_is_refused() -> None:
    with pytest.raises(ValueError, match="got 3 bytes"):
        samples_from_pcm16(b"abc")


def test_mulaw_is_g711() -> None:
    # Rows of the standard's table: the loudest, the smallest step, and both zeros.
    np.testing.assert_array_equal(
        samples_from_mulaw(bytes([0x00, 0x80, 0x7E, 0x7F, 0xFE, 0xFF])),
        [-32124, 32124, -8, 0, 8, 0],
    )
    codes = bytes(code for code in range(256) if code != 0x7F)  # the second zero
    assert mulaw_from_samples(samples_from_mulaw(codes)) == codes


def test_alaw_is_g711() -> None:
    np.testing.assert_array_equal(
        samples_from_alaw(bytes([0x2A, 0xAA, 0x55, 0xD5])), [-32256, 32256, -8, 8]
    )
    assert alaw_from_samples(samples_from_alaw(bytes(range(256)))) == bytes(range(256))


@pytest.mark.parametrize(
    ("encode", "decode"),
    [(mulaw_from_samples, samples_from_mulaw), (alaw_from_samples, samples_from_alaw)],
)
def test_telephone_codes_err_by_half_a_step_at_most(encode, decode) -> None:  # type: ignore[no-untyped-def]
    error = np.abs(decode(encode(ALL_SAMPLES)).astype(int) - ALL_SAMPLES)
    assert (
        error
        <= np.maximum(np.abs(ALL_SAMPLES.astype(int)) / 32 + 8, 8)
        + 512 * (np.abs(ALL_SAMPLES.astype(int)) > 32256)
    ).all()


def test_levels() -> None:
    assert level_dbfs(np.full(100, -32768, np.int16)) == pytest.approx(0, abs=0.01)
    assert level_dbfs(tone(100, 16000)) == pytest.approx(
        20 * np.log10(10000 / 32768) - 3.01, abs=0.02
    )
    assert level_dbfs(np.zeros(320, np.int16)) == -100
    assert level_dbfs(np.empty(0, np.int16)) == -100

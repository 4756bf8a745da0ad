"""People who hum "mm-hmm", synthesised from a physical model.

No recordings of humming were at hand, and synthetic voices cannot hum. The model is a source and a
filter. The source is breath and a train of glottal pulses, no two of them quite alike; the filter
is a closed mouth, so that sound leaves by the nose, or a half-open one. Hummers differ in pitch,
size, breath and microphone. Half of them are held out and have tunes of their own; but they share
the physics, so results on them need not hold for people.

Shapes: T samples at 16 kHz, H samples at the source's rate, N windows, B bins of their spectrum.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import soxr
from numpy.typing import NDArray

from benchmarks.voice.short_words import ShortWord
from voice.types import SAMPLE_RATE_HZ, Samples

Floats = NDArray[np.float64]
Response = NDArray[np.complex128]

WORDS = ("mm", "hmm", "mhm", "mm hmm", "uh huh")
HUMMERS = 96
TUNES = {
    False: ((-2, -2, 1, 4), (0, 0, 0, -0.5), (1, -1, -1, 3), (3, 2, -1, -3), (0, 1.5, 1, 0)),
    True: ((-1, -2, -2, 5), (1, 0, -2, -5), (-2, 2, 2, -2), (-1.5, -1.5, 2.5, 2.5)),
}
"""Held out or not → tunes: pitches at even times, in semitones relative to the hummer's own."""

_MOUTH_CLOSED = ((250, 70), (1000, 160), (2200, 220), (3000, 300), (3900, 400), (5200, 500))
_MOUTH_OPEN = ((600, 80), (1250, 100), (2500, 150), (3500, 220), (4500, 300), (5600, 400))
_CENTRAL = ((500, 80), (1450, 100), (2450, 150), (3500, 220), (4500, 300), (5600, 400))
"""Formants and their bandwidths in Hz of a grown man: [m], [ʌ], [ə].

Source: Fujimura, 1962, on nasal murmurs; Klatt, 1980, on the vowels."""
_OVERSAMPLED = 4
_WINDOW, _SPECTRUM = 256, 1024
_GLIDE_MS = 25.0


@dataclass(frozen=True, slots=True)
class Hummer:
    """A person who hums.

    Attributes:
        pitch_hz: The voice's pitch where the tune is at 0.
        size: Formant frequencies relative to a grown man's: 1.2 is a small head.
        zero_hz: Frequency that the closed mouth swallows, for a grown man's head.
        tilt_hz: Above this the voice loses another 6 dB per octave.
        breath: Level of breath relative to the voice.
        unsteady: How much one pulse differs from the next, in pitch and in level.
        band_hz: Lowest and highest frequency that the microphone hears.
        held_out: Whether nothing may be fitted to this hummer.
    """

    pitch_hz: float
    size: float
    zero_hz: float
    tilt_hz: float
    breath: float
    unsteady: float
    band_hz: tuple[float, float]
    held_out: bool


@dataclass(frozen=True, slots=True)
class Sounding:
    """A piece of a hum.

    Attributes:
        seconds: How long it lasts.
        voice: Level of the voice in it.
        breath: Level of breath.
        open: How far the mouth is open, from 0 to 1.
    """

    seconds: float
    voice: float
    breath: float = 0.0
    open: float = 0.0


def hums(
    words: Sequence[str], each: int = 1, hummers: Iterable[int] = range(HUMMERS)
) -> Iterator[ShortWord]:
    """Every word by every hummer, the same on every call.

    Args:
        words: Some of `WORDS`.
        each: How often each word is hummed, with a tune drawn each time.
        hummers: Numbers of hummers; odd ones are held out.
    """
    for number in hummers:
        rng = np.random.default_rng([17, number])
        who = hummer(rng, number % 2 == 1)
        for word in words:
            for _ in range(each):
                yield ShortWord(word, who.held_out, hummed(word, who, rng), f"hummer {number}")


def hummer(rng: np.random.Generator, held_out: bool) -> Hummer:
    """A random hummer of any age; on the whole, the smaller the head, the higher the voice."""
    small = rng.uniform(0, 1)
    return Hummer(
        pitch_hz=float(85 * 2.6**small * 2 ** rng.normal(0, 0.15)),
        size=float(0.92 + 0.33 * small + rng.normal(0, 0.04)),
        zero_hz=float(rng.uniform(650, 1000)),
        tilt_hz=float(rng.uniform(500, 3000)),
        breath=float(10 ** (-rng.uniform(25, 45) / 20)),
        unsteady=float(rng.uniform(0.005, 0.03)),
        band_hz=(float(rng.uniform(50, 220)), float(rng.uniform(3400, 7600))),
        held_out=held_out,
    )


def hummed(word: str, who: Hummer, rng: np.random.Generator) -> Samples:
    """A word, hummed once: (T,) int16 at 16 kHz.

    Raises:
        ValueError: The word is none of `WORDS`.
    """
    soundings = [Sounding(0.08, 0), *_soundings(word, rng), Sounding(0.15, 0)]
    voice, breath, opened = (
        _track([(s.seconds, getattr(s, level)) for s in soundings])
        for level in ("voice", "breath", "open")
    )
    count = len(voice)
    tunes = TUNES[who.held_out]
    tune = np.array(tunes[rng.integers(len(tunes))]) * rng.uniform(0.4, 1.3) + rng.normal(0, 1.5)
    semitones = np.interp(np.linspace(0, 1, count), np.linspace(0, 1, len(tune)), tune)
    pulses = glottis(who.pitch_hz * 2 ** (semitones / 12), who.unsteady, rng)
    noise = rng.normal(0, 1, count)
    source = pulses * voice + noise * (breath + who.breath * voice)
    vowel = _CENTRAL if rng.random() < 0.5 else _MOUTH_OPEN
    sound = _filtered(source, opened, who, vowel)
    level = 10 ** rng.uniform(3.3, 4.1) / np.abs(sound).max()
    hiss = rng.normal(0, 10 ** rng.uniform(0, 1.3), count)
    return np.clip(sound * level + hiss, -32768, 32767).astype(np.int16)


def glottis(pitch_hz: Floats, unsteady: float, rng: np.random.Generator) -> Floats:
    """(T,) derivative of the air flow through the glottis, peaks near 1, at a pitch of (T,) Hz.

    The glottis opens slowly, closes twice as fast, and stays closed for the rest of each period.
    Source: pulse C of Rosenberg, 1971.
    """
    rate_hz = SAMPLE_RATE_HZ * _OVERSAMPLED
    phase = np.cumsum(np.repeat(pitch_hz, _OVERSAMPLED)) / rate_hz
    periods = int(phase[-1]) + 2
    moved = np.interp(phase, np.arange(periods), np.cumsum(rng.normal(0, unsteady, periods)))
    phase = np.maximum.accumulate(phase + moved - moved[0])
    level = 1 + rng.normal(0, 3 * unsteady, int(phase[-1]) + 2)[phase.astype(int)]
    opening, closing = 0.4 + rng.uniform(-0.05, 0.1), 0.2 + rng.uniform(-0.04, 0.06)
    at = phase % 1
    rises = 0.5 * (1 - np.cos(np.pi * at / opening))
    falls = np.cos(np.pi / 2 * (at - opening) / closing)
    flow = np.where(at < opening, rises, np.where(at < opening + closing, falls, 0)) * level
    change = np.diff(flow, prepend=flow[0]) * rate_hz / 1000
    found: Floats = soxr.resample(change, rate_hz, SAMPLE_RATE_HZ)
    return np.pad(found, (0, max(0, len(pitch_hz) - len(found))))[: len(pitch_hz)]


def resonances(hz: Floats, poles: Sequence[tuple[float, float]]) -> Response:
    """(B,) response of formants at (B,) frequencies; each formant has gain 1 at 0 Hz."""
    response: Response = np.ones(len(hz), np.complex128)
    for centre_hz, width_hz in poles:
        pole = complex(-np.pi * width_hz, 2 * np.pi * centre_hz)
        at = 2j * np.pi * hz
        response *= abs(pole) ** 2 / ((at - pole) * (at - pole.conjugate()))
    return response


def _soundings(word: str, rng: np.random.Generator) -> list[Sounding]:
    """The pieces of a word, drawn a little differently each time."""
    opened = rng.uniform(0.55, 1) if word == "uh huh" else 0.0
    short, gap, long = rng.uniform(0.09, 0.2), rng.uniform(0.03, 0.1), rng.uniform(0.15, 0.36)
    first = Sounding(short, rng.uniform(0.5, 1), 0, opened)
    last = Sounding(long, 1, 0, opened)
    fading = Sounding(rng.uniform(0.04, 0.12), 0.35, 0, opened)
    # Between two syllables the voice breaks off, or goes on softly under the breath.
    voiced = rng.choice([0.0, 0.05, 0.25])
    breath = Sounding(gap, voiced, 10 ** (-rng.uniform(14, 30) / 20), opened)
    if word == "mm":
        return [Sounding(rng.uniform(0.15, 0.45), 1), fading]
    if word == "hmm":
        return [Sounding(gap, 0, breath.breath), Sounding(rng.uniform(0.2, 0.5), 1), fading]
    if word == "mhm":
        return [Sounding(short / 2, first.voice), breath, last, fading]
    if word in ("mm hmm", "uh huh"):
        return [first, breath, last, fading]
    raise ValueError(f"got the word {word!r}; expected one that people hum")


def _track(levels: Sequence[tuple[float, float]]) -> Floats:
    """(T,) levels from (seconds, level) pairs, with a glide from one to the next."""
    steps = np.concatenate([np.full(round(s * SAMPLE_RATE_HZ), level) for s, level in levels])
    glide = np.hanning(round(_GLIDE_MS * SAMPLE_RATE_HZ / 1000))
    return np.convolve(steps, glide / glide.sum(), "same")


def _filtered(
    source: Floats, opened: Floats, who: Hummer, vowel: Sequence[tuple[float, float]]
) -> Floats:
    """Filter a (T,) source by nose, mouth and microphone: (T,)."""
    hz = np.fft.rfftfreq(_SPECTRUM, 1 / SAMPLE_RATE_HZ)
    closed = resonances(hz, [(f * who.size, w) for f, w in _MOUTH_CLOSED])
    closed = closed / resonances(hz, [(who.zero_hz * who.size, 120)])
    mouth = resonances(hz, [(f * who.size, w) for f, w in vowel])
    lowest, highest = who.band_hz
    ear = 1 / (1 + 1j * hz / who.tilt_hz) / (1 + (hz / highest) ** 8)
    ear = ear * (1j * hz / lowest) / (1 + 1j * hz / lowest)
    hop = _WINDOW // 2
    padded = np.pad(source, (_WINDOW, _WINDOW + hop))
    frames = np.lib.stride_tricks.sliding_window_view(padded, _WINDOW)[::hop]
    share = np.pad(opened, (_WINDOW, _WINDOW + hop), "edge")[hop : hop + len(frames) * hop : hop]
    passed = (1 - share)[:, None] * closed + share[:, None] * mouth
    # Windows that sum to one when they overlap by half.
    window = 0.5 - 0.5 * np.cos(2 * np.pi * np.arange(_WINDOW) / _WINDOW)
    sounds = np.fft.irfft(np.fft.rfft(frames * window, _SPECTRUM, axis=1) * passed * ear, axis=1)
    mixed = np.zeros(len(frames) * hop + _SPECTRUM)
    for index, sound in enumerate(sounds):
        mixed[index * hop : index * hop + _SPECTRUM] += sound
    return mixed[_WINDOW : _WINDOW + len(source)]

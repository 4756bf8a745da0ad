"""Makes a caller's sound: voice, marks in the text, room, noise and telephone line.

Shapes: T is a number of samples, mono int16 at `RATE_HZ` unless said otherwise.
"""

from __future__ import annotations

import random
import re
import subprocess
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

import numpy as np
import soxr
from numpy.typing import NDArray

from voice.audio import mulaw_from_samples, samples_from_mulaw
from voice.config import load_config
from voice.demo.client import RATE_HZ, at_client_rate
from voice.demo.recordings import decoded
from voice.demo.virtual_audio import room_tone, speech_span
from voice.errors import ConfigError
from voice.prove.scenario import MARK, Behaviour
from voice.speech.normalization import spoken
from voice.speech.tts import Voices, installed_voices
from voice.types import SAMPLE_RATE_HZ, Samples, Segment

Wave = NDArray[np.float64]
LINE_HZ = 8000
BAND_HZ = (300, 3400)
SPEECH_DBFS = -24.0
"""Level of every line, between its first and its last sample of speech."""
BYSTANDER_DB = -12.0
BYSTANDER_VOICE = "espeak:en-us"
LETTER_GAP_MS = 180
NOISE_S = 12
BABBLE = (
    "We went down to the river in the morning and stayed there until it was dark.",
    "She said that the train had been late again, and nobody had told her why.",
    "If you put it on the table over there, I can look at it after lunch.",
    "There were about forty people, and most of them had never met before.",
    "He has painted the kitchen twice, and still he does not like the colour.",
)


@dataclass(frozen=True, slots=True, eq=False)
class Utterance:
    """Something to say, as it is heard at the caller's microphone.

    Attributes:
        text: The words, without marks.
        samples: (T,), the sound.
        start: Index of the first sample of speech.
        end: Index just past the last one; echo may follow.
    """

    text: str
    samples: Samples
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Speaker:
    """A caller's voice, room and line.

    Args:
        behaviour: How the caller speaks.
        seed: Seed of what is drawn.
        recordings: Words → path of a recording that is played instead.
    """

    behaviour: Behaviour
    seed: int = 0
    recordings: Mapping[str, str] = field(default_factory=dict)

    def background(self) -> Samples:
        """The noise around the caller, to be played in a loop."""
        noise = room_tone(5.0, RATE_HZ)
        if self.behaviour.noise:
            noise = levelled(around(self.behaviour.noise), SPEECH_DBFS - self.behaviour.noise_db)
        return over_a_line(noise) if self.behaviour.telephone else noise

    def say(self, text: str, bystander: bool = False) -> Utterance:
        """Say a text with its marks.

        Raises:
            ConfigError: There is no such voice, or the recording cannot be read.
        """
        voice = BYSTANDER_VOICE if bystander else self.behaviour.voice
        if text in self.recordings:
            said = at_client_rate(recorded(self.recordings[text]), SAMPLE_RATE_HZ)
        else:
            text = self._hesitating(text)
            parts = [*self._parts(text, voice)]
            said = np.concatenate([np.zeros(0, np.int16), *parts])
        words = told(text)
        if not said.any():
            return Utterance(words, said, 0, 0)
        start, end = speech_span(said, RATE_HZ)
        said = levelled(said, SPEECH_DBFS + (BYSTANDER_DB if bystander else 0), (start, end))
        if self.behaviour.reverb_s:
            said = echoing(said, self.behaviour.reverb_s)
        if self.behaviour.telephone:
            said = over_a_line(said)
        return Utterance(words, said, start, end)

    def _hesitating(self, text: str) -> str:
        pause_ms, words = self.behaviour.hesitation_ms, text.split()
        if not pause_ms or len(words) < 4 or "[" in text:
            return text
        gap = random.Random(f"{self.seed} {text}").randrange(2, len(words))
        return " ".join([*words[:gap], f"[pause {pause_ms}]", *words[gap:]])

    def _parts(self, text: str, voice: str) -> Iterator[Samples]:
        # Text and marks alternate, beginning with text.
        for number, part in enumerate(MARK.split(text)):
            kind, _, value = part.partition(" ")
            if number % 2 == 0 and part.strip(" ,.?!"):
                yield voiced(voice, part.strip(), self.behaviour.rate)
            elif number % 2 and kind == "pause":
                yield _silence(int(value))
            elif number % 2 and kind == "cough":
                yield cough()
            elif number % 2:
                for letter in value:
                    yield voiced(voice, f"{letter.upper()}.", self.behaviour.rate)
                    yield _silence(LETTER_GAP_MS)


def told(text: str) -> str:
    """A text's words, without marks except for spelled words, which are letter by letter."""

    def spelled(mark: re.Match[str]) -> str:
        return " ".join(mark[1][6:].upper()) if mark[1].startswith("spell ") else ""

    return " ".join(MARK.sub(spelled, text).split())


@cache
def voiced(voice: str, text: str, rate: float) -> Samples:
    """A text in a voice, without the silence around it; empty if it has no sound, like "…".

    Raises:
        ConfigError: There is no such voice.
    """
    engine, _, name = voice.partition(":")
    if engine == "flite":
        made, made_hz = flite(text, name, rate), SAMPLE_RATE_HZ
    else:
        synthesizer = _voices().of(voice)
        if synthesizer is None:
            known = ", ".join(_voices().names)
            raise ConfigError(f"voice: got {voice!r}; expected one of {known}, or flite:NAME")
        chunks = synthesizer.synthesize(Segment(0, 0, text, spoken(text)), rate)
        made = np.concatenate([chunk.samples for chunk in chunks])
        made_hz = synthesizer.sample_rate_hz
    if not made.any():
        return made[:0]
    samples = at_client_rate(made, made_hz)
    start, end = speech_span(samples, RATE_HZ)
    return samples[start:end]


@cache
def _voices() -> Voices:
    return installed_voices(load_config().tts)


def flite(text: str, voice: str, rate: float = 1.0) -> Samples:
    """A text in a voice of the flite command (Debian: flite), (T,) int16 at 16 kHz.

    Raises:
        ConfigError: There is no such command, or no such voice.
    """
    stretched = [] if rate == 1 else ["--setf", f"duration_stretch={1 / rate}"]
    with tempfile.TemporaryDirectory() as directory:
        wav = Path(directory) / "line.wav"
        command = ["flite", "-voice", voice, *stretched]
        try:
            subprocess.run([*command, "-t", text, "-o", str(wav)], check=True, capture_output=True)
            return decoded(wav)
        except (OSError, subprocess.CalledProcessError) as error:
            raise ConfigError(f"flite cannot speak with its voice {voice!r}: {error}") from error


def recorded(path: str) -> Samples:
    """A recording, (T,) int16 at 16 kHz.

    Raises:
        ConfigError: It cannot be read.
    """
    try:
        return decoded(Path(path))
    except (OSError, IndexError, ValueError) as error:
        raise ConfigError(f"{path}: no sound that can be read: {error}") from error


@cache
def around(noise: str) -> Samples:
    """Noise by its name in a scenario; its level is arbitrary."""
    if noise == "babble":
        return _babble()
    if noise != "pink":
        return at_client_rate(recorded(noise), SAMPLE_RATE_HZ)
    spectrum = np.fft.rfft(np.random.default_rng(0).normal(size=NOISE_S * RATE_HZ))
    spectrum /= np.sqrt(np.maximum(1, np.arange(len(spectrum))))
    return levelled(np.fft.irfft(spectrum), SPEECH_DBFS)


def _babble() -> Samples:
    rng, mixed = np.random.default_rng(0), np.zeros(NOISE_S * RATE_HZ)
    for number, text in enumerate(BABBLE):
        said = voiced(BYSTANDER_VOICE, text, 0.8 + 0.12 * number)
        mixed += np.roll(np.resize(said, len(mixed)), int(rng.integers(len(mixed))))
    return levelled(mixed, SPEECH_DBFS)


def cough() -> Samples:
    """Two bursts of noise through an open mouth."""
    rng, bursts = np.random.default_rng(0), []
    for length_s in (0.18, 0.14):
        noise = rng.normal(size=round(length_s * RATE_HZ)) * np.exp(
            -np.linspace(0, 5, round(length_s * RATE_HZ))
        )
        bursts += [np.convolve(noise, np.ones(12) / 12, "same"), np.zeros(RATE_HZ // 12)]
    return levelled(np.concatenate(bursts), SPEECH_DBFS)


def echoing(samples: Samples, reverb_s: float) -> Samples:
    """(T,) samples in a room with this reverberation time (60 dB), lengthened by that time."""
    tail = np.arange(round(reverb_s * RATE_HZ)) / RATE_HZ
    noise = np.random.default_rng(0).normal(size=len(tail))
    impulse = noise * 10 ** (-3 * tail / reverb_s)
    impulse *= 0.5 / np.sqrt(np.sum(impulse**2))
    impulse[0] = 1.0
    size = len(samples) + len(impulse)
    wet = np.fft.irfft(np.fft.rfft(samples.astype(float), size) * np.fft.rfft(impulse, size), size)
    return np.clip(np.round(wet), -32768, 32767).astype(np.int16)


def carried(samples: Samples, rate_hz: int) -> Samples:
    """Speech as a telephone carries it.

    Args:
        samples: (T,) int16 at ``rate_hz``.

    Returns:
        (T * 8000 / rate_hz,) int16 at 8 kHz, band-limited and quantised to mu-law.
    """
    narrow = soxr.resample(samples.astype(np.float64), rate_hz, LINE_HZ)
    spectrum = np.fft.rfft(narrow)
    frequency = np.fft.rfftfreq(len(narrow), 1 / LINE_HZ)
    spectrum[(frequency < BAND_HZ[0]) | (frequency > BAND_HZ[1])] = 0
    within = np.clip(np.round(np.fft.irfft(spectrum, len(narrow))), -32768, 32767)
    return samples_from_mulaw(mulaw_from_samples(within.astype(np.int16)))


def over_a_line(samples: Samples) -> Samples:
    """(T,) samples as a telephone carries them, at `RATE_HZ` again."""
    return at_client_rate(carried(samples, RATE_HZ), LINE_HZ)


def level(samples: Samples | Wave) -> float:
    """Root mean square of (T,) samples."""
    return float(np.sqrt(np.mean(samples.astype(np.float64) ** 2)))


def scaled(samples: Samples | Wave, factor: float) -> Samples:
    """(T,) samples times a factor, clipped to 16 bits."""
    return np.clip(np.round(samples * factor), -32768, 32767).astype(np.int16)


def levelled(samples: Samples | Wave, dbfs: float, span: Sequence[int] = ()) -> Samples:
    """(T,) samples scaled so that they, or a span of them, have a level in dB of full scale."""
    first, last = span or (0, len(samples))
    return scaled(samples, 32768 * 10 ** (dbfs / 20) / max(1e-9, level(samples[first:last])))


def _silence(ms: int) -> Samples:
    return np.zeros(ms * RATE_HZ // 1000, np.int16)

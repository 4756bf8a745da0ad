"""Speech synthesis: the interface of a voice, and the choice of one voice or several.

A synthesiser yields a segment's audio as it is made. It knows nothing of turns or listeners.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Protocol

import numpy as np

from voice.config import TtsConfig
from voice.errors import ModelError
from voice.speech.normalization import spoken
from voice.speech.tts.espeak import EspeakSynthesizer
from voice.speech.tts.hibari import HibariSynthesizer, hibari_voices
from voice.speech.tts.level import amplified, gain
from voice.speech.tts.piper_files import (
    PACKAGED,
    download_voice,
    local_voice,
    packaged_voice,
)
from voice.types import Samples, Segment, SpeechChunk


class Synthesizer(Protocol):
    """A voice. It may be used by many threads at once.

    Attributes:
        name: Engine and voice, such as "espeak:en-us".
        sample_rate_hz: Rate of all the audio it makes.
    """

    name: str
    sample_rate_hz: int

    def synthesize(self, segment: Segment, speed: float = 1.0) -> Iterator[SpeechChunk]:
        """Speak a segment.

        The sound begins within 10 ms of the first sample and ends with a pause of fixed length,
        which ``speed`` divides like everything else.

        Args:
            segment: Its ``spoken`` text is read; any text is allowed.
            speed: Speaking rate, 0.25 to 4; 1 is the voice's own.

        Yields:
            Chunks of audio as they are made. Only the final one is ``last``; it carries the timing
            of all words, and is empty if there was nothing to speak.

        Raises:
            ModelError: The voice failed.
        """
        ...


class LevelledSynthesizer:
    """A voice with a gain that makes it as loud as every other.

    Args:
        synthesizer: The voice itself.
        sample: (T,) int16, some seconds of its speech.
    """

    def __init__(self, synthesizer: Synthesizer, sample: Samples) -> None:
        self.name = synthesizer.name
        self.sample_rate_hz = synthesizer.sample_rate_hz
        self._synthesizer = synthesizer
        self._gain = gain(sample, synthesizer.sample_rate_hz)

    def synthesize(self, segment: Segment, speed: float = 1.0) -> Iterator[SpeechChunk]:
        """See `Synthesizer.synthesize`."""
        for chunk in self._synthesizer.synthesize(segment, speed):
            yield replace(chunk, samples=amplified(chunk.samples, self._gain))


def make_synthesizer(config: TtsConfig) -> tuple[Synthesizer, str]:
    """The configured voice, warmed up, and a line that tells which one it is and why.

    Raises:
        ModelError: The configured engine is not available; ``auto`` falls back to espeak.
    """
    match config.engine:
        case "espeak":
            voice = config.espeak.voice
            return _espeak(voice, config), f"voice: espeak-ng {voice}, as configured"
        case "hibari":
            voice = config.hibari.voice
            return _hibari(voice, download=True), f"voice: hibari {voice}, as configured"
        case "piper":
            voice = config.piper.voice
            path = local_voice(voice) or download_voice(voice)
            return _piper(path), f"voice: {voice}, as configured"
    return _auto(config)


def _auto(config: TtsConfig) -> tuple[Synthesizer, str]:
    try:
        return _hibari(config.hibari.voice), f"voice: hibari {config.hibari.voice}"
    except (ImportError, ModelError) as error:
        voice = config.espeak.voice
        return _espeak(voice, config), f"voice: espeak-ng {voice}, because {error}"


class Voices:
    """Voices by name, each loaded when it is first asked for; may be used from any thread.

    Args:
        loaders: Name → function that loads the voice.
    """

    def __init__(self, loaders: Mapping[str, Callable[[], Synthesizer]] | None = None) -> None:
        self._loaders = dict(loaders or {})
        self._loaded: dict[str, Synthesizer] = {}
        self._lock = threading.Lock()

    @property
    def names(self) -> tuple[str, ...]:
        """Full names, such as "hibari:heart"."""
        return tuple(self._loaders)

    def of(self, name: str) -> Synthesizer | None:
        """The voice of a name with or without its engine; None if there is none.

        Raises:
            ModelError: The voice cannot be loaded.
        """
        full = full_name(name, self.names)
        if full is None:
            return None
        if full not in self._loaded:
            # Voices load one at a time; requests for loaded ones do not wait.
            with self._lock:
                if full not in self._loaded:
                    self._loaded[full] = self._loaders[full]()
        return self._loaded[full]


def full_name(name: str, names: Iterable[str]) -> str | None:
    """The full name for one that may lack its engine: "heart" → "hibari:heart"."""
    return next((full for full in names if name in (full, full.partition(":")[2])), None)


def installed_voices(config: TtsConfig, own: Synthesizer | None = None) -> Voices:
    """The voices that this machine has without using the network.

    Args:
        config: Names a Piper voice and an espeak-ng one to include.
        own: A voice that is already loaded.
    """
    loaders: dict[str, Callable[[], Synthesizer]] = {own.name: lambda: own} if own else {}
    for voice in hibari_voices():
        loaders.setdefault(f"hibari:{voice}", partial(_hibari, voice))
    if packaged_voice() is not None:
        loaders.setdefault(f"piper:{PACKAGED}", partial(_local_piper, PACKAGED))
    if config.piper.voice.endswith(".onnx"):
        voice = config.piper.voice
        loaders.setdefault(f"piper:{Path(voice).stem}", partial(_local_piper, voice))
    for voice in (config.espeak.voice, "en-us", "en"):
        loaders.setdefault(f"espeak:{voice}", partial(_espeak, voice, config))
    return Voices(loaders)


def _espeak(voice: str, config: TtsConfig) -> Synthesizer:
    return _ready(EspeakSynthesizer(voice, config.espeak.pitch))


def _hibari(voice: str, download: bool = False) -> Synthesizer:
    return _ready(HibariSynthesizer(voice, download))


def _piper(model: Path) -> Synthesizer:
    from voice.speech.tts.piper import PiperSynthesizer

    return _ready(PiperSynthesizer(model))


def _local_piper(voice: str) -> Synthesizer:
    path = local_voice(voice)
    if path is None:
        raise ModelError(f"Piper voice {voice} is not on this machine")
    return _piper(path)


def _ready(synthesizer: Synthesizer) -> Synthesizer:
    """The voice levelled, and warmed up by a sentence so that no reply waits for loading."""
    text = "Ready at 7:00, on May 5. Your order is two large coffees, and a glass of water."
    said = [chunk.samples for chunk in synthesizer.synthesize(Segment(0, 0, text, spoken(text)))]
    return LevelledSynthesizer(synthesizer, np.concatenate(said))

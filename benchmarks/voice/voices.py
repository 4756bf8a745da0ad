"""How well the voices are understood, and how even they are: ``python -m benchmarks.voice.voices``.

Each voice says the replies of replies.txt. Whisper base, in windows of 15 s, transcribes them, at
full band and as a telephone carries them. Word errors are counted with numbers spelled out. Level,
clipping and the processor time to the first sound are measured on the same audio. Results go to
benchmarks/results/voices.json.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import soxr

from benchmarks.report import machine, percentiles, share, write
from voice.config import TtsConfig, WhisperConfig
from voice.hearing.asr.whisper import WhisperRecognizer
from voice.prove.sound import LINE_HZ, carried
from voice.prove.words import errors
from voice.speech.normalization import spoken
from voice.speech.segmenter import SegmentCutter
from voice.speech.tts import Synthesizer, installed_voices
from voice.speech.tts.level import speech_level
from voice.types import SAMPLE_RATE_HZ, Samples, Segment

REPLIES = Path(__file__).with_name("replies.txt")
VOICES = ("hibari:heart", "piper:en_US-joe-medium", "espeak:en-us")
WINDOW_S = 15.0

Hear = Callable[[Samples], str]


def replies() -> list[str]:
    """Replies of agents, from replies.txt."""
    return REPLIES.read_text(encoding="utf-8").splitlines()


def segments(reply: str) -> list[Segment]:
    """The reply as a session would cut it."""
    cutter = SegmentCutter()
    texts = [*cutter.push(reply), *cutter.flush()]
    return [Segment(1, index, text, spoken(text)) for index, text in enumerate(texts)]


def said(voice: Synthesizer, reply: str) -> tuple[Samples, float]:
    """A reply's audio, and the processor time in ms until its first chunk."""
    chunks = []
    began = time.process_time()
    first_ms = 0.0
    for segment in segments(reply):
        for chunk in voice.synthesize(segment):
            first_ms = first_ms or (time.process_time() - began) * 1000
            chunks.append(chunk.samples)
    return np.concatenate(chunks), first_ms


def heard_words(text: str) -> list[str]:
    """A text's words in lower case, with numbers spelled out and without marks."""
    return spoken(text).lower().translate(str.maketrans("-", " ", ",.;:!?")).split()


def measured(voice: Synthesizer, hear: Hear, texts: list[str]) -> dict[str, Any]:
    """The figures of one voice."""
    rate_hz = voice.sample_rate_hz
    wrong = {"wide_band": 0, "telephone": 0}
    levels, peaks, first_ms, count, clipped = [], [], [], 0, 0
    for text in texts:
        audio, ms = said(voice, text)
        first_ms.append(ms)
        levels.append(speech_level(audio, rate_hz))
        peaks.append(20 * np.log10(np.abs(audio.astype(np.int32)).max() / 32768))
        clipped += int((np.abs(audio.astype(np.int32)) >= 32767).sum())
        words = heard_words(text)
        count += len(words)
        bands = {
            "wide_band": soxr.resample(audio, rate_hz, SAMPLE_RATE_HZ),
            "telephone": soxr.resample(carried(audio, rate_hz), LINE_HZ, SAMPLE_RATE_HZ),
        }
        for band, samples in bands.items():
            wrong[band] += errors(words, heard_words(hear(samples)))
    return {
        "replies": len(texts),
        "word_error_rate": {band: share(errors_, count) for band, errors_ in wrong.items()},
        "first_chunk_cpu_ms": percentiles(first_ms, 1),
        "level_dbfs": {
            "mean": round(float(np.mean(levels)), 1),
            "sd": round(float(np.std(levels)), 1),
        },
        "peak_dbfs": round(float(max(peaks)), 1),
        "clipped_samples": clipped,
    }


def main() -> None:
    """Measure all voices."""
    parser = argparse.ArgumentParser("benchmarks.voice.voices", description=__doc__)
    parser.add_argument("--whisper", default="base", help="directory or hub name of Whisper base")
    parser.add_argument("--every", type=int, default=1, help="only every so many replies, except")
    parser.add_argument("--first", default=VOICES[0], help="for this voice, which says all")
    options = parser.parse_args()
    began = machine()
    config = WhisperConfig(model=options.whisper, window_s=WINDOW_S, device="cpu")
    recognizer = WhisperRecognizer(config)
    voices = installed_voices(TtsConfig())
    figures: dict[str, Any] = {"window_s": WINDOW_S}
    for name in VOICES:
        voice = voices.of(name)
        if voice is None:
            raise SystemExit(f"{name} is not installed")
        texts = replies()[:: 1 if name == options.first else options.every]
        figures[name] = measured(voice, lambda audio: recognizer.decode(audio, 5).text, texts)
        print(name, figures[name], flush=True)
    print(write("voices", "benchmarks.voice.voices", figures, began))


if __name__ == "__main__":
    main()

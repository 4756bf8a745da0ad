"""Errors in the times of callers' words in kept conversations: ``benchmarks.voice.said_words``.

hibari says one sentence, or two with a pause between them, and reports when each word ends. The
recogniser finds the words' times as it does for a record. They are compared with these, and so is
the estimate that a record has until they are found. Turns that were misunderstood are left out.
Results: benchmarks/results/said_words.json.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import soxr

from benchmarks.report import Program, percentiles
from benchmarks.voice.voices import replies, segments
from voice.audio import Framer
from voice.config import WhisperConfig
from voice.hearing.asr.whisper import WhisperRecognizer
from voice.prove.sound import LINE_HZ, carried
from voice.prove.words import words
from voice.records.transcript import said_evenly
from voice.speech.tts.hibari import HibariSynthesizer
from voice.types import FRAME_SAMPLES, SAMPLE_RATE_HZ, Samples, Transcript, ms_of_samples

BETWEEN_MS, AROUND_MS = 500, 300
BANDS: dict[str, Callable[[Samples, int], Samples]] = {
    "wide band": lambda audio, rate_hz: soxr.resample(audio, rate_hz, SAMPLE_RATE_HZ),
    "telephone": lambda audio, hz: soxr.resample(carried(audio, hz), LINE_HZ, SAMPLE_RATE_HZ),
}


def said(voice: HibariSynthesizer, texts: tuple[str, ...]) -> tuple[Samples, list[float], float]:
    """Say texts as one turn: its audio, when each word ends, and when the first begins, in ms."""
    rate_hz = voice.sample_rate_hz
    pause, around = (np.zeros(ms * rate_hz // 1000, np.int16) for ms in (BETWEEN_MS, AROUND_MS))
    parts, ends, length = [around], [], len(around)
    for text in texts:
        for segment in segments(text):
            chunks = [*voice.synthesize(segment)]
            ends += [length + word.end_sample for word in chunks[-1].words]
            parts += [chunk.samples for chunk in chunks]
            length += sum(len(chunk.samples) for chunk in chunks)
        parts.append(pause)
        length += len(pause)
    audio = np.concatenate([*parts[:-1], around])
    start = int(np.flatnonzero(np.abs(audio.astype(np.int32)) > 150)[0])
    return audio, [at * 1000 / rate_hz for at in ends], start * 1000 / rate_hz


def heard(recognizer: WhisperRecognizer, audio: Samples) -> Transcript:
    """The transcript of a turn, (T,) int16 at 16 kHz."""
    stream = recognizer.open(1)
    for frame in Framer().push(np.pad(audio, (0, -len(audio) % FRAME_SAMPLES))):
        stream.accept(frame)
    return stream.finish()


def errors(
    voice: HibariSynthesizer, recognizer: WhisperRecognizer, turns: list[tuple[str, ...]]
) -> dict[str, Any]:
    """Errors of the words' times in ms, by band and by how the times were found."""
    figures: dict[str, Any] = {}
    for band, through in BANDS.items():
        found: dict[str, list[float]] = {"recogniser": [], "estimate": []}
        for texts in turns:
            audio, ends_ms, start_ms = said(voice, texts)
            transcript = heard(recognizer, through(audio, voice.sample_rate_hz))
            told = transcript.find_words() if transcript.find_words else ()
            if words(transcript.shown) != words(" ".join(texts)) or len(told) != len(ends_ms):
                continue
            evenly = said_evenly(transcript.shown, start_ms, ends_ms[-1])
            times = {
                "recogniser": [ms_of_samples(word.end_sample) for word in told],
                "estimate": [ms for _, ms in evenly],
            }
            for name, these in times.items():
                found[name] += [abs(ms - at) for ms, at in zip(these, ends_ms, strict=True)]
        figures[band] = {name: percentiles(one) for name, one in found.items()}
    return figures


def main() -> None:
    """Measure and write the results."""
    program = Program("benchmarks.voice.said_words", __doc__)
    program.parse_args()
    texts = [text for text in replies() if not any(letter.isdigit() for letter in text)]
    turns = [*((text,) for text in texts), *zip(texts[::2], texts[1::2], strict=False)]
    figures = errors(HibariSynthesizer(), WhisperRecognizer(WhisperConfig()), turns)
    print(figures)
    program.write({"turns": len(turns), "between_ms": BETWEEN_MS, "errors_ms": figures})


if __name__ == "__main__":
    main()

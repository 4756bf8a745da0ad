"""Piper voices: a VITS network in ONNX, with phonemes from the espeak-ng in the piper package.

Audio is made sentence by sentence. Word timing is exact if the voice reports the length of each
phoneme; otherwise a sentence's time is divided among its words by syllables.
"""

from __future__ import annotations

import importlib.util
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from voice.errors import ModelError
from voice.speech.tts.assembly import Piece, assemble, readable
from voice.speech.tts.timing import WordStart
from voice.types import Segment, SpeechChunk

if TYPE_CHECKING:
    from piper.voice import AudioChunk

_SENTENCE_MARKS = (".", "!", "?")


class PiperSynthesizer:
    """Speaks with one Piper voice; any number of threads may use it.

    Args:
        model: The .onnx file, with its .onnx.json beside it.

    Raises:
        ModelError: The files are missing, or are not a Piper voice.
    """

    def __init__(self, model: Path) -> None:
        from piper import PiperVoice

        # Without the onnx package piper can only warn that it cannot add the durations' output.
        patchable = importlib.util.find_spec("onnx") is not None
        try:
            self._voice = PiperVoice.load(model, include_alignments=patchable)
            self.sample_rate_hz = int(self._voice.config.sample_rate)
        except Exception as error:  # onnxruntime raises classes of its own, piper KeyError
            reason = f"{type(error).__name__}: {error}"
            raise ModelError(f"{model} is no Piper voice: {reason}") from error
        if self.sample_rate_hz <= 0:
            got = self.sample_rate_hz
            raise ModelError(f"{model}.json: audio.sample_rate: got {got}, expected more than 0")
        self.name = f"piper:{model.stem}"

    def synthesize(self, segment: Segment, speed: float = 1.0) -> Iterator[SpeechChunk]:
        """See `voice.speech.tts.Synthesizer.synthesize`."""
        return assemble(segment, self.sample_rate_hz, self._pieces(segment.spoken), speed)

    def _pieces(self, text: str) -> Iterator[Piece]:
        if not any(char.isalpha() for char in text):
            return
        sentences: list[list[int]] = []
        made = 0
        text = readable(text)
        chunks = iter(self._voice.synthesize(text, include_alignments=True))
        while (chunk := self._next(chunks)) is not None:
            sentences.append([made + start for start in _word_starts(chunk)])
            made += len(chunk.audio_int16_array)
            yield Piece(chunk.audio_int16_array)
        yield Piece(np.empty(0, np.int16), tuple(_match_words(text, sentences)))

    def _next(self, chunks: Iterator[AudioChunk]) -> AudioChunk | None:
        try:
            return next(chunks, None)
        except Exception as error:  # onnxruntime raises classes of its own
            raise ModelError(f"{self.name} failed to speak: {error}") from error


def _word_starts(chunk: AudioChunk) -> list[int]:
    """First sample of each word of a sentence; only of the first word if durations are unknown."""
    starts = []
    position = 0
    inside = False
    for alignment in chunk.phoneme_alignments or ():
        letter = any(char.isalpha() for char in alignment.phoneme)
        if letter and not inside:
            starts.append(position)
        # Stress marks, length marks and diacritics do not end a word; a space does.
        inside = letter or (inside and alignment.phoneme != " ")
        position += int(alignment.num_samples)
    return [0, *starts[1:]]


def _match_words(text: str, sentences: Sequence[Sequence[int]]) -> Iterator[WordStart]:
    """Match the words of the text with the word starts found in the audio.

    espeak-ng runs some words together ("of the"), so the counts of a sentence may differ. Then only
    its first word is matched.
    """
    matches = list(re.finditer(r"\S+", text))
    ranges: list[list[int]] = [[]]
    for match in matches:
        ranges[-1].append(match.start())
        if match.group().endswith(_SENTENCE_MARKS):
            ranges.append([])
    ranges = [chars for chars in ranges if chars]
    if len(ranges) != len(sentences):
        ranges = [[match.start() for match in matches]]
        sentences = [[start for sentence in sentences for start in sentence]]
    for chars, starts in zip(ranges, sentences, strict=True):
        count = len(chars) if len(chars) == len(starts) else 1
        yield from map(WordStart, chars[:count], starts[:count])

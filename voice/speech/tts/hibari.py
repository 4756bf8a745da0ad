"""hibari: a network of 6 M parameters distilled from Kokoro-82M, at 24 kHz, on one thread.

The package hibari-tts (Apache-2.0) includes the weights. Audio is made sentence by sentence; words
are timed by the frames that the network gives each phoneme. Numbers are already written out in the
text, because hibari's own reader says codes, telephone numbers and addresses as amounts.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np

from voice.errors import ModelError
from voice.speech.tts.assembly import Piece, assemble, readable
from voice.speech.tts.timing import WordStart
from voice.types import Segment, SpeechChunk
from voice.weights import checked

SHA256 = {
    "hibari.onnx": "5f70741d4e900f4e85d0037498736cc1b3e1b9a63a13546a5da1e63abf4fccd8",
    "oov.onnx": "d3cfd8122c5f172a98c8de38268bf1213ee09f2c2ae4df6e055fc6532590fe76",
    "oov_gb.onnx": "0997e3219543247de5646078d770f8ca77011d8fd0abb29fe48d12c60f53e9e1",
}
"""Digests of the weights in hibari-tts 0.2.1."""

_FRAME_SAMPLES = 600
_DURATIONS = "/Cast_32_output_0"
"""The network's internal tensor of frames per phoneme, which is not one of its outputs."""

_LONGEST = 250
_PIECE = re.compile(
    rf"\S(?:.{{0,{_LONGEST}}}?[.!?](?=\s|$)|.{{0,{_LONGEST}}}(?=\s|$)|.{{0,{_LONGEST}}})", re.DOTALL
)
"""A sentence; a long one is cut at white space if there is any."""


class HibariSynthesizer:
    """Speaks with one of hibari's voices; any number of threads may use it.

    Args:
        voice: "heart", which is in the package, or a voice that hibari offers for download.
        download: Whether to fetch a voice that is not on this machine from the hub.

    Raises:
        ModelError: There is no such voice, it is not on this machine, or its weights are not the
            published ones.
    """

    def __init__(self, voice: str = "heart", download: bool = False) -> None:
        from hibari import SAMPLE_RATE, Hibari
        from hibari.g2p import G2P

        path, digest, british = _files(voice, download)
        self.name = f"hibari:{voice}"
        self.sample_rate_hz = int(SAMPLE_RATE)
        reader = G2P(oov=unknown_word_reader(british), british=british)
        self._hibari = Hibari(voice, _giving_durations(checked(path, digest)), g2p=reader)

    def synthesize(self, segment: Segment, speed: float = 1.0) -> Iterator[SpeechChunk]:
        """See `voice.speech.tts.Synthesizer.synthesize`."""
        return assemble(segment, self.sample_rate_hz, self._pieces(segment.spoken), speed)

    def _pieces(self, text: str) -> Iterator[Piece]:
        made = 0
        for match in _PIECE.finditer(readable(text)):
            if not any(char.isalnum() for char in match.group()):
                continue
            try:
                piece = self._speak(match.group(), match.start(), made)
            except Exception as error:  # onnxruntime raises classes of its own
                raise ModelError(f"{self.name} failed to speak: {error}") from error
            made += len(piece.samples)
            yield piece

    def _speak(self, text: str, first_char: int, first_sample: int) -> Piece:
        """Audio of a piece of text that begins at ``first_char`` in the segment's text."""
        from hibari import dsp

        symbols, starts = self._phonemes(text)
        if not symbols:
            return Piece(np.empty(0, np.int16))
        inputs = {
            "ids": np.asarray([[0, *symbols, 0]], np.int64),
            "speed": np.ones(1, np.float32),
        }
        *spectrum, durations = self._hibari.sess.run(None, inputs)
        audio = dsp.synth(*(part[0] for part in spectrum), np.random.default_rng(0))
        begins = np.concatenate(([0], np.cumsum(durations))) * _FRAME_SAMPLES
        words = tuple(
            WordStart(first_char + char, first_sample + int(begins[1 + symbol]))
            for char, symbol in starts
        )
        return Piece((np.clip(audio, -1, 1) * 32767).astype(np.int16), words)

    def _phonemes(self, text: str) -> tuple[list[int], list[tuple[int, int]]]:
        """The network's symbols, and for each token its index in the text and in the symbols."""
        reader = self._hibari.g2p
        tokens = reader.tokenize(text)
        for index, token in enumerate(tokens):
            if _is_letter_a(tokens, index):
                token.phonemes, token.rating = "ˈA", 4
        symbols: list[int] = []
        starts = []
        char = 0
        for token in reader.phonemize_tokens(tokens):
            said = (token.phonemes or "") + (" " if token.whitespace else "")
            starts.append((char, len(symbols)))
            symbols += [self._hibari.vocab[sign] for sign in said if sign in self._hibari.vocab]
            char += len(token.text) + len(token.whitespace)
        return symbols, starts


def unknown_word_reader(british: bool = False) -> Callable[[str], str | None]:
    """The network that guesses the pronunciation of words that no dictionary has.

    Returns:
        Function of a lower-case word that gives its phonemes in Kokoro's notation, or None if it
        has no letters.

    Raises:
        ModelError: Its weights are not the published ones.
    """
    from hibari.g2p import oov

    weights = Path(oov.ASSETS) / ("oov_gb.onnx" if british else "oov.onnx")
    checked(weights, SHA256[weights.name])
    reader: Callable[[str], str | None] = oov.OOV(str(weights))
    return reader


def hibari_voices() -> list[str]:
    """The voices that are on this machine."""
    from hibari.voices import VOICES, voice_path

    found = []
    for voice in VOICES:
        with suppress(FileNotFoundError):
            voice_path(voice, download_missing=False)
            found.append(str(voice))
    return found


def _is_letter_a(tokens: Sequence[Any], index: int) -> bool:
    """Whether the token is the letter A, as in "a m" and "A B C", rather than the article."""
    text = str(tokens[index].text)
    following = str(tokens[index + 1].text) if index + 1 < len(tokens) else ""
    if text == "a":
        return following == "m"
    begins = index == 0 or tokens[index - 1].text in (".", "!", "?")
    return text == "A" and not (begins and len(following) > 1)


def _files(voice: str, download: bool) -> tuple[Path, str, bool]:
    """A voice's weights, their SHA-256, and whether it is British."""
    from hibari.voices import VOICES, voice_path

    if voice not in VOICES:
        raise ModelError(f"hibari: got the voice {voice!r}; expected one of {', '.join(VOICES)}")
    try:
        path = Path(voice_path(voice, download_missing=download))
    except (OSError, RuntimeError) as error:
        raise ModelError(f"hibari's voice {voice} is not on this machine: {error}") from error
    about = VOICES[voice]
    return path, SHA256.get(path.name, about["sha256"]), bool(about["british"])


def _giving_durations(model: bytes) -> bytes:
    """The same ONNX model with the frames of each phoneme as its last output.

    Protobuf messages can be merged by concatenation: their repeated fields are joined.
    """
    output = _field(1, _DURATIONS.encode())
    graph = _field(12, output)
    return model + _field(7, graph)


def _field(number: int, payload: bytes) -> bytes:
    """A protobuf field of at most 127 bytes."""
    return bytes((number << 3 | 2, len(payload))) + payload

"""One pocketsphinx decoder with its cepstral means under control.

pocketsphinx takes the average sound of the channel off each frame, but in a stream it starts from
an assumed average and barely moves it within an utterance; on far or noisy microphones that costs a
third of the words. So the means of the audio so far are measured by a second, nearly free decoder
that runs the acoustic front end alone, and set before the audio is decoded (again).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from voice.errors import ModelError
from voice.hearing.asr.confidence import LANGUAGE_WEIGHT, DecodedWord, decoded_word
from voice.hearing.asr.sphinx_files import SphinxFiles
from voice.types import Samples

Means = NDArray[np.float32]
"""(13,) cepstral means."""

TYPICAL_MEANS: Means = np.array(
    [45.0, 4.0, -0.9, 3.8, -3.0, 0.9, -3.2, -1.0, -1.7, 0.5, -0.5, 0.8, 0.0], np.float32
)
"""Averaged over LibriSpeech, speechocean762, and recordings of commands."""


class SphinxDecoder:
    """Decodes one utterance at a time; not thread-safe.

    Raises:
        ModelError: pocketsphinx rejects the files.
    """

    def __init__(self, files: SphinxFiles) -> None:
        import pocketsphinx

        common = {"dict": str(files.dictionary), "loglevel": "FATAL"}
        try:
            # The second pass (fwdflat) would double the wait at the end, for 1% fewer errors.
            self._decoder: Any = pocketsphinx.Decoder(
                pocketsphinx.Config(
                    lm=str(files.language_model), lw=LANGUAGE_WEIGHT, fwdflat=False, **common
                )
            )
            self._front_end: Any = pocketsphinx.Decoder(
                pocketsphinx.Config(lm=None, ds=8, **common)
            )
            with files.dictionary.open(encoding="utf-8") as lines:
                any_word = next(iter(lines)).split(None, 1)[0]
            self._front_end.add_jsgf_string(
                "front_end", f"#JSGF V1.0;\ngrammar g;\npublic <g> = {any_word};\n"
            )
            self._front_end.activate_search("front_end")
        except (RuntimeError, ValueError) as error:
            raise ModelError(f"pocketsphinx cannot load {files.language_model}: {error}") from error
        self._open = False

    def measure_means(self, audio: Samples) -> Means:
        """Cepstral means of (T,) int16 audio at 16 kHz; about 1 ms per second."""
        self._front_end.reinit_feat()
        self._front_end.start_utt()
        self._front_end.process_raw(audio.tobytes(), True, True)
        means = np.array([float(mean) for mean in self._front_end.get_cmn(False).split(",")])
        self._front_end.end_utt()
        return means.astype(np.float32)

    def start(self, means: Means) -> None:
        """Begin an utterance with these cepstral means, dropping an open one."""
        self.end()
        # Forgets the noise that the front end has learned to take out, so that the same audio
        # always gives the same words.
        self._decoder.reinit_feat()
        self._decoder.set_cmn(",".join(f"{mean:.4f}" for mean in means))
        self._decoder.start_utt()
        self._open = True

    def process(self, audio: Samples) -> None:
        """Decode the next (T,) int16 samples; about 25 ms per second."""
        try:
            self._decoder.process_raw(audio.tobytes(), False, False)
        except RuntimeError as error:
            raise ModelError(f"pocketsphinx failed: {error}") from error

    def end(self) -> None:
        """End the utterance, if one is open."""
        if self._open:
            self._open = False
            self._decoder.end_utt()

    def text(self) -> str:
        """The words so far, or of the utterance just ended."""
        hypothesis = self._decoder.hyp()
        return hypothesis.hypstr.strip() if hypothesis is not None else ""

    def words(self, posterior: float | None = None) -> list[DecodedWord]:
        """The words so far with their scores, silence and noises left out.

        Args:
            posterior: Taken for every word's posterior; None reads it, which only means something
                once the utterance has ended.
        """
        if self._decoder.hyp() is None:
            return []
        return [
            decoded_word(
                segment.end_frame - segment.start_frame + 1,
                segment.ascore,
                segment.lscore,
                segment.lback,
                segment.prob if posterior is None else posterior,
            )
            for segment in self._decoder.seg()
            if not segment.word.startswith(("<", "[", "+"))
        ]

"""The embedded recogniser: pocketsphinx with a language model of the agent's own domain.

It decodes while the user speaks. The cepstral means it decodes with are measured anew as audio
comes in (see `sphinx_decoder`); when they have moved, the audio so far is decoded again, at
doubling intervals, so that this never costs more than the decoding itself. The final transcript is
that of the running decoder, or for a short turn, whose means moved until its end, a fresh decode of
all of it.
"""

from __future__ import annotations

import logging
import threading

import numpy as np

from voice.config import AgentConfig, SphinxConfig
from voice.hearing.asr.confidence import confidence
from voice.hearing.asr.sphinx_decoder import TYPICAL_MEANS, Means, SphinxDecoder
from voice.hearing.asr.sphinx_files import sphinx_files
from voice.hearing.asr.turn_audio import TurnAudio
from voice.types import AudioFrame, Samples, Transcript, samples_of_ms

_LOG = logging.getLogger(__name__)

_FIRST_RECENTRING_MS = 480
_RECENTRE_ABOVE = 1.0
_FINAL_RECENTRE_ABOVE = 0.5
"""Mean absolute change of the cepstral means that is worth decoding again for."""
_FINAL_AGAIN_UP_TO_MS = 2000
"""Longest turn decoded again at its end: it takes 25 to 30 ms per second."""
_MOST_SILENCE_MS = 400
"""Silence beyond the speech's surroundings that a decode may have gone through to count."""
_DITHER = np.random.default_rng(0).normal(0, 4, 16_000).round().astype(np.int32)
"""Noise at -78 dBFS. The digital silence that noise suppression and codecs leave is like nothing
that the acoustic model was trained on, and costs whole sentences."""
_INTERIM_POSTERIOR = 0.5
"""Stands in for the posteriors, which pocketsphinx computes only at the end."""
_LAST_WORDS = 2
"""Each is scored with the two before it, so that four words have their say."""
_IDLE_DECODERS = 8


class SphinxRecognizer:
    """pocketsphinx for one agent, shared by all sessions.

    Raises:
        ModelError: The model's files are missing or the agent's phrases are wrong.
    """

    name = "sphinx"

    def __init__(self, config: SphinxConfig, agent: AgentConfig) -> None:
        self._config = config
        self._files = sphinx_files(agent, config.cache_dir)
        self._lock = threading.Lock()
        self._idle = [SphinxDecoder(self._files)]

    def open(self, turn_id: int) -> SphinxStream:
        """Begin the recognition of a turn; may be called from any thread."""
        return SphinxStream(self, self._config, turn_id)

    def borrow(self) -> SphinxDecoder:
        """A decoder for one stream; made anew (25 ms, 12 MB) when all are in use."""
        with self._lock:
            if self._idle:
                return self._idle.pop()
        return SphinxDecoder(self._files)

    def give_back(self, decoder: SphinxDecoder) -> None:
        """Keep a decoder for the next stream; a stream that is dropped takes its own with it."""
        with self._lock:
            if len(self._idle) < _IDLE_DECODERS:
                self._idle.append(decoder)


class SphinxStream:
    """Recognition of one turn."""

    def __init__(self, recognizer: SphinxRecognizer, config: SphinxConfig, turn_id: int) -> None:
        self._recognizer = recognizer
        self._config = config
        self._turn_id = turn_id
        self._decoder: SphinxDecoder | None = None
        self._audio = TurnAudio()
        self._means = TYPICAL_MEANS
        self._decoded = 0
        self._next_interim = samples_of_ms(config.interim_ms)
        self._next_recentring = samples_of_ms(_FIRST_RECENTRING_MS)
        self._interim_text = ""
        self._final: Transcript | None = None

    def accept(self, frame: AudioFrame) -> Transcript | None:
        """Take the next frame; return an interim transcript when there is one with new words.

        Raises:
            ModelError: pocketsphinx failed.
        """
        frame = self._dithered(frame)
        self._audio.append(frame)
        if self._final is not None and not self._audio.speech_since_mark():
            return None
        self._final = None
        if self._decoder is None:
            self._decode_anew(self._audio.around_speech())
        else:
            self._decoder.process(frame.samples)
            self._decoded += len(frame.samples)
        if self._audio.length < self._next_interim:
            return None
        self._next_interim = self._audio.length + samples_of_ms(self._config.interim_ms)
        speech = self._audio.around_speech()
        if len(speech) >= self._next_recentring:
            self._next_recentring = 2 * len(speech)
            if self._recentre(speech, _RECENTRE_ABOVE):
                self._decode_anew(speech)
        return self._interim()

    def finish(self) -> Transcript:
        """Decode what has been accepted, and return the final transcript.

        Words below ``min_confidence`` are taken as not understood: the text is then empty, and they
        are the guess. More frames may be accepted afterwards and `finish` called again.

        Raises:
            ModelError: pocketsphinx failed.
        """
        if self._final is None:
            self._final = self._decode_final()
        return self._final

    def _dithered(self, frame: AudioFrame) -> AudioFrame:
        at = self._audio.length % (len(_DITHER) - len(frame.samples))
        wide = frame.samples.astype(np.int32) + _DITHER[at : at + len(frame.samples)]
        return AudioFrame(np.clip(wide, -32768, 32767).astype(np.int16), frame.start_sample)

    def _decode_anew(self, speech: Samples) -> None:
        if self._decoder is None:
            self._decoder = self._recognizer.borrow()
        self._decoder.start(self._means)
        self._decoder.process(speech)
        self._decoded = len(speech)

    def _recentre(self, speech: Samples, threshold: float) -> bool:
        """Measure the means; return whether they have moved further than the threshold."""
        assert self._decoder is not None
        means: Means = self._decoder.measure_means(speech)
        moved = float(np.abs(means - self._means).mean()) > threshold
        if moved:
            self._means = means
        return moved

    def _interim(self) -> Transcript | None:
        assert self._decoder is not None
        text = self._decoder.text()
        if not text or text == self._interim_text:
            return None
        self._interim_text = text
        sure = confidence(self._decoder.words(_INTERIM_POSTERIOR))
        return Transcript(self._turn_id, text, False, sure, self._audio.end_sample)

    def _decode_final(self) -> Transcript:
        if not self._audio.length:
            return Transcript(self._turn_id, "", True, 0.0, self._audio.end_sample)
        speech = self._audio.around_speech()
        if self._decoder is None:
            self._decode_anew(speech)
        short = len(speech) <= samples_of_ms(_FINAL_AGAIN_UP_TO_MS)
        silent = self._decoded - len(speech) > samples_of_ms(_MOST_SILENCE_MS)
        moved = (short or silent) and self._recentre(speech, _FINAL_RECENTRE_ABOVE)
        if moved or silent:
            self._decode_anew(speech)
        assert self._decoder is not None
        self._decoder.end()
        text = self._decoder.text()
        words = self._decoder.words()
        sure, of_last = confidence(words), confidence(words[-_LAST_WORDS:])
        self._recognizer.give_back(self._decoder)
        self._decoder = None
        self._audio.mark()
        at = self._audio.end_sample
        if sure < self._config.min_confidence:
            _LOG.debug("turn %d: not understood, confidence %.2f", self._turn_id, sure)
            return Transcript(self._turn_id, "", True, 0.0, at, guess=text)
        return Transcript(self._turn_id, text, True, sure, at, ending_confidence=of_last)

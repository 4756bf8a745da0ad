"""Silero's neural detector, from the ONNX file that faster-whisper ships, with a level gate.

The network takes windows of 512 samples, each preceded by the last 64 samples of the one before,
and carries a recurrent state. Frames of 320 samples are collected until a window is full; until
then the last probability stands. Source: faster_whisper/vad.py (MIT), which runs it over whole
recordings.

The network goes on reporting speech for 60 to 100 ms after it ends. In a quiet room the level falls
sooner than that, so a low level sets the probability to 0. So does the level of many voices around
the user, which the network takes for one that never pauses.
"""

from __future__ import annotations

from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from voice.audio import level_dbfs
from voice.errors import ModelError
from voice.hearing.babble import Babble
from voice.types import AudioFrame, Samples

if TYPE_CHECKING:
    from onnxruntime import InferenceSession

WINDOW_SAMPLES = 512
CONTEXT_SAMPLES = 64
_STATE_SHAPE = (1, 1, 128)
_SPEECH = 0.5
"""Probability at and above which a frame's level counts as that of speech."""
_BELOW_PEAK_DB = 30.0
_PEAK_DECAY_DB = 0.1
"""Per frame, so that the peak follows a voice that grows softer by 5 dB a second."""


class SileroVad:
    """Silero VAD v6 over a stream.

    The model is loaded once per process and shared; the state belongs to one session.

    Raises:
        ModelError: The installed faster-whisper does not carry the model.
    """

    def __init__(self) -> None:
        self._model = _load_model()
        self.reset()

    def reset(self) -> None:
        """Forget the stream: the next frame begins a new one."""
        self._waiting: Samples = np.empty(0, np.int16)
        self._context = np.zeros((1, CONTEXT_SAMPLES), np.float32)
        self._state: tuple[Any, Any] = (
            np.zeros(_STATE_SHAPE, np.float32),
            np.zeros(_STATE_SHAPE, np.float32),
        )
        self._probability = 0.0
        self._peak_dbfs = -100.0
        self._babble = Babble()

    def probability(self, frame: AudioFrame) -> float:
        """Probability in [0, 1] of speech in the newest full window of 32 ms.

        It is 0 for a frame far below the loudest speech of the last seconds, or no louder than the
        voices around the user.
        """
        probability, level = self.network(frame), level_dbfs(frame.samples)
        babble = self._babble.drowns(level, probability >= _SPEECH)
        if babble or level <= self._peak_dbfs - _BELOW_PEAK_DB:
            probability = 0.0
        self._peak_dbfs -= _PEAK_DECAY_DB
        if probability >= _SPEECH:
            self._peak_dbfs = max(self._peak_dbfs, level)
        return probability

    def network(self, frame: AudioFrame) -> float:
        """Probability of speech in [0, 1] by the network alone."""
        self._waiting = np.concatenate([self._waiting, frame.samples])
        while len(self._waiting) >= WINDOW_SAMPLES:
            window = self._waiting[:WINDOW_SAMPLES].astype(np.float32)[None] / 32768
            self._waiting = self._waiting[WINDOW_SAMPLES:]
            self._probability = self._run(window)
        return self._probability

    def _run(self, window: np.ndarray[Any, Any]) -> float:
        inputs = {
            "input": np.concatenate([self._context, window], axis=1),
            "h": self._state[0],
            "c": self._state[1],
        }
        output, *state = self._model.run(None, inputs)
        self._state = (state[0], state[1])
        self._context = window[:, -CONTEXT_SAMPLES:]
        return float(np.asarray(output).reshape(-1)[0])


@lru_cache(maxsize=1)
def _load_model() -> InferenceSession:
    import onnxruntime

    # Find the package without importing it, which would load a speech recogniser's libraries.
    package = find_spec("faster_whisper")
    folders = package.submodule_search_locations if package else None
    files = sorted(f for at in folders or () for f in Path(at).glob("assets/silero_vad*.onnx"))
    if not files:
        raise ModelError(f"{folders}: no assets/silero_vad*.onnx; expected faster-whisper >= 1.2")
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.inter_op_num_threads = 1
    options.log_severity_level = 3
    return onnxruntime.InferenceSession(
        str(files[-1]), providers=["CPUExecutionProvider"], sess_options=options
    )

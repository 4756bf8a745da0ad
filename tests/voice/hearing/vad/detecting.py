"""What both detectors are asked."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import soundfile

from voice.audio import Framer
from voice.demo.recordings import load
from voice.hearing.vad import Vad
from voice.types import Samples


def shares(vad: Vad, audio: Samples) -> list[float]:
    return [vad.probability(frame) for frame in Framer().push(audio)]


def sentence() -> tuple[Samples, slice]:
    """Silence, a spoken sentence, silence; and the frames that the sentence fills."""
    said = load("assistant-3-units")
    loud = np.flatnonzero(np.abs(said.astype(int)) > 500)
    said = said[loud[0] : loud[-1]]
    quiet = np.random.default_rng(0).normal(0, 3, 16000).astype(np.int16)
    return np.concatenate([quiet, said, quiet]), slice(50, 50 + len(said) // 320)


def noise(shared_audio: Path, name: str) -> Samples:
    audio, _ = soundfile.read(shared_audio / "noise" / f"{name}.flac", dtype="int16")
    return np.asarray(audio)

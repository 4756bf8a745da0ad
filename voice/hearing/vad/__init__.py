"""Voice activity detection: how likely each frame of 20 ms holds speech.

It knows nothing of turns; `voice.hearing.endpointing` makes those from the probabilities.
"""

from __future__ import annotations

from typing import Protocol

from voice.config import VadConfig
from voice.types import AudioFrame


class Vad(Protocol):
    """One detector per session, fed every frame in order."""

    def probability(self, frame: AudioFrame) -> float:
        """Probability in [0, 1] that the user speaks in this frame."""
        ...

    def reset(self) -> None:
        """Forget the stream: the next frame begins a new one."""
        ...


def make_vad(config: VadConfig) -> Vad:
    """The detector that the configuration names.

    Raises:
        ModelError: silero: the installed faster-whisper does not carry the model.
    """
    if config.engine == "silero":
        from voice.hearing.vad.silero import SileroVad

        return SileroVad()
    from voice.hearing.vad.webrtc import WebRtcVad

    return WebRtcVad(config.aggressiveness)

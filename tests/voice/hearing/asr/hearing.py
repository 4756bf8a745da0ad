"""What of a recording reaches a recogniser: speech, pre-roll and the first silent frames."""

from __future__ import annotations

import numpy as np

from voice.audio import Framer
from voice.config import EndpointingConfig
from voice.hearing.end_of_turn import Cues
from voice.hearing.endpointing import Endpointer
from voice.hearing.vad.silero import SileroVad
from voice.types import Samples, SpeechStarted, TurnEnded


def spoken_part(audio: Samples) -> Samples:
    """The one turn of a recording, as detector and endpointing cut it out."""
    audio = np.concatenate([np.zeros(4800, np.int16), audio, np.zeros(16000, np.int16)])
    config = EndpointingConfig()
    endpointer, vad = Endpointer(config, silence_ms=800), SileroVad()
    events = [
        event
        for frame in Framer().push(audio)
        for event in endpointer.accept(frame, vad.probability(frame), Cues())
    ]
    started = next(event for event in events if isinstance(event, SpeechStarted))
    ended = [event for event in events if isinstance(event, TurnEnded)][-1]
    begin = max(0, started.start_sample - endpointer.pre_roll_samples)
    return audio[begin : ended.end_sample + config.pause_ms * 16]

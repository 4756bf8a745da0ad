"""The user's side of two recorded conversations: the lines, and the tool that each should call.

The audio beside this module is synthetic speech, 16 kHz mono FLAC, made from the lines below by
benchmarks/voice/make_recordings.py. How recordings are played or judged is decided elsewhere.
"""

from __future__ import annotations

from dataclasses import dataclass
from importlib import resources
from pathlib import Path

import numpy as np

from voice.types import SAMPLE_RATE_HZ, Samples


@dataclass(frozen=True, slots=True)
class Line:
    """Something that the user says.

    Attributes:
        name: The recording's file name without its ending.
        text: The words.
        tool: The tool that the agent is expected to call for it.
    """

    name: str
    text: str
    tool: str


CONVERSATIONS: dict[str, tuple[Line, ...]] = {
    "assistant": (
        Line("assistant-1-timer", "set a timer for ten minutes", "set_timer"),
        Line("assistant-2-sum", "what is twelve times seven", "calculate"),
        Line("assistant-3-units", "convert five miles to kilometers", "convert_units"),
        Line("assistant-4-add", "add milk to the shopping list", "add_to_list"),
        Line("assistant-5-list", "what is on the shopping list", "read_list"),
        Line("assistant-6-time", "what time is it", "get_time"),
        Line("assistant-7-light", "turn on the kitchen light", "set_device"),
        Line("assistant-8-bye", "bye bye", "end_conversation"),
    ),
    "coffee": (
        Line("coffee-1-latte", "i would like a large latte with oat milk", "order_drink"),
        Line("coffee-2-mocha", "i would also like a small mocha", "order_drink"),
        Line("coffee-3-remove", "remove the mocha please", "remove_drink"),
        Line("coffee-4-read", "what is in my order", "read_order"),
        Line("coffee-5-confirm", "that is all my name is anna", "confirm_order"),
        Line("coffee-6-bye", "bye bye", "end_conversation"),
    ),
}
"""Agent → the lines that a user says to it, in order."""


def load(name: str) -> Samples:
    """Decode a recording.

    Args:
        name: A `Line.name`.

    Returns:
        (T,) int16 mono at 16 kHz.

    Raises:
        ValueError: There is no such recording.
    """
    file = resources.files(__package__) / f"{name}.flac"
    if not file.is_file():
        known = sorted(line.name for lines in CONVERSATIONS.values() for line in lines)
        raise ValueError(f"got the recording {name!r}; expected one of {known}")
    with resources.as_file(file) as path:
        return decoded(path)


def decoded(path: Path) -> Samples:
    """Decode a sound file of any format and rate to (T,) int16 mono at 16 kHz.

    Raises:
        OSError: It cannot be read, or holds no sound.
    """
    import av

    with av.open(str(path)) as container:
        resampler = av.AudioResampler(format="s16", layout="mono", rate=SAMPLE_RATE_HZ)
        parts = [
            part.to_ndarray()[0]
            for frame in [*container.decode(audio=0), None]
            for part in resampler.resample(frame)
        ]
    return np.concatenate(parts).astype(np.int16)

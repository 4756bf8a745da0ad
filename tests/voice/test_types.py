from __future__ import annotations

import dataclasses
import inspect

import numpy as np
import pytest

from voice import types
from voice.types import (
    FRAME_SAMPLES,
    AudioFrame,
    samples_of_ms,
)

DATACLASSES = [
    member
    for _, member in inspect.getmembers(types, inspect.isclass)
    if member.__module__ == types.__name__ and dataclasses.is_dataclass(member)
]


@pytest.mark.parametrize("kind", DATACLASSES, ids=lambda kind: kind.__name__)
def test_what_flows_is_frozen_slotted_and_documented(kind: type) -> None:
    assert kind.__dataclass_params__.frozen  # type: ignore[attr-defined]
    assert "__slots__" in vars(kind)
    assert kind.__doc__ is not None
    assert not kind.__doc__.startswith(f"{kind.__name__}(")


def test_a_frame_is_20_ms() -> None:
    assert FRAME_SAMPLES == 320
    frame = AudioFrame(np.zeros(FRAME_SAMPLES, np.int16), start_sample=640)
    assert frame.end_sample == 960


def test_frames_of_equal_audio_are_not_equal() -> None:
    # Comparing arrays inside == would raise; identity is what a queue or a set needs.
    samples = np.zeros(FRAME_SAMPLES, np.int16)
    first, second = AudioFrame(samples, 0), AudioFrame(samples, 0)
    assert first != second
    assert len({first, second}) == 2


@pytest.mark.parametrize(("ms", "samples"), [(0, 0), (20, 320), (0.03, 0), (0.04, 1), (62.5, 1000)])
def test_milliseconds_round_to_the_nearest_sample(ms: float, samples: int) -> None:
    assert samples_of_ms(ms) == samples

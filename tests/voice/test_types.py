from __future__ import annotations

import dataclasses
import inspect

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from voice import types
from voice.types import (
    FRAME_SAMPLES,
    AudioFrame,
    EndReason,
    Segment,
    SpeechChunk,
    ToolCall,
    TurnEnded,
    ms_of_samples,
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


@given(st.integers(min_value=0, max_value=16_000 * 3600 * 24))
def test_samples_survive_the_way_through_milliseconds(samples: int) -> None:
    assert samples_of_ms(ms_of_samples(samples)) == samples


@pytest.mark.parametrize(("ms", "samples"), [(0, 0), (20, 320), (0.03, 0), (0.04, 1), (62.5, 1000)])
def test_milliseconds_round_to_the_nearest_sample(ms: float, samples: int) -> None:
    assert samples_of_ms(ms) == samples


def test_a_turn_ends_by_silence_unless_said_otherwise() -> None:
    assert TurnEnded(1, 16_000, 24_000).reason is EndReason.SILENCE


def test_words_of_a_chunk_are_unknown_at_first() -> None:
    segment = Segment(turn_id=1, index=0, text="Hi.", spoken="Hi.")
    assert SpeechChunk(segment, np.zeros(4, np.int16), 22_050, last=False).words == ()


def test_a_value_cannot_be_changed() -> None:
    call = ToolCall("call_1", "get_time", {})
    with pytest.raises(dataclasses.FrozenInstanceError):
        call.name = "set_timer"  # type: ignore[misc]

"""What flows between the parts: frames, events, inputs and commands."""

from __future__ import annotations

import dataclasses
import inspect
from typing import get_args, get_type_hints

import numpy as np
import pytest

from voice import events, inputs, types
from voice.dialogue import commands
from voice.events import SessionEvent
from voice.types import FRAME_SAMPLES, AudioFrame, samples_of_ms


def defined(module: object) -> set[type]:
    members = vars(module).values()
    own = [one for one in members if getattr(one, "__module__", "") == module.__name__]  # type: ignore[attr-defined]
    return {one for one in own if inspect.isclass(one) and dataclasses.is_dataclass(one)}


@pytest.mark.parametrize("module", [commands, events, inputs, types])
def test_what_flows_is_frozen_slotted_and_documented(module: object) -> None:
    for kind in defined(module):
        assert kind.__dataclass_params__.frozen  # type: ignore[attr-defined]
        assert "__slots__" in vars(kind)
        assert kind.__doc__ is not None
        assert not kind.__doc__.startswith(f"{kind.__name__}(")


def test_an_event_says_what_it_belongs_to() -> None:
    # A stage is part of an event.
    happening = defined(events) - {events.Stage}
    assert happening == set(get_args(SessionEvent))
    # A stale event is known by its turn or reply; what concerns the whole session has neither.
    neither = {kind for kind in happening if not {"turn_id", "reply_id"} & {*get_type_hints(kind)}}
    assert neither == {
        events.AudioStopped,
        events.FlowChanged,
        events.UserIdle,
        events.ServerListing,
        events.SessionEnded,
    }


def test_frames_of_equal_audio_are_not_equal() -> None:
    # Comparing arrays inside == would raise; identity is what a queue or a set needs.
    samples = np.zeros(FRAME_SAMPLES, np.int16)
    first, second = AudioFrame(samples, 640), AudioFrame(samples, 640)
    assert first.end_sample == 960
    assert len({first, second}) == 2


@pytest.mark.parametrize(("ms", "samples"), [(0, 0), (20, 320), (0.03, 0), (0.04, 1), (62.5, 1000)])
def test_milliseconds_round_to_the_nearest_sample(ms: float, samples: int) -> None:
    assert samples_of_ms(ms) == samples

from __future__ import annotations

import dataclasses
import inspect
from typing import get_args, get_type_hints

import numpy as np
import pytest

from voice import events
from voice.events import ReplyAudio, ReplyEnded, ReplyStatus, SessionEvent

EVENTS = get_args(SessionEvent)


def test_every_event_of_the_module_is_in_the_union() -> None:
    defined = {
        member
        for _, member in inspect.getmembers(events, inspect.isclass)
        if member.__module__ == events.__name__ and dataclasses.is_dataclass(member)
    }
    assert defined == set(EVENTS)


@pytest.mark.parametrize("kind", EVENTS, ids=lambda kind: kind.__name__)
def test_an_event_is_frozen_slotted_and_documented(kind: type) -> None:
    assert kind.__dataclass_params__.frozen  # type: ignore[attr-defined]
    assert "__slots__" in vars(kind)
    assert kind.__doc__ is not None
    assert not kind.__doc__.startswith(f"{kind.__name__}(")


@pytest.mark.parametrize("kind", EVENTS, ids=lambda kind: kind.__name__)
def test_an_event_says_what_it_belongs_to(kind: type) -> None:
    # A stale event is known by its turn or reply; what concerns the whole session has neither.
    names = set(get_type_hints(kind))
    of_the_session = (events.AudioStopped, events.UserIdle, events.SessionEnded)
    assert names & {"turn_id", "reply_id"} or kind in of_the_session


def test_audio_events_compare_by_identity() -> None:
    samples = np.zeros(4, np.int16)
    assert ReplyAudio("r", samples, 24_000) != ReplyAudio("r", samples, 24_000)


def test_a_status_is_its_own_word_on_the_wire() -> None:
    ended = ReplyEnded("r", ReplyStatus.CANCELLED, "turn_detected", "Hello", 10, 4)
    assert f"{ended.status}" == "cancelled"

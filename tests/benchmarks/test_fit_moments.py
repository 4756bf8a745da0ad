"""Weights that find moments by their words."""

from __future__ import annotations

import numpy as np

from benchmarks.voice.fit_moments import AUTHORS, JUDGED, NONE, fitted, scored, told, written
from voice.config.moment_weights import BUCKETS, KINDS, inputs


def test_every_author_has_written_of_every_kind() -> None:
    fitted_to = {text for author in AUTHORS for text, _ in written(author)}
    assert len(fitted_to & {text for text, _ in written(JUDGED)}) < 10
    for author in (*AUTHORS, JUDGED):
        assert {kind for _, kind in written(author)} == {*KINDS, NONE}


def test_inputs_are_the_same_on_every_machine() -> None:
    assert inputs("help me").tolist() == inputs("help me").tolist()
    assert inputs("").tolist() != []
    assert max(inputs("somebody help me")) < BUCKETS


def test_weights_learn_what_tells_the_kinds_apart() -> None:
    rows = [(f"the {thing} is on fire", "emergency") for thing in ("barn", "shed", "car")]
    rows += [(f"are you a {thing}", "person") for thing in ("robot", "machine", "human")]
    far = [(f"turn on the {thing}", NONE) for thing in ("lamp", "radio", "fan", "car")]
    weights, bias = fitted(rows, far)
    found = scored(
        [("my house is on fire", ""), ("are you a man", ""), ("turn on it", "")], weights, bias
    )
    assert [KINDS[one.argmax()] for one in found[:2]] == ["emergency", "person"]
    assert found[2].max() < found[:2].max(1).min()


def test_what_people_say_in_conversations_counts_against_emergencies_alone() -> None:
    rows = [("the barn is on fire", "emergency"), ("i want to die", "self_harm")]
    far = [("turn on the lamp", NONE)]
    alone, _ = fitted(rows, far)
    beside, _ = fitted(rows, far, [("the lamp is on fire", NONE)], [("i want to order", NONE)])
    assert np.allclose(alone[:, 1:], beside[:, 1:], atol=1e-4)
    assert not np.allclose(alone[:, 0], beside[:, 0], atol=1e-2)


def test_what_is_found_is_counted_by_kind() -> None:
    rows = [("a", "emergency"), ("b", "emergency"), ("c", NONE), ("d", NONE)]
    found = told(rows, ["emergency", "", "abuse", "rudeness"])
    assert found["emergency"] == {"count": 1, "of": 2, "rate": 0.5}
    assert found[NONE] == {"count": 1, "of": 2, "rate": 0.5}
    assert np.isclose(found[NONE]["rate"], 0.5)

from __future__ import annotations

import pytest

from benchmarks.dlm.decoding import WAYS, Answered, figures, measure
from dlm.evaluate.cases import Case, Kind
from dlm.loading.checkpoint import Checkpoint
from tests.dlm.tiny import DIALOGUES, TOOLS, taught, template

pytestmark = pytest.mark.usefixtures("one_thread")


def test_every_way_is_measured_and_what_is_verified_agrees() -> None:
    found = [Case((turns[0],), TOOLS, turns[1], Kind.TALK) for turns in DIALOGUES]
    asked = {kind: [c for c in found if bool(c.wanted.calls) is calls]
             for kind, calls in (("replies", False), ("calls", True))}  # fmt: skip
    told = measure(Checkpoint("taught", taught(), template()), asked)
    for kind in ("replies", "calls"):
        assert set(told[kind]) == set(WAYS)
        for name, way in WAYS.items():
            if way.verified:
                assert told[kind][name]["agreement"]["rate"] == 1.0
        assert told[kind]["token_by_token"]["tokens_per_forward"] == 1.0
        assert told[kind]["token_by_token"]["speed"] == 1.0
        assert told[kind]["self_verification"]["tokens_per_forward"] > 1.5


def test_rates_are_of_all_answers_together() -> None:
    alone = [Answered([1, 2, 3, 4], 4, 2.0), Answered([1, 2], 2, 1.0)]
    told = figures([Answered([1, 2, 3, 4], 2, 1.0), Answered([1, 9], 1, 0.5)], alone, alone)
    assert told["tokens_per_forward"] == 2.0
    assert told["tokens_per_s"] == 4.0
    assert told["speed"] == 2.0
    assert told["agreement"] == {"count": 1, "of": 2, "rate": 0.5}

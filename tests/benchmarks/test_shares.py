from __future__ import annotations

import time

import pytest

from benchmarks.dlm import shares
from benchmarks.dlm.decoding import WAYS, answer
from benchmarks.dlm.shares import PARTS, REST, Tally
from dlm.decoding.first_token_cache import FirstTokenCache
from dlm.evaluate.cases import Case, Kind
from dlm.grammar.matcher import GrammarFactory, Matcher
from dlm.loading.checkpoint import Checkpoint
from tests.dlm.tiny import DIALOGUES, TOOLS, taught, template

pytestmark = pytest.mark.usefixtures("one_thread")


def test_all_parts_are_watched_and_left_as_they_were() -> None:
    before = Matcher.best
    checkpoint = Checkpoint("taught", taught(), template())
    tally = Tally()
    case = Case((DIALOGUES[2][0],), TOOLS, DIALOGUES[2][1], Kind.REQUEST)
    factory = GrammarFactory(template(), taught().config.vocab_size)
    way, openings = WAYS["self_verification_grammar"], FirstTokenCache(template())
    answered = answer(checkpoint, way, case, factory, openings, tally)
    told = tally.figures(answered.seconds)
    assert Matcher.best is before
    assert told["forwards"] == answered.forwards
    assert 1 < told["rows_per_forward"] <= 16
    assert list(told["shares"]) == [*PARTS, REST]
    assert all(share >= 0 for share in told["shares"].values())
    assert sum(told["shares"].values()) == pytest.approx(1.0, abs=0.01)
    assert told["layers_and_head_ms"] <= told["all_ms"]


def test_what_a_part_calls_of_another_counts_for_that(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = iter(range(100))
    monkeypatch.setattr(time, "perf_counter", lambda: float(next(clock)))

    class Nested:
        def outer(self) -> None:
            self.inner()

        def inner(self) -> None:
            pass

    parts = {"a": [(Nested, ("outer",))], "b": [(Nested, ("inner",))]}
    monkeypatch.setattr(shares, "PARTS", parts)
    tally = Tally()
    with tally.taken():
        Nested().outer()
    # Four readings of the clock: outer begins, inner begins and ends, outer ends.
    assert tally.spent == {"a": 2.0, "b": 1.0}

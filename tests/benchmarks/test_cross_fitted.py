"""Recordings are made up, so that what the figures over all of them should be is known."""

from __future__ import annotations

import pytest

from benchmarks.voice import corpus, cross_fitted, fit_endings
from benchmarks.voice.cross_fitted import ALONE, OURS, ratio
from benchmarks.voice.fit_endings import of_messages, unseen
from benchmarks.voice.pauses import Met, Traced
from voice.hearing.end_of_turn import Cues

MESSAGES = [([("what time", 0.001), ("what time is it", 0.9)], 1)]


def recordings(count: int) -> list[Traced]:
    """Each as it is and with a pause of 900 ms behind words that are not all."""
    end = Met(None, 20.0, Cues("what time is it now", end_of_message=0.9))
    begun = Met(900.0, 0.0, Cues("what time", end_of_message=0.001))
    whole = [Traced(str(i), "command", (end,)) for i in range(count)]
    return whole + [Traced(str(i), "command, pause", (begun, end)) for i in range(count)]


ASIDE = frozenset({"0", "2", "3"})


@pytest.fixture(autouse=True)
def halves(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(corpus, "_put_aside", lambda: ASIDE)
    monkeypatch.setattr(cross_fitted, "DRAWS", 50)


def test_both_rules_are_tried_on_all_recordings_and_compared() -> None:
    heard = recordings(6)
    figures = cross_fitted.cross_fitted(heard, of_messages(MESSAGES))
    assert (figures["recordings"], figures["of_them_not_made_by_pauses"]) == (12, 6)
    least = {
        rule: figures["least_dead_air_within_false_cutoffs"][rule]["5%"]["mean_ms"]
        for rule in (ALONE, OURS)
    }
    # 900 ms have to pass before silence alone may end a turn, and its settings are 20 ms apart.
    assert least[ALONE] == 920 + 20
    assert least[OURS] < least[ALONE] / 2
    found = figures["ratio"]["5%"]
    assert found["ratio"] == pytest.approx(least[OURS] / least[ALONE], abs=0.001)
    assert found["low"] == found["ratio"] == found["high"], "all recordings are alike"
    assert found["at_most_half"] == 1
    assert figures == cross_fitted.cross_fitted(heard, of_messages(MESSAGES))


def test_no_weights_were_fitted_to_a_voice_they_judge(monkeypatch: pytest.MonkeyPatch) -> None:
    met: list[set[str]] = []
    of_pauses = fit_endings.of_pauses

    def watched(heard: list[Traced]) -> fit_endings.Examples:
        met.append({traced.name for traced in heard})
        return of_pauses(heard)

    monkeypatch.setattr(fit_endings, "of_pauses", watched)
    heard = recordings(5)
    fitted = unseen(heard, of_messages(MESSAGES))
    assert met == [{"1", "4"}, ASIDE]
    by_weights = {
        id(weights): {n for n in fitted if fitted[n] is weights} for weights in fitted.values()
    }
    assert list(by_weights.values()) == [ASIDE, {"1", "4"}]


def test_a_ratio_has_an_interval_and_none_where_a_rule_cuts_off_too_many() -> None:
    names = [str(i) for i in range(8)]
    half: list[float | None] = [300.0, 500.0] * 4
    found = {ALONE: {1.0: [800.0] * 8}, OURS: {1.0: half}}
    told = ratio(names, found, 0.05)
    assert told["ratio"] == 0.5
    assert told["low"] < 0.5 < told["high"]
    assert 0 < told["at_most_half"] < 1
    lost = ratio(names, {**found, OURS: {1.0: [None] * 8}}, 0.05)
    assert lost == {"ratio": None, "low": None, "high": None, "at_most_half": 0.0}

"""Rules for the end of a turn are tried right on pauses that are made up."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.voice import endpointing
from benchmarks.voice.corpus import demo_lines
from benchmarks.voice.endpointing import (
    cheapest,
    curve,
    grouped,
    is_held_out,
    kept,
    ours,
    profile_figures,
    silence_only,
)
from benchmarks.voice.pauses import Met, Traced, Tracer, dead_air_ms, heard_pauses
from voice.turn_end import Cues

DONE, BEGUN = Cues("what time is it", opinion=0.9), Cues("what time", opinion=0.001)


def traced(*gaps_ms: float, name: str = "a", kind: str = "command") -> Traced:
    inner = [Met(gap, 0.0, BEGUN) for gap in gaps_ms]
    return Traced(name, kind, (*inner, Met(None, 20.0, DONE)))


def test_dead_air_counts_from_the_true_end_and_a_cut_off_turn_has_none() -> None:
    assert dead_air_ms(traced(), lambda _: 300) == 320
    assert dead_air_ms(traced(200, 290), lambda _: 300) == 320
    assert dead_air_ms(traced(200, 400), lambda _: 300) is None


def test_what_knows_more_waits_less_for_as_few_cutoffs() -> None:
    heard = [traced(500, name=str(i)) for i in range(10)]
    silent = cheapest(curve(heard, silence_only, range(100, 1000, 100)), 0.0)
    informed = cheapest(curve(heard, ours, [0.0, 2.0, 4.0]), 0.0)
    assert silent is not None
    assert informed is not None
    assert silent.mean_ms == 620
    assert informed.mean_ms < silent.mean_ms / 2
    assert cheapest(curve(heard, silence_only, [100]), 0.5) is None


def test_what_was_found_is_kept_until_it_is_to_be_found_anew(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(endpointing, "KEPT", tmp_path / "new")
    counted = iter(range(9))
    assert kept("count", lambda: next(counted), fresh=False) == 0
    assert kept("count", lambda: next(counted), fresh=False) == 0
    assert kept("count", lambda: next(counted), fresh=True) == 1
    monkeypatch.setattr(endpointing, "shipped_checkpoint", lambda: {"small": "another"})
    assert kept("count", lambda: next(counted), fresh=False) == 2


def test_figures_are_of_groups_and_profiles() -> None:
    groups = grouped([traced(), traced(400, kind="demo, pause"), traced(kind="read")])
    assert {name: len(group) for name, group in groups.items()} == {
        "in domain": 1,
        "in domain, with pauses": 1,
        "read": 1,
    }
    figures = profile_figures(groups["in domain"])
    waits = [figures[name]["dead_air_ms"]["p50"] for name in ("eager", "balanced", "patient")]
    assert waits == sorted(waits)


def test_the_halves_never_change() -> None:
    halves = [is_held_out(f"order-{number:02}") for number in range(1, 25)]
    assert sum(halves) == pytest.approx(12, abs=5)
    assert is_held_out("order-01") == is_held_out("order-01")


def test_a_recording_is_met_with_all_cues() -> None:
    said = demo_lines("assistant")[5]
    found = Tracer(lambda agent, text: 0.5).trace(said)
    last = found.pauses[-1]
    assert last.gap_ms is None
    assert abs(last.lag_ms) < 300
    assert (last.cues.text, last.cues.opinion) == ("what time is it", 0.5)
    assert last.cues.prosody is not None
    assert [ended for _, ended in heard_pauses(said.samples, 16_000)][-1] is True

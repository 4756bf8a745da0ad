from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from benchmarks.voice.dead_air import is_held_out
from benchmarks.voice.figures import Said
from benchmarks.voice.pareto import (
    Point,
    compared,
    dead_air,
    draw,
    figures,
    points,
    utterances,
)
from tests.benchmarks.test_figures import said
from voice.hearing.end_of_turn import Profile


def at(ms: float, early: int = 0) -> Said:
    return said(voice_to_voice_ms=ms, early_commits=early)


def test_every_profile_and_several_silences_are_measured_and_two_points_twice() -> None:
    found = points(one_at_a_time=True)
    assert [p for p in found if p.abreast > 1] == points()
    assert {p.profile for p in found if p.rule == "ours"} == set(Profile)
    assert all(p.silence_ms is None for p in found if p.rule == "ours")
    alone = [p for p in found if p.abreast == 1]
    assert len(alone) == 2
    for point in alone:
        assert any(replace(point, abreast=p.abreast) == p for p in found if p.abreast > 1)


def test_recordings_are_of_the_half_that_nothing_was_tuned_on() -> None:
    chosen = utterances(2)
    assert all(is_held_out(utterance.name) for utterance in chosen)
    assert [bool(utterance.pause_ms) for utterance in chosen] == [False, False, True, True]


def test_turns_that_were_cut_off_have_no_dead_air() -> None:
    assert dead_air([at(300.0), at(900.0, early=1)]) == [300.0]


def test_several_calls_are_compared_with_one_on_the_same_utterances() -> None:
    one, other = at(300.0), at(500.0)
    alone = [Said(said.utterance, at(ms).turn) for said, ms in ((one, 280.0), (other, 490.0))]
    told = compared([one, at(1000.0), other], alone)
    assert (told["utterances"], told["timed_in_both"]) == (2, 2)
    assert told["mean_difference_ms"] == 15.0
    assert told["standard_error_ms"] == pytest.approx(5.0)
    assert compared([one], [Said(one.utterance, at(1.0, early=1).turn)])["timed_in_both"] == 0


def test_points_are_told_and_drawn(tmp_path: Path) -> None:
    several = Point("ours", "balanced", None, Profile.BALANCED, 4)
    heard = [at(300.0), at(400.0, early=1)]
    told = figures({several: heard, replace(several, abreast=1): heard[:1]})
    assert told["points"][0]["mean_ms"] == 300
    assert told["points"][0]["false_cutoffs"]["rate"] == 0.5
    assert told["at_once_against_alone"]["ours, balanced"]["mean_difference_ms"] == 0.0
    file = tmp_path / "plot.svg"
    draw(told["points"], file)
    assert "balanced" in file.read_text(encoding="utf-8")

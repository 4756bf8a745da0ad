from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from benchmarks.voice.figures import Said
from benchmarks.voice.pareto import (
    Point,
    draw,
    figures,
)
from tests.benchmarks.test_figures import said
from voice.hearing.end_of_turn import Profile


def at(ms: float, early: int = 0) -> Said:
    return said(voice_to_voice_ms=ms, early_commits=early)


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

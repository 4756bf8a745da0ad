from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from benchmarks.voice.corpus import demo_lines
from benchmarks.voice.dead_air import cheapest, curve, silence_only
from benchmarks.voice.endpointing import ours
from benchmarks.voice.figures import Said
from benchmarks.voice.pareto import Point, draw, figures
from benchmarks.voice.pauses import Met, Traced, Tracer
from tests.benchmarks.test_figures import said
from voice.config import AsrConfig
from voice.hearing.end_of_turn import Cues, Profile


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


DONE, BEGUN = Cues("what time is it", end_of_message=0.9), Cues("what time", end_of_message=0.001)


def traced(*gaps_ms: float, name: str = "a", kind: str = "command") -> Traced:
    inner = [Met(gap, 0.0, BEGUN) for gap in gaps_ms]
    return Traced(name, kind, (*inner, Met(None, 20.0, DONE)))


def test_what_knows_more_waits_less_for_as_few_cutoffs() -> None:
    heard = [traced(500, name=str(i)) for i in range(10)]
    silent = cheapest(curve(heard, silence_only, range(100, 1000, 100)), 0.0)
    informed = cheapest(curve(heard, ours, [0.0, 2.0, 4.0]), 0.0)
    assert silent is not None
    assert informed is not None
    assert silent.mean_ms == 620
    assert informed.mean_ms < silent.mean_ms / 2
    assert cheapest(curve(heard, silence_only, [100]), 0.5) is None


def test_a_recording_is_met_with_all_cues() -> None:
    said = demo_lines("assistant")[5]
    found = Tracer(lambda agent, text: 0.5, AsrConfig(engine="sphinx")).trace(said)
    last = found.pauses[-1]
    assert last.gap_ms is None
    assert abs(last.lag_ms) < 300
    assert (last.cues.text, last.cues.end_of_message) == ("what time is it", 0.5)

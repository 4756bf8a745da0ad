import json
from pathlib import Path

import pytest

from dlm.evaluate.report import plot, table

FIGURES = {
    "checkpoint": "small",
    "sets": {"own": {"call": 0.5, "tool": 1.0, "decision_cases": 4}, "talk": {"talk": 0.25}},
    "speed": {"instant": {"ms_calls": 12.0}},
    "seconds": 3.0,
}


def test_a_table_has_a_row_for_each_set_and_the_rest_below() -> None:
    lines = table(FIGURES).splitlines()
    assert lines[0].split()[:3] == ["set", "cases", "call"]
    assert lines[1].split() == ["own", "4", "50.0%", "100.0%"]
    assert "speed: instant (ms_calls 12.0)" in lines
    assert "seconds: 3.0" in lines


def test_runs_are_drawn_over_each_other(tmp_path: Path) -> None:
    files = []
    for name, share in (("first", 0.5), ("second", 0.75)):
        file = tmp_path / f"{name}.json"
        told = {"checkpoint": name, "sets": {"own": {"call": share}}}
        file.write_text(json.dumps(told), encoding="utf-8")
        files.append(file)
    out = tmp_path / "runs.png"
    plot(files, out)
    assert out.read_bytes().startswith(b"\x89PNG")


def test_nothing_to_draw_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="got none"):
        plot([], tmp_path / "runs.png")

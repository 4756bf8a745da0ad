from __future__ import annotations

import io
import json
import math
from pathlib import Path

from dlm.train.config import TrainConfig
from dlm.train.reporting import Progress, Report, logged

ROW: dict[str, float | str] = {
    "step": 40,
    "minutes": 12.5,
    "phase": "joint",
    "tokens_per_s": 12_345,
    "causal": 0.5,
    "heldout_causal": 0.75,
}

HOUR = TrainConfig(total_minutes=60)


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_reports_are_lines_where_nobody_watches() -> None:
    out = io.StringIO()
    with Progress(HOUR, 9, out) as progress:
        progress(ROW)
        progress({**ROW, "step": 60})
    first, second = out.getvalue().splitlines()
    assert first.startswith("joint step 40 · 12.5 of 60 min · ")
    assert second.startswith("joint step 60 · 12.5 of 60 min · ")


def test_a_line_tells_where_the_run_is() -> None:
    line = Progress(HOUR, 100).line(ROW)
    assert line.startswith("joint step 40 · 12.5 of 60 min · 47.5 min left · 12,345 tokens/s · ")
    assert line.endswith("causal 0.500 · heldout causal 0.750")
    assert "9.0 min left" in Progress(HOUR, 9).line(ROW)
    assert "0.0 min left" in Progress(TrainConfig(total_minutes=10), 9).line(ROW)
    assert "47.5 min left" in Progress(HOUR, math.inf).line(ROW)
    assert "tokens/s (41% of peak)" in Progress(HOUR, 9).line({**ROW, "utilisation": 0.414})


def test_a_run_bound_by_steps_tells_them_and_the_time_that_they_will_take() -> None:
    config = TrainConfig(total_minutes=60, total_steps=120)
    line = Progress(config, 100).line(ROW)
    assert line.startswith("joint step 40 of 120 · 12.5 of 60 min · 25.0 min left · ")


def test_a_terminal_gets_a_live_line_that_remembers_what_is_told_seldom() -> None:
    out = Terminal()
    with Progress(HOUR, 9, out) as progress:
        assert "waiting for the first dialogues" in out.getvalue()
        progress(ROW)
        progress({**{k: v for k, v in ROW.items() if k != "heldout_causal"}, "step": 60})
    last = out.getvalue().split("joint step 60")[-1]
    assert "0.750" in last


def test_a_report_is_shown_and_a_line_of_the_log(tmp_path: Path) -> None:
    out = io.StringIO()
    with Progress(TrainConfig(), 9, out) as progress:
        report = logged(tmp_path, progress)
        for step in (20, 40):
            row: Report = {"step": step, "phase": "ar", "minutes": 1.0, "tokens_per_s": 5}
            report(row)
    lines = (tmp_path / "log.jsonl").read_text(encoding="utf-8").splitlines()
    assert [json.loads(line)["step"] for line in lines] == [20, 40]
    assert out.getvalue().count("ar step") == 2

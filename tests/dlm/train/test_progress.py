from __future__ import annotations

import io
import math

from dlm.train.config import TrainConfig
from dlm.train.reporting import Progress

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

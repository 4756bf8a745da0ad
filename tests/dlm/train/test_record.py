from __future__ import annotations

import io
import json
from pathlib import Path

from dlm.train.config import TrainConfig
from dlm.train.reporting import Progress, Report, logged, record


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


def test_a_record_replaces_the_one_before(tmp_path: Path) -> None:
    for step in (1, 2):
        record(tmp_path, {"step": step})
    assert json.loads((tmp_path / "run.json").read_text(encoding="utf-8")) == {"step": 2}

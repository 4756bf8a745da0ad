from __future__ import annotations

import json
from pathlib import Path

import pytest

from dlm.train.curves import curves, main, read_log

ROWS = [
    {"step": 20, "minutes": 1.0, "phase": "ar", "causal": 3.0},
    {"step": 40, "minutes": 2.0, "phase": "joint", "causal": 9.0, "denoising": 4.0},
    {"step": 40, "minutes": 2.1, "phase": "joint", "causal": 2.0, "denoising": 4.0},
    {"step": 60, "minutes": 3.0, "phase": "joint", "causal": 1.5, "heldout_causal": 1.7},
]


@pytest.fixture
def run(tmp_path: Path) -> Path:
    text = "".join(json.dumps(row) + "\n" for row in ROWS)
    (tmp_path / "log.jsonl").write_text(text, encoding="utf-8")
    return tmp_path


def test_steps_that_were_done_again_count_once(run: Path) -> None:
    assert read_log(run) == [ROWS[0], ROWS[2], ROWS[3]]


def test_each_loss_has_its_curve(run: Path) -> None:
    assert curves(read_log(run)) == {
        "causal": ([1.0, 2.1, 3.0], [3.0, 2.0, 1.5]),
        "heldout_causal": ([3.0], [1.7]),
        "denoising": ([2.1], [4.0]),
    }


def test_curves_are_drawn(run: Path) -> None:
    out = run / "curves.png"
    main([str(run), "--out", str(out)])
    assert out.read_bytes().startswith(b"\x89PNG")


def test_a_run_without_a_log_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as left:
        main([str(tmp_path)])
    assert left.value.code == 2
    assert f"'{tmp_path}/log.jsonl'" in capsys.readouterr().err

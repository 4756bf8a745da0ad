from __future__ import annotations

from typing import Any

from benchmarks.dlm.training import figures


def _row(step: int, phase: str, speed: int, **losses: float) -> dict[str, Any]:
    return {"step": step, "minutes": step / 10, "phase": phase, "tokens_per_s": speed, **losses}


def test_a_log_is_summed_up_by_phase() -> None:
    rows = [_row(20, "ar", 100, causal=5.0), _row(40, "joint", 50, causal=3.0, denoising=4.0)]
    told = figures(rows)
    assert (told["steps"], told["minutes"]) == (40, 4.0)
    assert told["tokens_per_s"]["ar"]["p50"] == 100
    assert told["tokens_per_s"]["joint"]["p50"] == 50
    assert told["curve"][-1] == {"step": 40, "minutes": 4.0, "causal": 3.0, "denoising": 4.0}


def test_steps_that_were_done_again_count_once() -> None:
    rows = [_row(20, "ar", 100, causal=5.0), _row(40, "ar", 100, causal=4.0)]
    again = _row(40, "ar", 100, causal=3.5)
    assert [p["causal"] for p in figures([*rows, again])["curve"][:2]] == [5.0, 3.5]

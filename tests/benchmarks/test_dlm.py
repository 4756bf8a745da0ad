from __future__ import annotations

from pathlib import Path
from typing import Any

import torch

from benchmarks.dlm.number_formats import EXACT, measure
from benchmarks.dlm.step import model_of, rounded, step
from benchmarks.dlm.training import figures
from dlm.evaluate.cases import Case, Kind
from dlm.loading.weights import save_model
from tests.dlm.tiny import DIALOGUES, TOOLS, taught, tokenizer

SMALL = (300, 32, 48, 2, 2, 1)


def test_eight_bits_are_nearly_the_same() -> None:
    model = model_of(SMALL)
    torch.manual_seed(1)
    exact = step(model, 8)()
    torch.manual_seed(1)
    rough = step(rounded(model), 8)()
    assert 0 < (rough - exact).norm() / exact.norm() < 0.1


def test_every_format_answers_the_same_cases(tmp_path: Path) -> None:
    save_model(taught(), tmp_path)
    tokenizer().save(tmp_path)
    talk, request = DIALOGUES[0], DIALOGUES[2]
    asked = [
        Case(tuple(talk[:-1]), TOOLS, talk[-1], Kind.TALK),
        Case(tuple(request[:1]), TOOLS, request[1], Kind.REQUEST),
    ]
    told = measure(tmp_path, asked)
    assert len(told) == 4
    assert told[EXACT]["call"] == 1.0
    assert told[EXACT]["same_answer"] == {"count": 2, "of": 2, "rate": 1.0}
    assert all(way["same_answer"]["of"] == 2 for way in told.values())
    assert all(way["decision_cases"] == 2 for way in told.values())


def _row(step: int, phase: str, speed: int, **losses: float) -> dict[str, Any]:
    return {"step": step, "minutes": step / 10, "phase": phase, "tokens_per_s": speed, **losses}


def test_a_log_is_summed_up_by_phase() -> None:
    rows = [_row(20, "ar", 100, causal=5.0), _row(40, "joint", 50, causal=3.0, denoising=4.0)]
    told = figures(rows)
    assert (told["steps"], told["minutes"]) == (40, 4.0)
    assert told["tokens_per_s"]["ar"]["p50"] == 100
    assert told["tokens_per_s"]["joint"]["p50"] == 50
    assert told["curve"][-1] == {"step": 40, "minutes": 4.0, "causal": 3.0, "denoising": 4.0}

from __future__ import annotations

from pathlib import Path

from benchmarks.dlm.number_formats import EXACT, measure
from dlm.evaluate.cases import Case, Kind
from dlm.loading.weights import save_model
from tests.dlm.tiny import DIALOGUES, TOOLS, taught, tokenizer


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

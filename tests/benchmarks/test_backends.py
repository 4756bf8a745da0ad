from __future__ import annotations

from argparse import Namespace
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import torch

from benchmarks.dlm import backends
from benchmarks.dlm.backends import CONTEXT, arguments, dialogues, engine_step, measure, show
from benchmarks.dlm.pure_step import Step
from dlm.loading.checkpoint import Checkpoint, load_checkpoint
from dlm.loading.weights import save_model
from tests.dlm.tiny import model, template, tokenizer

ROWS = 8
SMALLEST = Namespace(repeats=2, dialogues=2, rows=[ROWS], threads=[1])


@pytest.fixture
def checkpoint(tmp_path: Path) -> Iterator[Checkpoint]:
    save_model(model(), tmp_path, torch.float32)
    tokenizer().save(tmp_path)
    threads, engine = torch.get_num_threads(), torch.backends.quantized.engine
    with torch.inference_mode():
        yield load_checkpoint(tmp_path, torch.float32, "cpu")
    torch.set_num_threads(threads)
    torch.backends.quantized.engine = engine


def test_the_pure_step_is_the_engines_forward() -> None:
    """Else the runtimes would be timed at something that the engine never does."""
    made = model()
    [ids] = dialogues(template(), CONTEXT + ROWS, 1)
    step = Step(made, ROWS, CONTEXT).eval()
    with torch.inference_mode():
        ours, theirs = engine_step(made, ids, ROWS)(), step(*arguments(made, ids, ROWS))
    assert isinstance(ours, torch.Tensor)
    assert theirs.shape == (ROWS, made.config.vocab_size)
    torch.testing.assert_close(theirs, ours, rtol=1e-3, atol=1e-3)


def test_every_runtime_that_is_there_is_timed_and_the_others_are_named(
    checkpoint: Checkpoint, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def absent(*given: Any) -> Any:
        raise ImportError("no such runtime")

    monkeypatch.setitem(backends.MAKERS, "another", absent)
    [told] = list(measure(checkpoint, SMALLEST))
    [(title, found)] = told["steps"].items()
    assert title == f"{ROWS} rows, 1 threads"
    assert told["missing"]["another"] == "ImportError: no such runtime"
    timed = set(found["products_ms"])
    assert {"float32", "int8 (dlm/network/int8.py)"} <= timed
    assert timed | set(told["missing"]) == set(backends.MAKERS) - backends.SLOW
    assert set(found["step_ms"]) == timed | {"engine, float32", "engine, int8"}
    assert all(spent["n"] == SMALLEST.repeats for spent in found["step_ms"].values())
    assert set(found["agreement"]) == timed
    whole = SMALLEST.dialogues * ROWS
    assert found["agreement"]["float32"] == {"count": whole, "of": whole, "rate": 1.0}
    assert found["agreement"]["int8 (dlm/network/int8.py)"]["of"] == whole
    show(title, found)
    lines = capsys.readouterr().out.splitlines()
    assert all(any(name in line for line in lines) for name in found["step_ms"])

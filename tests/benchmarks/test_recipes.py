from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks import report
from benchmarks.dlm.recipes import Sweep, kept, measure
from dlm.evaluate.run import Plan
from dlm.train.config import TrainConfig
from dlm.train.data import learn
from dlm.train.pack import pack, write

TINY = TrainConfig(
    vocab_size=512,
    total_minutes=0.02,
    tokens_per_step=1024,
    evaluate_dialogues=4,
    tokenizer_dialogues=40,
    threads=1,
)


def test_recipes_of_another_run_do_not_stand_beside_new_ones(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(report, "RESULTS", tmp_path)
    began, setting, recipes = report.machine(), {"minutes": 6.0}, {"3M": {"steps": 1}}
    file = tmp_path / "recipes.json"
    assert kept(file, setting, began) == {}
    report.write("recipes", "benchmarks.some", setting | {"recipes": recipes}, began)
    assert kept(file, setting, began | {"load_1_min": 9.0}) == recipes
    assert capsys.readouterr().out == ""
    for changes in ({"commit": "0123456789ab"}, {"cpu": "another"}):
        assert kept(file, setting, began | changes) == {}
    assert kept(file, {"minutes": 5.0}, began) == {}
    lines = capsys.readouterr().out.splitlines()
    assert [line.split(": ")[1].split()[0] for line in lines] == ["commit", "cpu", "minutes"]


def test_recipes_are_trained_and_judged_on_what_they_never_saw(tmp_path: Path) -> None:
    tokenizer = learn(None, TINY)
    write(tmp_path / "data.npz", pack(TINY, tokenizer, 4000, None))
    plan = Plan(names=("own",), scale=0.02, extras=False)
    told = measure(["3M"], Sweep(TINY, tmp_path / "data.npz", plan), jobs=1)["3M"]
    assert told["steps"] >= 1
    # Processor time, not the clock on the wall, ends a recipe.
    assert 0.02 <= told["cpu_minutes"] < 0.5
    assert told["heldout_causal"] > 0
    assert told["heldout_denoising"] > 0
    assert told["sets"]["own"]["decision_cases"] > 0
    assert told["step_ms"]["n"] == 30

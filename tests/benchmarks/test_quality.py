from __future__ import annotations

import pytest
import torch

from benchmarks.dlm import quality
from dlm.engine.engine import Engine
from dlm.evaluate.run import Plan
from dlm.language.tokenizer import Tokenizer
from dlm.network.config import ModelConfig
from dlm.network.model import Transformer


def test_a_model_is_measured_in_every_respect(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(quality, "heard", lambda ask: {"commands": 1})
    tokenizer = Tokenizer.train([" set a timer for ten minutes"] * 4, 300)
    torch.manual_seed(1)
    config = ModelConfig(tokenizer.vocab_size, 32, 64, 2, 2, 1, 16, block_size=8)
    engine = Engine(Transformer(config).eval().requires_grad_(False), tokenizer)
    try:
        told = quality.measure(engine, Plan(names=("own",), scale=0.005, extras=False), 2)
    finally:
        engine.close()
    assert 0.0 <= told["sets"]["own"]["decision"] <= 1.0
    assert told["heard"] == {"commands": 1}
    assert {"replies", "seconds"} <= set(told)
    drawn = told["draws"]["own"]
    assert len(drawn["call"]) == 2
    assert drawn["least"] <= drawn["mean"] <= drawn["most"]
    assert [one["set"] for one in told["failures"]] == ["own"], "a random model is right nowhere"


def test_one_failure_of_each_set_is_kept_and_none_of_share_alike_text() -> None:
    made = [("own", "a"), ("own", "b"), ("services", "c"), ("others", "d"), ("others", "e")]
    told = [{"set": name, "said": [said], "tools": ["x()"]} for name, said in made]
    assert quality.first_failures(told) == [
        {"set": "own", "said": ["a"]},
        {"set": "others", "said": ["d"]},
    ]

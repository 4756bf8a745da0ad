from __future__ import annotations

import pytest
import torch

from benchmarks.dlm import quality
from dlm.config import ModelConfig
from dlm.engine import Engine
from dlm.evaluate.run import Plan
from dlm.model import Transformer
from dlm.tokenizer import Tokenizer


def test_a_model_is_measured_in_every_respect(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(quality, "heard", lambda ask: {"commands": 1})
    tokenizer = Tokenizer.train([" set a timer for ten minutes"] * 4, 300)
    torch.manual_seed(1)
    config = ModelConfig(tokenizer.vocab_size, 32, 64, 2, 2, 1, 16, block_size=8)
    engine = Engine(Transformer(config).eval().requires_grad_(False), tokenizer)
    try:
        told = quality.measure(engine, Plan(names=("own",), scale=0.005, extras=False))
    finally:
        engine.close()
    assert 0.0 <= told["sets"]["own"]["decision"] <= 1.0
    assert told["heard"] == {"commands": 1}
    assert {"replies", "seconds"} <= set(told)

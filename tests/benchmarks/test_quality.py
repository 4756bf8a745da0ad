from __future__ import annotations

import torch

from benchmarks.dlm.quality import measure
from dlm.config import ModelConfig
from dlm.engine import Engine
from dlm.model import Transformer
from dlm.tokenizer import Tokenizer


def test_a_model_is_measured_with_and_without_spans() -> None:
    tokenizer = Tokenizer.train([" set a timer for ten minutes"] * 4, 300)
    torch.manual_seed(1)
    config = ModelConfig(tokenizer.vocab_size, 32, 64, 2, 2, 1, 16, block_size=8)
    engine = Engine(Transformer(config).eval().requires_grad_(False), tokenizer)
    try:
        for spans in (True, False):
            told = measure(engine, None, 1, spans)
            assert told["dialogues"] == 1
            assert 0.0 <= told["decision"] <= 1.0
            assert told["answer_ms_mean"] > 0
    finally:
        engine.close()

"""Where there is no GPU the benchmark of the step runs a small model once."""

from __future__ import annotations

import sys

import pytest
import torch

from benchmarks.dlm import gpu_step
from benchmarks.dlm.pure_step import Step
from dlm.kv_cache.cache import KVCache
from dlm.network.model import Rows
from tests.dlm.tiny import model

pytest.importorskip("triton", reason="Triton ships for Linux alone")


@torch.inference_mode()
def test_the_pure_step_is_the_engines_forward() -> None:
    """Else the compiler would be timed at something that the engine never does."""
    made, context, rows = model(), 24, 8
    ids = torch.arange(20, 20 + context + rows)
    cache = KVCache(made.config, context + rows)
    made.packed(ids[:context], [Rows(cache, context, context)])
    cache.commit(context)
    # Writing nothing gives what is there.
    nothing = torch.empty(1, made.config.num_key_value_heads, 0, made.config.head_dim)
    layers = range(made.config.num_hidden_layers)
    held = torch.stack([torch.cat(cache.write(layer, nothing, nothing)) for layer in layers])
    ours = Step(made, rows, context)(ids[context:], held)
    theirs = made.logits(made.packed(ids[context:], [Rows(cache, rows, rows)]))
    torch.testing.assert_close(ours, theirs, rtol=1e-3, atol=1e-3)


def test_a_small_model_takes_a_step(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["gpu_step", "--dry-run"])
    gpu_step.main()
    block = gpu_step.BLOCK
    assert capsys.readouterr().out.splitlines() == [
        f"a step proposed {2 * block} tokens",
        f"the plain step gave {block} rows of logits",
    ]


def test_the_least_time_is_that_of_weights_and_caches() -> None:
    config = gpu_step.SMALL
    model = gpu_step.random_model(config, "cpu", torch.float32)
    width, inner = config.hidden_size, config.intermediate_size
    heads, kv_heads = config.num_attention_heads, config.num_key_value_heads
    layer = width * 16 * (2 * heads + 2 * kv_heads) + 3 * width * inner
    weights = config.num_hidden_layers * layer + config.vocab_size * width
    caches = 2 * 3 * 10 * config.num_hidden_layers * kv_heads * 16
    # At 1 GB/s a million bytes take a millisecond.
    assert gpu_step.least_ms(model, 3, 10, 1.0) == pytest.approx(4 * (weights + caches) / 1e6)

"""Milliseconds of one forward on this CPU, by model size: ``python -m benchmarks.dlm.step``.

Times 1, 8, 16 or 32 new positions after 256 cached ones, logits included, on random weights: what a
draft or a verification costs. It does so in float32 and with matrices in 8 bits
(`dlm.network.int8`). Results: benchmarks/results/step.json.
"""

from __future__ import annotations

import copy
import time
from collections.abc import Callable
from typing import Any

import torch

from benchmarks.report import Program, percentiles
from dlm.kv_cache.cache import KVCache
from dlm.network.config import ModelConfig
from dlm.network.int8 import round_weights
from dlm.network.model import Rows, Transformer

CONTEXT = 256
WIDTHS = (1, 8, 16, 32)
REPEATS = 30
WARM_UPS = 3
# (vocabulary, width, hidden units, layers, query heads, key-value heads); heads of 64.
SHAPES = {
    "6M": (4096, 256, 768, 6, 4, 2),
    "10M wide": (4096, 384, 1024, 5, 6, 2),
    "10M deep": (4096, 256, 768, 13, 4, 2),
    "15M": (8192, 384, 1152, 7, 6, 2),
    "30M wide": (8192, 512, 1536, 8, 8, 4),
    "30M deep": (8192, 384, 1152, 15, 6, 2),
    "115M": (16000, 576, 1536, 30, 9, 3),
}


def model_of(shape: tuple[int, ...]) -> Transformer:
    """A model of random weights."""
    vocabulary, width, hidden, layers, heads, kv_heads = shape
    torch.manual_seed(0)
    config = ModelConfig(vocabulary, width, hidden, layers, heads, kv_heads, head_dim=64)
    return Transformer(config).eval().requires_grad_(False)


def rounded(model: Transformer) -> Transformer:
    """The same model with its matrices in 8 bits."""
    made = copy.deepcopy(model)
    round_weights(made)
    return made


def step(model: Transformer, width: int) -> Callable[[], object]:
    """A function that forwards ``width`` new positions after the context, and commits nothing."""
    cache = KVCache(model.config, CONTEXT + width)
    ids = torch.randint(16, model.config.vocab_size, (CONTEXT + width,))
    model.packed(ids[:CONTEXT], [Rows(cache, CONTEXT, CONTEXT)])
    cache.commit(CONTEXT)
    new = ids[CONTEXT:]
    return lambda: model.logits(model.packed(new, [Rows(cache, width, 0)]))


def timed(model: Transformer, width: int, repeats: int) -> dict[str, Any]:
    """Milliseconds of `step`."""
    with torch.inference_mode():
        forward = step(model, width)
        for _ in range(WARM_UPS):
            forward()
        spent = []
        for _ in range(repeats):
            began = time.perf_counter()
            forward()
            spent.append((time.perf_counter() - began) * 1000)
    return percentiles(spent, digits=1)


def measure(repeats: int) -> dict[str, Any]:
    """Measure all shapes, in float32 and in 8 bits."""
    told: dict[str, Any] = {"context": CONTEXT, "threads": torch.get_num_threads(), "models": {}}
    for name, shape in SHAPES.items():
        model = model_of(shape)
        row: dict[str, Any] = {"parameters": sum(p.numel() for p in model.parameters())}
        for kind, made in (("float32", model), ("int8", rounded(model))):
            row[kind] = {str(width): timed(made, width, repeats) for width in WIDTHS}
        told["models"][name] = row
    return told


def main() -> None:
    """Measure and write the results."""
    program = Program("benchmarks.dlm.step", __doc__)
    program.add_argument("--repeats", type=int, default=REPEATS)
    program.add_argument("--threads", type=int, default=0)
    options = program.parse_args()
    if options.threads:
        torch.set_num_threads(options.threads)
    told = measure(options.repeats)
    for name, row in told["models"].items():
        for kind in ("float32", "int8"):
            cells = " ".join(f"{w}: {row[kind][w]['p50']:6.1f}" for w in row[kind])
            print(f"{name:10} {row['parameters'] / 1e6:5.1f}M {kind:8} ms at {cells}")
    program.write(told)


if __name__ == "__main__":
    main()

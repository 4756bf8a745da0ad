"""The whole denoising step on a GPU: ``python -m benchmarks.dlm.gpu_step``.

Random weights at the shapes of 0.5B, 1.5B and 8B models; blocks of 32 positions of 1, 4, 8 and 32
requests, behind 1k and 8k positions of context. Measured as one CUDA graph, and launched kernel by
kernel: the difference is what the host costs. What torch.compile makes of the plain step, for one
request, stands beside it. The roofline is the time that the weights, the caches
and nothing else need at the bandwidth of a large copy.

Results: benchmarks/results/gpu_step.json. ``--dry-run`` runs a small model once, on any machine.
"""

from __future__ import annotations

import argparse
import sys
from dataclasses import replace
from functools import partial
from typing import get_args

import torch

from benchmarks.dlm.pure_step import Step
from benchmarks.kernels.speed import peaks
from benchmarks.series import Series, add_options
from dlm.fused.model import Blocks, FusedModel, Weights
from dlm.network.config import ModelConfig
from dlm.network.model import Transformer

BLOCK = 32
PAGE = 64
RULE = ("threshold", 0.9)
_BASE = ModelConfig(
    vocab_size=151_936,
    hidden_size=896,
    intermediate_size=4864,
    num_hidden_layers=24,
    num_attention_heads=14,
    num_key_value_heads=2,
    head_dim=64,
    max_position_embeddings=32_768,
    block_size=BLOCK,
    qk_norm=False,
    qkv_bias=True,
)
MODELS = {
    "0.5B": _BASE,
    "1.5B": replace(
        _BASE,
        hidden_size=1536,
        intermediate_size=8960,
        num_hidden_layers=28,
        num_attention_heads=12,
        head_dim=128,
    ),
    "8B": replace(
        _BASE,
        hidden_size=4096,
        intermediate_size=12_288,
        num_hidden_layers=36,
        num_attention_heads=32,
        num_key_value_heads=8,
        head_dim=128,
        qk_norm=True,
        qkv_bias=False,
        tie_word_embeddings=False,
    ),
}
SMALL = replace(
    _BASE, vocab_size=300, hidden_size=64, intermediate_size=96, num_hidden_layers=2, head_dim=16
)


def blocks_of(fused: FusedModel, batch: int, context: int) -> Blocks:
    """Masked blocks behind so many positions of whatever the store holds."""
    pages = -(-(context + BLOCK) // fused.page_size)
    device = str(fused.store.device)
    config = fused.model.config
    blocks = Blocks.empty((batch, BLOCK), pages, config.vocab_size, device)
    blocks.tokens.fill_(config.mask_token_id)
    blocks.committed.fill_(context)
    blocks.pages.copy_(torch.arange(batch * pages, device=device).view(batch, pages))
    return blocks


def least_ms(fused: FusedModel, batch: int, context: int, copy_gb_s: float, bits: Weights) -> float:
    """The time that one read of the weights and of the caches takes."""
    model, element = fused.model, fused.store.element_size()
    inside = sum(p.numel() for layer in model.layers for p in layer.parameters() if p.dim() == 2)
    head = model.config.vocab_size * model.config.hidden_size * element
    cached = batch * context * fused.store[:, :, 0, 0].numel() * element
    return (inside * (element if bits == "plain" else 1) + head + cached) / copy_gb_s / 1e6


def measured(
    fused: FusedModel, batch: int, context: int, copy_gb_s: float, bits: Weights
) -> dict[str, float]:
    """Milliseconds of a step as a graph and launched one by one; share of the roofline."""
    from triton.testing import do_bench

    blocks = blocks_of(fused, batch, context)
    replay = fused.captured(blocks, RULE)
    graph = float(do_bench(replay, return_mode="median"))
    eager = float(do_bench(lambda: fused.step(blocks, RULE), return_mode="median"))
    least = least_ms(fused, batch, context, copy_gb_s, bits)
    return {
        "ms": round(graph, 3),
        "launched_ms": round(eager, 3),
        "host_gap_ms": round(eager - graph, 3),
        "least_ms": round(least, 3),
        "roofline": round(least / graph, 3),
    }


def compiled_ms(model: Transformer, context: int) -> float:
    """Milliseconds of one request's step, logits included, as torch.compile runs it."""
    from triton.testing import do_bench

    config = model.config
    step = torch.compile(Step(model, BLOCK, context), mode="reduce-overhead", dynamic=False)
    shape = (config.num_hidden_layers, 2, config.num_key_value_heads, context, config.head_dim)
    weight = model.embed_tokens.weight
    cache = torch.randn(shape, dtype=weight.dtype, device=weight.device)
    ids = torch.full((BLOCK,), config.mask_token_id, device=weight.device)
    return round(float(do_bench(lambda: step(ids, cache).argmax(dim=-1), return_mode="median")), 3)


def random_model(config: ModelConfig, device: str, dtype: torch.dtype) -> Transformer:
    """A model whose weights mean nothing and whose numbers stay finite."""
    with torch.device("meta"):
        model = Transformer(config)
    model = model.to_empty(device=device).to(dtype).eval().requires_grad_(False)
    for parameter in model.parameters():
        if parameter.dim() == 2:
            parameter.normal_(std=parameter.shape[1] ** -0.5)
        else:
            parameter.fill_(1.0)
    return model


@torch.inference_mode()
def main() -> None:
    """Measure every shape."""
    parser = argparse.ArgumentParser(prog="benchmarks.dlm.gpu_step", description=__doc__)
    parser.add_argument("--dry-run", action="store_true", help="one step of a small model")
    parser.add_argument("--models", nargs="+", default=list(MODELS), choices=list(MODELS))
    add_options(parser)
    arguments = parser.parse_args()
    if arguments.dry_run:
        dry_run()
        return
    if not torch.cuda.is_available():
        sys.exit("benchmarks.dlm.gpu_step needs an NVIDIA GPU; --dry-run does not")
    series = Series("gpu_step", "benchmarks.dlm.gpu_step", arguments)
    copy_gb_s, _ = peaks()
    series.tell({"device": torch.cuda.get_device_name(), "copy_gb_s": round(copy_gb_s)})
    for name in arguments.models:
        measure(series, name, copy_gb_s)
    series.close()


def dry_run() -> None:
    """One step of a small model in every format, on any machine."""
    device = "cuda" if torch.cuda.is_available() else "cpu"
    for bits in get_args(Weights):
        fused = FusedModel(random_model(SMALL, device, torch.float32), 8, PAGE, bits)
        made = int(fused.step(blocks_of(fused, 2, 100), RULE).sum())
        print(f"{bits}: a step made {made} tokens final")
    model = random_model(SMALL, device, torch.float32)
    shape = (SMALL.num_hidden_layers, 2, SMALL.num_key_value_heads, 100, SMALL.head_dim)
    ids = torch.full((BLOCK,), SMALL.mask_token_id, device=device)
    logits = Step(model, BLOCK, 100)(ids, torch.randn(shape, device=device))
    print(f"the plain step gave {len(logits)} rows of logits")


def measure(series: Series, name: str, copy_gb_s: float) -> None:
    """All formats, contexts and batches of a model, then what torch.compile makes of it."""
    model = random_model(MODELS[name], "cuda", torch.bfloat16)
    for bits in get_args(Weights):
        fused = FusedModel(model, 32 * (-(-(8192 + BLOCK) // PAGE)), PAGE, bits)
        for context in (1024, 8192):
            for batch in (1, 4, 8, 32):
                series.add(
                    f"{name}_{bits}_{context}_{batch}",
                    partial(measured, fused, batch, context, copy_gb_s, bits),
                )
        del fused
        torch.cuda.empty_cache()
    for context in (1024, 8192):
        series.add(f"{name}_compiled_{context}", partial(compiled_ms, model, context))
        torch._dynamo.reset()
        torch.cuda.empty_cache()


if __name__ == "__main__":
    main()

"""A round of the engine on a GPU: ``python -m benchmarks.dlm.gpu_step``.

Times a denoising step on random weights at the shapes of 0.5B, 1.5B and 8B models: blocks of 32
positions for 1, 4, 8 and 32 requests, after 1k and 8k positions of context. It runs as in the
engine's runner: one CUDA graph where the runner keeps one, tokens chosen on the device and copied
to the host. For comparison, torch.compile runs the plain step for one request. The roofline is the
time to read just the weights and the caches at the bandwidth of a large copy.

Results: benchmarks/results/gpu_step.json. ``--dry-run`` runs a small model once, on any machine.
"""

from __future__ import annotations

import argparse
import sys
from dataclasses import replace
from functools import partial

import torch

from benchmarks.dlm.pure_step import Step
from benchmarks.kernels.speed import peaks
from benchmarks.series import Series, add_options
from dlm.decoding.forwards import Choice, Forward
from dlm.fused.packing import Batch
from dlm.fused.runner import PAGE, FusedRunner
from dlm.network.config import ModelConfig
from dlm.network.model import Transformer

BLOCK = 32
LONGEST = 8192
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


def runner_of(model: Transformer, requests: int, context: int) -> FusedRunner:
    """A runner with room for so many requests, each with a block after so many positions."""
    return FusedRunner(model, requests * (-(-(context + BLOCK) // PAGE)) * PAGE)


def batch_of(runner: FusedRunner, config: ModelConfig, requests: int, context: int) -> Batch:
    """A masked block for each request, after a context of arbitrary content."""
    batch = []
    for _ in range(requests):
        cache = runner.cache(context + BLOCK)
        cache.commit(context)
        masks = [config.mask_token_id] * BLOCK
        batch.append((cache, Forward(masks, 0, choice=Choice((config.mask_token_id,)))))
    return batch


def least_ms(model: Transformer, requests: int, context: int, copy_gb_s: float) -> float:
    """Milliseconds that one read of the weights and of the caches takes."""
    config, element = model.config, model.embed_tokens.weight.element_size()
    inside = sum(p.numel() for layer in model.layers for p in layer.parameters() if p.dim() == 2)
    head = config.vocab_size * config.hidden_size
    numbers = 2 * config.num_hidden_layers * config.num_key_value_heads * config.head_dim
    return (inside + head + requests * context * numbers) * element / copy_gb_s / 1e6


def measured(
    model: Transformer, runner: FusedRunner, requests: int, context: int, copy_gb_s: float
) -> dict[str, float]:
    """Milliseconds of a step, and share of the roofline."""
    from triton.testing import do_bench

    batch = batch_of(runner, model.config, requests, context)
    step = float(do_bench(lambda: runner.forward(batch), return_mode="median"))
    least = least_ms(model, requests, context, copy_gb_s)
    return {"ms": round(step, 3), "least_ms": round(least, 3), "roofline": round(least / step, 3)}


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
    """A model of random weights, scaled so that its numbers stay finite."""
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
    """One step of a small model, on any machine."""
    device = "cuda" if torch.cuda.is_available() else "cpu"
    model = random_model(SMALL, device, torch.float32)
    runner = runner_of(model, 2, 100)
    made = runner.forward(batch_of(runner, SMALL, 2, 100))
    print(f"a step proposed {sum(len(one.tokens) for one in made)} tokens")  # type: ignore[union-attr]
    shape = (SMALL.num_hidden_layers, 2, SMALL.num_key_value_heads, 100, SMALL.head_dim)
    ids = torch.full((BLOCK,), SMALL.mask_token_id, device=device)
    logits = Step(model, BLOCK, 100)(ids, torch.randn(shape, device=device))
    print(f"the plain step gave {len(logits)} rows of logits")


def measure(series: Series, name: str, copy_gb_s: float) -> None:
    """Measure all contexts and batches of a model, then its step by torch.compile."""
    model = random_model(MODELS[name], "cuda", torch.bfloat16)
    runner = runner_of(model, 32, LONGEST)
    for context in (1024, LONGEST):
        for requests in (1, 4, 8, 32):
            step = partial(measured, model, runner, requests, context, copy_gb_s)
            series.add(f"{name}_plain_{context}_{requests}", step)
    del runner
    torch.cuda.empty_cache()
    for context in (1024, LONGEST):
        series.add(f"{name}_compiled_{context}", partial(compiled_ms, model, context))
        torch._dynamo.reset()
        torch.cuda.empty_cache()


if __name__ == "__main__":
    main()

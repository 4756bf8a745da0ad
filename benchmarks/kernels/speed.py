"""Times kernels against torch and torch.compile: ``python -m benchmarks.kernels.speed``.

It needs an NVIDIA GPU. Each kernel runs at the shapes of an 8B model's denoising step: 32 positions
for each of 1, 4, 8 and 32 requests. Its share of the roofline follows from the bytes that it has to
move and the operations that it has to compute. A figure counts only if the kernel agrees with its
reference, which is checked first. ``--dry-run`` only checks, on any machine and at small shapes.

Results: benchmarks/results/kernels.json. Medians of `triton.testing.do_bench`.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import torch

from benchmarks.series import Series, add_options
from kernels import ops, reference
from kernels.context import Context

BLOCK = 32


@dataclass(frozen=True, slots=True)
class Shape:
    """The shape of a model's layer and of its cache.

    Attributes:
        context: Positions before the block.
        page: Positions of a page of the cache.
    """

    width: int = 4096
    inner: int = 12_288
    heads: int = 32
    kv_heads: int = 8
    size: int = 128
    vocabulary: int = 151_936
    context: int = 1024
    page: int = 64


SMALL = Shape(64, 96, 4, 2, 16, 300, 40, 8)


@dataclass(frozen=True, slots=True)
class Case:
    """One kernel at one shape.

    Attributes:
        run: The operation; on CUDA, its kernel.
        plain: The same in torch alone.
        moved: Fewest bytes that must be read and written.
        computed: Fewest floating-point operations.
    """

    name: str
    run: Callable[[], Any]
    plain: Callable[[], Any]
    moved: int
    computed: int


def _random(device: str, dtype: torch.dtype) -> Callable[..., torch.Tensor]:
    return lambda *sizes: torch.randn(*sizes, device=device, dtype=dtype)


def cases(batch: int, shape: Shape, device: str, dtype: torch.dtype) -> Iterator[Case]:
    """Every kernel, for a batch of so many blocks."""
    rows = batch * BLOCK
    element, random = dtype.itemsize, _random(device, dtype)
    x, weight = random(rows, shape.width), random(shape.width)
    yield Case(
        "norm",
        lambda: ops.add_norm(x, None, weight, 1e-6),
        lambda: reference.add_norm(x, None, weight, 1e-6),
        2 * x.nbytes,
        4 * x.numel(),
    )
    update, residual = random(rows, shape.width), random(rows, shape.width)
    yield Case(
        "add_norm",
        lambda: ops.add_norm(update, residual.zero_(), weight, 1e-6),
        lambda: reference.add_norm(update, residual.zero_(), weight, 1e-6),
        5 * x.nbytes,
        5 * x.numel(),
    )
    gate_up = random(rows, 2 * shape.inner)
    yield Case(
        "silu_mul",
        lambda: ops.silu_mul(gate_up),
        lambda: reference.silu_mul(gate_up),
        gate_up.nbytes * 3 // 2,
        4 * gate_up.numel(),
    )
    head = random(shape.vocabulary, shape.width)
    index = torch.arange(rows, device=device)
    yield Case(
        "unmask",
        lambda: ops.unmask(x, head, index),
        lambda: reference.unmask(x, head, index, None, None),
        head.nbytes + x.nbytes,
        2 * rows * head.numel(),
    )
    yield _rope_case(rows, shape, random)
    yield _attention_case(batch, shape, random, element)


def _rope_case(rows: int, shape: Shape, random: Callable[..., torch.Tensor]) -> Case:
    heads = shape.heads + 2 * shape.kv_heads
    qkv = random(rows, heads * shape.size)
    norms = random(shape.size), random(shape.size)
    cache = random(rows, shape.kv_heads, shape.size), random(rows, shape.kv_heads, shape.size)
    slots = torch.arange(rows, device=qkv.device)
    turns = torch.rand(rows, shape.size // 2, device=qkv.device)
    angles = turns.cos(), turns.sin()

    def plain() -> tuple[torch.Tensor, ...]:
        queries = qkv.new_empty(rows, shape.heads, shape.size)
        reference.rope(qkv, norms, 1e-6, angles, slots, (queries, *cache))
        return queries, *cache

    return Case(
        "rope",
        lambda: (ops.rope(qkv, norms, 1e-6, angles, slots, cache), *cache),
        plain,
        2 * qkv.nbytes + 2 * turns.nbytes,
        10 * qkv.numel(),
    )


def _attention_case(
    batch: int, shape: Shape, random: Callable[..., torch.Tensor], element: int
) -> Case:
    length = shape.context + BLOCK
    pages = -(-length // shape.page)
    queries = random(batch * BLOCK, shape.heads, shape.size)
    keys, values = (random(batch * pages, shape.page, shape.kv_heads, shape.size) for _ in range(2))
    device = queries.device
    context = Context(
        torch.arange(batch * pages, dtype=torch.int32, device=device).view(batch, pages),
        torch.arange(0, (batch + 1) * BLOCK, BLOCK, dtype=torch.int32, device=device),
        torch.full((batch,), length, dtype=torch.int32, device=device),
        torch.zeros(batch, dtype=torch.int32, device=device),
        torch.zeros(batch, dtype=torch.int32, device=device),
        BLOCK,
    )
    splits = 1 << (max(1, 16 // batch).bit_length() - 1)
    return Case(
        "attention",
        lambda: ops.attention(queries, keys, values, context, splits),
        lambda: reference.attention(queries, keys, values, context),
        2 * batch * length * shape.kv_heads * shape.size * element + 2 * queries.nbytes,
        4 * batch * BLOCK * length * shape.heads * shape.size,
    )


def disagreement(case: Case) -> float:
    """Largest relative error of a case's outputs against its reference's, in norms."""
    got, expected = case.run(), case.plain()
    if not isinstance(got, tuple):
        got, expected = (got,), (expected,)
    # Tokens may differ at near ties; their confidences, which are compared, may not.
    pairs = [(g, e) for g, e in zip(got, expected, strict=True) if g.is_floating_point()]
    return max(float((g.float() - e.float()).norm() / e.float().norm()) for g, e in pairs)


def measured(case: Case, copy_gb_s: float, peak_tflop_s: float) -> dict[str, float]:
    """Milliseconds by kernel, torch and torch.compile, and the kernel's share of the roofline."""
    from triton.testing import do_bench

    def milliseconds(run: Callable[[], Any]) -> float:
        return float(do_bench(run, return_mode="median"))

    kernel = milliseconds(case.run)
    least = max(case.moved / copy_gb_s / 1e6, case.computed / peak_tflop_s / 1e9)
    return {
        "ms": round(kernel, 4),
        "torch_ms": round(milliseconds(case.plain), 4),
        "compiled_ms": round(milliseconds(compiled(case.plain)), 4),
        "gb_s": round(case.moved / kernel / 1e6, 1),
        "tflop_s": round(case.computed / kernel / 1e9, 1),
        "copy_share": round(case.moved / kernel / 1e6 / copy_gb_s, 3),
        "roofline": round(least / kernel, 3),
    }


def compiled(
    run: Callable[[], Any], backend: str | Callable[..., Any] = "inductor"
) -> Callable[[], Any]:
    """A function compiled by torch.compile for exactly the shapes that it has.

    The cases of all batches share their code. Without the reset, torch would compile the second
    batch for shapes of any size.
    """
    torch._dynamo.reset()
    made: Callable[[], Any] = torch.compile(run, dynamic=False, backend=backend)
    return made


def peaks() -> tuple[float, float]:
    """GB/s of a large copy (read and write counted), TFLOP/s of a large bfloat16 product."""
    from triton.testing import do_bench

    source = torch.empty(2**30, dtype=torch.uint8, device="cuda")
    target = torch.empty_like(source)
    copy_ms = do_bench(lambda: target.copy_(source), return_mode="median")
    square = torch.randn(8192, 8192, device="cuda", dtype=torch.bfloat16)
    product_ms = do_bench(lambda: square @ square, return_mode="median")
    return 2 * source.nbytes / copy_ms / 1e6, 2 * 8192**3 / product_ms / 1e9


def main() -> None:
    """Check every kernel and time it."""
    parser = argparse.ArgumentParser(prog="benchmarks.kernels.speed", description=__doc__)
    parser.add_argument("--dry-run", action="store_true", help="check alone, at small shapes")
    add_options(parser)
    arguments = parser.parse_args()
    if arguments.dry_run:
        for case in cases(2, SMALL, "cuda" if torch.cuda.is_available() else "cpu", torch.float32):
            print(f"{case.name:14} disagrees by {disagreement(case):.1e}")
        return
    if not torch.cuda.is_available():
        sys.exit("benchmarks.kernels.speed needs an NVIDIA GPU; --dry-run does not")
    series = Series("kernels", "benchmarks.kernels.speed", arguments)
    limits = peaks()
    series.tell(
        {
            "device": torch.cuda.get_device_name(),
            "copy_gb_s": round(limits[0]),
            "peak_tflop_s": round(limits[1]),
        }
    )
    for key, case in everything(Shape(), torch.bfloat16):
        series.add(key, lambda case=case: checked(case, limits))
    series.close()


def everything(shape: Shape, dtype: torch.dtype) -> Iterator[tuple[str, Case]]:
    """Every case to measure, with its name: the kernel and the number of requests."""
    for batch in (1, 4, 8, 32):
        for case in cases(batch, shape, "cuda", dtype):
            yield f"{case.name}_{batch}", case
    long = _attention_case(1, replace(shape, context=8192), _random("cuda", dtype), dtype.itemsize)
    yield "attention_8k_1", long


def checked(case: Case, limits: tuple[float, float]) -> dict[str, float]:
    """Check that a case's kernel agrees with its reference, and return its figures.

    Raises:
        SystemExit: The kernel disagrees.
    """
    error = disagreement(case)
    if not error < 0.03:
        sys.exit(f"{case.name}: disagrees with its reference by {error:.3g}")
    return measured(case, *limits)


if __name__ == "__main__":
    main()

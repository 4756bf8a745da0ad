"""The operations that callers use: they check arguments, then use Triton on CUDA, torch elsewhere.

Triton is imported when a CUDA tensor first arrives, so everything else works without it. Within
`interpreted`, its interpreter runs the kernels on a CPU. The contents of tensors are not checked,
because that would wait for the device.

Shapes: N rows (positions) of D numbers, V ids of the vocabulary; B requests; H query heads and K
key/value heads of W numbers; P positions of a page.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

import torch

from kernels import reference
from kernels.checks import FLOATS, expect, expect_tensor
from kernels.context import Context

_INTERPRETED = ContextVar("interpreted", default=False)


@contextmanager
def interpreted() -> Iterator[None]:
    """Within the context, run kernels on CPU tensors in Triton's interpreter, in this thread.

    TRITON_INTERPRET=1 must be in the environment when Triton is first imported.
    """
    before = _INTERPRETED.set(True)
    try:
        yield
    finally:
        _INTERPRETED.reset(before)


def _by_kernel(x: torch.Tensor) -> bool:
    return x.is_cuda or _INTERPRETED.get()


def unmask(
    hidden: torch.Tensor,
    weight: torch.Tensor,
    rows: torch.Tensor,
    banned: torch.Tensor | None = None,
    noise: tuple[torch.Tensor, torch.Tensor] | None = None,
) -> tuple[torch.Tensor, torch.Tensor]:
    """Choose a token for each masked row from its hidden state: LM head and choice in one.

    Args:
        hidden: (rows of the batch, D) float16, bfloat16 or float32, last dim contiguous.
        weight: (V, D) of the same dtype, V ≥ 1, last dim contiguous: the LM head.
        rows: (N,) int64 indices into ``hidden``; a negative one is padding.
        banned: (N, ceil(V / 32)) int32; bit j of word i set bans id 32·i + j for that row.
        noise: Temperatures, (N,) float32, and seeds, (N,) int64 in [0, 2³²). Tokens are then drawn
            at these temperatures; 0 takes the likeliest. The same seed gives the same token in any
            batch.

    Returns:
        tokens: (N,) int64; ties go to the lowest id. 0 for padding.
        confidence: (N,) float32, the token's probability at temperature 1 among the ids that are
            not banned; nan for padding, and if all ids are banned.

    Raises:
        ValueError: A shape, dtype or layout is wrong.
    """
    expect_tensor("hidden", hidden, ("N", "D"), FLOATS, dense=False)
    expect_tensor("weight", weight, ("V", hidden.shape[1]), (hidden.dtype,), dense=False)
    expect("weight", f"shape {tuple(weight.shape)}", "(V, D) with V >= 1", weight.shape[0] > 0)
    expect_tensor("rows", rows, ("N",), (torch.int64,))
    count = rows.shape[0]
    if banned is not None:
        expect_tensor("banned", banned, (count, -(-weight.shape[0] // 32)), (torch.int32,))
    if noise is not None:
        expect_tensor("temperatures", noise[0], (count,), (torch.float32,))
        expect_tensor("seeds", noise[1], (count,), (torch.int64,))
    if not _by_kernel(hidden) or not count:
        return reference.unmask(hidden, weight, rows, banned, noise)
    from kernels.unmask import unmask_into

    out = (
        torch.empty(count, dtype=torch.int64, device=hidden.device),
        torch.empty(count, dtype=torch.float32, device=hidden.device),
    )
    unmask_into(hidden, weight, rows, banned, noise, out)
    return out


def attention(
    queries: torch.Tensor,
    keys: torch.Tensor,
    values: torch.Tensor,
    context: Context,
    splits: int = 1,
) -> torch.Tensor:
    """Attend from the new rows of several requests to their paged caches.

    Args:
        queries: (N, H, W) float16, bfloat16 or float32, contiguous.
        keys: (pages, P, K, W) of the same dtype, contiguous; the new rows' keys are in it.
        values: Like ``keys``.
        context: Which rows belong to which request, and what they see.
        splits: Number of parts that each context is split into on CUDA, a power of 2; more parts
            keep the device busy when there are few requests.

    Returns:
        (N, H, W), of the queries' dtype.

    Raises:
        ValueError: A shape, dtype or layout is wrong.
    """
    expect_tensor("queries", queries, ("N", "H", "W"), FLOATS)
    rows, heads, size = queries.shape
    expect_tensor("keys", keys, ("pages", "P", "K", size), (queries.dtype,))
    expect_tensor("values", values, tuple(keys.shape), (queries.dtype,))
    kv_heads = keys.shape[2]
    grouped = kv_heads > 0 and heads % kv_heads == 0
    expect("queries", f"{heads} heads", f"a multiple of {kv_heads}", grouped)
    requests = context.lengths.shape[0]
    expect_tensor("pages", context.pages, (requests, "pages"), (torch.int32,))
    expect_tensor("starts", context.starts, (requests + 1,), (torch.int32,))
    expect_tensor("lengths", context.lengths, (requests,), (torch.int32,))
    expect_tensor("causal", context.causal, (requests,), (torch.int32,))
    expect_tensor("blocks", context.blocks, (requests,), (torch.int32,))
    power = splits > 0 and splits & (splits - 1) == 0
    expect("splits", splits, "a power of 2", power)
    # The kernel's tiles are powers of 2, and tensor cores take no fewer than 16 numbers.
    if not _by_kernel(queries) or not rows or size < 16 or size & (size - 1):
        return reference.attention(queries, keys, values, context)
    from kernels.attention import attention_into

    out = torch.empty_like(queries)
    attention_into(queries, keys, values, context, splits, out)
    return out


def rope(
    qkv: torch.Tensor,
    norms: tuple[torch.Tensor, torch.Tensor] | None,
    eps: float,
    angles: tuple[torch.Tensor, torch.Tensor],
    slots: torch.Tensor,
    cache: tuple[torch.Tensor, torch.Tensor],
) -> torch.Tensor:
    """Normalise and rotate queries and keys, and write keys and values into the cache.

    Args:
        qkv: (N, (H + 2K)·W) float16, bfloat16 or float32, last dim contiguous: queries, keys and
            values of the fused projection.
        norms: Weights of the norms of queries and keys, each (W,); None if there are no norms.
        eps: Added to the norms' mean squares.
        angles: Cosines and sines, each (N, W / 2) float32, contiguous.
        slots: (N,) int64 positions in the cache, none of them twice; for a negative one, nothing is
            written.
        cache: Keys and values, each (slots, K, W) of the dtype of ``qkv``, contiguous; modified.

    Returns:
        Queries, (N, H, W).

    Raises:
        ValueError: A shape, dtype or layout is wrong.
    """
    expect_tensor("qkv", qkv, ("N", "(H + 2K)·W"), FLOATS, dense=False)
    keys, values = cache
    expect_tensor("keys", keys, ("slots", "K", "W"), (qkv.dtype,))
    expect_tensor("values", values, tuple(keys.shape), (qkv.dtype,))
    kv_heads, size = keys.shape[1:]
    rows, heads = qkv.shape[0], qkv.shape[1] // size - 2 * kv_heads
    whole = heads > 0 and (heads + 2 * kv_heads) * size == qkv.shape[1] and size % 2 == 0
    expect("qkv", f"width {qkv.shape[1]}", f"(H + 2·{kv_heads})·{size}, of even heads", whole)
    for name, weight in zip(("q norm", "k norm"), norms or (), strict=False):
        expect_tensor(name, weight, (size,), FLOATS)
    for name, angle in zip(("cos", "sin"), angles, strict=True):
        expect_tensor(name, angle, (rows, size // 2), (torch.float32,))
    expect_tensor("slots", slots, (rows,), (torch.int64,))
    queries = torch.empty((rows, heads, size), dtype=qkv.dtype, device=qkv.device)
    if not _by_kernel(qkv) or not rows or size & (size - 1):
        reference.rope(qkv, norms, eps, angles, slots, (queries, keys, values))
        return queries
    from kernels.rope import rope_into

    rope_into(qkv, norms, eps, angles, slots, (queries, keys, values))
    return queries


def add_norm(
    x: torch.Tensor, residual: torch.Tensor | None, weight: torch.Tensor, eps: float
) -> torch.Tensor:
    """Root-mean-square norm of ``x + residual``; the sum becomes the new residual.

    Args:
        x: (N, D) float16, bfloat16 or float32, last dim contiguous.
        residual: (N, D) of the same dtype, contiguous, modified; None norms ``x`` alone.
        weight: (D,), contiguous.
        eps: Added to the mean square.

    Returns:
        (N, D).

    Raises:
        ValueError: A shape, dtype or layout is wrong.
    """
    expect_tensor("x", x, ("N", "D"), FLOATS, dense=False)
    expect_tensor("weight", weight, (x.shape[1],), FLOATS)
    if residual is not None:
        expect_tensor("residual", residual, tuple(x.shape), (x.dtype,))
    if not _by_kernel(x) or not x.numel():
        return reference.add_norm(x, residual, weight, eps)
    from kernels.norm import add_norm_into

    out = torch.empty(x.shape, dtype=x.dtype, device=x.device)
    add_norm_into(x, residual, weight, eps, out)
    return out


def silu_mul(gate_up: torch.Tensor) -> torch.Tensor:
    """SiLU of the first half of each row times the second.

    Args:
        gate_up: (N, 2·D) float16, bfloat16 or float32, last dim contiguous.

    Returns:
        (N, D).

    Raises:
        ValueError: The shape, dtype or layout is wrong.
    """
    expect_tensor("gate_up", gate_up, ("N", "2·D"), FLOATS, dense=False)
    expect("gate_up", f"width {gate_up.shape[1]}", "an even one", gate_up.shape[1] % 2 == 0)
    if not _by_kernel(gate_up) or not gate_up.numel():
        return reference.silu_mul(gate_up)
    from kernels.mlp import silu_mul_into

    shape = (gate_up.shape[0], gate_up.shape[1] // 2)
    out = torch.empty(shape, dtype=gate_up.dtype, device=gate_up.device)
    silu_mul_into(gate_up, out)
    return out

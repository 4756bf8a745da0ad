"""Normalises, rotates and caches the queries, keys and values of the fused projection.

A program takes one head of one position. Arguments are checked by `kernels.ops`, not here.

Shapes: T positions; H query heads and K key/value heads of N numbers; S slots of the cache.

Source: Su et al., "RoFormer" (arXiv 2104.09864), in the half-split layout of Llama and Qwen; norms
of queries and keys as in Qwen3.
"""

from __future__ import annotations

from typing import no_type_check

import torch
import triton
import triton.language as tl


@triton.jit
@no_type_check
def _rope_kernel(
    qkv_ptr, q_weight_ptr, k_weight_ptr, cos_ptr, sin_ptr, slots_ptr, queries_ptr, keys_ptr,
    values_ptr, qkv_stride, eps, HEADS: tl.constexpr, KV_HEADS: tl.constexpr, HALF: tl.constexpr,
    NORMED: tl.constexpr,
):  # fmt: skip
    position = tl.program_id(0).to(tl.int64)
    head = tl.program_id(1)
    offsets = tl.arange(0, HALF)
    at = qkv_ptr + position * qkv_stride + head * 2 * HALF + offsets
    left = tl.load(at)
    right = tl.load(at + HALF)
    slot = tl.load(slots_ptr + position)
    if head >= HEADS + KV_HEADS:
        if slot >= 0:
            to = values_ptr + (slot * KV_HEADS + head - HEADS - KV_HEADS) * 2 * HALF + offsets
            tl.store(to, left)
            tl.store(to + HALF, right)
        return
    x, y = left.to(tl.float32), right.to(tl.float32)
    if NORMED:
        mean = (tl.sum(x * x, axis=0) + tl.sum(y * y, axis=0)) / (2 * HALF)
        scale = 1.0 / tl.sqrt(mean + eps)
        query = head < HEADS
        q_left, q_right = tl.load(q_weight_ptr + offsets), tl.load(q_weight_ptr + HALF + offsets)
        k_left, k_right = tl.load(k_weight_ptr + offsets), tl.load(k_weight_ptr + HALF + offsets)
        x *= scale * tl.where(query, q_left, k_left).to(tl.float32)
        y *= scale * tl.where(query, q_right, k_right).to(tl.float32)
        # Rounded where the model in torch rounds: after the norm, and after the rotation.
        x, y = x.to(left.dtype).to(tl.float32), y.to(left.dtype).to(tl.float32)
    cos = tl.load(cos_ptr + position * HALF + offsets)
    sin = tl.load(sin_ptr + position * HALF + offsets)
    rotated_left = (x * cos - y * sin).to(left.dtype)
    rotated_right = (y * cos + x * sin).to(left.dtype)
    if head < HEADS:
        to = queries_ptr + (position * HEADS + head) * 2 * HALF + offsets
        tl.store(to, rotated_left)
        tl.store(to + HALF, rotated_right)
    elif slot >= 0:
        to = keys_ptr + (slot * KV_HEADS + head - HEADS) * 2 * HALF + offsets
        tl.store(to, rotated_left)
        tl.store(to + HALF, rotated_right)


def rope_into(
    qkv: torch.Tensor,
    norms: tuple[torch.Tensor, torch.Tensor] | None,
    eps: float,
    rope: tuple[torch.Tensor, torch.Tensor],
    slots: torch.Tensor,
    out: tuple[torch.Tensor, torch.Tensor, torch.Tensor],
) -> None:
    """Write queries, and keys and values into their slots; see `kernels.ops.rope`. T ≥ 1.

    ``out`` holds queries, (T, H, N), and keys and values, each (S, K, N).
    """
    queries, keys, values = out
    heads, kv_heads, size = queries.shape[1], keys.shape[1], queries.shape[2]
    q_weight, k_weight = norms if norms is not None else (qkv, qkv)
    with torch.cuda.device(qkv.device if qkv.is_cuda else -1):
        _rope_kernel[(qkv.shape[0], heads + 2 * kv_heads)](
            qkv,
            q_weight,
            k_weight,
            *rope,
            slots,
            queries,
            keys,
            values,
            qkv.stride(0),
            eps,
            HEADS=heads,
            KV_HEADS=kv_heads,
            HALF=size // 2,
            NORMED=norms is not None,
        )

"""Rows of many requests attend to their caches in one launch: prefill, denoise, verify, commit.

A request's new rows are the last positions of its context. Some of them, from the left, see no
further than themselves; the others see the whole context, so a block sees all of itself. Keys and
values are stored in pages. A program takes some rows of one request, with all query heads that
share a key/value head, and one split of the keys; if there are several splits, a second kernel
combines them. Arguments are checked by `kernels.ops`, not here.

Shapes: T rows of all requests; B requests; H query heads and K key/value heads of N numbers; P
positions of a page; F splits of the keys.

Source: Dao et al., "FlashAttention" (arXiv 2205.14135); "Flash-Decoding" for the splits; Kwon et
al., "PagedAttention" (arXiv 2309.06180).
"""

from __future__ import annotations

from typing import no_type_check

import torch
import triton
import triton.language as tl

from kernels.context import Context
from kernels.interpreter import INTERPRETED

KEY_TILE = 64
ROW_TILE = 64


@triton.jit
@no_type_check
def _slots(pages_ptr, positions, inside, PAGE: tl.constexpr):
    """The cache slots of positions, by a request's row of the page table."""
    page = tl.load(pages_ptr + positions // PAGE, mask=inside, other=0)
    # int64, because slots times heads times numbers exceeds 2**31 in a cache of some gigabytes.
    return page.to(tl.int64) * PAGE + positions % PAGE


@triton.jit
@no_type_check
def _attend(
    queries, keys_ptr, values_ptr, pages_ptr, seen, length, kv_head, split, scale,
    PAGE: tl.constexpr, KV_HEADS: tl.constexpr, SIZE: tl.constexpr, ROWS: tl.constexpr,
    KEYS: tl.constexpr, SPLITS: tl.constexpr, UPCAST: tl.constexpr,
):  # fmt: skip
    """One split of a request's keys: each row's weighted values, largest score, total weight."""
    offsets = tl.arange(0, SIZE)
    if UPCAST:
        queries = queries.to(tl.float32)
    best = tl.full((ROWS,), float("-inf"), dtype=tl.float32)
    total_weight = tl.zeros((ROWS,), dtype=tl.float32)
    acc = tl.zeros((ROWS, SIZE), dtype=tl.float32)
    span = tl.cdiv(tl.cdiv(length, KEYS), SPLITS) * KEYS
    for start in range(split * span, tl.minimum(length, (split + 1) * span), KEYS):
        positions = start + tl.arange(0, KEYS)
        inside = positions < length
        where = _slots(pages_ptr, positions, inside, PAGE) * KV_HEADS + kv_head
        where *= SIZE
        keys = tl.load(
            keys_ptr + where[None, :] + offsets[:, None], mask=inside[None, :], other=0.0
        )
        if UPCAST:
            keys = keys.to(tl.float32)
        scores = tl.dot(queries, keys, input_precision="ieee") * scale
        scores = tl.where(positions[None, :] < seen[:, None], scores, float("-inf"))
        new_best = tl.maximum(best, tl.max(scores, axis=1))
        # A row may see none of this split's keys, and -inf - -inf would be nan.
        shift = tl.where(new_best == float("-inf"), 0.0, new_best)
        weights = tl.exp(scores - shift[:, None])
        rescale = tl.exp(best - shift)
        total_weight = total_weight * rescale + tl.sum(weights, axis=1)
        values = tl.load(
            values_ptr + where[:, None] + offsets[None, :], mask=inside[:, None], other=0.0
        )
        weights = weights.to(values.dtype)
        if UPCAST:
            weights, values = weights.to(tl.float32), values.to(tl.float32)
        acc = acc * rescale[:, None] + tl.dot(weights, values, input_precision="ieee")
        best = new_best
    return acc, best, total_weight


@triton.jit
@no_type_check
def _ends(row, rows, length, causal, block):
    """The end of what each row sees: itself, its own block, or the whole context."""
    position = length - rows + row
    end = tl.where(row < causal, position + 1, length)
    # Divides by 1 if there are no blocks.
    of_block = (position // tl.maximum(block, 1) + 1) * block
    return tl.where(block > 0, tl.minimum(of_block, length), end)


@triton.jit
@no_type_check
def _attention_kernel(
    queries_ptr, keys_ptr, values_ptr, pages_ptr, starts_ptr, lengths_ptr, causal_ptr, blocks_ptr,
    out_ptr, splits_ptr, total, page_columns, scale, PAGE: tl.constexpr, HEADS: tl.constexpr,
    KV_HEADS: tl.constexpr, SIZE: tl.constexpr, GROUP: tl.constexpr, ROWS: tl.constexpr,
    KEYS: tl.constexpr, SPLITS: tl.constexpr, TILES: tl.constexpr, UPCAST: tl.constexpr,
):  # fmt: skip
    request = tl.program_id(0) // TILES
    tile = tl.program_id(0) % TILES
    kv_head = tl.program_id(1)
    split = tl.program_id(2)
    first = tl.load(starts_ptr + request)
    rows = tl.load(starts_ptr + request + 1) - first
    # A tile holds whole rows: GROUP is the number of heads that share keys, padded to a power of 2.
    inner = tl.arange(0, ROWS)
    row = tile * (ROWS // GROUP) + inner // GROUP
    if tile * (ROWS // GROUP) >= rows:
        return
    heads_per_key: tl.constexpr = HEADS // KV_HEADS
    head = kv_head * heads_per_key + inner % GROUP
    live = (row < rows) & (inner % GROUP < heads_per_key)
    length = tl.load(lengths_ptr + request)
    causal, block = tl.load(causal_ptr + request), tl.load(blocks_ptr + request)
    seen = _ends(row, rows, length, causal, block)
    offsets = tl.arange(0, SIZE)
    at = (first + row).to(tl.int64) * HEADS + head
    queries = tl.load(
        queries_ptr + at[:, None] * SIZE + offsets[None, :], mask=live[:, None], other=0.0
    )
    acc, best, total_weight = _attend(
        queries, keys_ptr, values_ptr, pages_ptr + request * page_columns, seen, length, kv_head,
        split, scale, PAGE=PAGE, KV_HEADS=KV_HEADS, SIZE=SIZE, ROWS=ROWS, KEYS=KEYS,
        SPLITS=SPLITS, UPCAST=UPCAST,
    )  # fmt: skip
    if SPLITS == 1:
        out = (acc / total_weight[:, None]).to(out_ptr.dtype.element_ty)
        tl.store(out_ptr + at[:, None] * SIZE + offsets[None, :], out, mask=live[:, None])
    else:
        # A split's numbers are followed by its largest score and its total weight.
        to = (split * total * HEADS + at) * (SIZE + 2)
        tl.store(splits_ptr + to[:, None] + offsets[None, :], acc, mask=live[:, None])
        tl.store(splits_ptr + to + SIZE, best, mask=live)
        tl.store(splits_ptr + to + SIZE + 1, total_weight, mask=live)


@triton.jit
@no_type_check
def _combine_kernel(splits_ptr, out_ptr, plane, SIZE: tl.constexpr, SPLITS: tl.constexpr):
    at = tl.program_id(0).to(tl.int64)
    offsets = tl.arange(0, SIZE)
    splits = tl.arange(0, SPLITS)
    offsets_in = (splits * plane + at) * (SIZE + 2)
    best = tl.load(splits_ptr + offsets_in + SIZE)
    scale = tl.exp(best - tl.max(best, axis=0))
    total = tl.sum(tl.load(splits_ptr + offsets_in + SIZE + 1) * scale, axis=0)
    acc = tl.load(splits_ptr + offsets_in[:, None] + offsets[None, :])
    out = tl.sum(acc * scale[:, None], axis=0) / total
    tl.store(out_ptr + at * SIZE + offsets, out.to(out_ptr.dtype.element_ty))


def attention_into(
    queries: torch.Tensor,
    keys: torch.Tensor,
    values: torch.Tensor,
    context: Context,
    splits: int,
    out: torch.Tensor,
) -> None:
    """Write the attention of every row's heads into ``out``.

    Arguments are as in `kernels.ops.attention`. There must be at least one row, and the size of a
    head must be a power of 2, at least 16.
    """
    rows, heads, size = queries.shape
    _, page, kv_heads, _ = keys.shape
    group = triton.next_power_of_2(heads // kv_heads)
    row_tile = max(16, group, min(ROW_TILE, triton.next_power_of_2(context.most_rows * group)))
    tiles = triton.cdiv(context.most_rows, row_tile // group)
    requests = context.lengths.shape[0]
    parts = out
    if splits > 1:
        parts = torch.empty(
            (splits, rows, heads, size + 2), dtype=torch.float32, device=queries.device
        )
    with torch.cuda.device(queries.device if queries.is_cuda else -1):
        _attention_kernel[(requests * tiles, kv_heads, splits)](
            queries, keys, values, context.pages, context.starts, context.lengths, context.causal,
            context.blocks, out, parts, rows, context.pages.shape[1], size**-0.5, PAGE=page,
            HEADS=heads, KV_HEADS=kv_heads, SIZE=size, GROUP=group, ROWS=row_tile, KEYS=KEY_TILE,
            SPLITS=splits, TILES=tiles, UPCAST=INTERPRETED,
        )  # fmt: skip
        if splits > 1:
            _combine_kernel[(rows * heads,)](parts, out, rows * heads, SIZE=size, SPLITS=splits)

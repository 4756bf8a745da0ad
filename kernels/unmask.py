"""LM head and unmasking in one: the logits of masked rows are never written to memory.

A program multiplies a tile of rows by a tile of the vocabulary and keeps five numbers for each row:
the tile's largest logit m, the sum of exp(x - m), and the score, the logit and the id of its best
token. A second kernel combines a row's tiles. Arguments are checked by `kernels.ops`, not here.

Shapes: N rows of hidden states, D their width, V entries of the vocabulary, M rows to unmask,
C tiles of the vocabulary.

Source: Milakov and Gimelshein, "Online normalizer calculation for softmax" (arXiv 1805.02867); the
Gumbel-max trick; the mixing function is Wellons' "lowbias32".
"""

from __future__ import annotations

from typing import no_type_check

import torch
import triton
import triton.language as tl

from kernels.interpreter import INTERPRETED

ROW_TILES = (16, 32)
"""Rows of a program, if there are few rows and if there are more. Tensor cores add in the same
order for both, but not for 64 rows or more; so a row's token does not depend on the number of
rows."""

VOCABULARY_TILE = 128
WIDTH_TILE = 64


@triton.jit
@no_type_check
def _mix(x):
    x ^= x >> 16
    x *= 0x7FEB352D
    x ^= x >> 15
    x *= 0x846CA68B
    x ^= x >> 16
    return x


@triton.jit
@no_type_check
def _gumbel(seeds, ids):
    """Noise that depends on a seed and an id alone, so that it is the same in any batch."""
    mixed = _mix(seeds.to(tl.uint32) + _mix(ids.to(tl.uint32)))
    # Half a step is added so that neither logarithm gets 0. 23 bits, because with 24 the largest
    # value would round to 1.
    uniform = ((mixed >> 9).to(tl.float32) + 0.5) * (1.0 / (1 << 23))
    return -tl.log(-tl.log(uniform))


@triton.jit
@no_type_check
def _products(
    hidden_ptr,
    weight_ptr,
    rows,
    ids,
    columns,
    width,
    hidden_stride,
    weight_stride,
    UPCAST: tl.constexpr,
    ROWS: tl.constexpr,
    COLUMNS: tl.constexpr,
    WIDTH: tl.constexpr,
):
    """Logits of a tile, (ROWS, COLUMNS) float32; -inf beyond the vocabulary."""
    wanted, known = rows >= 0, ids < columns
    logits = tl.zeros((ROWS, COLUMNS), dtype=tl.float32)
    for start in range(0, width, WIDTH):
        deep = start + tl.arange(0, WIDTH)
        inside = deep < width
        hidden = tl.load(
            hidden_ptr + rows[:, None] * hidden_stride + deep[None, :],
            mask=wanted[:, None] & inside[None, :],
            other=0.0,
        )
        # int64, because a vocabulary of 150k rows of 16k numbers exceeds 2**31.
        weight = tl.load(
            weight_ptr + ids[None, :].to(tl.int64) * weight_stride + deep[:, None],
            mask=known[None, :] & inside[:, None],
            other=0.0,
        )
        if UPCAST:
            hidden, weight = hidden.to(tl.float32), weight.to(tl.float32)
        logits = tl.dot(hidden, weight, logits, input_precision="ieee")
    return tl.where(known[None, :], logits, float("-inf"))


@triton.jit
@no_type_check
def _sums(logits):
    """Each row's largest logit m, and the sum of exp(x - m)."""
    largest = tl.max(tl.where(logits == logits, logits, float("-inf")), axis=1)
    shift = tl.where(largest == float("-inf"), 0.0, largest)
    return largest, tl.sum(tl.exp(logits - shift[:, None]), axis=1)


@triton.jit
@no_type_check
def _choice(
    logits, temperatures_ptr, seeds_ptr, slots, count, ids, SAMPLED: tl.constexpr,
    COLUMNS: tl.constexpr,
):  # fmt: skip
    """Each row's best score in the tile, the index of its token there, and that token's logit."""
    scores = logits
    if SAMPLED:
        seeds = tl.load(seeds_ptr + slots, mask=slots < count, other=0)
        temperatures = tl.load(temperatures_ptr + slots, mask=slots < count, other=0.0)[:, None]
        drawn = logits / tl.where(temperatures > 0.0, temperatures, 1.0)
        drawn += _gumbel(seeds[:, None], ids[None, :])
        scores = tl.where(temperatures > 0.0, drawn, logits)
    # nan must lose the comparison, but stays in the sums, so that the row's confidence is nan.
    scores = tl.where(scores == scores, scores, float("-inf"))
    best, index = tl.max(scores, axis=1, return_indices=True)
    chosen = tl.arange(0, COLUMNS)[None, :] == index[:, None]
    logit = tl.sum(tl.where(chosen, logits, 0.0), axis=1)
    return best, index, logit


@triton.jit
@no_type_check
def _tiles_kernel(
    hidden_ptr, weight_ptr, rows_ptr, banned_ptr, temperatures_ptr, seeds_ptr, sums_ptr, tokens_ptr,
    count, columns, width, tiles, plane, hidden_stride, weight_stride, banned_stride,
    BANNED: tl.constexpr, SAMPLED: tl.constexpr, UPCAST: tl.constexpr, ROWS: tl.constexpr,
    COLUMNS: tl.constexpr, WIDTH: tl.constexpr,
):  # fmt: skip
    # Programs for the same part of the vocabulary are neighbours, so that it is read only once.
    slots = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    tile = tl.program_id(1)
    rows = tl.load(rows_ptr + slots, mask=slots < count, other=-1)
    if tl.max(rows, axis=0) < 0:
        return
    ids = tile * COLUMNS + tl.arange(0, COLUMNS)
    logits = _products(
        hidden_ptr, weight_ptr, rows, ids, columns, width, hidden_stride, weight_stride,
        UPCAST=UPCAST, ROWS=ROWS, COLUMNS=COLUMNS, WIDTH=WIDTH,
    )  # fmt: skip
    if BANNED:
        words = tl.load(
            banned_ptr + slots[:, None].to(tl.int64) * banned_stride + (ids // 32)[None, :],
            mask=(rows >= 0)[:, None] & (ids < columns)[None, :],
            other=0,
        )
        logits = tl.where(((words >> (ids % 32)[None, :]) & 1) != 0, float("-inf"), logits)
    best, index, logit = _choice(
        logits, temperatures_ptr, seeds_ptr, slots, count, ids, SAMPLED, COLUMNS
    )
    largest, total = _sums(logits)
    at = slots.to(tl.int64) * tiles + tile
    inside = slots < count
    tl.store(sums_ptr + at, largest, mask=inside)
    tl.store(sums_ptr + plane + at, total, mask=inside)
    tl.store(sums_ptr + 2 * plane + at, best, mask=inside)
    tl.store(sums_ptr + 3 * plane + at, logit, mask=inside)
    tl.store(tokens_ptr + at, tile * COLUMNS + index, mask=inside)


@triton.jit
@no_type_check
def _combine_kernel(
    rows_ptr,
    sums_ptr,
    tile_tokens_ptr,
    tokens_ptr,
    confidence_ptr,
    tiles,
    plane,
    TILES: tl.constexpr,
):
    slot = tl.program_id(0).to(tl.int64)
    nan = float("nan")
    if tl.load(rows_ptr + slot) < 0:
        tl.store(tokens_ptr + slot, tl.zeros((), dtype=tl.int64))
        tl.store(confidence_ptr + slot, nan)
        return
    offsets = tl.arange(0, TILES)
    inside = offsets < tiles
    at = slot * tiles + offsets
    maxima = tl.load(sums_ptr + at, mask=inside, other=float("-inf"))
    sums = tl.load(sums_ptr + plane + at, mask=inside, other=0.0)
    scores = tl.load(sums_ptr + 2 * plane + at, mask=inside, other=float("-inf"))
    logits = tl.load(sums_ptr + 3 * plane + at, mask=inside, other=0.0)
    tile_tokens = tl.load(tile_tokens_ptr + at, mask=inside, other=0)
    largest = tl.max(maxima, axis=0)
    shift = tl.where(largest == float("-inf"), 0.0, largest)
    # A tile with only banned tokens has a sum of 0, and its largest logit, -inf, does not count.
    scale = tl.exp(tl.where(maxima == float("-inf"), 0.0, maxima - shift))
    total = tl.sum(sums * scale, axis=0)
    total = tl.where(total == 0.0, nan, total)
    _, best = tl.max(scores, axis=0, return_indices=True)
    chosen = offsets == best
    token = tl.sum(tl.where(chosen, tile_tokens, 0), axis=0)
    logit = tl.sum(tl.where(chosen, logits, 0.0), axis=0)
    tl.store(tokens_ptr + slot, token.to(tl.int64))
    tl.store(confidence_ptr + slot, tl.exp(logit - shift) / total)


def unmask_into(
    hidden: torch.Tensor,
    weight: torch.Tensor,
    rows: torch.Tensor,
    banned: torch.Tensor | None,
    noise: tuple[torch.Tensor, torch.Tensor] | None,
    out: tuple[torch.Tensor, torch.Tensor],
) -> None:
    """Write each row's token and its probability into ``out``; see `kernels.ops.unmask`. M ≥ 1."""
    count, (columns, width) = rows.shape[0], weight.shape
    tiles = triton.cdiv(columns, VOCABULARY_TILE)
    sums = torch.empty((4, count, tiles), dtype=torch.float32, device=hidden.device)
    tile_tokens = torch.empty((count, tiles), dtype=torch.int32, device=hidden.device)
    temperatures, seeds = noise if noise is not None else (rows, rows)
    row_tile = ROW_TILES[count > ROW_TILES[0]]
    with torch.cuda.device(hidden.device if hidden.is_cuda else -1):
        _tiles_kernel[(triton.cdiv(count, row_tile), tiles)](
            hidden, weight, rows, rows if banned is None else banned, temperatures, seeds, sums,
            tile_tokens, count, columns, width, tiles, sums[0].numel(), hidden.stride(0),
            weight.stride(0), 0 if banned is None else banned.stride(0),
            BANNED=banned is not None, SAMPLED=noise is not None, UPCAST=INTERPRETED, ROWS=row_tile,
            COLUMNS=VOCABULARY_TILE, WIDTH=WIDTH_TILE,
        )  # fmt: skip
        _combine_kernel[(count,)](
            rows,
            sums,
            tile_tokens,
            *out,
            tiles,
            sums[0].numel(),
            TILES=triton.next_power_of_2(tiles),
        )

"""One row z of V logits: token = argmax z, confidence = 1 / sum(exp(z - max z)).

A running max and sum over tiles of V: one read of the logits, no (N, V) softmax stored. Arguments
are checked by `kernels.ops`, not here.

Source: Milakov and Gimelshein, "Online normalizer calculation for softmax" (arXiv 1805.02867).
"""

from __future__ import annotations

from typing import no_type_check

import torch
import triton
import triton.language as tl

MAX_TILE = 4096


@triton.jit
@no_type_check
def _confidence_kernel(
    logits_ptr,
    tokens_ptr,
    confidence_ptr,
    row_stride,
    columns,
    TILE: tl.constexpr,
):
    # int64, because rows times vocabulary passes 2**31 at 16k positions of 128k ids.
    row = tl.program_id(0).to(tl.int64)
    row_ptr = logits_ptr + row * row_stride
    best = float("-inf")
    token = 0
    total = 0.0
    for start in range(0, columns, TILE):
        offsets = start + tl.arange(0, TILE)
        inside = offsets < columns
        tile = tl.load(row_ptr + offsets, mask=inside, other=float("-inf")).to(tl.float32)
        # nan must lose the comparison, yet stay in the sum, where it marks the row's confidence.
        ranked = tl.where(tile == tile, tile, float("-inf"))
        tile_best, tile_token = tl.max(ranked, axis=0, return_indices=True)
        token = tl.where(tile_best > best, start + tile_token, token)
        new_best = tl.maximum(best, tile_best)
        # While only -inf has been seen, -inf - -inf would turn the whole row into nan.
        shift = tl.where(new_best == float("-inf"), 0.0, new_best)
        total = total * tl.exp(best - shift) + tl.sum(tl.exp(tile - shift), axis=0)
        best = new_best
    # A sum is at least 1, but for a row of -inf alone, where it is 0.
    total = tl.where(total == 0.0, float("nan"), total)
    tl.store(tokens_ptr + row, token.to(tl.int64))
    tl.store(confidence_ptr + row, 1.0 / total)


def confidence_into(
    logits: torch.Tensor, tokens: torch.Tensor, probabilities: torch.Tensor
) -> None:
    """Write each row's most likely token and its probability; see `kernels.ops.confidence`.

    Args:
        logits: (N, V), N ≥ 1, last dim contiguous.
        tokens: (N,) int64, contiguous; overwritten.
        probabilities: (N,) float32, contiguous; overwritten.
    """
    rows, columns = logits.shape
    tile = min(MAX_TILE, triton.next_power_of_2(columns))
    with torch.cuda.device(logits.device if logits.is_cuda else -1):
        _confidence_kernel[(rows,)](
            logits, tokens, probabilities, logits.stride(0), columns, TILE=tile, num_warps=8
        )

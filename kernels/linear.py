"""A matrix product for few rows, its weights in 8 bits: half the bytes, which is what it waits for.

Weights are widened to the rows' dtype on the way to the tensor cores and scaled once per output.
Where there are few outputs, the inner dimension is split among programs, whose sums a second kernel
adds in a fixed order. How far depends on the matrix alone, not on the number of rows.
Arguments are checked by `kernels.ops`, not here.

Shapes: N rows of D numbers in, O out; F parts of D.
"""

from __future__ import annotations

from typing import no_type_check

import torch
import triton
import triton.language as tl

from kernels.interpreter import INTERPRETED

OUT_TILE = 64
WIDTH_TILE = 128

PROGRAMS = 256
"""About how many keep a large GPU busy, two for each of its multiprocessors."""


@triton.jit
@no_type_check
def _linear_kernel(
    x_ptr,
    weight_ptr,
    scale_ptr,
    out_ptr,
    rows,
    width,
    outs,
    x_stride,
    weight_stride,
    part_width,
    ROWS: tl.constexpr,
    OUTS: tl.constexpr,
    WIDTH: tl.constexpr,
    PARTS: tl.constexpr,
    WIDE: tl.constexpr,
):
    row = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    column = tl.program_id(1) * OUTS + tl.arange(0, OUTS)
    part = tl.program_id(2)
    total = tl.zeros((ROWS, OUTS), dtype=tl.float32)
    end = tl.minimum(width, (part + 1) * part_width)
    for start in range(part * part_width, end, WIDTH):
        deep = start + tl.arange(0, WIDTH)
        x = tl.load(
            x_ptr + row[:, None].to(tl.int64) * x_stride + deep[None, :],
            mask=(row < rows)[:, None] & (deep < end)[None, :],
            other=0.0,
        )
        weight = tl.load(
            weight_ptr + column[None, :].to(tl.int64) * weight_stride + deep[:, None],
            mask=(column < outs)[None, :] & (deep < end)[:, None],
            other=0.0,
        )
        if WIDE:
            x = x.to(tl.float32)
        weight = weight.to(x.dtype)
        total = tl.dot(x, weight, total, input_precision="ieee")
    if PARTS == 1:
        total *= tl.load(scale_ptr + column, mask=column < outs, other=0.0)[None, :]
    at = (part * rows + row[:, None]).to(tl.int64) * outs + column[None, :]
    total = total.to(out_ptr.dtype.element_ty)
    tl.store(out_ptr + at, total, mask=(row < rows)[:, None] & (column < outs)[None, :])


@triton.jit
@no_type_check
def _sum_kernel(
    parts_ptr, scale_ptr, out_ptr, outs, plane, PARTS: tl.constexpr, OUTS: tl.constexpr
):
    row = tl.program_id(0).to(tl.int64)
    column = tl.program_id(1) * OUTS + tl.arange(0, OUTS)
    inside = column < outs
    at = row * outs + column
    total = tl.load(parts_ptr + at, mask=inside, other=0.0)
    for part in range(1, PARTS):
        total += tl.load(parts_ptr + part * plane + at, mask=inside, other=0.0)
    total *= tl.load(scale_ptr + column, mask=inside, other=0.0)
    tl.store(out_ptr + at, total.to(out_ptr.dtype.element_ty), mask=inside)


def parts_of(outs: int, width: int) -> int:
    """How many parts to split a matrix of (outs, width) into."""
    wanted, tiles = PROGRAMS // -(-outs // OUT_TILE), -(-width // WIDTH_TILE)
    return max(1, min(wanted, tiles))


def linear_into(
    x: torch.Tensor, weight: torch.Tensor, scale: torch.Tensor, parts: int, out: torch.Tensor
) -> None:
    """Write ``x @ (weight · scale)ᵀ``; see `kernels.ops.linear`.

    Args:
        x: (N, D), N ≥ 1, last dim contiguous.
        weight: (O, D) int8 or float8_e4m3fn, last dim contiguous.
        scale: (O,) float32, contiguous.
        parts: That the inner dimension is split into: more keep a GPU busy when O is small.
        out: (N, O), contiguous; overwritten.
    """
    (rows, width), outs = x.shape, weight.shape[0]
    sums = out
    if parts > 1:
        sums = torch.empty((parts, rows, outs), dtype=torch.float32, device=x.device)
    row_tile = min(64, max(16, triton.next_power_of_2(rows)))
    part_width = triton.cdiv(triton.cdiv(width, WIDTH_TILE), parts) * WIDTH_TILE
    with torch.cuda.device(x.device if x.is_cuda else -1):
        _linear_kernel[(triton.cdiv(rows, row_tile), triton.cdiv(outs, OUT_TILE), parts)](
            x,
            weight,
            scale,
            sums,
            rows,
            width,
            outs,
            x.stride(0),
            weight.stride(0),
            part_width,
            ROWS=row_tile,
            OUTS=OUT_TILE,
            WIDTH=WIDTH_TILE,
            PARTS=parts,
            WIDE=INTERPRETED,
        )
        if parts > 1:
            columns = 256
            _sum_kernel[(rows, triton.cdiv(outs, columns))](
                sums, scale, out, outs, rows * outs, PARTS=parts, OUTS=columns
            )

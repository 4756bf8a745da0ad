"""Residual addition and root-mean-square normalisation, with one read of each row.

Arguments are checked by `kernels.ops`, not here.

Shapes: N rows of D numbers.

Source: Zhang and Sennrich, "Root Mean Square Layer Normalization" (arXiv 1910.07467).
"""

from __future__ import annotations

from typing import no_type_check

import torch
import triton
import triton.language as tl


@triton.jit
@no_type_check
def _add_norm_kernel(
    x_ptr,
    residual_ptr,
    weight_ptr,
    out_ptr,
    width,
    x_stride,
    eps,
    ADDED: tl.constexpr,
    WIDTH: tl.constexpr,
):
    row = tl.program_id(0).to(tl.int64)
    offsets = tl.arange(0, WIDTH)
    inside = offsets < width
    x = tl.load(x_ptr + row * x_stride + offsets, mask=inside, other=0.0).to(tl.float32)
    if ADDED:
        at = residual_ptr + row * width + offsets
        # Rounded like the stored residual, so that the norm is that of what later layers read.
        x = (x + tl.load(at, mask=inside, other=0.0).to(tl.float32)).to(
            residual_ptr.dtype.element_ty
        )
        tl.store(at, x, mask=inside)
        x = x.to(tl.float32)
    scale = 1.0 / tl.sqrt(tl.sum(x * x, axis=0) / width + eps)
    weight = tl.load(weight_ptr + offsets, mask=inside, other=0.0).to(tl.float32)
    out = (x * scale * weight).to(out_ptr.dtype.element_ty)
    tl.store(out_ptr + row * width + offsets, out, mask=inside)


def add_norm_into(
    x: torch.Tensor,
    residual: torch.Tensor | None,
    weight: torch.Tensor,
    eps: float,
    out: torch.Tensor,
) -> None:
    """Write the norm of ``x + residual``, and the sum; see `kernels.ops.add_norm`. N ≥ 1."""
    rows, width = x.shape
    with torch.cuda.device(x.device if x.is_cuda else -1):
        _add_norm_kernel[(rows,)](
            x,
            x if residual is None else residual,
            weight,
            out,
            width,
            x.stride(0),
            eps,
            ADDED=residual is not None,
            WIDTH=triton.next_power_of_2(width),
        )

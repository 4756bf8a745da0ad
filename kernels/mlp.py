"""The gate of a SwiGLU layer: silu(gate)·up from one matrix that holds both halves.

Arguments are checked by `kernels.ops`, not here.

Shapes: N rows of I numbers.

Source: Shazeer, "GLU Variants Improve Transformer" (arXiv 2002.05202).
"""

from __future__ import annotations

from typing import no_type_check

import torch
import triton
import triton.language as tl

TILE = 1024


@triton.jit
@no_type_check
def _silu_mul_kernel(gate_up_ptr, out_ptr, width, row_stride, COLUMNS: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    offsets = tl.program_id(1) * COLUMNS + tl.arange(0, COLUMNS)
    inside = offsets < width
    at = gate_up_ptr + row * row_stride + offsets
    gate = tl.load(at, mask=inside, other=0.0).to(tl.float32)
    up = tl.load(at + width, mask=inside, other=0.0).to(tl.float32)
    # exp of a negative number only, because exp(-gate) overflows for a gate below -88.
    small = tl.exp(-tl.abs(gate))
    sigmoid = tl.where(gate >= 0, 1.0, small) / (1.0 + small)
    out = (gate * sigmoid * up).to(out_ptr.dtype.element_ty)
    tl.store(out_ptr + row * width + offsets, out, mask=inside)


def silu_mul_into(gate_up: torch.Tensor, out: torch.Tensor) -> None:
    """Write SiLU of the first half times the second; see `kernels.ops.silu_mul`. N ≥ 1."""
    rows, width = out.shape
    columns = min(TILE, triton.next_power_of_2(width))
    with torch.cuda.device(out.device if out.is_cuda else -1):
        _silu_mul_kernel[(rows, triton.cdiv(width, columns))](
            gate_up, out, width, gate_up.stride(0), COLUMNS=columns
        )

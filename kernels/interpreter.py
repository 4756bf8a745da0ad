"""Whether kernels run in Triton's interpreter, which multiplies the bits of bfloat16 as integers.

There, kernels convert the operands of a product to float32 first; on a device, that would leave the
tensor cores idle. The interpreter also truncates numbers to bfloat16 instead of rounding them.
"""

from __future__ import annotations

import triton

INTERPRETED: bool = triton.knobs.runtime.interpret

"""Whether kernels run in Triton's interpreter, which multiplies the bits of bfloat16 as integers.

Kernels widen the operands of a product there; on a device that would leave the tensor cores idle.
It also cuts numbers off to bfloat16 instead of rounding them.
"""

from __future__ import annotations

import triton

INTERPRETED: bool = triton.knobs.runtime.interpret

"""Which drafted tokens of a block become final, decided on the device: no step waits for the host.

One program per block compares every position with every other one, since a block is small. What
the rules mean stands in `kernels.ops.accept`, where arguments are checked.

Shapes: B blocks of L positions.
"""

from __future__ import annotations

from typing import no_type_check

import torch
import triton
import triton.language as tl

THRESHOLD = 0
FACTOR = 1
ENTROPY = 2


@triton.jit
@no_type_check
def _accept_kernel(
    tokens_ptr,
    drafted_ptr,
    confidence_ptr,
    entropy_ptr,
    accepted_ptr,
    length,
    mask_id,
    bound,
    RULE: tl.constexpr,
    POSITIONS: tl.constexpr,
):
    row = tl.program_id(0).to(tl.int64) * length
    mine = tl.arange(0, POSITIONS)
    inside = mine < length
    tokens = tl.load(tokens_ptr + row + mine, mask=inside, other=0)
    masked = inside & (tokens == mask_id)
    confidence = tl.load(confidence_ptr + row + mine, mask=inside, other=0.0)
    # A row of banned tokens alone has no confidence; it is accepted last.
    confidence = tl.where(confidence == confidence, confidence, -1.0)
    worth = confidence
    if RULE == 2:
        entropy = tl.load(entropy_ptr + row + mine, mask=inside, other=0.0)
        worth = -tl.where(entropy == entropy, entropy, float("inf"))
    # How many masked positions come before each one: those worth more, and equals to its left.
    to_the_left = mine[None, :] < mine[:, None]
    equal = worth[None, :] == worth[:, None]
    earlier = masked[None, :] & ((worth[None, :] > worth[:, None]) | (equal & to_the_left))
    rank = tl.sum(earlier.to(tl.int32), axis=1)
    if RULE == 0:
        good = confidence > bound
    elif RULE == 1:
        # The leading run of ranks that meet their bound: none before them fails.
        # Divided as torch divides; plain division is a few units off in the last place on a device.
        meets = confidence >= 1.0 - tl.div_rn(bound, (rank + 2).to(tl.float32))
        failing = tl.where(masked & ~meets, rank, POSITIONS)
        good = rank < tl.min(failing, axis=0)
    else:
        before = tl.sum(tl.where(earlier, -worth[None, :], 0.0), axis=1)
        good = before <= bound
    good = masked & (good | (rank == 0))
    drafted = tl.load(drafted_ptr + row + mine, mask=inside, other=0)
    tl.store(tokens_ptr + row + mine, drafted, mask=good)
    tl.store(accepted_ptr + row + mine, good, mask=inside)


def accept_into(
    tokens: torch.Tensor,
    drafted: torch.Tensor,
    worth: tuple[torch.Tensor, torch.Tensor],
    mask_id: int,
    rule: tuple[int, float],
    accepted: torch.Tensor,
) -> None:
    """Put accepted tokens in the place of masks; see `kernels.ops.accept`.

    Args:
        tokens: (B, L) int64, contiguous; changed.
        drafted: (B, L) int64, contiguous.
        worth: Confidence and entropy, each (B, L) float32, contiguous.
        mask_id: Of a position that is still open.
        rule: One of this module's constants, and its bound.
        accepted: (B, L) bool, contiguous; overwritten.
    """
    blocks, length = tokens.shape
    with torch.cuda.device(tokens.device if tokens.is_cuda else -1):
        _accept_kernel[(blocks,)](
            tokens,
            drafted,
            *worth,
            accepted,
            length,
            mask_id,
            rule[1],
            RULE=rule[0],
            POSITIONS=triton.next_power_of_2(length),
        )

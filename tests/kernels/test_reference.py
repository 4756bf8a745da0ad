from __future__ import annotations

import torch

from kernels import reference
from kernels.context import Context


def test_pages_are_read_in_the_order_of_the_table() -> None:
    values = torch.arange(6.0).reshape(3, 2, 1, 1)
    keys = torch.zeros(3, 2, 1, 1)
    context = Context(
        pages=torch.tensor([[2, 0]], dtype=torch.int32),
        starts=torch.tensor([0, 3], dtype=torch.int32),
        lengths=torch.tensor([3], dtype=torch.int32),
        causal=torch.tensor([3], dtype=torch.int32),
        blocks=torch.tensor([0], dtype=torch.int32),
        most_rows=3,
    )
    # Equal keys: each row averages the values 4, 5, 0 of what it sees.
    out = reference.attention(torch.zeros(3, 1, 1), keys, values, context)
    torch.testing.assert_close(out.flatten(), torch.tensor([4.0, 4.5, 3.0]))

from __future__ import annotations

import math

import torch

from kernels import reference
from kernels.context import Context


def test_confidence_is_the_softmax_of_the_largest_logit() -> None:
    logits = torch.tensor([[0.0, math.log(3.0), 0.0], [5.0, 5.0, -torch.inf]])
    tokens, probabilities = reference.confidence(logits)
    assert tokens.tolist() == [1, 0]
    torch.testing.assert_close(probabilities, torch.tensor([0.6, 0.5]))


def test_half_precision_is_summed_in_float32() -> None:
    # 1 / 4096 is far below the step of bfloat16 near 1, so a bfloat16 sum would stop at 256.
    _, probabilities = reference.confidence(torch.zeros(1, 4096, dtype=torch.bfloat16))
    assert probabilities.item() == 1 / 4096
    assert probabilities.dtype == torch.float32


def test_rows_without_a_probability_are_nan() -> None:
    inf, nan = torch.inf, torch.nan
    tokens, probabilities = reference.confidence(
        torch.tensor([[-inf, -inf], [nan, 1.0], [0.0, inf], [nan, nan]])
    )
    assert tokens.tolist() == [0, 1, 1, 0]
    assert probabilities.isnan().all()


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

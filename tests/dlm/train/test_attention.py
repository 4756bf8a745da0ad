from __future__ import annotations

import numpy as np
import pytest
import torch
from torch.nn import functional

from dlm.train.attention import Joint, causal
from dlm.train.objective import Copies, collate, copies_see, noisy_copies
from tests.dlm.tiny import DIALOGUES, TOOLS, template


def problem() -> tuple[int, Copies, list[torch.Tensor]]:
    rows = collate([template().dialogue(turns, TOOLS) for turns in DIALOGUES], 0.0)
    copies = noisy_copies(rows, 8, np.random.default_rng(0))
    length = rows.ids.shape[1]
    generator = torch.Generator().manual_seed(0)
    shape = (len(rows.ids), 3, length + copies.ids.shape[1], 8)
    return length, copies, [torch.randn(shape, generator=generator) for _ in range(3)]


def full_mask(length: int, copies: Copies) -> torch.Tensor:
    below = copies_see(length, copies)
    rows, _, width, size = below.shape
    above = torch.zeros(rows, 1, length, size, dtype=torch.bool)
    above[:, :, :, :length] = torch.ones(length, length, dtype=torch.bool).tril()
    assert below.shape[-1] == length + width
    return torch.cat((above, below), dim=2)


BY_TYPE = pytest.mark.parametrize(
    ("dtype", "tolerance"), [(torch.float32, 1e-5), (torch.bfloat16, 2e-2)]
)
"""A CPU attends in bfloat16 by products of our own."""


@BY_TYPE
def test_causal_is_attention_to_what_stands_before(dtype: torch.dtype, tolerance: float) -> None:
    _, _, (queries, keys, values) = problem()
    size = queries.shape[2]
    mask = torch.ones(size, size, dtype=torch.bool).tril()
    expected = functional.scaled_dot_product_attention(queries, keys, values, attn_mask=mask)
    found = causal(*(x.to(dtype) for x in (queries, keys, values)))
    torch.testing.assert_close(found.float(), expected, atol=tolerance, rtol=tolerance)


@BY_TYPE
def test_attention_in_parts_is_attention_under_the_whole_mask(
    dtype: torch.dtype, tolerance: float
) -> None:
    length, copies, (queries, keys, values) = problem()
    mask = full_mask(length, copies)
    expected = functional.scaled_dot_product_attention(queries, keys, values, attn_mask=mask)
    attend = Joint(length, copies_see(length, copies))
    found = attend(*(x.to(dtype) for x in (queries, keys, values)))
    torch.testing.assert_close(found.float(), expected, atol=tolerance, rtol=tolerance)

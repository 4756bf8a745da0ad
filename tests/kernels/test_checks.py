from __future__ import annotations

import pytest
import torch

from kernels.checks import FLOATS, expect_tensor


@pytest.mark.parametrize(
    ("tensor", "shape", "message"),
    [
        (torch.zeros(2, 3), ("N",), r"^x: got shape \(2, 3\); expected \(N,\)$"),
        (torch.zeros(2, 3), ("N", 4), r"^x: got shape \(2, 3\); expected \(N, 4\)$"),
        (torch.zeros(2, dtype=torch.int8), (2,), "^x: got torch.int8; expected float16, bfloat16"),
        (torch.zeros(3, 2).t(), (2, 3), r"^x: got strides \(1, 2\); expected a contiguous tensor$"),
    ],
)
def test_what_is_not_is_named(
    tensor: torch.Tensor, shape: tuple[int | str, ...], message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        expect_tensor("x", tensor, shape, FLOATS)


def test_rows_may_be_apart_but_their_numbers_may_not() -> None:
    with pytest.raises(ValueError, match="expected the last one to be 1"):
        expect_tensor("x", torch.zeros(2, 6)[:, ::2], ("N", 3), FLOATS, dense=False)

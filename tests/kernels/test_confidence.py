"""Parity with the torch reference: on CUDA compiled, elsewhere in Triton's interpreter."""

from __future__ import annotations

import pytest
import torch

from kernels import reference

pytest.importorskip("triton", reason="Triton ships for Linux alone")

from kernels import confidence
from kernels.confidence import MAX_TILE

COLUMNS = [1, 63, 500, 1000, 4096]
DTYPES = [torch.float16, torch.bfloat16, torch.float32]


def run(logits: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Outputs poisoned first, so that a row that was not written shows."""
    rows = logits.shape[0]
    tokens = torch.full((rows,), -1, dtype=torch.int64, device=logits.device)
    probabilities = torch.full((rows,), torch.nan, device=logits.device)
    confidence.confidence_into(logits, tokens, probabilities)
    return tokens, probabilities


def assert_parity(logits: torch.Tensor) -> None:
    tokens, probabilities = run(logits)
    expected_tokens, expected_probabilities = reference.confidence(logits)
    assert torch.equal(tokens, expected_tokens)
    torch.testing.assert_close(
        probabilities, expected_probabilities, rtol=1e-5, atol=0, equal_nan=True
    )


def check_tiles(device: torch.device) -> None:
    """Several tiles, of which any may hold the largest logit, and ties between them."""
    generator = torch.Generator().manual_seed(1)
    assert_parity(8 * torch.randn(6, 2 * MAX_TILE + 7, generator=generator).to(device))
    assert_parity(torch.zeros(1, MAX_TILE + 7, device=device))
    rising = torch.arange(MAX_TILE + 7, device=device)[None] / 1000
    assert_parity(rising)


CHECKS = (check_tiles,)


@pytest.mark.parametrize("check", CHECKS)
def test_tiles_are_folded(check, device: torch.device) -> None:  # type: ignore[no-untyped-def]
    check(device)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("columns", [*COLUMNS, MAX_TILE + 1, 2 * MAX_TILE + 500])
def test_agrees_with_the_reference(columns: int, dtype: torch.dtype, device: torch.device) -> None:
    generator = torch.Generator().manual_seed(columns)
    logits = 8 * torch.randn(5, columns, generator=generator)
    assert_parity(logits.to(device, dtype))


@pytest.mark.parametrize("columns", [63, MAX_TILE + 63])
def test_ties_go_to_the_lowest_id(columns: int, device: torch.device) -> None:
    logits = torch.zeros(3, columns, device=device)
    logits[1, [7, columns // 2, columns - 1]] = 2.0
    logits[2, [columns // 2, columns - 1]] = 2.0
    assert_parity(logits)
    assert run(logits)[0].tolist() == [0, 7, columns // 2]


def test_rows_may_be_strided(device: torch.device) -> None:
    wide = torch.full((6, 1100), torch.inf, device=device)
    wide[::2, 50:1050] = torch.randn(3, 1000, device=device)
    logits = wide[::2, 50:1050]
    assert logits.stride() == (2200, 1)
    assert_parity(logits)
    assert run(logits)[1].isfinite().all()


def test_one_row_may_be_broadcast(device: torch.device) -> None:
    assert_parity(torch.randn(1, 63, device=device).expand(4, 63))


def test_banned_tokens_have_no_share(device: torch.device) -> None:
    columns = 2 * MAX_TILE
    logits = torch.full((3, columns), -torch.inf, device=device)
    logits[0, columns - 1] = -3.0
    logits[1, [5, MAX_TILE + 5]] = 1.0
    tokens, probabilities = run(logits)
    assert tokens.tolist() == [columns - 1, 5, 0]
    assert probabilities[:2].tolist() == [1.0, 0.5]
    assert probabilities[2].isnan()
    assert_parity(logits)


# The interpreter computes in numpy, which warns of the difference that is rounded to -inf.
@pytest.mark.filterwarnings("ignore:overflow:RuntimeWarning")
@pytest.mark.parametrize("largest", [65_504.0, 3e38])
def test_large_logits_do_not_overflow(largest: float, device: torch.device) -> None:
    logits = torch.tensor([[largest, largest, -largest]], device=device)
    assert run(logits)[1].tolist() == [0.5]


@pytest.mark.filterwarnings("ignore:invalid value:RuntimeWarning")
@pytest.mark.parametrize("bad", [torch.nan, torch.inf])
@pytest.mark.parametrize("column", [0, 62, MAX_TILE + 62])
def test_a_row_with_nan_or_inf_has_no_confidence(
    bad: float, column: int, device: torch.device
) -> None:
    logits = torch.randn(2, MAX_TILE + 63, device=device)
    logits[1, column] = bad
    assert_parity(logits)
    assert run(logits)[1].isnan().tolist() == [False, True]

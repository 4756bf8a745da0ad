"""Parity with the torch reference: on CUDA compiled, elsewhere in Triton's interpreter."""

from __future__ import annotations

import pytest
import torch

from kernels import reference

pytest.importorskip("triton", reason="Triton ships for Linux alone")

from kernels import unmask
from kernels.unmask import ROW_TILES, VOCABULARY_TILE, WIDTH_TILE

ROW_TILE = ROW_TILES[-1]

DTYPES = [torch.float16, torch.bfloat16, torch.float32]
Out = tuple[torch.Tensor, torch.Tensor]
Noise = tuple[torch.Tensor, torch.Tensor] | None


def run(
    hidden: torch.Tensor,
    weight: torch.Tensor,
    rows: torch.Tensor,
    banned: torch.Tensor | None = None,
    noise: Noise = None,
) -> Out:
    """Outputs poisoned first, so that a row that was not written shows."""
    count = rows.shape[0]
    out = (
        torch.full((count,), -7, dtype=torch.int64, device=hidden.device),
        torch.full((count,), -7.0, device=hidden.device),
    )
    unmask.unmask_into(hidden, weight, rows, banned, noise, out)
    return out


def assert_parity(
    hidden: torch.Tensor,
    weight: torch.Tensor,
    rows: torch.Tensor,
    banned: torch.Tensor | None = None,
    noise: Noise = None,
) -> None:
    tokens, confidence = run(hidden, weight, rows, banned, noise)
    expected = reference.unmask(hidden, weight, rows, banned, noise)
    assert torch.equal(tokens, expected[0])
    torch.testing.assert_close(confidence, expected[1], rtol=1e-4, atol=0, equal_nan=True)


def whole(generator: torch.Generator, *shape: int) -> torch.Tensor:
    """Small whole numbers, whose products are exact in every dtype: equal logits are equal."""
    return torch.randint(-3, 4, shape, generator=generator).float()


def bans(banned_ids: list[list[int]], columns: int) -> torch.Tensor:
    words = torch.zeros(len(banned_ids), -(-columns // 32), dtype=torch.int64)
    for row, ids in enumerate(banned_ids):
        for i in ids:
            words[row, i // 32] |= 1 << (i % 32)
    return torch.where(words >= 1 << 31, words - (1 << 32), words).to(torch.int32)


def check_parity(device: torch.device) -> None:
    """Odd sizes, whole tiles and less than one; near ties decided by the lowest id."""
    for rows, columns, width in [
        (1, 1, 1),
        (3, 63, 20),
        (ROW_TILES[0], VOCABULARY_TILE, WIDTH_TILE),
        (ROW_TILE + 1, 2 * VOCABULARY_TILE + 5, WIDTH_TILE + 3),
    ]:
        generator = torch.Generator().manual_seed(columns)
        hidden = whole(generator, rows, width).to(device)
        weight = whole(generator, columns, width).to(device)
        assert_parity(hidden, weight, torch.arange(rows, device=device))
        assert_parity(hidden / 4, weight / 4, torch.arange(rows, device=device))


def check_bans(device: torch.device) -> None:
    columns = VOCABULARY_TILE + 40
    hidden = torch.ones(4, 2, device=device)
    weight = torch.arange(columns, device=device).float()[:, None].expand(-1, 2).contiguous() / 64
    rows = torch.arange(4, device=device)
    everything = list(range(columns))
    banned = bans([[], [columns - 1, 31, 32], everything[:-1], everything], columns).to(device)
    assert_parity(hidden, weight, rows, banned)
    tokens, confidence = run(hidden, weight, rows, banned)
    assert tokens.tolist() == [columns - 1, columns - 2, columns - 1, 0]
    assert confidence[2].item() == 1.0
    assert confidence[3].isnan()


def check_noise(device: torch.device) -> None:
    generator = torch.Generator().manual_seed(5)
    hidden = torch.randn(6, 40, generator=generator).to(device)
    weight = (torch.randn(300, 40, generator=generator) / 4).to(device)
    seeds = torch.tensor([0, 1, 2**31, 2**32 - 1, 12345, 1], device=device)
    for warmth in ([0.7] * 6, [3.0, 0.0, 0.2, 1.0, 0.0, 3.0]):
        temperatures = torch.tensor(warmth, device=device)
        rows = torch.arange(6, device=device)
        assert_parity(hidden, weight, rows, None, (temperatures, seeds))


def check_the_rarest_noise(device: torch.device) -> None:
    """Of a seed and id 0 whose mixture has no bit set, or every one: finite, it decides nothing."""
    hidden = torch.ones(2, 1, device=device)
    weight = torch.tensor([[0.0], [40.0]], device=device)
    seeds = torch.tensor([0, 3589926852], device=device)
    noise = torch.ones(2, device=device), seeds
    assert run(hidden, weight, torch.arange(2, device=device), None, noise)[0].tolist() == [1, 1]
    assert reference.gumbel(seeds, torch.zeros_like(seeds)).isfinite().all()


def check_padding(device: torch.device) -> None:
    """Rows chosen by index, one of them twice; a tile of padding alone, and padding beside rows."""
    hidden = torch.randn(2 * ROW_TILE, 8, device=device)
    weight = torch.randn(50, 8, device=device)
    rows = torch.full((2 * ROW_TILE + 3,), -1, dtype=torch.int64, device=device)
    rows[:3] = torch.tensor([5, 0, 5])
    assert_parity(hidden, weight, rows)
    tokens, confidence = run(hidden, weight, rows)
    assert tokens[0] == tokens[2]
    assert confidence[3:].isnan().all()
    assert (tokens[3:] == 0).all()


CHECKS = (check_parity, check_bans, check_noise, check_the_rarest_noise, check_padding)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_every_dtype(dtype: torch.dtype, device: torch.device) -> None:
    generator = torch.Generator().manual_seed(3)
    hidden = torch.randn(5, 70, generator=generator).to(device, dtype)
    weight = (torch.randn(200, 70, generator=generator) / 4).to(device, dtype)
    assert_parity(hidden, weight, torch.arange(5, device=device))


def test_ties_go_to_the_lowest_id(device: torch.device) -> None:
    columns = 3 * VOCABULARY_TILE
    weight = torch.zeros(columns, 4, device=device)
    weight[[7, VOCABULARY_TILE + 2, columns - 1]] = 1.0
    hidden = torch.stack((torch.zeros(4), torch.ones(4), -torch.ones(4))).to(device)
    tokens, confidence = run(hidden, weight, torch.arange(3, device=device))
    assert tokens.tolist() == [0, 7, 0]
    assert confidence[0].item() == pytest.approx(1 / columns)


def test_strided_inputs(device: torch.device) -> None:
    hidden = torch.full((8, 100), torch.nan, device=device)
    hidden[::2, 10:50] = torch.randn(4, 40, device=device)
    weight = torch.full((120, 90), torch.nan, device=device)
    weight[::2, 20:60] = torch.randn(60, 40, device=device)
    assert_parity(hidden[::2, 10:50], weight[::2, 20:60], torch.arange(4, device=device))
    assert (
        run(hidden[::2, 10:50], weight[::2, 20:60], torch.arange(4, device=device))[1]
        .isfinite()
        .all()
    )


@pytest.mark.filterwarnings("ignore:invalid value:RuntimeWarning")
def test_a_row_with_nan_has_no_confidence_and_a_real_token(device: torch.device) -> None:
    hidden = torch.randn(2, 8, device=device)
    weight = torch.randn(VOCABULARY_TILE + 9, 8, device=device)
    weight[VOCABULARY_TILE + 3] = torch.nan
    tokens, confidence = run(hidden, weight, torch.arange(2, device=device))
    expected = reference.unmask(hidden, weight, torch.arange(2, device=device), None, None)
    assert torch.equal(tokens, expected[0])
    assert confidence.isnan().all()


# The interpreter multiplies tiles of other sizes in another order.
@pytest.mark.gpu
@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs an NVIDIA GPU")
def test_a_row_does_not_depend_on_the_others(device: torch.device) -> None:
    hidden = torch.randn(40, 500, device=device, dtype=torch.bfloat16)
    weight = torch.randn(3000, 500, device=device, dtype=torch.bfloat16)
    rows = torch.arange(40, device=device)
    together = run(hidden, weight, rows)
    for count in (1, 5, 16, 17, 32):
        for whole, part in zip(together, run(hidden, weight, rows[:count]), strict=True):
            assert torch.equal(whole[:count], part)

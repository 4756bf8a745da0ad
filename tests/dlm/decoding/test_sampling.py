from __future__ import annotations

import numpy as np
import pytest
import torch

from dlm.decoding.sampling import Sampling, gumbel, nucleus

LOGITS = torch.tensor([2.0, 1.0, 0.0, -1.0, -torch.inf])


def drawn(sampling: Sampling, count: int) -> torch.Tensor:
    """How often each token is drawn, as a share."""
    tokens = sampling.perturb(LOGITS.expand(count, -1), 0).argmax(dim=-1)
    return torch.bincount(tokens, minlength=len(LOGITS)) / count


@pytest.mark.parametrize("temperature", [0.5, 1.0, 2.0])
def test_tokens_are_drawn_as_often_as_they_are_likely(temperature: float) -> None:
    expected = (LOGITS / temperature).softmax(-1)
    torch.testing.assert_close(
        drawn(Sampling(temperature, 1.0, 3), 20_000), expected, atol=0.015, rtol=0
    )


def test_the_unlikely_are_left_out() -> None:
    expected = LOGITS.softmax(-1)
    assert expected[0] < 0.7 < expected[:2].sum()
    expected = torch.where(torch.arange(5) < 2, expected, 0.0)
    expected /= expected.sum()
    torch.testing.assert_close(drawn(Sampling(1.0, 0.7, 3), 20_000), expected, atol=0.015, rtol=0)
    assert drawn(Sampling(5.0, 0.01, 3), 1000)[0] == 1


def test_the_nucleus_holds_its_mass_and_no_more() -> None:
    logits = torch.tensor([[0.1, 0.5, 0.15, 0.25]]).log()
    for mass, kept in [
        (1e-50, [1]),
        (0.01, [1]),
        (0.5, [1]),
        (0.6, [1, 3]),
        (0.8, [1, 2, 3]),
        (1.0, [0, 1, 2, 3]),
    ]:
        assert nucleus(logits, mass)[0].nonzero()[:, 0].tolist() == kept


def test_noise_is_its_positions_alone() -> None:
    whole = gumbel(5, range(10), 50)
    assert whole.shape == (10, 50)
    assert whole.dtype == np.float32
    np.testing.assert_array_equal(gumbel(5, range(4, 7), 50), whole[4:7])
    np.testing.assert_array_equal(gumbel(5, range(10), 20), whole[:, :20])
    assert np.isfinite(whole).all()


@pytest.mark.parametrize("seeds", [(0, 1), (1, 1 + 2**32), (5, -5), (2**63, 2**63 + 1)])
def test_seeds_differ_in_all_their_bits(seeds: tuple[int, int]) -> None:
    left, right = (gumbel(seed, range(8), 64) for seed in seeds)
    assert (left != right).mean() > 0.9


@pytest.mark.parametrize("seed", [0, 3589926852], ids=["no bit set", "every bit set"])
def test_the_rarest_noise_is_finite(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of 151,936 ids and 110 rows, one has every bit set: it must not win whatever its logit."""
    seeds = np.array([seed], dtype=np.uint32)
    monkeypatch.setattr("dlm.decoding.sampling.row_seeds", lambda *given: seeds)
    noise = gumbel(0, range(1), 1)
    assert -3 < noise.item() < 17


def test_noise_has_the_right_distribution() -> None:
    noise = gumbel(11, range(64), 4096)
    assert abs(noise.mean() - np.euler_gamma) < 0.01
    assert abs(noise.var() - np.pi**2 / 6) < 0.02
    # Neither along the vocabulary nor along the answer.
    for axis in (0, 1):
        left, right = np.split(noise, 2, axis=axis)
        assert abs(np.corrcoef(left.ravel(), right.ravel())[0, 1]) < 0.01


@pytest.mark.parametrize(
    ("temperature", "top_p", "told"),
    [
        (-0.1, 1.0, "temperature: got -0.1"),
        (0.0, 1.0, "temperature: got 0.0"),
        (float("nan"), 1.0, "temperature: got nan"),
        (float("inf"), 1.0, "temperature: got inf"),
        (1.0, 0.0, "top_p: got 0.0"),
        (1.0, 1.1, "top_p: got 1.1"),
    ],
)
def test_what_is_no_distribution_is_refused(temperature: float, top_p: float, told: str) -> None:
    with pytest.raises(ValueError, match=told):
        Sampling(temperature, top_p, 0)

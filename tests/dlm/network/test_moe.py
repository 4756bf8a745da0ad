from __future__ import annotations

import pytest
import torch

from dlm.network.moe import Experts, MixtureOfExperts, Router

SHAPE = Experts(8, 2, 12, shared=1, groups=4, groups_per_token=2, scale=2.5)


def mixture(shape: Experts = SHAPE, size: int = 16) -> MixtureOfExperts:
    made, generator = MixtureOfExperts(size, shape), torch.Generator().manual_seed(4)
    with torch.no_grad():
        for parameter in made.parameters():
            parameter.copy_(0.5 * torch.randn(parameter.shape, generator=generator))
    return made.requires_grad_(False)


def router(bias: list[float], weight: list[float]) -> Router:
    """Scores that do not depend on the row: sigmoid of ``weight``."""
    made = Router(1, Experts(6, 2, 4, groups=3, groups_per_token=2, scale=2.0))
    with torch.no_grad():
        made.weight.copy_(torch.tensor(weight)[:, None])
        made.bias.copy_(torch.tensor(bias))
    return made


def test_weights_of_the_chosen_sum_to_the_scale() -> None:
    ids, weights = mixture().router(torch.randn(50, 16))
    assert ids.shape == weights.shape == (50, 2)
    torch.testing.assert_close(weights.sum(dim=1), torch.full((50,), 2.5))
    # Chosen from two groups of two experts at most.
    assert all(len(set(row)) == 2 for row in ids.tolist())


def test_groups_are_chosen_by_their_two_best() -> None:
    # Expert 0 is the best of all, and its group the worst.
    made = router([0.0] * 6, [3.0, -9.0, 2.0, 1.0, 1.5, 1.4])
    ids, _ = made(torch.ones(1, 1))
    assert sorted(ids[0].tolist()) == [2, 4]


def test_the_bias_decides_the_choice_and_not_the_weight() -> None:
    made = router([0.0, 0.0, 0.0, 5.0, 0.0, 5.0], [0.0, 0.0, 0.0, -1.0, 0.0, 1.0])
    ids, weights = made(torch.ones(1, 1))
    score = torch.tensor([-1.0, 1.0]).sigmoid()
    expected = dict(zip([3, 5], (2 * score / score.sum()).tolist(), strict=True))
    got = dict(zip(ids[0].tolist(), weights[0].tolist(), strict=True))
    assert got == pytest.approx(expected)


def test_a_single_experts_weight_is_its_score() -> None:
    made = mixture(Experts(4, 1, 12, scale=3.0))
    rows = torch.randn(5, 16)
    ids, weights = made.router(rows)
    scores = (rows @ made.router.weight.T).sigmoid()
    torch.testing.assert_close(weights, 3.0 * scores.gather(1, ids))


def test_rows_get_the_same_bits_in_any_company() -> None:
    made = mixture()
    rows = torch.randn(48, 16, generator=torch.Generator().manual_seed(2))
    together = made(rows)
    for part in (rows[:16], rows[16:48]):
        at = 0 if len(part) == 16 else 16
        assert torch.equal(made(part), together[at : at + len(part)])
    assert torch.equal(made(rows.view(3, 16, 16)), together.view(3, 16, 16))


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"groups": 3}, "experts: got 8, expected a multiple of 3"),
        ({"groups": 2, "groups_per_token": 3}, "groups per token: got 3, expected 1 to 2"),
        ({"per_token": 5, "groups": 2, "groups_per_token": 1}, "got 5, expected 1 to 4"),
    ],
)
def test_mixtures_from_which_no_row_could_choose_are_refused(
    changes: dict[str, int], told: str
) -> None:
    with pytest.raises(ValueError, match=told):
        Experts(**({"count": 8, "per_token": 2, "width": 12} | changes))  # type: ignore[arg-type]

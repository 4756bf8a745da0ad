from __future__ import annotations

import pytest
import torch

from dlm.unmask import threshold


def logits_of(*confidences: float) -> torch.Tensor:
    """Rows over 3 tokens, the row's number modulo 3 having that probability."""
    rows = torch.empty(len(confidences), 3)
    for index, confidence in enumerate(confidences):
        rows[index] = (1 - confidence) / 2
        rows[index, index % 3] = confidence
    return rows.log()


def accepted(confidences: list[float], masked: list[bool], floor: float) -> list[bool]:
    tokens, kept = threshold(logits_of(*confidences), torch.tensor(masked), floor)
    assert tokens.tolist() == [index % 3 for index in range(len(confidences))]
    return kept.tolist()


@pytest.mark.parametrize(
    ("confidences", "masked", "floor", "expected"),
    [
        ([0.9, 0.5, 0.95], [True, True, True], 0.8, [True, False, True]),
        ([0.5, 0.6, 0.4], [True, True, True], 0.8, [False, True, False]),
        ([0.99, 0.5, 0.6], [False, True, True], 0.8, [False, False, True]),
        ([0.99, 0.9, 0.9], [False, False, False], 0.8, [False, False, False]),
        ([0.5, 0.6, 0.4], [True, True, True], 0.0, [True, True, True]),
        ([0.9, 0.9, 0.4], [True, True, True], 1.0, [True, False, False]),
    ],
)
def test_the_confident_are_accepted_and_the_best_always(
    confidences: list[float], masked: list[bool], floor: float, expected: list[bool]
) -> None:
    assert accepted(confidences, masked, floor) == expected


def test_a_banned_token_is_not_chosen() -> None:
    logits = torch.tensor([[-torch.inf, 1.0, 2.0]])
    tokens, kept = threshold(logits, torch.tensor([True]), 0.5)
    assert tokens.tolist() == [2]
    assert kept.tolist() == [True]


def test_an_empty_block_is_nothing_to_do() -> None:
    tokens, kept = threshold(torch.empty(0, 3), torch.empty(0, dtype=torch.bool), 0.5)
    assert tokens.shape == kept.shape == (0,)


@pytest.mark.parametrize("shape", [(3,), (2, 3, 4)])
def test_logits_of_another_shape_are_refused(shape: tuple[int, ...]) -> None:
    with pytest.raises(ValueError, match=r"expected \(L, V\) and \(L,\)"):
        threshold(torch.zeros(shape), torch.ones(shape[0], dtype=torch.bool), 0.5)


def test_masked_of_another_length_is_refused() -> None:
    with pytest.raises(ValueError, match=r"masked \(2,\)"):
        threshold(torch.zeros(3, 4), torch.ones(2, dtype=torch.bool), 0.5)

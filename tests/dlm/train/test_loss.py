from __future__ import annotations

from collections.abc import Callable
from functools import partial

import pytest
import torch
from torch.nn import functional

from dlm.train.loss import CHUNK_ROWS, SHARPENING, linear_cross_entropy, uncertainty


def problem(rows: int) -> tuple[torch.Tensor, ...]:
    generator = torch.Generator().manual_seed(rows)
    hidden = torch.randn(rows, 12, generator=generator)
    head = torch.randn(40, 12, generator=generator)
    targets = torch.randint(0, 40, (rows,), generator=generator)
    return hidden, head, targets, torch.rand(rows, generator=generator)


Loss = Callable[[torch.Tensor, torch.Tensor], torch.Tensor]


def assert_alike(hidden: torch.Tensor, head: torch.Tensor, ours: Loss, theirs: Loss) -> None:
    """Two losses of hidden states and a head, and their gradients."""
    results = []
    for loss_of in (ours, theirs):
        h, w = hidden.clone().requires_grad_(), head.clone().requires_grad_()
        loss = loss_of(h, w)
        # Not 1, so that the gradient from above is not lost unnoticed.
        (loss * 2.5).backward()
        results.append((loss.detach(), h.grad, w.grad))
    for mine, expected in zip(*results, strict=True):
        torch.testing.assert_close(mine, expected, atol=1e-4, rtol=1e-4)


def plain(targets: torch.Tensor, weights: torch.Tensor) -> Loss:
    """Cross entropy of tokens, (N,), as torch has it."""

    def loss(hidden: torch.Tensor, head: torch.Tensor) -> torch.Tensor:
        each = functional.cross_entropy(hidden @ head.T, targets, reduction="none")
        return (each * weights).sum()

    return loss


@pytest.mark.parametrize("rows", [1, 7, CHUNK_ROWS, CHUNK_ROWS + 1, 2 * CHUNK_ROWS + 9])
def test_loss_and_gradients_are_those_of_plain_cross_entropy(rows: int) -> None:
    hidden, head, targets, weights = problem(rows)
    ours = partial(linear_cross_entropy, targets=targets, weights=weights)
    assert_alike(hidden, head, ours, plain(targets, weights))


def test_rows_of_the_head_that_stay_get_no_gradient() -> None:
    hidden, head, targets, weights = problem(9)
    whole, part = (head.clone().requires_grad_() for _ in range(2))
    linear_cross_entropy(hidden, whole, targets, weights).backward()
    linear_cross_entropy(hidden, part, targets, weights, 3).backward()
    assert whole.grad is not None and part.grad is not None
    torch.testing.assert_close(part.grad[:3], whole.grad[:3])
    assert not part.grad[3:].any()


def test_large_logits_do_not_overflow() -> None:
    hidden = torch.tensor([[1000.0, -1000.0]], requires_grad=True)
    head = torch.eye(2)
    loss = linear_cross_entropy(hidden, head, torch.tensor([1]), torch.ones(1))
    loss.backward()
    assert loss.item() == 2000.0
    assert torch.equal(hidden.grad, torch.tensor([[1.0, -1.0]]))


def test_no_rows_are_no_loss() -> None:
    hidden, head, targets, weights = problem(3)
    head.requires_grad_()
    loss = linear_cross_entropy(hidden[:0], head, targets[:0], weights[:0])
    loss.backward()
    assert loss.item() == 0.0
    assert torch.equal(head.grad, torch.zeros_like(head))


def test_a_row_of_no_weight_does_not_count() -> None:
    hidden, head, targets, weights = problem(5)
    weights[2] = 0.0
    keep = torch.tensor([0, 1, 3, 4])
    torch.testing.assert_close(
        linear_cross_entropy(hidden, head, targets, weights),
        linear_cross_entropy(hidden[keep], head, targets[keep], weights[keep]),
    )


def test_under_autocast_products_are_bfloat16_and_the_loss_float32() -> None:
    hidden, head, targets, weights = problem(600)
    hidden.requires_grad_()
    exact = linear_cross_entropy(hidden, head, targets, weights)
    with torch.autocast("cpu", torch.bfloat16):
        rough = linear_cross_entropy(hidden, head, targets, weights)
    rough.backward()
    assert rough.dtype is torch.float32
    assert hidden.grad.dtype is torch.float32
    assert rough.item() != exact.item()
    torch.testing.assert_close(rough, exact, atol=0.0, rtol=0.01)


def test_uncertainty_is_the_entropy_of_what_is_right() -> None:
    hidden, head, _, _ = problem(9)
    logits = hidden @ head.T
    best = logits.argmax(dim=-1)
    targets = torch.where(torch.arange(9) % 3 == 0, (best + 1) % 40, best)
    each = torch.distributions.Categorical(logits=logits / SHARPENING).entropy()
    expected = each[torch.arange(9) % 3 != 0].mean()
    torch.testing.assert_close(uncertainty(hidden, targets, head), expected)


def test_where_nothing_is_right_there_is_no_uncertainty() -> None:
    hidden, head, _, _ = problem(5)
    head.requires_grad_()
    wrong = ((hidden @ head.T).argmax(dim=-1) + 1) % 40
    loss = uncertainty(hidden, wrong, head)
    loss.backward()
    assert loss.item() == 0.0
    assert not head.grad.any()


def test_lowering_uncertainty_makes_what_is_right_surer() -> None:
    hidden, head, _, _ = problem(6)
    hidden.requires_grad_()
    best = (hidden @ head.T).argmax(dim=-1)
    before = torch.softmax(hidden @ head.T, dim=-1).gather(1, best[:, None])
    uncertainty(hidden, best, head).backward()
    with torch.no_grad():
        after = torch.softmax((hidden - 0.05 * hidden.grad) @ head.T, dim=-1)
    assert (after.gather(1, best[:, None]) > before).all()

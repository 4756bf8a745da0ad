"""Parity with the torch reference: on CUDA compiled, elsewhere in Triton's interpreter."""

from __future__ import annotations

import pytest
import torch

from kernels import reference

pytest.importorskip("triton", reason="Triton ships for Linux alone")

from kernels import accept

MASK = 3
RULES = ("threshold", "factor", "entropy")
BOUNDS = (0.0, 0.3, 0.8, 1.0, 2.5)


def run(
    tokens: torch.Tensor,
    drafted: torch.Tensor,
    worth: tuple[torch.Tensor, torch.Tensor],
    rule: tuple[str, float],
) -> tuple[torch.Tensor, torch.Tensor]:
    """What the kernel makes of a copy: tokens and where it accepted, poisoned first."""
    tokens = tokens.clone()
    accepted = torch.ones(tokens.shape, dtype=torch.bool, device=tokens.device)
    index = RULES.index(rule[0]), rule[1]
    accept.accept_into(tokens, drafted, worth, MASK, index, accepted)
    return tokens, accepted


def assert_parity(
    tokens: torch.Tensor,
    drafted: torch.Tensor,
    worth: tuple[torch.Tensor, torch.Tensor],
    rule: tuple[str, float],
) -> None:
    got, accepted = run(tokens, drafted, worth, rule)
    expected = tokens.clone()
    expected_accepted = reference.accept(expected, drafted, worth, MASK, *rule)
    assert torch.equal(accepted, expected_accepted)
    assert torch.equal(got, expected)


def blocks(
    count: int, length: int, device: torch.device
) -> tuple[torch.Tensor, torch.Tensor, tuple[torch.Tensor, torch.Tensor]]:
    """Blocks with some positions open, with ties, and with rows of banned tokens alone."""
    generator = torch.Generator().manual_seed(count * length)
    tokens = torch.randint(4, 9, (count, length), generator=generator)
    tokens[torch.rand(count, length, generator=generator) < 0.6] = MASK
    drafted = torch.randint(10, 99, (count, length), generator=generator)
    confidence = torch.randint(0, 9, (count, length), generator=generator) / 8
    entropy = torch.randint(0, 9, (count, length), generator=generator) / 4
    confidence[0, 0] = entropy[0, 0] = torch.nan
    return tokens.to(device), drafted.to(device), (confidence.to(device), entropy.to(device))


def check_parity(device: torch.device) -> None:
    for count, length in [(1, 1), (4, 7), (3, 16), (2, 33)]:
        case = blocks(count, length, device)
        for rule in RULES:
            for bound in BOUNDS:
                assert_parity(*case, (rule, bound))


def check_one_is_always_accepted(device: torch.device) -> None:
    tokens = torch.full((1, 5), MASK, device=device)
    drafted = torch.arange(10, 15, device=device)[None]
    low = torch.tensor([[0.1, 0.2, 0.2, 0.1, 0.0]], device=device)
    for rule, bound in [("threshold", 0.9), ("factor", 0.1), ("entropy", -1.0)]:
        got, accepted = run(tokens, drafted, (low, 1 - low), (rule, bound))
        assert accepted.tolist() == [[False, True, False, False, False]]
        assert got.tolist() == [[MASK, 11, MASK, MASK, MASK]]


CHECKS = (check_parity, check_one_is_always_accepted)


@pytest.mark.parametrize("check", CHECKS)
def test_agrees_with_the_reference(check, device: torch.device) -> None:  # type: ignore[no-untyped-def]
    check(device)


def test_a_block_without_masks_stays_as_it_is(device: torch.device) -> None:
    tokens = torch.tensor([[5, 6, 7]], device=device)
    ones = torch.ones(1, 3, device=device)
    got, accepted = run(tokens, tokens + 10, (ones, ones), ("threshold", 0.5))
    assert torch.equal(got, tokens)
    assert not accepted.any()


def test_the_factor_rule_stops_at_the_first_miss() -> None:
    tokens = torch.full((1, 4), MASK)
    confidence = torch.tensor([[0.95, 0.9, 0.3, 0.99]])
    accepted = reference.accept(
        tokens, torch.arange(4)[None] + 10, (confidence, confidence), MASK, "factor", 0.2
    )
    # Bounds of the ranks 0, 1, 2: 0.9, 0.933, 0.95; 0.9 at rank 2 misses.
    assert accepted.tolist() == [[True, False, False, True]]


def test_the_entropy_rule_adds_up_what_comes_before() -> None:
    tokens = torch.full((1, 4), MASK)
    entropy = torch.tensor([[0.5, 0.1, 0.3, 2.0]])
    accepted = reference.accept(
        tokens, torch.arange(4)[None] + 10, (entropy, entropy), MASK, "entropy", 0.45
    )
    # Before 0.1: 0; before 0.3: 0.1; before 0.5: 0.4; before 2.0: 0.9.
    assert accepted.tolist() == [[True, True, True, False]]

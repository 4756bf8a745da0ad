from __future__ import annotations

import itertools

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from dlm.decoding.sampling import Sampling
from dlm.decoding.unmask import RULES, Proposal, accept, propose, threshold
from dlm.effort import Refinement


def proposal(*confidences: float) -> Proposal:
    return Proposal(torch.arange(len(confidences)), torch.tensor(confidences))


def bools(*values: object) -> Tensor:
    return torch.tensor([bool(value) for value in values])


BLOCKS = st.lists(
    st.tuples(st.sampled_from([0.34, 0.4, 0.5, 0.7, 0.9, 0.95, 0.999]), st.booleans()), min_size=1
)
# Numbers of each rule in `RULES`, from the strictest to the loosest.
NUMBERS = {"threshold": [1.0, 0.95, 0.9, 0.5, 0.0]}


@pytest.mark.parametrize("rule", RULES)
@given(block=BLOCKS)
@settings(max_examples=60)
def test_what_every_rule_keeps_to(rule: str, block: list[tuple[float, bool]]) -> None:
    proposed = proposal(*(sure for sure, _ in block))
    masked = bools(*(mask for _, mask in block))
    taken = [accept(proposed, masked, Refinement(1, 0.9, rule, number)) for number in NUMBERS[rule]]
    for accepted in taken:
        assert not bool((accepted & ~masked).any())
        assert bool(accepted.any()) == bool(masked.any())
    # Looser accepts more, and whatever the stricter did.
    for strict, loose in itertools.pairwise(taken):
        assert not bool((strict & ~loose).any())


@pytest.mark.parametrize("rule", RULES)
def test_ties_go_to_the_lowest_position(rule: str) -> None:
    strictest = Refinement(1, 0.9, rule, NUMBERS[rule][0])
    accepted = accept(proposal(0.35, 0.39, 0.39, 0.39), bools(1, 0, 1, 1), strictest)
    assert accepted.tolist() == [False, False, True, False]


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
def test_threshold(
    confidences: list[float], masked: list[bool], floor: float, expected: list[bool]
) -> None:
    assert threshold(proposal(*confidences), bools(*masked), floor).tolist() == expected


def test_masked_of_another_length_is_refused() -> None:
    with pytest.raises(ValueError, match=r"masked: got shape \(2,\), expected \(3,\)"):
        accept(proposal(0.5, 0.5, 0.5), bools(1, 1), Refinement(1, 0.5))


def test_a_sampled_proposal_has_the_probability_of_its_token() -> None:
    generator = torch.Generator().manual_seed(0)
    logits = torch.randn(8, 20, generator=generator)
    logits[:, 3] = -torch.inf
    read = propose(logits, Sampling(1.5, 1.0, 7), first=5)
    rows = torch.arange(8)
    torch.testing.assert_close(read.confidence, logits.softmax(-1)[rows, read.tokens])
    assert 3 not in read.tokens
    assert read.tokens.tolist() != logits.argmax(-1).tolist()
    # A position's noise is its own, whichever row it is.
    assert propose(logits[2:], Sampling(1.5, 1.0, 7), first=7).tokens.tolist() == (
        read.tokens[2:].tolist()
    )

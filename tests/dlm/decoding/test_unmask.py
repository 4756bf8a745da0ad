from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from dataclasses import replace

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from dlm.decoding.sampling import Sampling
from dlm.decoding.unmask import (
    Drift,
    Proposal,
    accept,
    edits,
    entropy_bounded,
    factor,
    hierarchical,
    low_confidence,
    propose,
    stable,
    threshold,
)
from dlm.effort import Refinement, Rule


def proposal(*confidences: float) -> Proposal:
    """What a model with three tokens would propose that is that sure of its choices."""
    sure = torch.tensor(confidences)
    rest = (1 - sure) / 2
    spread = -(sure * sure.log() + 2 * torch.special.xlogy(rest, rest))
    # Every other position is still on the move.
    drift = torch.arange(len(confidences)) % 2 * 0.02
    return Proposal(torch.arange(len(confidences)), sure, spread, drift)


def bools(*values: object) -> Tensor:
    return torch.tensor([bool(value) for value in values])


BLOCKS = st.lists(
    st.tuples(st.sampled_from([0.34, 0.4, 0.5, 0.7, 0.9, 0.95, 0.999]), st.booleans()), min_size=1
)
# From the strictest number of a rule to the loosest.
RULES: dict[str, tuple[Callable[[Proposal, Tensor, float], Tensor], Sequence[float]]] = {
    "low_confidence": (lambda p, m, n: low_confidence(p, m, int(n)), [0, 1, 2, 5, 100]),
    "threshold": (threshold, [1.0, 0.95, 0.9, 0.5, 0.0]),
    "factor": (factor, [0.0, 0.2, 0.5, 1.0, 5.0]),
    "entropy": (entropy_bounded, [0.0, 0.1, 0.5, 2.0, 100.0]),
    "hierarchical": (hierarchical, [1.0, 0.95, 0.9, 0.5, 0.0]),
    "stable": (stable, [1.0, 0.95, 0.9, 0.5, 0.0]),
}


@pytest.mark.parametrize("rule", RULES)
@given(block=BLOCKS)
@settings(max_examples=60, deadline=None)
def test_what_every_rule_keeps_to(rule: str, block: list[tuple[float, bool]]) -> None:
    decide, numbers = RULES[rule]
    proposed = proposal(*(sure for sure, _ in block))
    masked = bools(*(mask for _, mask in block))
    taken = [decide(proposed, masked, number) for number in numbers]
    for accepted in taken:
        assert not bool((accepted & ~masked).any())
        assert bool(accepted.any()) == bool(masked.any())
    # Looser accepts more, and whatever the stricter did.
    for strict, loose in itertools.pairwise(taken):
        assert not bool((strict & ~loose).any())


@pytest.mark.parametrize("rule", RULES)
def test_ties_go_to_the_lowest_position(rule: str) -> None:
    decide, numbers = RULES[rule]
    accepted = decide(proposal(0.35, 0.39, 0.39, 0.39), bools(1, 0, 1, 1), numbers[0])
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


def test_low_confidence_takes_the_best() -> None:
    accepted = low_confidence(proposal(0.4, 0.9, 0.7, 0.8), bools(1, 0, 1, 1), 2)
    assert accepted.tolist() == [False, False, True, True]


def test_factor_wants_more_of_many() -> None:
    # Two fit when the second is at least 1 - f / 3, three when the third is at least 1 - f / 4.
    sure = proposal(0.9, 0.7, 0.76)
    assert factor(sure, bools(1, 1, 1), 0.9).tolist() == [True, False, True]
    assert factor(sure, bools(1, 1, 1), 0.7).tolist() == [True, False, False]
    assert factor(sure, bools(1, 1, 1), 1.2).tolist() == [True, True, True]


def test_entropies_but_the_last_stay_within_the_bound() -> None:
    certain = Proposal(torch.arange(4), torch.ones(4), torch.tensor([0.3, 0.1, 0.2, 0.9]))
    everything = bools(1, 1, 1, 1)
    assert entropy_bounded(certain, everything, 0.05).tolist() == [False, True, False, False]
    assert entropy_bounded(certain, everything, 0.11).tolist() == [False, True, True, False]
    assert entropy_bounded(certain, everything, 0.35).tolist() == [True, True, True, False]
    assert entropy_bounded(certain, everything, 0.61).tolist() == [True] * 4
    with pytest.raises(ValueError, match="entropy: got None"):
        entropy_bounded(Proposal(torch.arange(4), torch.ones(4)), everything, 0.5)


def test_each_run_of_masks_has_its_best() -> None:
    sure = proposal(0.5, 0.6, 0.99, 0.39, 0.38, 0.99, 0.45, 0.7)
    masked = bools(1, 1, 0, 1, 1, 0, 1, 1)
    expected = [False, True, False, False, False, False, False, True]
    assert hierarchical(sure, masked, 0.9).tolist() == expected


def test_editing_needs_another_token_and_certainty() -> None:
    proposed = Proposal(torch.tensor([1, 2, 3, 4]), torch.tensor([0.99, 0.99, 0.5, 0.99]))
    tokens = torch.tensor([1, 9, 9, 9])
    assert edits(proposed, tokens, bools(1, 1, 1, 0), 0.9).tolist() == [False, True, False, False]


def test_a_refinement_names_its_rule() -> None:
    sure = proposal(0.95, 0.5, 0.6, 0.8)
    everything = bools(1, 1, 1, 1)

    def counted(rule: Rule, number: float, left: int = 1) -> int:
        return int(accept(sure, everything, Refinement(4, number, rule), left).sum())

    assert counted(Rule.THRESHOLD, 0.8) == 2
    assert counted(Rule.HIERARCHICAL, 0.99) == 1
    assert counted(Rule.STABLE, 0.55) == 2
    assert counted(Rule.FACTOR, 0.0) == 1
    assert counted(Rule.ENTROPY, 100.0) == 4
    # What is left is spread over the steps that are left.
    assert [counted(Rule.LOW_CONFIDENCE, 0, left) for left in (4, 3, 2, 1)] == [1, 2, 2, 4]


def test_the_likeliest_token_is_proposed_the_lowest_of_equals() -> None:
    logits = torch.tensor([[0.0, 1.0, 1.0], [-torch.inf, -torch.inf, 2.0]])
    read = propose(logits, entropy=True)
    assert read.tokens.tolist() == [1, 2]
    assert read.confidence[1] == 1
    assert read.entropy is not None
    assert read.entropy[1] == 0
    expected = torch.distributions.Categorical(logits=logits[0]).entropy()
    torch.testing.assert_close(read.entropy[0], expected)
    assert propose(logits).entropy is None


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


def test_what_moves_from_step_to_step_is_told() -> None:
    drift = Drift()
    steps = torch.tensor([[0.5, 0.5, 0.0], [0.8, 0.2, 0.0], [0.8, 0.2, 0.0], [0.8, 0.2, 0.0]]).log()
    other = torch.tensor([0.1, 0.1, 0.8]).log()
    moved = [drift.take(torch.stack((row, other))) for row in steps]
    assert moved[0].tolist() == moved[1].tolist() == [torch.inf] * 2
    # The larger of the last two divergences; what is banned in both steps has no share.
    expected = 0.8 * math.log(0.8 / 0.5) + 0.2 * math.log(0.2 / 0.5)
    assert moved[2].tolist() == pytest.approx([expected, 0.0], abs=1e-6)
    assert moved[3].tolist() == pytest.approx([0.0, 0.0], abs=1e-6)


def test_what_is_sure_and_at_rest_is_accepted() -> None:
    read = replace(proposal(0.95, 0.95, 0.5, 0.6), drift=torch.tensor([0.001, 0.5, 0.001, 0.001]))
    assert stable(read, bools(1, 1, 1, 1), 0.9).tolist() == [True, False, False, False]
    assert stable(read, bools(0, 1, 1, 1), 0.6).tolist() == [False, True, False, True]
    assert stable(read, bools(0, 0, 1, 1), 0.9).tolist() == [False, False, False, True]
    with pytest.raises(ValueError, match="drift: got None"):
        stable(replace(read, drift=None), bools(1, 1, 1, 1), 0.5)


def test_masked_of_another_length_is_refused() -> None:
    with pytest.raises(ValueError, match=r"masked \(2,\), expected \(L,\) and \(L,\)"):
        threshold(proposal(0.5, 0.5, 0.5), bools(1, 1), 0.5)

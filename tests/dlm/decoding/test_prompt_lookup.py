from __future__ import annotations

from dlm.decoding.prompt_lookup import CONTEXT, PromptLookup

NEVER = (1, 5)


def test_what_followed_in_the_prompt_is_proposed() -> None:
    lookup = PromptLookup([20, 21, 22, 23, 24], NEVER)
    assert lookup.propose([9, 21], 50) == [22, 23, 24]
    assert lookup.propose([9, 21], 2) == [22, 23]


def test_nothing_is_found_where_nothing_stands() -> None:
    lookup = PromptLookup([20, 21, 22], NEVER)
    assert lookup.propose([30], 50) == []
    # Nothing follows the last token of the prompt.
    assert lookup.propose([22], 50) == []
    assert PromptLookup([20], NEVER).propose([20], 50) == []


def test_the_place_with_most_in_common_wins_of_equals_the_last() -> None:
    lookup = PromptLookup([20, 21, 30, 19, 21, 31, 20, 21, 32, 18, 21, 33], NEVER)
    assert lookup.propose([7, 21], 1) == [33]
    assert lookup.propose([20, 21], 1) == [32]
    assert lookup.propose([19, 21], 1) == [31]


def test_no_more_than_so_much_context_counts() -> None:
    one = list(range(20, 20 + CONTEXT))
    lookup = PromptLookup([99, *one, 50, 98, *one, 51], NEVER)
    assert lookup.propose([99, *one], 1) == [51]


def test_a_proposal_ends_before_what_is_never_said() -> None:
    assert PromptLookup([20, 21, 5, 22], NEVER).propose([20], 50) == [21]
    assert PromptLookup([20, 1, 22], NEVER).propose([20], 50) == []
    # The end of a message may well be the end of the answer.
    assert PromptLookup([20, 21, 2, 5, 22], NEVER).propose([20], 50) == [21, 2]


def test_what_brings_little_is_given_up_and_drafting_is_its_measure() -> None:
    lookup = PromptLookup([20, 21, 22, 20, 21, 22], NEVER)
    tries = 0
    while lookup.propose([20], 9):
        lookup.learn(accepted=0, forwards=1)
        tries += 1
        assert tries < 20
    # More in common is another matter.
    assert lookup.propose([20, 21], 9) == [22]
    lookup.learn(accepted=1, forwards=1)
    # Drafting turns out to bring less still.
    for _ in range(20):
        assert lookup.propose([99], 9) == []
        lookup.learn(accepted=0, forwards=2)
    assert lookup.propose([20], 9) == [21, 22]

from __future__ import annotations

import math
from dataclasses import replace
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from voice.hearing.end_of_turn import (
    MS_PER_NAT,
    PROFILES,
    WEIGHTS,
    Cues,
    Limits,
    Profile,
    evidence,
    inputs_of,
    log_odds,
    needed_silence_ms,
    silence_within,
)

SURE = 0.7
"""The model's probability behind whole requests; behind their beginnings it is next to nothing."""


def balanced(cues: Cues) -> float:
    return needed_silence_ms(cues, Profile.BALANCED)


def test_a_request_that_is_surely_over_is_answered_at_once() -> None:
    assert balanced(Cues("set a timer for ten minutes", end_of_message=SURE)) == 160


@pytest.mark.parametrize(
    "answer", ["yeah", "Yes.", "no thanks", "stop", "okay", "thank you", "cancel", "never mind"]
)
def test_a_short_answer_goes_at_once_whatever_the_model_expects(answer: str) -> None:
    assert balanced(Cues(answer, end_of_message=0.002)) == 160


@pytest.mark.parametrize(
    "text",
    [
        "my number is five five five",
        "anna at",
        "twelve oak street and",
        "add milk and",
        "set a timer for",
        "turn on the",
    ],
)
def test_digits_and_loose_ends_wait(text: str) -> None:
    assert balanced(Cues(text, end_of_message=0.001)) == 1200
    assert balanced(Cues(text)) >= 1000


def test_the_model_makes_out_what_the_rules_cannot() -> None:
    whole, begun = "get me a mocha with oat milk", "get me a mocha with oat"
    assert balanced(Cues(whole, end_of_message=SURE)) < 250
    assert balanced(Cues(begun, end_of_message=0.0005)) == 1200


def test_words_that_the_model_has_not_judged_yet_wait_however_whole_they_look() -> None:
    said = Cues("set a timer for ten minutes")
    for profile in Profile:
        wait = needed_silence_ms(said, profile)
        assert wait >= PROFILES[profile].unjudged_ms
        assert wait > needed_silence_ms(replace(said, end_of_message=SURE), profile) + 80
    assert balanced(Cues("yeah")) == PROFILES[Profile.BALANCED].shortest_ms


def test_more_silence_never_makes_the_end_less_likely_and_the_bar_is_all_that_counts() -> None:
    cues = Cues("a mocha", end_of_message=SURE)
    waits = [
        silence_within(cues, Limits(bar, 0, 0, 10_000, 10_000, 0), evidence(cues))
        for bar in (5.0, 6.0, 7.0)
    ]
    assert waits[0] == pytest.approx((5.0 - evidence(cues)) * MS_PER_NAT)
    assert [round(b - a) for a, b in pairwise(waits)] == [MS_PER_NAT, MS_PER_NAT]


def test_words_that_nothing_says_go_on_wait_for_half_a_second_at_most() -> None:
    # A fragment answers a question that the words do not show; the model gives it little.
    assert balanced(Cues("half an hour", end_of_message=0.018)) == 460
    assert balanced(Cues("half an hour and", end_of_message=0.018)) > 500


def test_what_the_model_hardly_expects_to_end_may_go_on() -> None:
    assert balanced(Cues("what's the wedding", end_of_message=0.005)) == 460
    assert balanced(Cues("what's the wedding", end_of_message=0.001)) == 1200


def test_without_words_the_wait_is_long_and_always_the_same() -> None:
    assert balanced(Cues()) == balanced(Cues(end_of_message=SURE)) == 1200


@given(
    st.sampled_from(["", "yeah", "a mocha", "a mocha and", "what time is it"]),
    st.none() | st.floats(0, 1),
)
def test_profiles_are_ordered_and_keep_their_limits(text: str, probability: float | None) -> None:
    cues = Cues(text, end_of_message=probability)
    waits = [needed_silence_ms(cues, profile) for profile in Profile]
    assert waits == sorted(waits)
    for wait, limits in zip(waits, PROFILES.values(), strict=True):
        longest = max(limits.unfinished_ms, limits.no_text_ms)
        assert limits.shortest_ms <= wait <= longest


@given(st.lists(st.floats(0, 1), min_size=2).map(sorted))
def test_the_surer_the_model_the_sooner(probabilitys: list[float]) -> None:
    waits = [balanced(Cues("a mocha", end_of_message=probability)) for probability in probabilitys]
    assert all(later >= sooner for later, sooner in pairwise(waits))


def test_evidence_for_an_end_is_never_evidence_against_it() -> None:
    complete, unfinished, model, _, _ = WEIGHTS
    assert complete > 0 > unfinished
    assert model > 0


def test_the_inputs_in_order() -> None:
    found = inputs_of("what time is it now", 0.5)
    assert found == pytest.approx([1, 0, 0.75, 0, math.log(6) - 1.5])
    assert inputs_of("add milk and", None)[:4] == (0, 1, 0, 1)
    assert inputs_of("a mocha", 1.0)[2] == inputs_of("a mocha", 0.95)[2] == 1.25


def test_without_a_probability_it_is_less_sure_than_with_a_clear_one() -> None:
    for text in ("what time is it", "a mocha", "get me a mocha with oat"):
        unlikely, unknown, likely = (evidence(Cues(text, p)) for p in (0.0001, None, 0.8))
        assert unlikely < unknown < likely


def test_log_odds_are_finite() -> None:
    assert log_odds(0.5) == 0
    assert log_odds(0) == pytest.approx(-log_odds(1))
    assert log_odds(0) < -20

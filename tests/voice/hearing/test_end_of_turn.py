from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from voice.hearing.end_of_turn import (
    MS_PER_NAT,
    PROFILES,
    TRUSTED,
    Cues,
    Limits,
    Profile,
    evidence,
    needed_silence_ms,
    silence_within,
)
from voice.hearing.prosody import Prosody

OVER = Prosody(-5.0, -2.0, -22.0, -8.0, 120.0, 0.4)
HELD = Prosody(1.0, 0.5, -4.0, -1.0, 420.0, 1.0)
SURE = 0.7
"""The model's probability behind whole requests; behind their beginnings it is far below 0.01."""


def balanced(cues: Cues) -> float:
    return needed_silence_ms(cues, Profile.BALANCED)


def test_a_request_that_is_surely_over_is_answered_at_once() -> None:
    assert balanced(Cues("set a timer for ten minutes", opinion=SURE)) == 160


@pytest.mark.parametrize(
    "answer", ["yeah", "Yes.", "no thanks", "stop", "okay", "thank you", "cancel", "never mind"]
)
def test_a_short_answer_goes_at_once_whatever_the_model_expects(answer: str) -> None:
    assert balanced(Cues(answer, opinion=0.002)) == 160


def test_a_doubtful_short_answer_may_be_the_beginning_of_something_longer() -> None:
    assert balanced(Cues("bye", sure=0.5, opinion=0.002)) > 500


@pytest.mark.parametrize(
    "text",
    [
        "my number is five five five",
        "it is j o h n",
        "my address is anna dot miller",
        "anna at",
        "twelve oak street and",
        "add milk and",
        "set a timer for",
        "turn on the",
    ],
)
def test_digits_spelling_addresses_and_loose_ends_wait(text: str) -> None:
    assert balanced(Cues(text, opinion=0.001)) == 1200
    assert balanced(Cues(text)) >= 1000


def test_the_model_makes_out_what_the_rules_cannot() -> None:
    whole, begun = "get me a mocha with oat milk", "get me a mocha with oat"
    assert balanced(Cues(whole, opinion=SURE)) < 250
    assert balanced(Cues(begun, opinion=0.0005)) == 1200


def test_without_a_model_the_words_decide() -> None:
    waits = [balanced(Cues(text)) for text in ("what time is it", "a mocha", "a mocha and")]
    assert waits == sorted(waits)
    assert waits[0] < 500
    assert waits[2] > 1000


def test_words_that_the_model_has_not_judged_yet_wait_however_whole_they_look() -> None:
    said = Cues("set a timer for ten minutes")
    for profile in Profile:
        wait = needed_silence_ms(said, profile)
        assert wait >= PROFILES[profile].unasked_ms
        assert wait > needed_silence_ms(replace(said, opinion=SURE), profile) + 80
    assert balanced(Cues("yeah")) == PROFILES[Profile.BALANCED].shortest_ms


def test_more_silence_never_makes_the_end_less_likely_and_the_bar_is_all_that_counts() -> None:
    cues = Cues("a mocha", opinion=SURE)
    waits = [
        silence_within(cues, Limits(bar, 0, 0, 10_000, 10_000, 0), evidence(cues))
        for bar in (5.0, 6.0, 7.0)
    ]
    assert waits[0] == pytest.approx((5.0 - evidence(cues)) * MS_PER_NAT)
    assert [round(b - a) for a, b in pairwise(waits)] == [MS_PER_NAT, MS_PER_NAT]


def test_a_fallen_voice_shortens_the_wait_and_a_held_one_lengthens_it() -> None:
    said = Cues("a mocha", opinion=SURE)
    waits = [
        needed_silence_ms(replace(said, prosody=sound), Profile.PATIENT)
        for sound in (OVER, None, HELD)
    ]
    assert waits == sorted(waits)
    assert waits[0] < waits[2]


def test_words_that_nothing_says_go_on_wait_for_half_a_second_at_most() -> None:
    # A fragment answers a question that the words do not show; the model gives it little.
    assert balanced(Cues("half an hour", opinion=0.018)) == 500
    assert balanced(Cues("half an hour and", opinion=0.018)) > 500


def test_where_nothing_was_understood_nothing_is_gained_by_being_quick() -> None:
    waits = {balanced(Cues(prosody=sound)) for sound in (OVER, None, HELD)}
    assert len(waits) == 1
    assert min(waits) >= 1000


def test_doubtful_words_count_for_less() -> None:
    said = Cues("is the first the report list", opinion=0.1)
    waits = [
        needed_silence_ms(replace(said, sure=sure), Profile.PATIENT)
        for sure in (0.9, 0.6, 0.5, 0.42)
    ]
    assert waits == sorted(waits)
    assert waits[-1] > waits[0] + 100
    assert evidence(replace(said, sure=0.99)) == evidence(replace(said, sure=0.8))


@pytest.mark.parametrize("profile", list(Profile))
def test_words_in_doubt_wait_however_whole_they_look_and_trusted_ones_go_at_once(
    profile: Profile,
) -> None:
    limits = PROFILES[profile]
    for text, opinion in (("what time is it", SURE), ("yeah", SURE), ("yeah", None)):
        trusted = Cues(text, TRUSTED, opinion, OVER)
        assert needed_silence_ms(trusted, profile) == limits.shortest_ms
        doubted = replace(trusted, sure=TRUSTED - 0.01)
        assert needed_silence_ms(doubted, profile) == limits.longest_ms
    begun = Cues("set a timer for", TRUSTED - 0.01, SURE)
    assert needed_silence_ms(begun, profile) == limits.unfinished_ms


@given(
    st.sampled_from(["", "yeah", "a mocha", "a mocha and", "what time is it"]),
    st.none() | st.floats(0, 1),
    st.none() | st.sampled_from([OVER, HELD]),
)
def test_profiles_are_ordered_and_keep_their_limits(
    text: str, opinion: float | None, prosody: Prosody | None
) -> None:
    cues = Cues(text, opinion=opinion, prosody=prosody)
    waits = [needed_silence_ms(cues, profile) for profile in Profile]
    assert waits == sorted(waits)
    for wait, limits in zip(waits, PROFILES.values(), strict=True):
        longest = max(limits.unfinished_ms, limits.no_text_ms)
        assert limits.shortest_ms <= wait <= longest


@given(st.lists(st.floats(0, 1), min_size=2).map(sorted))
def test_the_surer_the_model_the_sooner(opinions: list[float]) -> None:
    waits = [balanced(Cues("a mocha", opinion=opinion)) for opinion in opinions]
    assert all(later >= sooner for later, sooner in pairwise(waits))

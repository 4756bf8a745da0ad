from __future__ import annotations

import pytest

from voice.understanding.number_grounding import is_grounded, numbers


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("no number here", set()),
        ("10 minutes", {"10"}),
        ("ten minutes", {"10"}),
        ("It is 3:42 PM.", {"3:42"}),
        ("1,250.50 dollars", {"1250.50"}),
        ("one moment", set()),
        ("Twenty five", {"20", "5"}),
    ],
)
def test_numbers_are_found_as_digits_and_words(text: str, found: set[str]) -> None:
    assert numbers(text) == found


def test_a_reply_is_grounded_in_what_was_said() -> None:
    assert is_grounded("Set for ten minutes.", ["Timer set for 10 minutes."])
    assert is_grounded("Done.", [])
    assert is_grounded("One moment.", [])
    assert not is_grounded("Set for 20 minutes.", ["Timer set for 10 minutes."])
    assert not is_grounded("It is 3:45 PM.", ["It is 3:42 PM."])


def test_what_a_program_writes_may_be_told_as_people_tell_it() -> None:
    result = (
        '{"from": "2026-05-03T19:30:00Z", "until": "07:05", "rooms": [{"id": "a"}, {"id": "b"}]}'
    )
    assert is_grounded("From May 3 at 7:30 PM until 7:05 AM, in 2 rooms.", [result])
    assert is_grounded("There are two.", ['["a", "b"]'])
    for wrong in ("It is 9:30 PM.", "On May 4.", "In 4 rooms.", "It is 8:30 PM."):
        assert not is_grounded(wrong, [result])
    assert not is_grounded("There are 2.", ['{"broken": [1, 1', "[" * 10_000])

"""Lengths of time in the unit that a parameter's name states."""

from __future__ import annotations

import pytest

from dlm.language.spoken_durations import durations_in


@pytest.mark.parametrize(
    ("text", "name", "found"),
    [
        ("An hour and a half is plenty.", "minutes", [90]),
        ("half an hour", "duration min", [30]),
        ("sick. whats it for 90 mins", "hours", [1.5]),
        ("P-8, 30 min", "extra hours", [0.5]),
        ("1 hour 20 minutes", "minutes", [80]),
        ("an hour and ten", "minutes", [70]),
        ("eight and a quarter hours, good quality", "hours", [8.25]),
        ("three quarters of an hour", "minutes", [45]),
        ("five rounds, three minutes with a minute off", "seconds", [180, 60]),
        ("a couple of minutes", "seconds", [120]),
        ("A two-minute rest", "seconds", [120]),
        ("a fortnight", "days", [14]),
        ("another half hour", "minutes", [30]),
        ("20 minutes", "hours", [0.3333]),
        ("an hour", "hours", [1]),
        # Said in the unit itself.
        ("twenty five minutes", "minutes", []),
        ("2h", "hours", []),
        # No length of time.
        ("next week", "days", []),
        ("half past nine", "minutes", []),
        ("it's a dog's day", "hours", []),
        ("the 1990s", "minutes", []),
        ("ten", "minutes", []),
        # No unit of a length.
        ("an hour", "minute", []),
        ("two minutes", "mm per min", []),
        ("two minutes", "min salary", []),
    ],
)
def test_lengths_of_time(text: str, name: str, found: list[float]) -> None:
    assert durations_in(text, name) == found

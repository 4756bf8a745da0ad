"""Days and times are read as people write them."""

from __future__ import annotations

import pytest

from dlm.language.written_dates import dates_in, times_in


@pytest.mark.parametrize(
    ("text", "days"),
    [
        ("on 12 March 2024", ["2024-03-12"]),
        ("March 3rd, 2024 or the 24th of Apr 2024", ["2024-03-03", "2024-04-24"]),
        ("25/03/2024, not 2024-03-26", ["2024-03-25", "2024-03-26"]),
        ("3/4/2024", ["2024-04-03", "2024-03-04"]),
        ("5/1/27", ["2027-01-05", "2027-05-01"]),
        # One order for all of a text.
        ("1/5/2027 to 1/9/2027", ["2027-05-01", "2027-09-01"]),
        ("3/4/2024 to 3/15/2024", ["2024-03-04", "2024-03-15"]),
        ("3/4/2024 to 15.4.2024", ["2024-04-03", "2024-04-15"]),
        ("5 May 2027 to 12 May", ["2027-05-05", "2027-05-12"]),
        ("3 to 9 June 2027", ["2027-06-03", "2027-06-09"]),
        ("between the 3rd and the 9th of June 2027", ["2027-06-03", "2027-06-09"]),
        ("March 1-12, 2027", ["2027-03-01", "2027-03-12"]),
        ("March 1 to April 2, 2027", ["2027-03-01", "2027-04-02"]),
        ("20 December to 5 January 2025", ["2024-12-20", "2025-01-05"]),
        ("20 December 2024 until 5 January", ["2024-12-20", "2025-01-05"]),
        ("Tuesday, 5 March 2024", ["2024-03-05"]),
        (
            "Sent 5 March 2024. Tomorrow, or next Friday.",
            ["2024-03-05", "2024-03-06", "2024-03-08"],
        ),
        ("Sent 20 December 2024: see you on 5 January", ["2024-12-20", "2024-01-05", "2025-01-05"]),
        ("12 March, tomorrow, in 1999", []),
        ("31 February 2024, may 2024", []),
    ],
)
def test_days(text: str, days: list[str]) -> None:
    assert dates_in(text) == days


@pytest.mark.parametrize(
    ("text", "times"),
    [
        ("16:30 or 4:45 pm", ["16:30:00Z", "16:45:00Z"]),
        ("12 am, 12 pm, 9am", ["00:00:00Z", "12:00:00Z", "09:00:00Z"]),
        ("at 14:05:11", ["14:05:11Z"]),
        ("half past four", ["04:30:00Z", "16:30:00Z"]),
        ("quarter to one at noon", ["00:45:00Z", "12:45:00Z", "12:00:00Z"]),
        ("25:10, 7 people, 1:2:3", []),
    ],
)
def test_times(text: str, times: list[str]) -> None:
    assert times_in(text) == times

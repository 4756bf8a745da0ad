"""Dates of a call are said ones, each in its place."""

from __future__ import annotations

from typing import Any

import pytest

from dlm.grammar.said_dates import days_of, with_days

THIRD, NINTH = "2027-06-03", "2027-06-09"
BOTH = [THIRD, NINTH]


@pytest.mark.parametrize(
    ("text", "names", "first", "second"),
    [
        ("from 3 June 2027 to 9 June 2027", ("start", "end"), [THIRD], [NINTH]),
        ("from 3 June 2027 to 9 June 2027", ("last_day", "first_day"), [NINTH], [THIRD]),
        ("of 3 June 2027, payable until 9 June", ("issued", "due"), [THIRD], [NINTH]),
        ("it ends on 9 June 2027 and starts on 3 June", ("start", "end"), [THIRD], [NINTH]),
        # Where one may be of the letter, or is told by another, either may be either.
        ("3 June 2027:\nWe met on 9 June", ("met", "written"), BOTH, BOTH),
        ("Date: 3 June 2027\nWe met on 9 June", ("met", "written"), BOTH, BOTH),
        ("from 3 June 2027", ("start", "end"), [THIRD], [THIRD]),
    ],
)
def test_dates_are_used_in_order(
    text: str, names: tuple[str, ...], first: list[str], second: list[str]
) -> None:
    found = days_of(names, set(names), [text])
    assert found == dict(zip(names, (first, second), strict=True))


def test_a_later_message_may_change_either_date() -> None:
    said = ["from 3 June 2027 to 9 June 2027", "until 12 June 2027"]
    assert all(len(one) == 3 for one in days_of(("a", "b"), {"a", "b"}, said).values())
    assert days_of(("a",), {"a"}, ["soon"]) == {}


def test_schemas_of_dates() -> None:
    schemas: dict[str, Any] = {
        "day": {"type": "string", "format": "date"},
        "told": {"type": "string", "description": "the last day (YYYY-MM-DD)"},
        "other": {"type": ["string", "null"], "format": "date"},
        "name": {"type": "string"},
    }
    made = with_days(schemas, (), {}, ["on 3 June 2027"], lambda schema: lambda value: True)
    assert list(made) == ["day", "told", "other"]
    assert made["day"]["oneOf"] == [{"enum": [THIRD]}] == made["told"]["oneOf"]
    assert made["other"]["anyOf"][1] == {"type": "null"}

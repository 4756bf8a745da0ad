from __future__ import annotations

import json
from typing import Any

import pytest

from benchmarks.dlm.strangers import FOLDER, SETS, fields_right, is_true, rows
from dlm.datagen.authored import read
from tests.dlm.datagen.test_authored import ASSISTANTS

DEPARTURES: dict[str, Any] = {
    "user": "when is the next tram to Messe?",
    "call": {"stop": "Messe"},
    "result": [{"line": "12", "departs": "17:55"}, {"line": "8", "departs": "18:02"}],
    "facts": [["17:55", "five fifty-five"], ["12", "twelve"]],
    "not": ["18:02"],
}


@pytest.mark.parametrize(
    ("reply", "right"),
    [
        ("Line 12 leaves at 17:55.", True),
        ("Line twelve, at five fifty-five.", True),
        ("It leaves at 17:55.", False),
        ("Line 12 leaves at 17:55, line 8 at 18:02.", False),
        ("Line 12 leaves at 17:55 from platform 3.", False),
        ("Line 112 leaves at 17:55.", False),
    ],
)
def test_a_reply_has_every_fact_and_no_number_of_its_own(reply: str, right: bool) -> None:
    assert is_true(DEPARTURES, reply) is right


def test_a_field_is_right_in_any_way_that_its_author_admits() -> None:
    case = {
        "expected": {"day": "Saturday", "tags": ["a", "b"], "to": {"city": "Leeds"}, "note": None},
        "alternatives": {"day": ["Saturday evening"], "to.city": ["Leeds, UK"]},
    }
    given = {"day": "saturday evening.", "tags": ["b", "A"], "to": {"city": "York"}, "more": 1}
    assert fields_right(case, json.dumps(given)) == {
        "day": True, "tags": True, "to.city": False, "note": True, "more": False,
    }  # fmt: skip
    assert not any(right for name, right in fields_right(case, "no JSON").items() if name != "note")


@pytest.mark.parametrize("what", ["results", "texts"])
def test_no_case_is_in_both_halves(what: str) -> None:
    ids = [case["id"] for name in SETS for case in rows(FOLDER / name, what)]
    assert len(ids) == len(set(ids)) >= 300


def test_no_assistant_is_in_both_halves_or_learned_from() -> None:
    judged = [{case["id"] for case in rows(FOLDER / name, "agents")} for name in SETS]
    learned = {one["about"] for one in read(ASSISTANTS.glob("*.jsonl.xz"))}
    assert judged[0] and judged[1]
    assert not judged[0] & judged[1] and not (judged[0] | judged[1]) & learned


def test_the_reference_of_a_result_is_right_itself() -> None:
    """What the author calls a good answer; a few lists or references name a third number."""
    cases = rows(FOLDER / "open", "results")
    wrong = [case["id"] for case in cases if not is_true(case, case["reference"])]
    assert len(wrong) <= len(cases) // 20, wrong

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dlm.grammar.answer_rules import AnswerRules
from dlm.language.identifiers import worded, words
from dlm.language.messages import Answer, Call, Turn
from dlm.language.tokenizer import Mark
from tests.dlm.answers import allows
from tests.dlm.tiny import WORDS, template, tool

NAMES = st.text(st.sampled_from("abAB1_-. \0é日ΩİßǅⅫ²"), max_size=6)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("get_weather", "get weather"), ("getWeatherReport", "get weather report"),
        ("GetHTTPStatus", "get http status"), ("get2ndFloor", "get2nd floor"),
        ("version2Beta", "version2 beta"), ("files.read-all", "files read all"),
        ("__init__", "init"), ("ÜberPrüfung", "über prüfung"), ("天気_予報", "天気 予報"), ("", ""),
        ("☕", ""),
    ],
)  # fmt: skip
def test_a_name_reads_as_words(name: str, expected: str) -> None:
    assert words(name) == expected


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        (["get_a", "set_a"], ["get a", "set a"]),
        (["get_a", "getA"], ["get_a", "getA"]),
        (["get_a", "getA", "set_a"], ["get_a", "getA", "set a"]),
        (["_", "☕", "a_b"], ["_", "☕", "a b"]),
        ([], []),
    ],
)
def test_names_that_read_alike_stay_as_they_are(names: list[str], expected: list[str]) -> None:
    assert list(worded(names).values()) == expected


@given(st.lists(NAMES, unique=True, max_size=6))
def test_no_two_names_read_alike(names: list[str]) -> None:
    read = worded(names)
    assert list(read) == names
    assert len(set(read.values())) == len(names)


ALIKE = (
    tool("get_report", ["forDay"], forDay=WORDS, for_day=WORDS),
    tool("getReport", ["topic_name"], topic_name=WORDS),
    tool("makeCoffee", ["cupSize"], cupSize=WORDS),
)
CALLS = (
    Call("get_report", {"forDay": "monday", "for_day": "friday"}),
    Call("getReport", {"topic_name": "sales"}),
    Call("makeCoffee", {"cupSize": "a big one"}),
)
SAID = "sales of monday or friday, and a big one"


def test_tools_that_read_alike_are_told_apart() -> None:
    turns = (Turn("user", SAID), Turn("assistant", "sure", CALLS))
    encoded = template().dialogue(turns, ALIKE)
    (answer,) = encoded.answers
    ids = encoded.ids[slice(*answer)]
    assert ids == template().spell(Answer("sure", CALLS), ALIKE)
    assert template().answer(ids, ALIKE) == Answer("sure", CALLS)
    assert allows(AnswerRules(ALIKE, copy_sources=(SAID,)), ids[:-1])
    declared = encoded.ids[: encoded.ids.index(Mark.USER)]
    for shown in (" get_report", " getReport", " make coffee", " forDay", " topic name"):
        run = template().tokenizer.encode(shown)
        assert any(declared[i : i + len(run)] == run for i in range(len(declared))), shown

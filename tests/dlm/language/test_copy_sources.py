import json
from collections.abc import Mapping
from typing import Any

from dlm.grammar.distinct_spans import spans_of
from dlm.language.copy_sources import MOST_VALUES, sources
from dlm.language.messages import Call, Turn


def user(text: str) -> Turn:
    return Turn("user", text)


def called(*arguments: Mapping[str, Any]) -> Turn:
    return Turn("assistant", calls=tuple(Call("set_timer", one) for one in arguments))


CHAT = (user("thanks"), Turn("assistant", "Sure."), user("a joke"), Turn("assistant", "Knock."))
SET = (user("a pasta timer, nine minutes"), called({"name": "pasta", "duration": "nine minutes"}))


def test_the_last_messages_of_the_user_are_sources_and_nothing_else_is() -> None:
    turns = [Turn("system", "Be brief."), Turn("assistant", "Hello."), *map(user, "abcd")]
    assert sources([*turns, Turn("tool", "Done."), Turn("assistant", "Done.")]) == ("b", "c", "d")
    assert sources(turns[:2]) == ()
    assert sources([user(""), user("a")]) == ("a",)


def test_what_was_called_last_stays_a_source_when_its_words_are_long_ago() -> None:
    turns = [*SET, Turn("tool", "Set."), *CHAT, user("make it ten")]
    assert sources(turns) == ("thanks", "a joke", "make it ten", "pasta", "nine minutes")
    last = called({"name": "tea"}, {"name": "rice"}, {"hours": 2, "loud": True})
    assert sources([*SET, last, *turns]) == sources(turns)
    assert sources([*turns, last]) == ("thanks", "a joke", "make it ten", "tea", "rice")


def test_words_do_not_stand_twice_because_they_were_called() -> None:
    turns = [*SET, user("make it ten")]
    found = sources(turns)
    assert found == ("a pasta timer, nine minutes", "make it ten")
    assert [b"pasta" in spans_of(found).text, spans_of(found).text.count(b"pasta")] == [True, 1]
    assert sources([*SET, called({"name": "egg", "duration": "egg"})])[1:] == ("egg",)


def test_short_values_of_the_last_results_may_be_passed_on() -> None:
    boats = '{"boats": [{"code": "RB-33", "seats": 4, "note": "blue"}, {"code": "KY-5"}]}'
    turns = [user("a boat at ten"), called({"when": "ten"}), Turn("tool", boats)]
    asked = user("the first one")
    assert sources([*turns, asked]) == ("a boat at ten", "the first one", "RB-33", "blue", "KY-5")
    # What is said stands once.
    assert sources([*turns, user("the blue one")]) == (
        "a boat at ten", "the blue one", "RB-33", "KY-5",
    )  # fmt: skip
    later = [Turn("tool", f'["{name}"]') for name in "xyz"]
    assert sources([*turns, *later, asked])[2:] == ("z", "y", "x")
    for told in ("A plain text.", f'["{"long" * 20}", "", 3, null]', "[" * 100_000):
        assert sources([user("a"), Turn("tool", told)]) == ("a",)
    many = json.dumps([f"value {number}" for number in range(100)])
    assert len(sources([user("a"), Turn("tool", many)])) == 1 + MOST_VALUES

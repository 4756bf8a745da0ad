import pytest

from dlm.datagen.grammar import template
from dlm.datagen.talk import (
    ABILITY,
    ABLE,
    KNOWN,
    MET,
    NAMED,
    REPEAT,
    SHOP_TALK,
    TALK,
    UNKNOWN,
    WHO_AM_I,
)
from tests.dlm.datagen.phrases import check


@pytest.mark.parametrize("table", [TALK, SHOP_TALK])
def test_topics_have_questions_and_answers_without_values(
    table: dict[str, tuple[tuple[str, ...], tuple[str, ...]]],
) -> None:
    for topic, (said, answers) in table.items():
        check("order_drink" if table is SHOP_TALK else topic, said)
        assert all(not template(a).slots and len(a.split()) <= 14 for a in answers)


def test_the_agent_says_who_it_is() -> None:
    assert all("Quicksilver" in answer for answer in TALK["who"][1])


def test_names_are_told_once_and_given_back() -> None:
    assert all(template(s).slots == {"person"} for s in (*NAMED, *MET, *KNOWN))
    assert all(not template(s).slots for s in (*WHO_AM_I, *UNKNOWN, *ABLE, *REPEAT))
    assert all(template(s).slots <= {"first", "second", "third"} for s in ABILITY)

import pytest

from dlm.datagen.grammar import template
from dlm.datagen.phrasings import ASK, BARE, FIX, GIVE, MORE, REFUSALS
from dlm.datagen.schemas import TOOLS
from tests.dlm.datagen.phrases import check


@pytest.mark.parametrize("table", [MORE, FIX])
def test_phrasings_fit_their_tools(table: dict[str, tuple[str, ...]]) -> None:
    for tool, sources in table.items():
        check(tool, sources)


def test_bare_requests_lack_what_is_asked_and_given() -> None:
    for tool, missing in BARE.items():
        for parameter, sources in missing.items():
            check(tool, sources)
            assert parameter in TOOLS[tool]["parameters"]["required"]
            assert parameter in ASK and parameter in GIVE
            assert all(parameter not in template(s.lstrip("!")).slots for s in sources)


def test_answers_always_give_the_parameter() -> None:
    for parameter, sources in GIVE.items():
        assert all(f"{{{parameter}}}" in source for source in sources)


def test_questions_end_in_a_question_mark() -> None:
    assert all(q.endswith("?") for questions in ASK.values() for q in questions)
    assert REFUSALS

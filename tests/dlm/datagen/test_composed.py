from random import Random

import pytest

from dlm.datagen import said
from dlm.datagen.arithmetic import evaluate
from dlm.datagen.composed import COMPOSED, currency_pair, pseudo_word, salad, unit_pair
from dlm.datagen.values import Values
from dlm.datagen.words import UNITS

VALUES = Values()


@pytest.mark.parametrize("digits", [False, True])
@pytest.mark.parametrize("kind", sorted(COMPOSED))
def test_kinds_give_varied_text_with_numbers_as_asked(kind: str, digits: bool) -> None:
    rng = Random(5)
    drawn = [VALUES.draw(kind, rng, digits) for _ in range(200)]
    assert all(value == " ".join(value.split()) and value for value in drawn)
    assert len(set(drawn)) > 5
    if not digits:
        assert not any(c.isdigit() for value in drawn for c in value)


@pytest.mark.parametrize("digits", [False, True])
def test_what_is_said_can_be_read(digits: bool) -> None:
    rng = Random(6)
    now = said.datetime(2026, 11, 21, 10, 30)
    for _ in range(300):
        assert said.duration(VALUES.draw("duration", rng, digits))
        assert said.when(VALUES.draw("when", rng, digits), now)
        assert said.day(VALUES.draw("day", rng, digits), now.date())
        assert said.number(VALUES.draw("amount", rng, digits)) is not None
        assert evaluate(VALUES.draw("expression", rng, digits)) is not None
        assert evaluate(VALUES.draw("sum_order", rng, digits)) is not None


def test_times_do_not_contradict_themselves() -> None:
    rng = Random(9)
    parts = ("morning", "afternoon", "evening")
    for _ in range(3000):
        text = VALUES.draw("when", rng, rng.random() < 0.5).lower()
        told = sum(text.count(part) for part in parts)
        assert told <= 1
        assert not told or not text.endswith((" am", " pm", " a m", " p m"))
        assert "noon this" not in text and "noon tomorrow " not in text
        # Nobody says eleven in the afternoon, or three in the evening.
        assert not text.startswith(("eleven in the afternoon", "3 in the evening", "12 in the m"))


def test_pairs_fit_and_differ() -> None:
    rng = Random(7)
    for _ in range(100):
        first, second = unit_pair(rng)
        assert first != second and UNITS[first][0] == UNITS[second][0]
        assert len(set(currency_pair(rng))) == 2


def test_salad_is_hardly_ever_the_same() -> None:
    rng = Random(8)
    assert len({salad(rng) for _ in range(500)}) > 400
    assert pseudo_word(rng).isalpha()

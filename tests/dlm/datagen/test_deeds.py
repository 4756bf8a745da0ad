from random import Random

from dlm.datagen import nouns
from dlm.datagen.composed_words import ALL_KINDS
from dlm.datagen.deeds import deed, draw
from dlm.datagen.grammar import template


def test_a_deed_says_its_verb_and_needs_nothing_more() -> None:
    action = deed("turn_around")
    assert action.verbs == ("turn_around",) and action.group == nouns.ANY
    assert all("turn around" in form for form in action.say)
    assert not any(template(form).slots for form in action.say)
    assert set(action.kinds) <= set(ALL_KINDS)


def test_every_result_can_be_told() -> None:
    action = deed("polish")
    told = [template(reply).slots for reply in action.replies]
    assert all(template(result).slots in told for result in action.results)


def test_deeds_are_many() -> None:
    rng = Random(1)
    drawn = {draw(rng).name for _ in range(400)}
    assert len(drawn) > 100 and drawn <= set(nouns.deeds())

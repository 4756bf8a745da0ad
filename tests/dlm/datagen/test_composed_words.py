from dlm.datagen.composed import COMPOSED
from dlm.datagen.composed_words import ALL_ACTIONS, ALL_KINDS, ALL_THINGS
from dlm.datagen.grammar import template
from dlm.datagen.holdout import unseen
from dlm.datagen.words import WORDS


def test_every_action_speaks_of_known_kinds_and_can_answer() -> None:
    for action in ALL_ACTIONS:
        assert action.group in ALL_THINGS
        assert set(action.kinds) <= set(ALL_KINDS), action
        told = {slot.rstrip("*") for say in action.say for slot in template(say).slots}
        assert told <= set(ALL_KINDS), action
        assert all("NOUN" in say or "REF" in say or "{" in say for say in action.say)


def test_every_kind_has_values_and_names() -> None:
    for kind in ALL_KINDS.values():
        known = kind.value in (*COMPOSED, *WORDS, "salad", "ref", "title", "task", "topic", "color")
        assert "|" in kind.value or known, kind
        assert all("{}" in said for said in kind.said) and len(kind.names) > 2


def test_each_group_has_things_of_both_splits() -> None:
    for things in ALL_THINGS.values():
        kept = sum(unseen(names[0]) for names in things)
        assert 0 < kept < len(things) / 2

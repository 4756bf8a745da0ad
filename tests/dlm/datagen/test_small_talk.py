from random import Random

from dlm.datagen.grammar import template
from dlm.datagen.holdout import members
from dlm.datagen.moves import small_talk
from dlm.datagen.script import Script
from dlm.datagen.small_talk import SMALL_TALK
from dlm.datagen.talk import TALK
from dlm.datagen.values import Values
from tests.dlm.datagen.phrases import check


def test_topics_have_remarks_and_answers_without_values() -> None:
    for topic, (said, answers) in SMALL_TALK.items():
        check(topic, said)
        assert all(not template(a).slots and len(a.split()) <= 14 for a in answers)
        assert len(answers) == len(set(answers)) > 1


def test_nothing_is_answered_in_two_ways() -> None:
    seen: dict[str, str] = {}
    for topic, (said, _) in (*TALK.items(), *SMALL_TALK.items()):
        for source in said:
            assert seen.setdefault(source.rstrip("?"), topic) == topic, source


def test_words_in_capitals_are_filled_in() -> None:
    found = [source for said, _ in SMALL_TALK.values() for source in said]
    assert all(source == source.lower() for source in found)
    assert any("lonely" in source and "heartbroken" in source for source in found)


def test_a_remark_gets_an_answer_of_its_topic() -> None:
    topics = set()
    for seed in range(60):
        script = Script(Random(seed), Values(), "train")
        assert small_talk(script)
        user, agent = script.messages
        assert user["role"] == "user" and user["content"]
        topics |= {t for t, (_, answers) in SMALL_TALK.items() if agent["content"] in answers}
    assert len(topics) > 12


def test_some_remarks_are_held_out() -> None:
    held = [source for said, _ in SMALL_TALK.values() for source in members(said, "heldout")]
    assert len(held) > 10

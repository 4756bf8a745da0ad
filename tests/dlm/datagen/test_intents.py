from dlm.datagen.intents import TOPICS, UNFIT
from dlm.datagen.labelled import READERS
from dlm.datagen.talk import TALK


def test_an_intent_has_one_use() -> None:
    assert not set(READERS) & set(TOPICS)
    assert not set(READERS) & UNFIT
    assert not set(TOPICS) & UNFIT


def test_topics_are_known_to_the_talk() -> None:
    assert set(TOPICS.values()) <= {*TALK, "repeat", "bye"}

"""Texts composed of facts: the tables fit one another, and answers are what the sentences say."""

from __future__ import annotations

import re
from collections import Counter
from datetime import date
from random import Random

import pytest

from dlm.datagen.extraction.composed_extraction import extraction
from dlm.datagen.extraction.composed_facts import (
    CHOICES,
    SHARED,
    TOPICS,
    choice_of,
    fact_of,
    topics,
)
from dlm.datagen.extraction.composed_values import ToldDraw
from dlm.datagen.holdout import held_out
from dlm.datagen.language.phrases import template
from dlm.language.written_dates import dates_in

OWN = {"it", "its"}


@pytest.mark.parametrize("name", TOPICS)
def test_the_facts_of_a_topic_can_be_told_and_asked_for(name: str) -> None:
    topic = TOPICS[name]
    facts = {key: fact_of(source) for key, source in topic.facts.items()}
    said = [template(source).slots - OWN for source in (*topic.say, *topic.open)]
    assert set(facts) == set().union(*said) and all(said[: len(topic.say)])
    names = Counter(key for fact in facts.values() for key in fact.names)
    names.update(key for choice in topic.also for key in choice_of(choice).names)
    assert max(names.values()) == 1, names.most_common(3)
    draw = ToldDraw(Random(1), date(2024, 3, 5), SHARED.units, False)
    assert all(draw.told(fact.kind).text for fact in facts.values())
    for group in topic.order:
        assert set(group.split()) <= facts.keys(), group
    for pair in topic.never:
        assert set(pair.split()) <= {*facts, *topic.also}, pair
    assert set(topic.more) <= {*SHARED.families, "states"}
    for source in (*topic.say, *topic.open):
        assert not re.search(r"(?<=[\w'])\{|\}(?!'s\b)(?=[\w'])", source), source


def test_every_choice_belongs_to_a_topic_and_has_several_options() -> None:
    assert {name for topic in TOPICS.values() for name in topic.also} == set(CHOICES)
    for name, choice in CHOICES.items():
        assert len(choice.said) > 1 and not set(choice.said) & set(choice.others), name
        assert all(len(said) > 1 for said in choice.said.values()), name


def test_topics_labels_and_names_are_held_out() -> None:
    train, rest = set(topics("train")), set(topics("heldout"))
    assert len(train) > 30 and len(rest) >= 3 and not train & rest
    every = {
        key for topic in TOPICS.values() for f in topic.facts.values() for key in fact_of(f).names
    }
    hidden = {key.replace("_", "") for key in every if held_out(f"field {key}")}
    rng = Random(1)
    shown = {key for _ in range(2000) for key in extraction(rng, "train").schema["properties"]}
    assert not {key.lower().replace("_", "").replace(" ", "") for key in shown} & hidden


def test_a_value_that_was_replaced_is_the_old_one() -> None:
    rng, found = Random(3), 0
    for _ in range(4000):
        one = extraction(rng, "train")
        text = one.row["messages"][0]["content"]
        change = re.search(r"he [\w ]+ used to be ([\w ]+), now it is ([\w ]+)", text)
        old = [value for key, value in one.answer.items() if re.search("(?i)former|before", key)]
        if change and len(old) == 1 and str(old[0]) in text:
            found += 1
            assert str(old[0]) in change[1] and str(old[0]) not in change[2], one
    assert found > 1


def test_a_day_is_counted_from_the_day_of_writing() -> None:
    rng, found = Random(2), 0
    for _ in range(3000):
        one = extraction(rng, "train")
        text = one.row["messages"][0]["content"]
        for name, schema in one.schema["properties"].items():
            day = one.answer.get(name)
            if schema.get("format") == "date" and day:
                found += re.search(r"\d{4}", text.replace(day[:4], "", 1)) is not None
                assert day in dates_in(text), (text, name)
    assert found > 100


def test_a_draw_has_no_words_twice_and_orders_what_can_be_ordered() -> None:
    draw = ToldDraw(Random(4), None, SHARED.units, True)
    names = [draw.told("person").text for _ in range(12)]
    words = [word for name in names for word in name.split() if len(word) > 2]
    assert len(set(words)) > len(words) - 4

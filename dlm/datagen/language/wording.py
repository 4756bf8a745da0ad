"""Wording that belongs to no tool, and talk that needs no tool, from the data files."""

from __future__ import annotations

from dataclasses import dataclass

from dlm.datagen.language.tables import read


@dataclass(frozen=True, slots=True)
class Wording:
    """``data/wording.toml``."""

    errors: tuple[str, ...]
    declines: tuple[str, ...]
    refusals: tuple[str, ...]
    instructions: tuple[str, ...]
    before_orders: tuple[str, ...]
    after_orders: tuple[str, ...]
    greetings: dict[str, tuple[str, ...]]


@dataclass(frozen=True, slots=True)
class Topic:
    """What users may say, and answers that fit all of it."""

    say: tuple[str, ...]
    answers: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class OwnName:
    """Users ask for their own name, which the agent may or may not know."""

    say: tuple[str, ...]
    known: tuple[str, ...]
    unknown: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Talk:
    """``data/talk.toml``."""

    repeat: tuple[str, ...]
    abilities: Topic
    introduction: Topic
    own_name: OwnName
    topics: dict[str, Topic]
    shop_talk: dict[str, Topic]


@dataclass(frozen=True, slots=True)
class _SmallTalk:
    """``data/small_talk.toml``."""

    classes: dict[str, tuple[str, ...]]
    kinds: dict[str, Topic]


def _in_full(topic: Topic, classes: dict[str, tuple[str, ...]]) -> Topic:
    """A topic with its capitalised class names replaced by the classes' words."""
    said = topic.say
    for name, words in classes.items():
        said = tuple(source.replace(name, "|".join(words)) for source in said)
    return Topic(said, topic.answers)


WORDING = read("wording", Wording)
TALK = read("talk", Talk)
_TABLE = read("small_talk", _SmallTalk)
SMALL_TALK = {name: _in_full(topic, _TABLE.classes) for name, topic in _TABLE.kinds.items()}
"""Small talk by kind."""

"""What composed texts tell: topics with their facts, and facts whose names are composed as well.

A fact has a kind of value and the names that a schema may give it. A fact of a family has a label
composed of a modifier and a head ("press photographer", "door width"), so that names cannot be
learned by heart. Topics and labels are held out. The tables are ``data/facts*.toml``. Values and
texts are not known here.
"""

from __future__ import annotations

import re
from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from random import Random
from typing import NamedTuple

from dlm.datagen.holdout import composed, unseen
from dlm.datagen.language.tables import read


@dataclass(frozen=True, slots=True)
class Topic:
    """A kind of thing, and what may be said about it; see ``data/facts.toml``."""

    what: str
    it: tuple[str, ...]
    open: tuple[str, ...]
    say: tuple[str, ...]
    facts: dict[str, str]
    fixed: bool = False
    never: tuple[str, ...] = ()
    order: tuple[str, ...] = ()
    also: tuple[str, ...] = ()
    more: tuple[str, ...] = ()

    def contradicts(self, name: str, names: Container[str]) -> bool:
        """Whether a fact contradicts one of the others."""
        pairs = (pair.split() for pair in self.never if name in pair.split())
        return any(other in names for pair in pairs for other in pair if other != name)


@dataclass(frozen=True, slots=True)
class Choice:
    """A fact that is one of some options; see ``data/facts_choices.toml``."""

    keys: str
    said: dict[str, tuple[str, ...]]
    others: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class _Family:
    kind: str
    names: tuple[str, ...]
    say: tuple[str, ...]
    modifiers: tuple[str, ...]
    heads: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _States:
    names: tuple[str, ...]
    yes: tuple[str, ...]
    no: tuple[str, ...]
    things: tuple[str, ...]
    states: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Shared:
    no_nouns: tuple[str, ...]
    changes: tuple[str, ...]
    mistakes: tuple[str, ...]
    recounts: tuple[str, ...]
    plain: tuple[str, ...]
    plain_line: tuple[str, ...]
    distractions: tuple[str, ...]
    log_heads: tuple[str, ...]
    frames: tuple[str, ...]
    byes: tuple[str, ...]
    asides: tuple[str, ...]
    today: tuple[str, ...]
    today_names: tuple[str, ...]
    old_names: tuple[str, ...]
    new_names: tuple[str, ...]
    units: dict[str, tuple[str, ...]]
    short: dict[str, str]
    families: dict[str, _Family]
    states: _States


class Fact(NamedTuple):
    """Something that may be told.

    Attributes:
        kind: Kind of its value, with bounds.
        names: Names that a schema may give it.
        loose: Names that fit only if nothing else in the text could be meant.
        options: Option of a choice → how it is said.
        others: Options that a schema lists but that no text says.
        said: A sentence that tells it, with ``{value}``; empty if its topic has the sentence.
    """

    kind: str
    names: tuple[str, ...]
    loose: tuple[str, ...] = ()
    options: Mapping[str, Sequence[str]] = {}
    others: tuple[str, ...] = ()
    said: str = ""

    @property
    def head(self) -> str:
        """The kind without its bounds."""
        return self.kind.split()[0]

    @property
    def alike(self) -> str:
        """The broader kind of value that a loose name for this fact could also mean."""
        return _ALIKE.get(self.head, self.head)

    @property
    def label(self) -> str:
        """What it is called in a text."""
        return self.names[0].replace("_", " ")

    @property
    def is_flag(self) -> bool:
        """Whether its value is true or false."""
        return "true" in self.options

    @property
    def is_plural(self) -> bool:
        """Whether its label is a plural noun."""
        return bool(_PLURAL.search(self.label))

    @property
    def is_named(self) -> bool:
        """Whether its label is a singular noun."""
        return self.label.split()[-1] not in SHARED.no_nouns and not self.is_plural


SHARED = read("facts", _Shared)
CHOICES = read("facts_choices", dict[str, Choice])
TOPICS: dict[str, Topic] = {
    name: topic
    for file in ("people", "trade", "work", "public")
    for name, topic in read(f"facts_{file}", dict[str, Topic]).items()
}
STATES = "states"
"""The family of flags."""
_PLURAL = re.compile("([^sui]s|children|people)( (of|in|per|at|for|to|on) |$)")
_ALIKE = {
    "due": "date", "moment": "date", "count": "int", "nth": "int", "only": "int", "year": "int",
    "num": "int", "size": "int", "millions": "money", "first": "person", "woman": "person",
    "man": "person", "man_first": "person", "doctor": "person", "lastname": "person",
}  # fmt: skip


@cache
def fact_of(source: str) -> Fact:
    """A fact as the tables write it: ``kind: names / loose names``."""
    kind, _, names = source.partition(": ")
    own, _, loose = names.partition(" / ")
    return Fact(kind, tuple(own.split(", ")), tuple(loose.split(", ")) if loose else ())


@cache
def choice_of(name: str) -> Fact:
    """A fact that is a choice of options."""
    choice = CHOICES[name]
    return Fact("choice", tuple(choice.keys.split(", ")), (), choice.said, choice.others)


@cache
def topics(split: str) -> tuple[str, ...]:
    """The topics of a split."""
    return tuple(name for name in TOPICS if unseen(f"about {name}") == (split == "heldout"))


def composed_fact(rng: Random, split: str, family: str) -> Fact:
    """A fact of a family, with a label in the split."""
    states = SHARED.states
    if family == STATES:
        label = composed(
            rng, split, lambda r: f"{r.choice(states.things)}/{r.choice(states.states)}"
        )
        thing, state = label.split("/")
        options = {
            option: tuple(form.format(thing=thing, state=state) for form in forms)
            for option, forms in (("true", states.yes), ("false", states.no))
        }
        return Fact("choice", named(states.names, f"{thing} {state}"), options=options)
    found = SHARED.families[family]
    words = found.modifiers, found.heads
    label = composed(rng, split, lambda r: " ".join(map(r.choice, words)))
    said = rng.choice(found.say).replace("{label}", label)
    return Fact(found.kind, named(found.names, label), said=said)


def named(forms: Iterable[str], label: str) -> tuple[str, ...]:
    """Distinct names for something with this label."""
    return tuple(dict.fromkeys(form.format(label=label).replace(" ", "_") for form in forms))

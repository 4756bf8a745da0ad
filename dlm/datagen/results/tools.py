"""Unfamiliar tools whose results are told: what users ask each, and how it is declared.

The tables are ``data/results_*.toml``. Dialogues are not known here.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from random import Random

from dlm.datagen.holdout import held_out
from dlm.datagen.language.phrases import fill, template
from dlm.datagen.language.tables import read
from dlm.datagen.tools.catalog import Spec
from dlm.datagen.tools.descriptions import described, synonyms
from dlm.datagen.tools.renaming import styled
from dlm.datagen.values.result_values import WORDING


@dataclass(frozen=True, slots=True)
class Fact:
    """One thing that a tool reports on; see ``data/results_facts.toml``."""

    tools: tuple[str, ...]
    about: str
    thing: str
    named: str
    say: tuple[str, ...]
    fields: dict[str, tuple[str, ...]]
    reply: tuple[str, ...] = ()
    needs: tuple[str, ...] = ()
    pronoun: str = "it"


@dataclass(frozen=True, slots=True)
class Several:
    """Things of which a tool finds some number; see ``data/results_lists.toml``."""

    tools: tuple[str, ...]
    about: str
    thing: str
    named: str
    say: tuple[str, ...]
    keys: tuple[str, ...]
    one: str
    many: str
    item: str
    most: tuple[str, ...]
    fields: dict[str, tuple[str, ...]]
    needs: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Deed:
    """Something that a tool does; see ``data/results_deeds.toml``."""

    tools: tuple[str, ...]
    verbs: tuple[str, ...]
    about: str
    say: tuple[str, ...]
    done: tuple[str, ...]
    undone: str
    why: tuple[str, ...]
    slots: dict[str, tuple[str, ...]] = field(default_factory=dict)
    numbered: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()
    parts: tuple[str, ...] = ()


Matter = Fact | Several | Deed
FACTS = read("results_facts", dict[str, Fact]) | read("results_facts_2", dict[str, Fact])
LISTS = read("results_lists", dict[str, Several])
DEEDS = read("results_deeds", dict[str, Deed])
MATTERS: dict[str, Matter] = {**FACTS, **LISTS, **DEEDS}


@dataclass(frozen=True, slots=True)
class Tool:
    """A tool as it is declared; ``parameters``: slot → the parameter's name."""

    spec: Spec
    matter: Matter
    parameters: dict[str, str]


def slot_of(matter: Fact | Several) -> str:
    """The slot in the name of the thing; empty if there is none."""
    return next(iter(template(matter.thing).slots), "")


def offered(name: str, style: str, split: str, rng: Random) -> Tool:
    """A tool for a matter, with its name in a style of `dlm.datagen.tools.renaming.styled`."""
    matter = MATTERS[name]
    verbs = matter.verbs if isinstance(matter, Deed) else WORDING["verbs"]
    words: list[str] = []
    while not words or held_out("_".join(words)) != (split == "heldout"):
        words = f"{rng.choice(verbs)}_{rng.choice(matter.tools)}".split("_")
        if rng.random() < (0.1 if split == "train" else 0.7):
            words.insert(0, rng.choice(WORDING["prefixes"]))
    if isinstance(matter, Deed):
        slots = {slot: rng.choice(names[1:]) for slot, names in matter.slots.items()}
    else:
        slots = {slot_of(matter): rng.choice(matter.needs)} if matter.needs else {}
    properties: Spec = {key: {"type": "string"} for key in slots.values()}
    required = list(properties)
    if rng.random() < 0.12:
        extra = rng.choice(("lang", "units", "verbose", "format"))
        properties[extra] = {"type": "string"}
    schema = {"type": "object", "properties": properties, "required": required}
    spec = {
        "name": styled(words, style),
        "description": fill(matter.about, rng, {}),
        "parameters": schema,
    }
    return Tool(described(spec, _about(matter, slots)), matter, slots)


def _about(matter: Matter, parameters: dict[str, str]) -> dict[str, tuple[str, ...]]:
    """Parameter → what descriptions say about it."""
    if isinstance(matter, Deed):
        return {key: synonyms(matter.slots[slot][1:], key) for slot, key in parameters.items()}
    named = synonyms(matter.needs)[:1]
    forms = ("{} to look up", "which {} is meant", "{}")
    told = tuple(form.format(name) for form in forms for name in named)
    return dict.fromkeys(parameters.values(), told)

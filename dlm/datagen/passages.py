"""Passages that a search of the user's documents may find, made around the query."""

from __future__ import annotations

from random import Random

from dlm.datagen.composed import pseudo_word
from dlm.datagen.grammar import fill
from dlm.datagen.said import MONTHS, WEEKDAYS
from dlm.datagen.words import WORDS

_SOURCES = (
    "notes", "house manual", "recipes", "garden diary", "meeting notes", "travel plans", "handbook",
    "letters", "reading list", "contacts", "project log", "school papers", "car manual", "faq",
    "guide", "journal", "minutes", "research", "todo", "family book",
)  # fmt: skip
_PASSAGES = (
    "{Topic} (is|are) kept in the {adjective} {noun} (by the {room}|near the {noun2}).",
    "{Topic}: see {name}, who (changed|updated|checked) it (on|last) {weekday}.",
    "(For|About) {topic}, call {name} on {code}.",
    "{name} said that {topic} must be (ready|done|checked) by {month} {day}.",
    "{Topic} (costs|cost) {number} dollars (a month|a year|in all).",
    "{Topic} takes about {number} minutes and needs {item} and {item2}.",
    "The answer on {topic} is {made}{number}.",
    "{Topic} was last (changed|reviewed|tested) on {weekday}, {month} {day}.",
    "Everything about {topic} is in the {adjective} folder under {noun}.",
    "{Topic} (starts|begins|opens) at {hour} on {weekday}s.",
    "Ask {name} about {topic}; the key is behind the {noun}.",
    "{Topic} (is|are) handled by {name} in the {room}.",
    "The code for {topic} is {code}.",
    "{Topic}: press the {adjective} button for {number} seconds, then wait.",
    "{name} wrote that {topic} (works|goes) best with {item}.",
    "Remember: {topic} (ends|expires) on {month} {day}.",
    "{Topic} (has|have) {number} parts; the first is the {adjective} {noun}.",
    "The rule for {topic} is simple: never before {hour}.",
)


def passage(query: str, rng: Random) -> tuple[str, str]:
    """A document's name and one sentence of it, at most 200 characters, that mentions ``query``."""
    topic = query.lower()
    fields = {
        "topic": topic,
        "Topic": topic[:1].upper() + topic[1:],
        "made": pseudo_word(rng),
        "number": str(rng.randint(2, 400)),
        "day": str(rng.randint(1, 28)),
        "hour": f"{rng.randint(1, 12)} {rng.choice(('AM', 'PM'))}",
        "code": str(rng.randint(100, 99999)),
        "weekday": rng.choice(WEEKDAYS).title(),
        "month": rng.choice(MONTHS).title(),
        "item2": rng.choice(WORDS["item"]),
        "noun2": rng.choice(WORDS["noun"]),
    }
    for kind in ("adjective", "noun", "name", "room", "item"):
        fields[kind] = rng.choice(WORDS[kind])
    return rng.choice(_SOURCES), fill(rng.choice(_PASSAGES), rng, fields)[:200]

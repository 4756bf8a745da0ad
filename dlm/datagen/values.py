"""What fills the slots of a phrasing: durations, times, items, names, places and the like.

Values are text as a user says it, in words or digits as the style asks. Variety is what teaches
copying, so open kinds mix word lists, lists of the corpora and random words. Knows no tool.
"""

from __future__ import annotations

import json
import lzma
from pathlib import Path
from random import Random

from dlm.datagen.composed import COMPOSED, salad
from dlm.datagen.words import WORDS

_CORPUS_LISTS = {
    "place": (
        "city", "country", "snips:city", "snips:country", "nlu:place_name", "slurp:place_name",
    ),
    "company": ("company",), "name": ("r8k:first_name", "nlu:person", "slurp:person"),
    "surname": ("r8k:last_name",),
    "item": ("shopping_or_todo_item", "nlu:food_type", "slurp:food_type", "snips:served_dish"),
    "task": ("todo_item",),
    "title": ("media_title", "snips:object_name", "snips:movie_name", "nlu:game_name"),
    "song": ("snips:track", "snips:entity_name", "snips:album", "nlu:song_name"),
    "artist": ("snips:artist", "nlu:artist_name", "slurp:artist_name"),
    "restaurant": ("snips:restaurant_name",), "cuisine": ("snips:cuisine",),
    "event": ("nlu:event_name", "slurp:event_name"), "genre": ("snips:genre", "nlu:music_genre"),
    "device_name": ("device",),
}  # fmt: skip
_SHARE_ALIKE_LISTS = {
    "title": ("sgd:movie_name", "sgd:title"),
    "song": ("sgd:song_name",),
    "artist": ("sgd:artist",),
    "restaurant": ("sgd:restaurant_name",),
    "event": ("sgd:event_name",),
    "hotel": ("sgd:hotel_name",),
    "address": ("sgd:address", "sgd:street_address"),
}
_INVENTED: dict[str, float] = {
    "item": 0.15, "task": 0.15, "title": 0.15, "song": 0.15, "artist": 0.15, "restaurant": 0.15,
    "event": 0.15, "hotel": 0.15, "topic": 0.15, "list": 0.15, "timer_name": 0.12, "name": 0.06,
    "company": 0.06, "place": 0.04, "light": 0.05, "switch": 0.06, "room": 0.06, "extras": 0.05,
}  # fmt: skip
"""How often a value is a random word combination in place of one of the list."""


class Values:
    """Draws slot values.

    Args:
        corpora: Directory with ``slot_values.jsonl.xz``; None for the built-in lists alone.
        share_alike: Whether lists under a share-alike licence may be used.
    """

    def __init__(self, corpora: Path | None = None, share_alike: bool = False) -> None:
        self._lists: dict[str, list[str]] = {name: list(words) for name, words in WORDS.items()}
        if corpora is not None:
            self._load(corpora / "slot_values.jsonl.xz", share_alike)
        for name in ("title", "song", "artist", "restaurant", "event", "hotel", "genre", "cuisine"):
            self._lists.setdefault(name, [])

    def _load(self, path: Path, share_alike: bool) -> None:
        wanted: dict[str, list[str]] = {}
        tables = (_CORPUS_LISTS, _SHARE_ALIKE_LISTS) if share_alike else (_CORPUS_LISTS,)
        for table in tables:
            for kind, lists in table.items():
                for source in lists:
                    wanted.setdefault(source, []).append(kind)
        found: dict[str, dict[str, None]] = {}
        with lzma.open(path, "rt", encoding="utf-8") as rows:
            for line in rows:
                row = json.loads(line)
                for kind in wanted.get(row["list"], ()):
                    value = row["value"].strip(" .,'\"")
                    if _speakable(value):
                        found.setdefault(kind, {})[value] = None
        for kind, values in found.items():
            self._lists[kind] = [*self._lists.get(kind, []), *values]

    def known(self, kind: str) -> list[str]:
        """The list behind a kind; empty for kinds that are composed."""
        return self._lists.get(kind, [])

    def draw(self, kind: str, rng: Random, digits: bool = False) -> str:
        """A value of a kind.

        Args:
            kind: One of the composed kinds below or of the word lists, or ``a|b|c`` to pick from.
            rng: Source of chance.
            digits: Whether numbers are written as digits.

        Raises:
            ValueError: the kind is unknown.
        """
        if "|" in kind:
            return rng.choice(kind.split("|"))
        composed = COMPOSED.get(kind)
        if composed is not None:
            return composed(self, rng, digits)
        if kind not in self._lists:
            raise ValueError(f"kind must be a list or composed kind, got {kind!r}")
        values = self._lists[kind]
        if not values or rng.random() < _INVENTED.get(kind, 0.0):
            return salad(rng)
        return rng.choice(values)


def _speakable(value: str) -> bool:
    words = value.split()
    plain = value.isascii() and all(c.isalpha() or c in " '-" for c in value)
    return plain and 0 < len(words) <= 4 and max(map(len, words)) <= 14

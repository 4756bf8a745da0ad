"""Word lists by kind, units and currencies, from ``data/words.toml``."""

from __future__ import annotations

from dataclasses import dataclass

from dlm.datagen.tables import read


@dataclass(frozen=True, slots=True)
class Unit:
    """What a unit measures, and its size in that measure's base unit; heat is converted apart."""

    measures: str
    size: float


@dataclass(frozen=True, slots=True)
class _Words:
    lists: dict[str, tuple[str, ...]]
    units: dict[str, Unit]
    currencies: dict[str, float]
    corpus_lists: dict[str, tuple[str, ...]]
    share_alike_lists: dict[str, tuple[str, ...]]
    invented_shares: dict[str, float]


_TABLE = read("words", _Words)
WORDS = _TABLE.lists
UNITS = _TABLE.units
CURRENCIES = _TABLE.currencies
"""What one of a currency is worth in US dollars."""
CORPUS_LISTS = _TABLE.corpus_lists
SHARE_ALIKE_LISTS = _TABLE.share_alike_lists
INVENTED_SHARES = _TABLE.invented_shares
"""How often a value of a kind is a random word combination in place of one of the list."""

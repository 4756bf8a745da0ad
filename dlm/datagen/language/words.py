"""Word lists by kind, units and currencies, from ``data/words.toml``."""

from __future__ import annotations

from dataclasses import dataclass

from dlm.datagen.language.tables import read


@dataclass(frozen=True, slots=True)
class Unit:
    """What a unit measures, and its size in base units; temperatures are converted separately."""

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
"""Currency → its value in US dollars."""
CORPUS_LISTS = _TABLE.corpus_lists
SHARE_ALIKE_LISTS = _TABLE.share_alike_lists
INVENTED_SHARES = _TABLE.invented_shares
"""Kind of value → how often it is a random combination of words instead of one from the list."""

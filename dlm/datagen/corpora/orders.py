"""Composes orders of drinks part by part, and reads those of a corpus.

A composed order is a phrasing in the notation of ``data/coffee_tools.toml``, and its hash decides
whether it is held out. Orders in the Taskmaster coffee dialogues are mapped to our ``order_drink``
with a small lexicon; a row with an unknown word is rejected, so that no order is half understood.
The tables are ``data/orders.toml`` and ``data/order_lexicon.toml``.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from random import Random
from typing import Any

from dlm.datagen.corpora.spans import pieces, tokens
from dlm.datagen.holdout import composed, held_out
from dlm.datagen.language.phrases import Piece
from dlm.datagen.language.tables import Lists, read

FILES = ("taskmaster4_coffee", "taskmaster_reward_good")
_SHARES = {"milk": 0.5, "sweetener": 0.42, "shots": 0.28, "extras": 0.22, "roast": 0.3, "size": 0.5}
_LONG_SHARES = _SHARES | {"milk": 0.65, "sweetener": 0.65, "shots": 0.5, "extras": 0.6}
"""For half of the orders in training, which are long, as models fail at long ones."""
_COUNTS = ("a", "a", "a", "a", "one", "", "", "{quantity}")
_MANY_COUNTS = ("a", "a", "a", "one", "", "{quantity}", "{many}", "{many}")
"""For half of the orders in training: a number before a drink used to be left out too often."""


def _longest_first(entries: Iterable[str]) -> list[list[str]]:
    return sorted(filter(None, map(tokens, entries)), key=len, reverse=True)


ORDERS = read("orders", Lists)
_LEXICON = read("order_lexicon", Lists)
_BY_PARAMETER = {
    name: _longest_first(_LEXICON[name])
    for name in ("milk", "sweetener", "extras", "shots", "size")
}
_DRINKS = _longest_first(_LEXICON["drinks"])
_AMOUNTS = _longest_first(_LEXICON["amounts"])


def compose_order(rng: Random, split: str) -> str:
    """A phrasing of an order that is in the split by its hash.

    Raises:
        NothingHeldOutError: None of many draws was in the split.
    """
    long = split == "train" and rng.random() < 0.5
    shares = _LONG_SHARES if long else _SHARES
    counts = _MANY_COUNTS if split == "train" and rng.random() < 0.5 else _COUNTS

    def order(rng: Random) -> str:
        source = _order(rng, shares, counts)
        flavored = split == "train" and rng.random() < 0.2
        return source.replace("{sweetener}", "{flavor}") if flavored else source

    return composed(rng, split, order)


def _order(rng: Random, shares: Mapping[str, float], counts: Sequence[str]) -> str:
    parts = [name for name, share in shares.items() if rng.random() < share]
    rng.shuffle(parts)
    front = [p for p in ("size", "roast") if p in parts and rng.random() < 0.75]
    rng.shuffle(front)
    dose = "shots" not in parts and rng.random() < 0.08
    rest = [p for p in parts if p not in front]
    count = rng.choice(counts)
    words = [count, *(f"{{{p}}}" for p in front), "{dose}" if dose else "", "{drink}"]
    text = f"{' '.join(w for w in words if w)}{behind(rng, rest)}"
    if rng.random() < 0.68:
        text = f"{rng.choice(ORDERS['openers'])} {text}"
    if rng.random() < 0.25:
        text = f"{text} {rng.choice(ORDERS['tails'])}"
    return text


def behind(rng: Random, parts: Sequence[str]) -> str:
    """What follows a drink for some parameters: " with {milk} and {sweetener}"."""
    text, began = "", False
    style = rng.random()
    for part in parts:
        slot = f"{{{part}}}"
        if part == "size":
            text += f" {rng.choice(('in ', 'size ', 'make it ', ''))}{slot}"
        elif part == "roast":
            text += f" {rng.choice(('', 'in ', 'with ', ''))}{slot}"
        elif style < 0.25:
            text += f" {slot}"
        elif not began:
            text += f" {rng.choice(('with', 'with', 'with', 'and', 'plus'))} {slot}"
            began = True
        elif part == parts[-1]:
            text += f" {rng.choice(('and', 'and', 'and with', 'with', 'plus'))} {slot}"
        else:
            text += f" {slot}"
    return text


def drink_orders(rows: Iterable[dict[str, Any]]) -> Iterator[tuple[str, list[Piece]]]:
    """Find orders that customers give in one message.

    Yields:
        The message, and its pieces, whose slots are parameters of ``order_drink``.
    """
    seen = set()
    for row in rows:
        before: list[str] = []
        for message in row["messages"]:
            if message["role"] == "user" and message["content"]:
                before.append(message["content"])
            names = [c["name"] for c in message.get("tool_calls") or ()]
            if "add_order_item" in names or "get_menu_items" in names:
                if len(before) == 1 and before[0] not in seen:
                    seen.add(before[0])
                    found = drink_order(before[0])
                    if found is not None:
                        yield before[0], found
                break


def drink_order(text: str) -> list[Piece] | None:
    """An order in pieces; None if it is not understood, as with a word not in the lexicon."""
    plain = re.sub(r"[.,?!;:]+(?=\s|$)", "", text.replace("'s ", "s ").replace("/", " "))
    words = tokens(plain)
    if not 1 <= len(words) <= 22 or not all(words):
        return None
    drink = _drink(words)
    if drink is None:
        return None
    found = {"drink": drink}
    taken = set(range(*drink))
    for slot, entries in _BY_PARAMETER.items():
        for span in _places(words, entries, taken):
            if slot in found:
                return None
            found[slot] = _widened(words, span, taken) if slot != "size" else span
            taken |= set(range(*found[slot]))
    if "shots" in found and found["shots"][1] == drink[0] and words[found["shots"][0]] == "a":
        found["shots"] = (found["shots"][0] + 1, drink[0])
    at = drink[0] - 1
    if at >= 0 and words[at] in _LEXICON["numbers"] and at not in taken:
        found["quantity"] = (at, at + 1)
        taken.add(at)
    rest = [w for i, w in enumerate(words) if i not in taken]
    return pieces(plain, found) if all(w in _LEXICON["plain"] for w in rest) else None


def _drink(words: list[str]) -> tuple[int, int] | None:
    """The span of the drink's longest name and words before it that belong to it, if it is one."""
    spans = list(_places(words, _DRINKS, set()))
    if len(spans) != 1:
        return None
    start, end = spans[0]
    while start and words[start - 1] in _LEXICON["before_drinks"]:
        start -= 1
    return start, end


def _places(
    words: list[str], entries: list[list[str]], taken: set[int]
) -> Iterator[tuple[int, int]]:
    """Spans of entries, longest first, that overlap neither each other nor what is taken."""
    used = set(taken)
    for entry in entries:
        size = len(entry)
        for i in range(len(words) - size + 1):
            span = range(i, i + size)
            if words[i : i + size] == entry and not used & set(span):
                used |= set(span)
                yield i, i + size


def _widened(words: list[str], span: tuple[int, int], taken: set[int]) -> tuple[int, int]:
    """A span extended by an amount directly before it."""
    start, end = span
    for amount in _AMOUNTS:
        size = len(amount)
        before = range(start - size, start)
        if start >= size and words[start - size : start] == amount and not taken & set(before):
            return start - size, end
    return span


def order_held_out(text: str) -> bool:
    """Whether an order is held out, by its words without case and punctuation."""
    return held_out(" ".join(re.findall(r"\w+", text.lower())))

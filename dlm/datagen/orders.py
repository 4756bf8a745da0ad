"""Orders of drinks put together part by part: what customers say has no fixed order.

Gives phrasings in the notation of `dlm.datagen.phrasings`, so that their hash can hold some out.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from random import Random

from dlm.datagen.holdout import NothingHeldOutError, held_out

_OPENERS = (
    "can i get", "can i have", "could i get", "could i have", "may i have", "i'd like", "i'll have",
    "i would like", "i'll take", "i want", "give me", "let me get", "let me have", "i'll do",
    "make me", "get me", "i need", "hi can i get", "hello i'd like", "hey could i get",
    "can i order", "i'd like to order", "i want to order", "can you make me", "please make me",
    "we'll take", "could you do", "i think i'll have", "i'm gonna get", "i'll get", "prepare",
    "brew me", "order me", "i'd love", "how about", "yeah i'll have", "yes can i get", "let's do",
    "just", "maybe",
)  # fmt: skip
_TAILS = (
    "please",
    "please",
    "thanks",
    "to go",
    "for here",
    "to go please",
    "if possible",
    "thank you",
)
_SHARES = {"milk": 0.5, "sweetener": 0.42, "shots": 0.28, "extras": 0.22, "roast": 0.3, "size": 0.5}
_LONG_SHARES = _SHARES | {"milk": 0.65, "sweetener": 0.65, "shots": 0.5, "extras": 0.6}
"""Of the long orders that half of the training split's are: those are what goes wrong."""
_COUNTS = ("a", "a", "a", "a", "one", "", "", "{quantity}")
_MANY_COUNTS = ("a", "a", "a", "one", "", "{quantity}", "{many}", "{many}")
"""Of half of the training split's orders: a number before a drink was left out too often."""


def compose(rng: Random, split: str) -> str:
    """A phrasing of an order: in the split that its hash puts it in.

    Args:
        rng: Source of chance.
        split: "train" or "heldout".

    Raises:
        NothingHeldOutError: no draw of many fell into the split.
    """
    long = split == "train" and rng.random() < 0.5
    counts = _MANY_COUNTS if split == "train" and rng.random() < 0.5 else _COUNTS
    for _ in range(400):
        source = _order(rng, _LONG_SHARES if long else _SHARES, counts)
        if split == "train" and rng.random() < 0.2:
            source = source.replace("{extras}", "{flavor}")
        if held_out(source) == (split == "heldout"):
            return source
    raise NothingHeldOutError(f"no order drawn is in split {split!r}")


def _order(rng: Random, shares: Mapping[str, float], counts: Sequence[str]) -> str:
    parts = [name for name, share in shares.items() if rng.random() < share]
    rng.shuffle(parts)
    front = [p for p in ("size", "roast") if p in parts and rng.random() < 0.75]
    rng.shuffle(front)
    dose = "shots" not in parts and rng.random() < 0.08
    behind = [p for p in parts if p not in front]
    count = rng.choice(counts)
    words = [count, *(f"{{{p}}}" for p in front), "{dose}" if dose else "", "{drink}"]
    text = f"{' '.join(w for w in words if w)}{_behind(rng, behind)}"
    if rng.random() < 0.68:
        text = f"{rng.choice(_OPENERS)} {text}"
    if rng.random() < 0.25:
        text = f"{text} {rng.choice(_TAILS)}"
    return text


def _behind(rng: Random, parts: list[str]) -> str:
    text, began = "", False
    style = rng.random()
    for i, part in enumerate(parts):
        slot = f"{{{part}}}"
        last = i == len(parts) - 1
        if part == "size":
            text += f" {rng.choice(('in ', 'size ', 'make it ', ''))}{slot}"
        elif part == "roast":
            text += f" {rng.choice(('', 'in ', 'with ', ''))}{slot}"
        elif style < 0.25:
            text += f" {slot}"
        elif not began:
            text, began = (
                f"{text} {rng.choice(('with', 'with', 'with', 'and', 'plus'))} {slot}",
                True,
            )
        elif last:
            text += f" {rng.choice(('and', 'and', 'and with', 'with', 'plus'))} {slot}"
        else:
            text += f" {slot}"
    return text

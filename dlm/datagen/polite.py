"""What people put around an order: "can you ...", "... please"."""

from __future__ import annotations

from random import Random

from dlm.datagen.grammar import Piece

_POLITE = (
    "can you", "could you", "could you please", "please", "can you please", "i need you to",
    "would you", "i want you to", "i'd like you to", "will you", "go ahead and", "can you quickly",
    "would you mind to", "i would like to", "i want to", "let's", "do me a favor and", "now",
    "could you quickly", "would you please", "can we", "i'd like to", "you should", "then", "just",
)  # fmt: skip
_TAILS = (
    "please", "for me", "please", "thanks", "now", "will you", "if you can", "right now",
)  # fmt: skip


def polite(rng: Random, pieces: list[Piece]) -> list[Piece]:
    """An order, half of the time with words before or behind it."""
    roll = rng.random()
    if roll < 0.35:
        return [Piece(f"{rng.choice(_POLITE)} "), *pieces]
    if roll < 0.5:
        return [*pieces, Piece(f" {rng.choice(_TAILS)}")]
    return pieces

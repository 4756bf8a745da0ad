"""Word errors: how many words of a reference were replaced, left out or inserted."""

from __future__ import annotations

import re

from num2words import num2words


def words(text: str) -> list[str]:
    """A text's words as they sound: lower case, numbers spelled out, punctuation dropped."""
    said = text.lower().replace("’", "'")
    # A longer number has no name.
    spelled = re.sub(r"\d{1,100}", lambda number: f" {num2words(int(number[0]))} ", said)
    return re.findall(r"[a-z]+(?:'[a-z]+)?", spelled.replace("-", " "))


def plain(text: str) -> str:
    """A text in the form that patterns are matched against."""
    return " ".join(words(text))


def errors(reference: list[str], heard: list[str]) -> int:
    """The fewest replacements, omissions and insertions that turn one text into the other.

    Source: Levenshtein, 1966, on words.
    """
    row = list(range(len(heard) + 1))
    for i, word in enumerate(reference, start=1):
        diagonal, row[0] = row[0], i
        for j, other in enumerate(heard, start=1):
            diagonal, row[j] = (
                row[j],
                min(row[j] + 1, row[j - 1] + 1, diagonal + (word != other)),
            )
    return row[-1]

"""Free text as people say it: what they note down, buy, look for and talk about, and why.

A grammar (``data/free_text.toml``) composes it from words, including rare and made-up ones, and
from phrases of the corpora: nouns of word problems and activities that people talk about, except
those that the fixed hash holds out. Tools and parameters are not known here.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from random import Random

from dlm.datagen.corpora.files import rows
from dlm.datagen.holdout import held_out
from dlm.datagen.language.phrases import template, tidy
from dlm.datagen.language.tables import read as read_table
from dlm.datagen.language.words import WORDS


@dataclass(frozen=True, slots=True)
class _Table:
    instead: dict[str, str]
    grammar: dict[str, tuple[str, ...]]
    in_training: dict[str, tuple[str, ...]]


_TABLE = read_table("free_text", _Table)
GRAMMAR: Mapping[str, tuple[str, ...]] = _TABLE.grammar
_IN_TRAINING = {k: GRAMMAR[k] + more for k, more in _TABLE.in_training.items()}
INSTEAD: Mapping[str, str] = _TABLE.instead
"""Kind of values → the symbol that they may be drawn from in training."""

_PROBLEMS, _TALK = "gsm8k_train.jsonl.xz", "self_dialogue.jsonl.xz"
_PROBLEMS_READ = 5000
_TALKS_READ = (2000, 14_000)
"""First row and end of the rows that are read; `dlm.evaluate.talk` uses those before."""
_THING = re.compile(
    r"\b(?:a|an|her|his|their|the|each) ([a-z]{3,11})(?= (?:and|for|to|in|on|at|from|with)|[.,?])"
)
_THINGS = re.compile(
    r"\b(?:\d+|of|some|more|many) ([a-z]{3,11}s)(?= (?:and|for|to|in|on|at|from)|[.,?])"
)
_DEED = re.compile(
    r"\b(?:need|have|going|got|forget|remember|planning|wanted|want|like|try|love|decided) to "
    r"([a-z][a-z' ]{5,45}?)(?= (?:but|because|so|or|if|when|that|though|since)\b|[.,!?;]|$)"
)
_NO_DEED = re.compile(
    r"^(?:be|have|say|admit|agree|do|go|get|see|know|think|happen)\b|\b(?:you|i|we)\b"
)
_FEWEST = 2


def read(directory: Path) -> dict[str, tuple[str, ...]]:
    """Read phrases from the corpora: things in the singular and plural, and what people do.

    Raises:
        FileNotFoundError: A corpus is missing.
    """
    found = {symbol: Counter[str]() for symbol in ("thing", "things", "corpus_deed")}
    for row in islice(rows(directory / _PROBLEMS), _PROBLEMS_READ):
        text = row["question"].lower()
        found["thing"].update(w for w in _THING.findall(text) if not w.endswith("s"))
        found["things"].update(_THINGS.findall(text))
    for row in islice(rows(directory / _TALK), *_TALKS_READ):
        for message in row["messages"]:
            deeds = _DEED.findall(message["content"].lower())
            found["corpus_deed"].update(d for d in deeds if _is_deed(d))
    return {
        symbol: tuple(text for text in sorted(texts) if _kept(symbol, text, texts[text]))
        for symbol, texts in found.items()
    }


def _is_deed(text: str) -> bool:
    return 2 <= len(text.split()) <= 6 and not _NO_DEED.search(text)


def _kept(symbol: str, text: str, count: int) -> bool:
    common = count >= _FEWEST or symbol == "corpus_deed"
    return common and not held_out(text)


_WITHOUT_CORPORA = {"thing": WORDS["noun"], "things": WORDS["item"], "corpus_deed": WORDS["task"]}


def write(
    symbol: str,
    rng: Random,
    read_texts: Mapping[str, Sequence[str]],
    draw: Callable[[str], str],
    training: bool = False,
) -> str:
    """A random text of a symbol of the grammar.

    Args:
        read_texts: What `read` found; empty without corpora.
        draw: Draws a value of a kind that is not a symbol.
        training: Whether to add what only training has for a symbol.
    """
    options = (_IN_TRAINING.get(symbol) if training else None) or GRAMMAR.get(symbol)
    if options is None:
        options = tuple(read_texts.get(symbol) or _WITHOUT_CORPORA.get(symbol, ()))
        return rng.choice(options) if options else draw(symbol)
    parts = [
        write(piece.slot, rng, read_texts, draw, training) if piece.slot else piece.text
        for piece in template(rng.choice(options)).expand(rng)
    ]
    return tidy("".join(parts))

"""Grammars as llguidance compiles them, kept for the next answers within a budget of memory.

What a grammar takes beyond its text is made by the answers that follow it, states of its lexer
above all, and llguidance does not tell how much that is. So it is estimated from above, of figures
that were measured, and llguidance's own limits hold for each grammar. A grammar with an error is
not kept. Threads may share it.
"""

from __future__ import annotations

import hashlib
import re
import threading
from collections import OrderedDict
from dataclasses import dataclass
from typing import Any

MOST_BYTES = 256 * 1024 * 1024
"""Estimated memory of the grammars that are kept."""
MOST_REPEATS = 20_000
"""Atoms of a pattern whose repetitions are written out."""

BYTES_PER_CHARACTER = 200
# At four characters a token, each of which may be a state.
BYTES_PER_TOKEN = 4 * 1000
MOST_STATES = 50_000
_BYTES_PER_STATE = 1000
# For a mask of the next tokens; the default is ten times as many.
_STEP_FUEL = 50_000
_GRAMMAR_SYMBOLS = 100_000

_PIECE = re.compile(
    r"(?P<atom>\\[\s\S]|\[\^?\]?(?:\\[\s\S]|[^\]\\])*\]|[^()|*+?{}\\])|(?P<open>\()|(?P<close>\))"
    r"|\{(?P<least>\d{1,9})(?P<comma>,(?P<most>\d{1,9})?)?\}|(?P<other>[\s\S])"
)
_ESCAPE_OR_END = re.compile(r"\\[\s\S]|\]")


class GrammarError(ValueError):
    """llguidance's report of what is wrong with a grammar."""


@dataclass(slots=True)
class _Kept:
    grammar: Any
    nbytes: int


class CompiledGrammars:
    """Compiles grammars for a tokenizer of llguidance, and keeps them.

    Attributes:
        nbytes: Estimated memory of those that are kept.
    """

    def __init__(self, tokenizer: Any, most_bytes: int = MOST_BYTES) -> None:
        self._tokenizer = tokenizer
        self._most_bytes = most_bytes
        self._kept: OrderedDict[bytes, _Kept] = OrderedDict()
        self._lock = threading.Lock()
        self.nbytes = 0

    def get(self, grammar: str, tokens: int) -> Any:
        """A matcher of llguidance at the beginning of a grammar, for an answer of so many tokens.

        Raises:
            GrammarError: It is no grammar, or takes too much.
        """
        key = hashlib.sha256(grammar.encode()).digest()
        with self._lock:
            kept = self._kept.pop(key, None)
            self.nbytes -= kept.nbytes if kept else 0
        if kept is None:
            kept = _Kept(compiled(grammar, self._tokenizer), BYTES_PER_CHARACTER * len(grammar))
        copy = kept.grammar.deep_copy()
        # Answers share what they make of a grammar, up to its greatest size.
        grown = kept.nbytes + BYTES_PER_TOKEN * tokens
        least = BYTES_PER_CHARACTER * len(grammar)
        kept.nbytes = max(least, min(grown, least + MOST_STATES * _BYTES_PER_STATE))
        self._keep(key, kept)
        return copy

    def _keep(self, key: bytes, kept: _Kept) -> None:
        with self._lock:
            other = self._kept.pop(key, None)
            self.nbytes += kept.nbytes - (other.nbytes if other else 0)
            self._kept[key] = kept
            while self.nbytes > self._most_bytes and self._kept:
                self.nbytes -= self._kept.popitem(last=False)[1].nbytes


def compiled(grammar: str, tokenizer: Any) -> Any:
    """A matcher of llguidance that has proved to have a first token; errors are `GrammarError`s."""
    import llguidance

    made = llguidance.LLMatcher(tokenizer, grammar, log_level=0, limits=limits())
    if not made.is_error():
        probe = made.deep_copy()
        probe.compute_bitmask()
        made = probe if probe.is_error() else made
    if made.is_error():
        raise GrammarError(made.get_error())
    return made


def limits() -> Any:
    """What compiling and following one grammar may take."""
    import llguidance

    return llguidance.LLParserLimits(
        step_lexer_fuel=_STEP_FUEL, max_lexer_states=MOST_STATES, max_grammar_size=_GRAMMAR_SYMBOLS
    )


def repeats(pattern: str) -> int:
    """Atoms of a pattern once its counted repetitions are written out: 6 of ``(ab){3}``.

    Counted no further than to more than `MOST_REPEATS`; so are groups inside one another.
    """
    ends = (found.end() for found in _ESCAPE_OR_END.finditer(pattern) if found[0] == "]")
    closed = max(ends, default=0)
    # What never closes is a letter. Each would be searched for its end through the whole pattern.
    pattern = pattern[:closed] + pattern[closed:].replace("[", "x")
    total = 0
    # Atoms of each open group, and of the last atom or group inside it.
    groups = [[0, 0]]
    for piece in _PIECE.finditer(pattern):
        if piece["open"]:
            groups.append([0, 0])
        elif piece["close"] and len(groups) > 1:
            atoms, _ = groups.pop()
            groups[-1] = [groups[-1][0] + atoms, atoms]
        elif piece["least"]:
            times = max(int(piece["most"] or piece["least"]), 1)
            atoms, last = groups[-1]
            groups[-1] = [atoms + last * (times - 1), last * times]
            total += last * (times - 1)
        elif piece["atom"]:
            groups[-1] = [groups[-1][0] + 1, 1]
            total += 1
        if max(total, len(groups) - 1) > MOST_REPEATS:
            break
    return max(total, len(groups) - 1)

"""Compiles grammars with llguidance, and keeps them for later answers within a memory budget.

Most of a grammar's memory is used by the answers that follow it, above all for states of its lexer,
and llguidance does not report how much that is. So it is estimated from measured figures, on the
high side, and llguidance's own limits apply to each grammar. A grammar with an error is not kept,
nor one that an answer has brought to these limits. Threads may share a `CompiledGrammars`.
"""

from __future__ import annotations

import hashlib
import json
import re
import threading
from collections import OrderedDict
from dataclasses import dataclass
from typing import Any

MOST_BYTES = 256 * 1024 * 1024
"""Estimated memory of the grammars that are kept."""
MOST_REPEATS = 20_000
"""Most atoms that a pattern may have with its counted repetitions written out."""

BYTES_PER_CHARACTER = 200
# Four characters a token, each of which may add a state.
BYTES_PER_TOKEN = 4 * 1000
MOST_STATES = 50_000
_BYTES_PER_STATE = 1000
# For each mask of next tokens; llguidance's default is ten times as much.
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
    """Compiles grammars for an llguidance tokenizer, and keeps them.

    Attributes:
        nbytes: Estimated memory of the grammars that are kept.
    """

    def __init__(self, tokenizer: Any, most_bytes: int = MOST_BYTES) -> None:
        self._tokenizer = tokenizer
        self._most_bytes = most_bytes
        self._kept: OrderedDict[bytes, _Kept] = OrderedDict()
        self._lock = threading.Lock()
        self.nbytes = 0

    def get(self, grammar: str, tokens: int) -> Any:
        """An llguidance matcher at the beginning of a grammar, for an answer of ``tokens`` tokens.

        Raises:
            GrammarError: The grammar is invalid or exceeds the limits.
        """
        key = hashlib.sha256(grammar.encode()).digest()
        with self._lock:
            kept = self._kept.pop(key, None)
            self.nbytes -= kept.nbytes if kept else 0
        # Answers share its lexer: if one of them broke that, all later ones would fail.
        if kept is None or _probed(kept.grammar).is_error():
            kept = _Kept(compiled(grammar, self._tokenizer), BYTES_PER_CHARACTER * len(grammar))
        copy = kept.grammar.deep_copy()
        # Answers share the states that they add to a grammar, so its size has a limit.
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
    """An llguidance matcher for a grammar, tested by computing its first mask of tokens.

    Raises:
        GrammarError: The grammar is invalid or exceeds the limits.
    """
    import llguidance

    made = llguidance.LLMatcher(tokenizer, grammar, log_level=0, limits=limits())
    for tried in (made, _probed(made)):
        if tried.is_error():
            raise GrammarError(tried.get_error())
    return made


def _probed(matcher: Any) -> Any:
    """A copy of an llguidance matcher that has computed its next mask of tokens."""
    copy = matcher.deep_copy()
    copy.compute_bitmask()
    return copy


def is_pattern(text: str, form: str | None = None) -> bool:
    """Whether some string has a pattern and, if given, a format; false if it cannot be expressed.

    The pattern must not repeat more than `MOST_REPEATS`.
    """
    import llguidance

    schema = {"type": "string", "pattern": text, **({"format": form} if form else {})}
    grammar = {"grammars": [{"json_schema": schema}]}
    return not llguidance.LLMatcher.validate_grammar(json.dumps(grammar), limits=limits())


def limits() -> Any:
    """The limits for compiling and following one grammar."""
    import llguidance

    return llguidance.LLParserLimits(
        step_lexer_fuel=_STEP_FUEL, max_lexer_states=MOST_STATES, max_grammar_size=_GRAMMAR_SYMBOLS
    )


def repeats(pattern: str) -> int:
    """The number of atoms of a pattern with its counted repetitions written out: 6 for ``(ab){3}``.

    Counting stops as soon as the atoms, or the groups nested in one another, exceed `MOST_REPEATS`.
    """
    ends = (found.end() for found in _ESCAPE_OR_END.finditer(pattern) if found[0] == "]")
    closed = max(ends, default=0)
    # A bracket that never closes counts as a letter; otherwise the search for its end would scan
    # the whole pattern for each.
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

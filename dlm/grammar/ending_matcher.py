"""A matcher of answers that have to end: within their tokens, and out of any loop.

Where the room for the answer becomes short, tokens are allowed only as long as the rest of the
answer, its closing brackets for example, still fits behind them. Where the answer repeats itself,
the way to its end is taken until it no longer does. Both follow one *way out*: tokens that end the
answer soon, found by trying those first that close something. Where none is found the grammar alone
decides, and the answer may be cut.

Shapes: V vocabulary, W words of a bit mask.
"""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from torch import Tensor

from dlm.grammar.matcher import Matcher
from dlm.language.answer_text import LOOP_TOKENS, looping

LONGEST_WAY_OUT = 512
"""Tokens of a way out that is looked for, at most."""
LOOK_AHEAD = 48
"""Tokens that a draft has at most."""
SPARE = 64
"""Tokens by which a single token may lengthen the way out, beyond twice the length of the first:
what is optional, and so no part of that one, may hold as much that is required."""

# Separators before digits, of which a number needs few, and a minus behind them; "0" is any digit.
_SIGNS = b",@:/.0-_+#()=;?&%*!~"
_CLOSES = 1
KINDS = len(_SIGNS) + 5
# How often in a row: what closes may do so at several levels.
_PATIENCE = np.array([8, 8, 2] + [1] * (KINDS - 3))


class Closers:
    """Which token leads out soonest, of those that a grammar allows.

    Tokens are of kinds, which are tried in their order: what closes something, letters, what
    separates, digits, other signs. A kind that led back to where it was taken, as letters do before
    the "@" of an address, gives way to the next for a round.

    Args:
        size: V.
        spell: Bytes of a token.
        marks: Ids that separate the parts of an answer.
    """

    def __init__(self, size: int, spell: Callable[[int], bytes], marks: tuple[int, ...]) -> None:
        self._size = size
        self._spell = spell
        self._marks = marks

    def choose(self, bits: NDArray[np.int32], taken: NDArray[np.int64]) -> int | None:
        """The first of the allowed tokens; None where there is none.

        Args:
            bits: (W,) the tokens that are allowed.
            taken: (KINDS,) how often tokens of each kind were taken where these are allowed. The
                chosen one is counted.
        """
        flags = np.unpackbits(bits.view(np.uint8), count=self._size, bitorder="little")
        allowed = np.flatnonzero(flags)
        if not len(allowed):
            return None
        kinds = self._kinds[allowed]
        rounds = taken[kinds] // _PATIENCE[kinds]
        first = int(np.lexsort((self._sizes[allowed], kinds, rounds))[0])
        taken[kinds[first]] += 1
        return int(allowed[first])

    @cached_property
    def _kinds(self) -> NDArray[np.int64]:
        """(V,) of tokens. All of them are spelled, so it takes a while."""
        return np.array([self._kind(token) for token in range(self._size)], dtype=np.int64)

    @cached_property
    def _sizes(self) -> NDArray[np.int64]:
        """(V,) by which tokens of one kind are ordered: the longest first, zero last of digits.

        Of those that close the shortest come first: within a string "}}" is text, and only a quote
        ends it.
        """
        texts = [self._spell(token).strip() for token in range(self._size)]
        longest = np.array([9 if text == b"0" else -len(text[:64]) for text in texts])
        return np.where(self._kinds == _CLOSES, -longest, longest).astype(np.int64)

    def _kind(self, token: int) -> int:
        text = self._spell(token).strip()
        if token in self._marks:
            return 0
        if text and not text.strip(b'"]}'):
            return _CLOSES
        # Long ones, for strings of a least length.
        if text.isalpha():
            return 2
        if len(text) != 1:
            return KINDS - 1
        sign = b"0" if text.isdigit() else text
        return 3 + (_SIGNS.index(sign) if sign in _SIGNS else len(_SIGNS))


class EndingMatcher(Matcher):
    """The grammar of another matcher, for an answer of at most ``room`` tokens, end mark included.

    It begins in the state of ``matcher``, which must not go on. What stands before the token
    ``opening`` may be cut; None where nothing may.
    """

    def __init__(
        self, matcher: Matcher, closers: Closers, room: int, opening: int | None = None
    ) -> None:
        super().__init__(
            matcher._inner, matcher.end, matcher._words, matcher._names, matcher._formatted
        )
        self._closers = closers
        self._room = room
        # None behind it as well.
        self._opening = opening
        # The last tokens, as many as a loop is recognised by.
        self._tail: tuple[int, ...] = ()
        # A way out from here; one looked for further on need not be the rest of it.
        self._way = first = self._way_out()
        # Tokens by which one may lengthen the way out; 0 where the end is out of reach.
        self._growth = SPARE + 2 * len(first) if first and len(first) <= room else 0
        # Tokens that can come before the room may be used up.
        self._unwatched = self._slack(first) if first else 0
        self._looked = False
        self._must: int | None = None

    @property
    def needs_logits(self) -> bool:
        """See `Matcher.needs_logits`; near the end each token is checked on its own."""
        return super().needs_logits or (self._growth > 0 and self._unwatched <= LOOK_AHEAD)

    def best(self, logits: Tensor) -> int:
        """See `Matcher.best`."""
        must = self._due()
        if must is not None:
            return must
        token = super().best(logits)
        return token if self._leaves_room(token) or not self._way else self._way[0]

    def takes(self, token: int) -> bool:
        """See `Matcher.takes`."""
        must = self._due()
        if must is not None:
            return token == must
        return super().takes(token) and self._leaves_room(token)

    def copy(self) -> EndingMatcher:
        """See `Matcher.copy`."""
        # Attributes of its own are replaced and never changed in place.
        other = copy(self)
        Matcher.__init__(other, *self._parts())
        return other

    def spend(self, tokens: int) -> None:
        """See `Matcher.spend`."""
        self._room -= tokens
        self._unwatched = 0

    def _consume(self, token: int) -> bool:
        taken = super()._consume(token)
        if taken:
            self._room -= 1
            self._unwatched -= 1
            self._tail = (*self._tail, token)[-LOOP_TOKENS * 4 :]
            self._looked = False
            self._opening = None if token == self._opening else self._opening
            self._way = self._way[1:] if self._way and self._way[0] == token else None
        return taken

    def _bits(self) -> NDArray[np.int32]:
        bits = super()._bits()
        must = self._due()
        if must is None:
            return bits
        only = np.zeros_like(bits)
        only[must // 32] = np.uint32(1 << must % 32).view(np.int32)
        return only

    @property
    def _is_near(self) -> bool:
        return self._opening is None and self._growth > 0 and self._unwatched <= 0

    def _due(self) -> int | None:
        """The token that has to come next: where the room is used up, or in a loop."""
        if self._looked:
            return self._must
        self._looked, self._must = True, None
        loops = self._opening is None and looping(self._tail)
        if not (loops or self._is_near):
            return None
        self._way = way = self._way or self._way_out()
        if way is None:
            return None
        if len(way) > self._room:
            # Too late: what is cut shall at least say as much as it can.
            self._growth = 0
        elif loops or len(way) == self._room:
            self._must = way[0]
        self._unwatched = self._slack(way)
        return self._must

    def _leaves_room(self, token: int) -> bool:
        """Whether the answer can end in time behind a token that the grammar allows."""
        on_the_way = self._way is not None and self._way[0] == token
        if token == self.end or on_the_way or not self._is_near:
            return True
        way = self._way_out(token)
        return way is None or len(way) < self._room

    def _slack(self, way: list[int]) -> int:
        return (self._room - len(way)) // max(self._growth, 1) - 1

    def _way_out(self, token: int | None = None) -> list[int] | None:
        """Tokens from here, or from behind a token, that end the answer; None if none are found."""
        here = Matcher(*self._parts())
        if token is not None and not here._consume(token):
            return None
        out: list[int] = []
        taken: dict[bytes, NDArray[np.int64]] = {}
        while len(out) <= LONGEST_WAY_OUT:
            bits = here._bits()
            if bits[self.end // 32] >> (self.end % 32) & 1:
                return [*out, self.end]
            forced = here.forced()
            if not forced:
                here_taken = taken.setdefault(bits.tobytes(), np.zeros(KINDS, np.int64))
                chosen = self._closers.choose(bits, here_taken)
                forced = [] if chosen is None else [chosen]
            if not forced or not all(map(here._consume, forced)):
                return None
            out += forced
        return None

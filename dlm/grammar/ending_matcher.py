"""A matcher for answers that must end: within their token limit, and without endless repetition.

When room becomes short, a token is allowed only if the rest of the answer, for example its closing
brackets, still fits behind it. When the answer repeats itself, it is led to its end until it no
longer does. Both follow a *way out*: tokens that end the answer soon, found by trying tokens that
close something first. If no way out is found, the grammar alone decides, and the answer may be cut.

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
"""Most tokens of a way out that is searched for."""
LOOK_AHEAD = 48
"""Most tokens of a draft."""
SPARE = 64
"""Tokens by which one token may lengthen the way out, beyond twice the length of the first way out:
an optional part, which the first way out does not have, may itself require that much."""
PAUSE = 32
"""Tokens before the next search where none was found: a search without success is the longest."""

# Signs in the order in which they are tried; "0" stands for any digit. Separators come before
# digits, because a number needs few digits, and a minus behind them.
_SIGNS = b",@:/.0-_+#()=;?&%*!~"
_CLOSES = 1
KINDS = len(_SIGNS) + 5
# How often a token of each kind is taken in a row; brackets may close at several levels.
_PATIENCE = np.array([8, 8, 2] + [1] * (KINDS - 3))


class Closers:
    """Chooses, among the tokens that a grammar allows, the one that probably ends it soonest.

    Kinds of tokens are tried in order: marks, closing signs, letters, separators, digits, others. A
    kind that led back to where it was taken, as letters do before the "@" of an address, gives way
    to the next kind for a round.

    Args:
        size: V.
        spell: Returns the bytes of a token.
        marks: Ids that separate the parts of an answer.
    """

    def __init__(self, size: int, spell: Callable[[int], bytes], marks: tuple[int, ...]) -> None:
        self._size = size
        self._spell = spell
        self._marks = marks

    def choose(self, bits: NDArray[np.int32], taken: NDArray[np.int64]) -> int | None:
        """The allowed token to try first; None if no token is allowed.

        Args:
            bits: (W,) bit mask of the allowed tokens.
            taken: (KINDS,) how often a token of each kind was taken where exactly these are
                allowed; the chosen token is added to it.
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
        """(V,) kind of each token; slow to compute, because every token is spelled."""
        return np.array([self._kind(token) for token in range(self._size)], dtype=np.int64)

    @cached_property
    def _sizes(self) -> NDArray[np.int64]:
        """(V,) order of tokens within their kind: the longest first, and zero last of the digits.

        Among closing tokens the shortest come first: within a string "}}" is text, and only a quote
        ends the string.
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
        # Letters, the longest first, because a string may have a minimum length.
        if text.isalpha():
            return 2
        if len(text) != 1:
            return KINDS - 1
        sign = b"0" if text.isdigit() else text
        return 3 + (_SIGNS.index(sign) if sign in _SIGNS else len(_SIGNS))


class EndingMatcher(Matcher):
    """The grammar of another matcher, for an answer of at most ``room`` tokens, end mark included.

    It takes over the state of ``matcher``, which must not be used any more.

    Args:
        opening: Token before which the answer may be cut; None if it may not be cut at all.
    """

    def __init__(
        self, matcher: Matcher, closers: Closers, room: int, opening: int | None = None
    ) -> None:
        super().__init__(
            matcher._inner, matcher.end, matcher._words, matcher._names, matcher._formatted
        )
        self._closers = closers
        self._room = room
        # Set to None once the token has come.
        self._opening = opening
        # The last tokens, enough to recognise a loop.
        self._tail: tuple[int, ...] = ()
        # A way out from here. One searched for later need not be the rest of this one.
        self._way = first = self._way_out()
        # Tokens by which one token may lengthen the way out; 0 if the end is out of reach.
        self._growth = SPARE + 2 * len(first) if first and len(first) <= room else 0
        # Tokens that can certainly follow before the room may run out.
        self._unwatched = self._slack(first) if first else 0
        self._looked = False
        self._must: int | None = None
        # Tokens before a way out is searched for again.
        self._pause = 0

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
        # The attributes of this class are replaced, never changed in place.
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
            self._pause -= 1
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
        """The token that must come next because the room runs out or the answer is in a loop."""
        if self._looked:
            return self._must
        self._looked, self._must = True, None
        loops = self._opening is None and looping(self._tail)
        if self._pause > 0 or not (loops or self._is_near):
            return None
        self._way = way = self._way or self._way_out()
        if way is None:
            self._pause = PAUSE
            return None
        if len(way) > self._room:
            # Too late to end in time: let the answer say as much as it can until it is cut.
            self._growth = 0
        elif loops or len(way) == self._room:
            self._must = way[0]
        self._unwatched = self._slack(way)
        return self._must

    def _leaves_room(self, token: int) -> bool:
        """Whether the answer can still end in time after a token that the grammar allows."""
        # Without a way out from here, there is hardly one behind the token.
        if self._way is None or token in (self.end, self._way[0]) or not self._is_near:
            return True
        way = self._way_out(token)
        return way is None or len(way) < self._room

    def _slack(self, way: list[int]) -> int:
        return (self._room - len(way)) // max(self._growth, 1) - 1

    def _way_out(self, token: int | None = None) -> list[int] | None:
        """Tokens that end the answer from here, or after ``token``; None if none are found."""
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

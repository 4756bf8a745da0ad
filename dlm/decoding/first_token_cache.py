"""Guesses the first token of an answer, so that a block can be drafted along with the prompt.

The model's own choice decides; a wrong guess only costs the positions that were forwarded for it.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable, Sequence

from dlm.language.chat_format import Dialect, MarkedCalls
from dlm.language.messages import Turn

KEPT = 1024
"""Most kinds of tool results that are remembered; the least recently learnt is dropped first."""


class FirstTokenCache:
    """Guesses a call after a user's message; after a tool's result, the last first token.

    An agent words its replies to a tool's results alike: "Okay, the timer is set", every time.
    """

    def __init__(self, dialect: Dialect) -> None:
        self._dialect = dialect
        self._first: OrderedDict[int, int] = OrderedDict()

    def guess(self, turns: Sequence[Turn]) -> tuple[int, ...]:
        """The likely first token of an answer with tools; empty if nothing is known."""
        calls = self._dialect.calls
        if not isinstance(calls, MarkedCalls):
            return ()
        if turns and turns[-1].role == "user":
            return (calls.call,)
        found = (self._first[kind] for kind in _result_kinds(turns) if kind in self._first)
        first = next(found, None)
        return () if first is None else (first,)

    def learn(self, turns: Sequence[Turn], answer: Sequence[int]) -> None:
        """Remember the first token of the answer to a dialogue; the answer may be empty or cut."""
        for kind in _result_kinds(turns) if answer else ():
            self._first[kind] = answer[0]
            self._first.move_to_end(kind)
            if len(self._first) > KEPT:
                self._first.popitem(last=False)


def _result_kinds(turns: Sequence[Turn]) -> Iterable[int]:
    """Hashes for the kind of tool result that ends a dialogue, the narrowest kind first."""
    if not turns or turns[-1].role != "tool":
        return
    names = next((tuple(c.name for c in t.calls) for t in reversed(turns) if t.calls), ())
    # The first word of a result tells an error from a success.
    word = turns[-1].content[:32].partition(" ")[0]
    yield hash((names, word))
    yield hash(names)

"""How an answer will probably begin, for a first block to be drafted along with the prompt.

The model's own choice decides; a guess that fails costs the positions that were forwarded with it.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable, Sequence

from dlm.language.chat_format import Dialect, MarkedCalls
from dlm.language.messages import Turn

KEPT = 1024
"""Situations that are remembered; the one that was met longest ago is forgotten first."""


class FirstTokenCache:
    """Expects a call behind a request, and behind a tool's result what the last one like it had.

    An agent tells the results of a tool alike: "Okay, the timer is set", every time.

    Args:
        dialect: Of the checkpoint.
    """

    def __init__(self, dialect: Dialect) -> None:
        self._dialect = dialect
        self._first: OrderedDict[int, int] = OrderedDict()

    def likely(self, turns: Sequence[Turn]) -> tuple[int, ...]:
        """Ids that an answer with tools at hand most often begins with; none where that is open."""
        calls = self._dialect.calls
        if not isinstance(calls, MarkedCalls):
            return ()
        if turns and turns[-1].role == "user":
            return (calls.call,)
        found = (self._first[one] for one in _situations(turns) if one in self._first)
        first = next(found, None)
        return () if first is None else (first,)

    def learn(self, turns: Sequence[Turn], answer: Sequence[int]) -> None:
        """Take in an answer.

        Args:
            turns: What it answers.
            answer: Its ids; may break off.
        """
        for one in _situations(turns) if answer else ():
            self._first[one] = answer[0]
            self._first.move_to_end(one)
            if len(self._first) > KEPT:
                self._first.popitem(last=False)


def _situations(turns: Sequence[Turn]) -> Iterable[int]:
    """Numbers for what a tool's result at the end is like, the closest first; else none."""
    if not turns or turns[-1].role != "tool":
        return
    names = next((tuple(c.name for c in t.calls) for t in reversed(turns) if t.calls), ())
    # What a result begins with tells an error from a success.
    word = turns[-1].content[:32].partition(" ")[0]
    yield hash((names, word))
    yield hash(names)

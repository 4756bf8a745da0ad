"""Who is served by the next forward: a pure decision, without models and clocks.

The rule: requests are taken by rank, as long as the round's budget of new tokens holds them; one
that does not fit is passed over for those behind it. The first by rank is always taken, so that a
round never stands still. Rank is priority plus one for every `PATIENCE` rounds that the request has
waited; at the same rank those that decode come before those that read their prompt, then the one
that has waited for longest, then the one that came first. So nothing starves: who waits rises until
it is the first.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

PATIENCE = 16


@dataclass(frozen=True, slots=True)
class Waiting:
    """A request that wants a forward.

    Attributes:
        tokens: New tokens of the forward, at least 1.
        prefill: Whether it reads the prompt.
        priority: Higher first.
        waited: Rounds since it was served.
    """

    tokens: int
    prefill: bool = False
    priority: int = 0
    waited: int = 0


def choose(waiting: Sequence[Waiting], budget: int) -> list[int]:
    """Indices of the requests that the next forward serves, by rank.

    Args:
        waiting: In the order in which they came.
        budget: New tokens in a round, unless a single request wants more.
    """

    def rank(index: int) -> tuple[int, bool, int, int]:
        one = waiting[index]
        return -(one.priority + one.waited // PATIENCE), one.prefill, -one.waited, index

    chosen: list[int] = []
    left = budget
    for index in sorted(range(len(waiting)), key=rank):
        if not chosen or waiting[index].tokens <= left:
            chosen.append(index)
            left -= waiting[index].tokens
    return chosen

"""What requests want forwarded, and the one forward that serves many of them.

A request's decoding is a generator: it yields a `Forward`, is sent its logits, or the tokens that
it let the runner choose, and returns when it is through. Whoever runs it decides when, and together
with what. A `Runner` is `Eager`, or runs the weights by kernels (`dlm.fused.runner`).

Shapes: T new positions of one request, N of all, D width, V vocabulary.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar, cast

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from dlm.decoding.sampling import Sampling
from dlm.decoding.unmask import Proposal, propose
from dlm.kv_cache.buffers import Buffers
from dlm.kv_cache.cache import Cache, KVCache
from dlm.network.model import Rows, Transformer


@dataclass(frozen=True, slots=True)
class Choice:
    """That tokens are wanted rather than logits: on a device these need never be in memory.

    Attributes:
        never: Ids that are not chosen.
        sampling: Draws the tokens; None takes the likeliest.
        first: Position in the answer that the first wanted row predicts.
        entropy: Whether entropies are wanted as well.
        allowed: Gives bits of the ids that a grammar allows, (wanted, at least ceil(V / 32)),
            called while the device works. None where all are allowed, and where the runner does
            not heed it (`Runner.masks`).
    """

    never: tuple[int, ...]
    sampling: Sampling | None = None
    first: int = 0
    entropy: bool = False
    allowed: Callable[[], NDArray[np.int32]] | None = None


@dataclass(frozen=True, slots=True)
class Forward:
    """New positions behind a request's committed ones. Nothing is committed by it.

    Attributes:
        ids: T tokens.
        causal: So many of them, from the left, see what stands before them and themselves; the
            others see all new tokens as well.
        first: Index of the first one whose logits are wanted.
        count: How many, from there on; 0 is all.
        block: Where above 0, a position sees to the end of its own block of that many and no
            further; blocks begin at multiples of it, position 0 being the sequence's first.
        prefill: Whether it reads the prompt, which others need not wait for.
        choice: How tokens are chosen; None for logits.
    """

    ids: Sequence[int]
    causal: int
    first: int = 0
    count: int = 0
    block: int = 0
    prefill: bool = False
    choice: Choice | None = None

    @property
    def wanted(self) -> slice:
        """The positions whose logits are wanted."""
        return slice(self.first, self.first + self.count if self.count else None)


@dataclass(frozen=True, slots=True)
class SideForwards:
    """Forwards behind other caches than the request's own, served together.

    They are answered with a list, of each what serves it.
    """

    parts: tuple[tuple[Cache, Forward], ...]


T = TypeVar("T")
Served = Tensor | Proposal
"""What a forward is answered with: logits, (wanted, V) float32, or a choice for each wanted row."""
ForwardRequest = Forward | SideForwards
Steps = Generator[ForwardRequest, Any, T]
"""Decoding: yields forwards, is sent what serves them, returns its result."""


def parts_of(cache: Cache, wish: ForwardRequest) -> tuple[tuple[Cache, Forward], ...]:
    """The forwards of a wish of whoever owns a cache, each with the cache that it goes behind."""
    return wish.parts if isinstance(wish, SideForwards) else ((cache, wish),)


def answer_of(wish: ForwardRequest, served: Sequence[Served]) -> Served | list[Served]:
    """What a wish is answered with, once each of its forwards is served."""
    return list(served) if isinstance(wish, SideForwards) else served[0]


def together(cache: Cache, *going: Steps[Any]) -> Steps[list[Any]]:
    """Run several decodings side by side, what they wish at a time as one wish.

    Args:
        cache: That their own forwards go behind; of the wishes at a time at most one does.
        going: Not begun.

    Returns:
        The result of each.
    """
    results: list[Any] = [None] * len(going)
    wishes: dict[int, ForwardRequest] = {}

    def send(index: int, answer: Any) -> None:
        wishes.pop(index, None)
        try:
            wishes[index] = going[index].send(answer)
        except StopIteration as over:
            results[index] = over.value

    for index in range(len(going)):
        send(index, None)
    while wishes:
        asked = {index: parts_of(cache, wish) for index, wish in wishes.items()}
        if len(asked) == 1:
            [index] = asked
            send(index, (yield wishes[index]))
            continue
        served = iter(
            (yield SideForwards(tuple(part for parts in asked.values() for part in parts)))
        )
        for index, parts in asked.items():
            send(index, answer_of(wishes[index], list(itertools.islice(served, len(parts)))))
    return results


class Runner(Protocol):
    """What serves forwards, several at once."""

    @property
    def masks(self) -> bool:
        """Whether it heeds what a grammar allows, so that nobody needs logits for that."""
        ...

    def cache(self, capacity: int) -> Cache:
        """An empty cache of at least a capacity, of the only kind that `forward` takes.

        Raises:
            queue.Full: There is no memory for it now.
        """
        ...

    def forward(self, wishes: Sequence[tuple[Cache, Forward]]) -> list[Served]:
        """As the function `forward`."""
        ...


class Eager:
    """Runs a model as it is, on its device.

    Attributes:
        buffers: Memory of its caches on a CPU; elsewhere torch sees to it.
    """

    masks = False

    def __init__(self, model: Transformer) -> None:
        self._model = model
        self.buffers = Buffers() if model.embed_tokens.weight.device.type == "cpu" else None

    def cache(self, capacity: int) -> KVCache:
        """See `Runner.cache`."""
        weight = self._model.embed_tokens.weight
        if self.buffers is not None:
            # A dialogue's next turns go on in it.
            capacity += capacity // 4
        return KVCache(self._model.config, capacity, weight.dtype, weight.device, self.buffers)

    def forward(self, wishes: Sequence[tuple[Cache, Forward]]) -> list[Served]:
        """See `Runner.forward`."""
        return served(self._model, cast(Sequence[tuple[KVCache, Forward]], wishes))


def served(model: Transformer, wishes: Sequence[tuple[KVCache, Forward]]) -> list[Served]:
    """Serve several requests with one forward, each with logits or a choice, as it wishes."""
    logits = forward(model, wishes)
    return [
        part if wish.choice is None else chosen(part, wish.choice)
        for part, (_, wish) in zip(logits, wishes, strict=True)
    ]


def chosen(logits: Tensor, choice: Choice) -> Proposal:
    """Choose from logits, (wanted, V) float32; of a grammar they know nothing."""
    never = torch.tensor(choice.never, device=logits.device)
    rows = logits.index_fill(-1, never, -torch.inf)
    return propose(rows, choice.sampling, choice.first, choice.entropy)


def forward(model: Transformer, wishes: Sequence[tuple[KVCache, Forward]]) -> list[Tensor]:
    """Serve several requests with one forward.

    Args:
        model: On its device.
        wishes: At most one for each cache.

    Returns:
        For each wish its logits, (wanted, V) float32 on the model's device. They do not depend
        on what else is served.

    Raises:
        ValueError: A cache is full.
    """
    rows = [Rows(cache, len(wish.ids), wish.causal, wish.block) for cache, wish in wishes]
    ids = [token for _, wish in wishes for token in wish.ids]
    hidden = model.packed(torch.tensor(ids, device=model.embed_tokens.weight.device), rows)
    parts = torch.split(hidden, [row.length for row in rows])
    wanted = [part[wish.wanted] for part, (_, wish) in zip(parts, wishes, strict=True)]
    logits = model.logits(torch.cat(wanted)).float()
    return list(torch.split(logits, [len(part) for part in wanted]))


def drive(model: Transformer, cache: KVCache, steps: Steps[T]) -> T:
    """Run one decoding to its end, alone."""
    with torch.inference_mode():
        try:
            wish = next(steps)
            while True:
                parts = cast(Sequence[tuple[KVCache, Forward]], parts_of(cache, wish))
                wish = steps.send(answer_of(wish, served(model, parts)))
        except StopIteration as over:
            return over.value  # type: ignore[no-any-return]

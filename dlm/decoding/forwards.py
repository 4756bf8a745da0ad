"""The forwards that requests ask for, and the one batched forward that serves many of them.

A request's decoding is a generator: it yields a `Forward`, is sent its logits (or the tokens, if it
lets the runner choose them), and returns when it is done. The caller decides when each forward runs
and which requests share it. A `Runner` is either `Eager`, or runs the weights with kernels
(`dlm.fused.runner`).

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
from dlm.kv_cache.buffers import SPARE_BYTES, Buffers
from dlm.kv_cache.cache import Cache, KVCache
from dlm.network.model import Rows, Transformer


@dataclass(frozen=True, slots=True)
class Choice:
    """Asks for tokens instead of logits, so that logits need never be in a device's memory.

    Attributes:
        never: Ids that are not chosen.
        sampling: How tokens are drawn; None takes the likeliest.
        first: Position in the answer that the first wanted row predicts.
        allowed: Returns bit masks of the ids that a grammar allows, (wanted, at least
            ceil(V / 32)); called while the device works. None if all are allowed, and for runners
            that do not apply grammars (`Runner.applies_grammar`).
    """

    never: tuple[int, ...]
    sampling: Sampling | None = None
    first: int = 0
    allowed: Callable[[], NDArray[np.int32]] | None = None


@dataclass(frozen=True, slots=True)
class Forward:
    """A forward over new positions after a request's committed ones. It commits nothing.

    Attributes:
        ids: T tokens.
        causal: Number of positions, from the left, that see only themselves and what stands before
            them; the others see all new tokens as well.
        first: Index of the first position whose logits are wanted.
        count: Number of positions whose logits are wanted; 0 means all from ``first`` on.
        block: Above 0, the size of blocks: a position sees up to the end of its own block. Blocks
            begin at multiples of their size, counted from the sequence's first position.
        prefill: Whether the forward reads the prompt; decoding requests are served first.
        choice: How tokens are chosen; None asks for logits.
        joined: Whether it may be computed as one with the forward before it in its `SideForwards`:
            faster, but its last bits then depend on that forward's sizes.
    """

    ids: Sequence[int]
    causal: int
    first: int = 0
    count: int = 0
    block: int = 0
    prefill: bool = False
    choice: Choice | None = None
    joined: bool = False

    @property
    def wanted(self) -> slice:
        """The positions whose logits are wanted."""
        return slice(self.first, self.first + self.count if self.count else None)


@dataclass(frozen=True, slots=True)
class SideForwards:
    """Several forwards that are served together, each over its own cache.

    The decoding is sent a list with the `Output` of each forward.
    """

    parts: tuple[tuple[Cache, Forward], ...]


T = TypeVar("T")
Output = Tensor | Proposal
"""The result of a forward: logits, (wanted, V) float32, or a choice for each wanted row."""
ForwardRequest = Forward | SideForwards
Steps = Generator[ForwardRequest, Any, T]
"""A decoding: yields forwards, is sent their outputs, returns its result."""


def forwards_of(cache: Cache, asked: ForwardRequest) -> tuple[tuple[Cache, Forward], ...]:
    """The forwards that a request asks for, each with its cache; ``cache`` is its own."""
    return asked.parts if isinstance(asked, SideForwards) else ((cache, asked),)


def answer_to(asked: ForwardRequest, outputs: Sequence[Output]) -> Output | list[Output]:
    """What a decoding is sent for the outputs of the forwards that it asked for."""
    return list(outputs) if isinstance(asked, SideForwards) else outputs[0]


def together(cache: Cache, *decodings: Steps[Any]) -> Steps[list[Any]]:
    """Run several decodings side by side, and return the result of each.

    Forwards that they ask for at the same time are yielded as one request. At any time, at most one
    of them may ask for a forward over ``cache``.
    """
    results: list[Any] = [None] * len(decodings)
    waiting: dict[int, ForwardRequest] = {}

    def send(index: int, answer: Any) -> None:
        waiting.pop(index, None)
        try:
            waiting[index] = decodings[index].send(answer)
        except StopIteration as over:
            results[index] = over.value

    for index in range(len(decodings)):
        send(index, None)
    while waiting:
        asked = {index: forwards_of(cache, one) for index, one in waiting.items()}
        if len(asked) == 1:
            [index] = asked
            send(index, (yield waiting[index]))
            continue
        outputs = iter(
            (yield SideForwards(tuple(part for parts in asked.values() for part in parts)))
        )
        for index, parts in asked.items():
            send(index, answer_to(waiting[index], list(itertools.islice(outputs, len(parts)))))
    return results


class Runner(Protocol):
    """Runs forwards of several requests at once."""

    @property
    def applies_grammar(self) -> bool:
        """Whether it heeds `Choice.allowed`, so that a grammar needs no logits."""
        ...

    def cache(self, capacity: int) -> Cache:
        """An empty cache of at least ``capacity`` positions; `forward` takes only such caches.

        Raises:
            queue.Full: There is no memory for it now.
        """
        ...

    def forward(self, batch: Sequence[tuple[Cache, Forward]]) -> list[Output]:
        """The output of each forward of a batch, in order, with at most one forward per cache.

        Raises:
            ValueError: A cache is full.
        """
        ...

    def trim(self) -> None:
        """Free memory that no cache holds, as far as it is not soon needed again."""
        ...


class Eager:
    """Runs a model as it is, on its device.

    Args:
        model: The model.
        spare_bytes: As in `Buffers`.

    Attributes:
        buffers: Memory for the caches on a CPU; None elsewhere, where torch manages it.
    """

    applies_grammar = False

    def __init__(self, model: Transformer, spare_bytes: int = SPARE_BYTES) -> None:
        self._model = model
        on_cpu = model.embed_tokens.weight.device.type == "cpu"
        self.buffers = Buffers(spare_bytes) if on_cpu else None

    def cache(self, capacity: int) -> KVCache:
        """See `Runner.cache`."""
        weight = self._model.embed_tokens.weight
        if self.buffers is not None:
            # Room for the dialogue's next turns.
            capacity += capacity // 4
        return KVCache(self._model.config, capacity, weight.dtype, weight.device, self.buffers)

    def forward(self, batch: Sequence[tuple[Cache, Forward]]) -> list[Output]:
        """See `Runner.forward`."""
        return outputs_of(self._model, cast(Sequence[tuple[KVCache, Forward]], batch))

    def trim(self) -> None:
        """See `Runner.trim`."""
        if self.buffers is not None:
            self.buffers.trim()


def outputs_of(model: Transformer, batch: Sequence[tuple[KVCache, Forward]]) -> list[Output]:
    """The output of each forward of a batch: logits, or a choice if it asks for one."""
    logits = logits_of(model, batch)
    return [
        part if asked.choice is None else choose(part, asked.choice)
        for part, (_, asked) in zip(logits, batch, strict=True)
    ]


def choose(logits: Tensor, choice: Choice) -> Proposal:
    """Choose from logits, (wanted, V) float32; ignores `Choice.allowed`."""
    never = torch.tensor(choice.never, device=logits.device)
    rows = logits.index_fill(-1, never, -torch.inf)
    return propose(rows, choice.sampling, choice.first)


def logits_of(model: Transformer, batch: Sequence[tuple[KVCache, Forward]]) -> list[Tensor]:
    """Serve several requests with one forward of the model, at most one request per cache.

    Returns:
        The logits of each, (wanted, V) float32 on the model's device. They do not depend on the
        rest of the batch, except where forwards are joined.

    Raises:
        ValueError: A cache is full.
    """
    rows = [
        Rows(cache, len(asked.ids), asked.causal, asked.block, asked.wanted, asked.joined)
        for cache, asked in batch
    ]
    ids = [token for _, asked in batch for token in asked.ids]
    hidden = model.packed(torch.tensor(ids, device=model.embed_tokens.weight.device), rows)
    counts = [len(range(row.length)[row.wanted]) for row in rows]
    return list(torch.split(model.logits(hidden).float(), counts))


def drive(model: Transformer, cache: KVCache, steps: Steps[T]) -> T:
    """Run a single decoding to its end."""
    with torch.inference_mode():
        try:
            asked = next(steps)
            while True:
                batch = cast(Sequence[tuple[KVCache, Forward]], forwards_of(cache, asked))
                asked = steps.send(answer_to(asked, outputs_of(model, batch)))
        except StopIteration as over:
            return over.value  # type: ignore[no-any-return]

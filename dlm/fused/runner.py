"""The engine's forwards on the project's kernels: prefill, draft, verify and commit in one launch.

Rows and requests are padded to a few sizes, so that on a GPU a forward is one CUDA graph, captured
when its size first comes up. Tokens are chosen on the device straight from the hidden states;
logits are computed only for forwards that ask for them. With TRITON_INTERPRET=1, the same code runs
on a CPU.

Shapes: N rows of all requests, B requests, P positions of a page, V vocabulary.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from functools import lru_cache
from typing import cast

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from dlm.decoding.forwards import Choice, Eager, Forward, Output, Runner, choose
from dlm.decoding.sampling import row_seeds
from dlm.decoding.unmask import Proposal
from dlm.fused.model import FusedModel
from dlm.fused.packing import Batch, Packed, Size, context_of
from dlm.kv_cache.cache import Cache
from dlm.kv_cache.pages import PagedCache, PageStore
from dlm.loading.placement import Kernels, uses_kernels
from dlm.network.model import Transformer
from kernels import ops

PAGE = 64
GRAPH_ROWS = 512
"""Most rows of a forward that is kept as a CUDA graph; larger forwards gain little from it."""

SHARE = 0.5
"""Share of a device's free memory that caches may take."""

HOST_BYTES = 2**28
"""Memory for caches on a CPU, where kernels are only tried out."""


def runner_for(model: Transformer, kernels: Kernels, requests: int) -> Runner:
    """The runner for a model and at most ``requests`` unfinished requests.

    A fused runner has room for all of them to fill the context, as far as memory allows.

    Raises:
        ValueError: Kernels are required but cannot run the model here; the text says why.
    """
    config, weight = model.config, model.embed_tokens.weight
    if not uses_kernels(config, weight.device, kernels):
        return Eager(model)
    numbers = 2 * config.num_hidden_layers * config.num_key_value_heads * config.head_dim
    room = HOST_BYTES
    if weight.is_cuda:
        room = int(torch.cuda.mem_get_info(weight.device)[0] * SHARE)
    most = requests * config.max_position_embeddings
    return FusedRunner(model, min(most, room // (numbers * weight.element_size())))


class FusedRunner:
    """Runs a model's weights with kernels; a `dlm.decoding.forwards.Runner`.

    It has room for the keys and values of ``positions`` positions, over all requests.

    Raises:
        ValueError: The kernels cannot run the model.
    """

    applies_grammar = True

    def __init__(self, model: Transformer, positions: int, page_size: int = PAGE) -> None:
        self._fused = FusedModel(model, -(-positions // page_size), page_size)
        self._store = PageStore(self._fused.store)
        self._columns = -(-model.config.max_position_embeddings // page_size)
        self._device = self._fused.store.device
        self._graphs: dict[Size, _Graph] = {}

    def cache(self, capacity: int) -> PagedCache:
        """See `dlm.decoding.forwards.Runner.cache`."""
        return PagedCache(self._store, capacity)

    def forward(self, batch: Sequence[tuple[Cache, Forward]]) -> list[Output]:
        """See `dlm.decoding.forwards.Runner.forward`."""
        paged = cast(Batch, batch)
        with self._kernels():
            hidden = self._hidden(Packed.of(paged, self._columns))
            return self._answers(hidden, [asked for _, asked in paged])

    def trim(self) -> None:
        """See `dlm.decoding.forwards.Runner.trim`; the store's memory is kept."""

    def _kernels(self) -> AbstractContextManager[None]:
        return nullcontext() if self._device.type == "cuda" else ops.interpreted()

    def _hidden(self, packed: Packed) -> Tensor:
        size = packed.size
        if self._device.type != "cuda" or size[0] > GRAPH_ROWS:
            return self.launch(*self.sent(packed), packed.most_rows)
        if size not in self._graphs:
            self._graphs[size] = _Graph(self, packed)
        return self._graphs[size].run(packed)

    def sent(self, packed: Packed) -> tuple[Tensor, Tensor]:
        """The inputs of a launch, copied to the device."""
        return packed.long.to(self._device), packed.short.to(self._device)

    def launch(self, long: Tensor, short: Tensor, most_rows: int) -> Tensor:
        """Hidden states (N, D) of the rows that `Packed` lays out."""
        ids, positions, slots = long
        context = context_of(short, self._columns, most_rows)
        return self._fused.hidden(ids, positions, slots, context)

    def _answers(self, hidden: Tensor, forwards: Sequence[Forward]) -> list[Output]:
        """The output of each forward."""
        starts = np.cumsum([0, *(len(one.ids) for one in forwards)])
        wanted = [
            np.arange(len(one.ids))[one.wanted] + start
            for one, start in zip(forwards, starts, strict=False)
        ]
        choosing = [index for index, one in enumerate(forwards) if _on_device(one.choice)]
        others = [index for index, one in enumerate(forwards) if not _on_device(one.choice)]
        out: dict[int, Output] = {}
        if choosing:
            choices = [cast(Choice, forwards[index].choice) for index in choosing]
            made = self._chosen(hidden, [wanted[index] for index in choosing], choices)
            out |= zip(choosing, made, strict=True)
        if others:
            rows = torch.from_numpy(np.concatenate([wanted[index] for index in others]))
            logits = self._fused.model.logits(hidden[rows.to(self._device)]).float()
            parts = torch.split(logits, [len(wanted[index]) for index in others])
            for index, part in zip(others, parts, strict=True):
                choice = forwards[index].choice
                out[index] = part if choice is None else choose(part, choice)
        return [out[index] for index in range(len(forwards))]

    def _chosen(
        self, hidden: Tensor, rows: Sequence[NDArray[np.int64]], choices: Sequence[Choice]
    ) -> list[Proposal]:
        """The proposal for the rows of each choice."""
        counts = [len(part) for part in rows]
        size = self._fused.model.config.vocab_size
        # Computed on the host while the device computes the hidden states.
        banned = [_banned(*pair, size) for pair in zip(choices, counts, strict=True)]
        drawn = [_noise(*pair) for pair in zip(choices, counts, strict=True)]
        noise = None
        if any(choice.sampling for choice in choices):
            temperatures, seeds = (np.concatenate(part) for part in zip(*drawn, strict=True))
            noise = self._sent(temperatures), self._sent(seeds)
        tokens, confidence = ops.unmask(
            hidden,
            self._fused.head,
            self._sent(np.concatenate(rows)),
            self._sent(np.ascontiguousarray(np.concatenate(banned))),
            noise,
        )
        # Stacked, so that there is one transfer and one wait. Every id is exact in float64.
        both = torch.stack((tokens.double(), confidence.double())).cpu()
        return [Proposal(x[0].long(), x[1].float()) for x in torch.split(both, counts, dim=1)]

    def _sent(self, array: NDArray[np.generic]) -> Tensor:
        return torch.from_numpy(array).to(self._device)


class _Graph:
    """A launch of one size as a CUDA graph."""

    def __init__(self, runner: FusedRunner, packed: Packed) -> None:
        self._long, self._short = runner.sent(packed)
        side = torch.cuda.Stream()  # type: ignore[no-untyped-call]
        side.wait_stream(torch.cuda.current_stream())
        # Compile kernels and initialise libraries outside the graph. The next run writes the same
        # keys and values again.
        with torch.cuda.stream(side):
            for _ in range(2):
                runner.launch(self._long, self._short, packed.size[0])
        torch.cuda.current_stream().wait_stream(side)
        self._graph = torch.cuda.CUDAGraph()
        # Other threads may be using the device for speech recognition.
        with torch.cuda.graph(self._graph, capture_error_mode="thread_local"):
            self._hidden = runner.launch(self._long, self._short, packed.size[0])

    def run(self, packed: Packed) -> Tensor:
        """Hidden states, (N, D), which are valid until the next run."""
        self._long.copy_(packed.long)
        self._short.copy_(packed.short)
        self._graph.replay()
        return self._hidden


def _on_device(choice: Choice | None) -> bool:
    """Whether the kernel can make a choice; not with a nucleus, which needs sorted logits."""
    return choice is not None and (choice.sampling is None or choice.sampling.top_p == 1)


def _banned(choice: Choice, count: int, size: int) -> NDArray[np.int32]:
    """Bit masks of the ids that a choice must not take, (count, ceil(V / 32))."""
    words = -(-size // 32)
    never = np.broadcast_to(_bits(choice.never, size), (count, words))
    return never if choice.allowed is None else never | ~choice.allowed()[:, :words]


@lru_cache(maxsize=8)
def _bits(ids: tuple[int, ...], size: int) -> NDArray[np.int32]:
    flags = np.zeros(-(-size // 32) * 32, dtype=np.uint8)
    flags[list(ids)] = 1
    return np.packbits(flags, bitorder="little").view(np.int32)


def _noise(choice: Choice, count: int) -> tuple[NDArray[np.float32], NDArray[np.int64]]:
    """Temperatures and seeds of rows; 0 for rows that take the likeliest token."""
    sampling = choice.sampling
    if sampling is None:
        return np.zeros(count, dtype=np.float32), np.zeros(count, dtype=np.int64)
    seeds = row_seeds(sampling.seed, range(choice.first, choice.first + count))
    return np.full(count, sampling.temperature, dtype=np.float32), seeds.astype(np.int64)

"""A model's layers and head in 8 bits for CPUs: weights rounded once, activations row by row.

ONNX Runtime runs all layers as one graph: it packs the matrices once for the processor at hand, and
its operations have a fraction of torch's overhead. Matrix products sum whole numbers, and attention
adds in a fixed order, so a row's bits depend neither on the rows that are forwarded with it nor on
the keys after it. A forward of several requests runs the graph for one after the other. Only rows
that are joined share a run, which then reads the weights once for all of them.

Shapes: T rows of D numbers, W of them wanted, O out; S keys, H query heads, K key-value heads of N
numbers.
"""

from __future__ import annotations

import ctypes
import functools
from collections.abc import Callable, Sequence
from typing import Any, cast

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from dlm.network.config import ModelConfig
from dlm.network.model import MLP, Attention, Block, RMSNorm, Rows, Transformer
from dlm.network.onnx_file import Graph
from dlm.network.rope import RopeTable

_ZERO = 128
"""Stands for 0 in rounded activations: they are unsigned, which processors handle faster."""
RUN_ROWS = 64
"""Most joined rows of a run: each looks in vain at the keys of all, so more would not be faster."""


class RoundedModel:
    """The layers and head of a float32 model on the CPU, which loses its own layers.

    Args:
        model: The model; its layers are replaced by empty ones.
        threads: Most threads to use; 0 takes torch's number.

    Raises:
        ValueError: The model has experts.
    """

    def __init__(self, model: Transformer, threads: int) -> None:
        config = model.config
        if config.experts is not None:
            raise ValueError("int8: got a model with experts, expected a dense one")
        self._config = config
        self._rope = RopeTable(config.rotary_size, config.rope_theta, config.rope_scaling)
        # At most one thread for each head: more would split attention's products, and change sums.
        threads = min(threads or torch.get_num_threads(), config.num_key_value_heads)
        self._head = product(model.head_weight, threads)
        self._layers = _session(_layers(model), threads)

    def hidden(self, x: Tensor, rows: Sequence[Rows]) -> Tensor:
        """Hidden states of packed requests, as `Transformer.packed`; from embedded ids, (N, D)."""
        runs = _runs(rows)
        parts = torch.split(x, [sum(one.length for one in run) for run in runs])
        return torch.cat([self._run(*pair) for pair in zip(parts, runs, strict=True)])

    def logits(self, hidden: Tensor) -> Tensor:
        """(..., D) to (..., V)."""
        rows = self._head(hidden.reshape(-1, hidden.shape[-1]))
        return rows.view(*hidden.shape[:-1], -1)

    def _run(self, x: Tensor, run: Sequence[Rows]) -> Tensor:
        """Forward the rows of a run, (T, D) to (W, D), writing keys and values to their caches."""
        config, count = self._config, len(x)
        stored, mask = _joined(run) if len(run) > 1 else _alone(run[0])
        end, rows = mask.shape[1], torch.split(torch.arange(count), [one.length for one in run])
        wanted = torch.cat([part[one.wanted] for part, one in zip(rows, run, strict=True)])
        spans = [(one.cache.length, one.cache.length + one.length) for one in run]
        positions = torch.cat([torch.arange(*span) for span in spans])
        cos, sin = self._rope.at(positions, max(stop for _, stop in spans))
        half, group = config.rotary_size // 2, _group(config)
        given = {
            "x": x[None].contiguous(),
            "mask": mask.repeat_interleave(group, dim=0),
            "last_mask": mask[wanted].repeat_interleave(group, dim=0),
            "wanted": wanted,
            "cos": cos[:, :half].contiguous(),
            "sin": sin[:, half:].contiguous(),
            "zeros": torch.full((1, count, 1), _ZERO, dtype=torch.uint8),
        }
        taken = {"hidden": torch.empty(1, len(wanted), config.hidden_size)}
        # The same memory: the graph writes the new ones before it reads all of them.
        parts = stored[:, :end], stored[:, None, end - count : end].flatten(3)
        for name, known, new in zip(_stored(config), *parts, strict=True):
            given[name], taken[f"new_{name}"] = known, new
        _run(self._layers, given, taken)
        if len(run) > 1:
            for part, one, span in zip(rows, run, spans, strict=True):
                own = one.cache.open(one.length).flatten(0, 1)
                own[:, slice(*span)] = stored[:, end - count + part]
        return taken["hidden"][0]


def _runs(rows: Sequence[Rows]) -> list[list[Rows]]:
    """The rows of each run of the graph."""
    runs: list[list[Rows]] = []
    for one in rows:
        if one.joined and sum(part.length for part in runs[-1]) + one.length <= RUN_ROWS:
            runs[-1].append(one)
        else:
            runs.append([one])
    return runs


def _alone(rows: Rows) -> tuple[Tensor, Tensor]:
    """A cache's keys and values, (2 layers, at least S, K, N), and what T rows see, (T, S)."""
    stored, count = rows.cache.open(rows.length).flatten(0, 1), rows.length
    return stored, rows.visible(count, rows.cache.length + count, torch.float32, "cpu")


def _joined(run: Sequence[Rows]) -> tuple[Tensor, Tensor]:
    """As `_alone` for several: copies of all committed positions, then room for all new ones."""
    parts = [(*_alone(one), one.cache.length, one.length) for one in run]
    count, known = sum(one.length for one in run), sum(one.cache.length for one in run)
    hidden, row, key = torch.full((count, known + count), -torch.inf), 0, 0
    for _, mask, before, new in parts:
        hidden[row : row + new, key : key + before] = mask[:, :before]
        hidden[row : row + new, known + row : known + row + new] = mask[:, before:]
        row, key = row + new, key + before
    copied = [stored[:, :before] for stored, _, before, _ in parts]
    room = parts[0][0].new_empty(len(copied[0]), count, *copied[0].shape[2:])
    return torch.cat([*copied, room], dim=1), hidden


def _stored(config: ModelConfig) -> list[str]:
    """Names of the layers' keys and values, in the order in which a cache holds them."""
    return [f"{kind}{at}" for at in range(config.num_hidden_layers) for kind in ("keys", "values")]


def _group(config: ModelConfig) -> int:
    """How many queries of a position share a head's keys, at least 2.

    A product of a single row runs other code, which adds in another order. So a query that shares
    its keys with no other is computed twice.
    """
    return max(2, config.num_attention_heads // config.num_key_value_heads)


def round_weights(model: Transformer, threads: int = 0) -> None:
    """Round the matrices of a float32 model on the CPU, in place; it can no longer be trained.

    The embedding stays as it is. Arguments and errors are those of `RoundedModel`.
    """
    model.rounded = RoundedModel(model, threads)
    if not model.config.tie_word_embeddings:
        del model.lm_head
    # For a hundred million weights, glibc would otherwise keep 270 MiB that nothing uses any more.
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
    if trim is not None:
        trim(0)


def product(weight: Tensor, threads: int = 1) -> Callable[[Tensor], Tensor]:
    """A function that multiplies (T, D) by a weight (O, D) in 8 bits, to (T, O), in float32."""
    graph = Graph()
    graph.input("x", "float32", "t", weight.shape[1])
    graph.input("zeros", "uint8", "t", 1)
    graph.node("Identity", (_linear(graph, "x", "zeros", weight),), ("y",))
    graph.output("y", "t", weight.shape[0])
    session, width = _session(graph, threads), weight.shape[0]

    def run(x: Tensor) -> Tensor:
        out = torch.empty(len(x), width)
        zeros = torch.full((len(x), 1), _ZERO, dtype=torch.uint8)
        _run(session, {"x": x.contiguous(), "zeros": zeros}, {"y": out})
        return out

    return run


@functools.cache
def largest_weight() -> int:
    """The largest rounded weight on this processor: 127, or 63 if sums would saturate.

    Without the VNNI instructions, two terms of a product are added in 16 bits, which is too little
    for the largest ones. Whether this processor does so is tried out.
    """
    graph = Graph()
    graph.input("x", "uint8", "t", 64)
    whole = np.full((64, 16), 127, dtype=np.int8)
    graph.node("Identity", (_whole_product(graph, "x", whole, np.ones(16, np.float32)),), ("y",))
    graph.output("y", "t", 16)
    sums = torch.empty(16, 16)
    _run(_session(graph, 1), {"x": torch.full((16, 64), 255, dtype=torch.uint8)}, {"y": sums})
    return 127 if bool(sums.eq(64 * 127 * 127).all()) else 63


def rounded(weight: Tensor) -> tuple[NDArray[np.int8], NDArray[np.float32]]:
    """A weight (O, D) rounded to whole numbers (D, O), and the scale of each output, (O,)."""
    full = weight.detach().float()
    scale = full.abs().amax(dim=1).clamp(min=torch.finfo(torch.float32).tiny) / largest_weight()
    whole = (full / scale[:, None]).round().to(torch.int8)
    return whole.t().contiguous().numpy(), scale.numpy()


def _session(graph: Graph, threads: int) -> Any:
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    # A memory plan would be kept for each length, and lengths seldom repeat.
    options.enable_mem_pattern = False
    # Do not keep the processor busy between two forwards.
    options.add_session_config_entry("session.force_spinning_stop", "1")
    options.log_severity_level = 3
    values = [onnxruntime.OrtValue.ortvalue_from_numpy(one) for one in graph.weights.values()]
    options.add_external_initializers(list(graph.weights), values)
    return onnxruntime.InferenceSession(
        graph.written(), options, providers=["CPUExecutionProvider"]
    )


_NUMPY = {torch.float32: np.float32, torch.uint8: np.uint8, torch.int64: np.int64}


def _run(session: Any, given: dict[str, Tensor], taken: dict[str, Tensor]) -> None:
    """Run a session on torch's memory, inputs and outputs; all tensors must be contiguous."""
    bound = session.io_binding()
    for bind, tensors in ((bound.bind_input, given), (bound.bind_output, taken)):
        for name, one in tensors.items():
            bind(name, "cpu", 0, _NUMPY[one.dtype], tuple(one.shape), one.data_ptr())
    session.run_with_iobinding(bound)


def _layers(model: Transformer) -> Graph:
    """A graph of all layers and the last norm; the layers' keys and values go in and out."""
    config, graph = model.config, Graph()
    graph.input("x", "float32", 1, "t", config.hidden_size)
    graph.input("mask", "float32", "r", "s")
    graph.input("last_mask", "float32", "v", "s")
    graph.input("wanted", "int64", "w")
    graph.input("cos", "float32", "t", config.rotary_size // 2)
    graph.input("sin", "float32", "t", config.rotary_size // 2)
    graph.input("zeros", "uint8", 1, "t", 1)
    for name in _stored(config):
        graph.input(name, "float32", "s", config.num_key_value_heads, config.head_dim)
        graph.output(f"new_{name}", 1, "t", config.num_key_value_heads * config.head_dim)
    stream, update, zeros, mask = "x", "", "zeros", "mask"
    for number, layer in enumerate(model.layers):
        block = cast(Block, layer)
        stream, normed = _add_norm(graph, stream, update, block.input_layernorm)
        queries = _queries(graph, normed, block.self_attn, config)
        if number == config.num_hidden_layers - 1:
            # Of the other rows, only the keys and values are needed.
            stream, queries, zeros = (
                graph.add("Gather", rows, "wanted", axis=1) for rows in (stream, queries, zeros)
            )
            mask = "last_mask"
        update = _attention(graph, queries, (mask, zeros), block.self_attn, config)
        stream, normed = _add_norm(graph, stream, update, block.post_attention_layernorm)
        update = _mlp(graph, normed, zeros, cast(MLP, block.mlp))
        # Frees its memory for the weights of the next layer.
        model.layers[number] = nn.Identity()
    _, normed = _add_norm(graph, stream, update, model.norm)
    graph.node("Identity", (normed,), ("hidden",))
    graph.output("hidden", 1, "w", config.hidden_size)
    return graph


def _add_norm(graph: Graph, stream: str, update: str, norm: RMSNorm) -> tuple[str, str]:
    """The residual stream with an update added, if there is one, and the normalised stream."""
    scale = graph.constant(norm.weight.float().numpy())
    if not update:
        name = graph.add("SimplifiedLayerNormalization", stream, scale, epsilon=norm.eps, axis=-1)
        return stream, name
    names = graph.name(), graph.name()
    kind = "ms.SkipSimplifiedLayerNormalization"
    graph.node(kind, (stream, update, scale), (names[0], "", "", names[1]), epsilon=norm.eps)
    return names[1], names[0]


def _queries(graph: Graph, x: str, part: Attention, config: ModelConfig) -> str:
    """Rotated queries, (1, T, D) to (1, T, H N).

    ``part.layer`` is in the names of the keys and values, which leave the graph here.
    """
    width, kv_width = part.heads * part.head_dim, part.kv_heads * part.head_dim
    qkv = _linear(graph, x, "zeros", part.qkv_proj.weight, part.qkv_proj.bias)
    both, queries = graph.name(), graph.name()
    parts = graph.numbers(width + kv_width, kv_width)
    graph.node("Split", (qkv, parts), (both, f"new_values{part.layer}"), axis=-1)
    both = _positioned(graph, _head_norm(graph, both, part), part, config)
    parts = graph.numbers(width, kv_width)
    graph.node("Split", (both, parts), (queries, f"new_keys{part.layer}"), axis=-1)
    return queries


def _attention(
    graph: Graph, queries: str, inputs: tuple[str, str], part: Attention, config: ModelConfig
) -> str:
    """Attention, (1, T, H N) to (1, T, D); the inputs are the mask and zeros of the queries."""
    mask, zeros = inputs
    size, kv_heads, width = part.head_dim, part.kv_heads, part.heads * part.head_dim
    group = part.heads // kv_heads
    queries = graph.add("Reshape", queries, graph.numbers(-1, kv_heads, group * size))
    if group == 1:
        queries = graph.add("Concat", queries, queries, axis=-1)
    queries = graph.add("Transpose", queries, perm=(1, 0, 2))
    queries = graph.add("Reshape", queries, graph.numbers(kv_heads, -1, size))
    both = queries, f"keys{part.layer}"
    likeness = graph.add("ms.FusedMatMul", *both, transB=1, transBatchB=1, alpha=size**-0.5)
    shares = graph.add("Softmax", graph.add("Add", likeness, mask), axis=-1)
    out = graph.add("ms.FusedMatMul", shares, f"values{part.layer}", transBatchB=1)
    out = graph.add("Reshape", out, graph.numbers(kv_heads, -1, _group(config) * size))
    out = graph.add("Transpose", out, perm=(1, 0, 2))
    if group == 1:
        out, _ = graph.add_parts(out, (size, size))
    out = graph.add("Reshape", out, graph.numbers(1, -1, width))
    return _linear(graph, out, zeros, part.o_proj.weight, part.o_proj.bias)


def _mlp(graph: Graph, x: str, zeros: str, part: MLP) -> str:
    """A feed-forward layer with SwiGLU, (1, T, D) to (1, T, D)."""
    both = _linear(graph, x, zeros, part.gate_up_proj.weight)
    gate, up = graph.add_parts(both, (part.down_proj.in_features,) * 2)
    gated = graph.add("Mul", graph.add("ms.QuickGelu", gate, alpha=1.0), up)
    return _linear(graph, gated, zeros, part.down_proj.weight)


def _head_norm(graph: Graph, x: str, part: Attention) -> str:
    """Queries and keys, (1, T, (H + K) N), normalised per head if the model does that."""
    if not part.normed:
        return x
    heads, size = part.heads + part.kv_heads, part.head_dim
    x = graph.add("Reshape", x, graph.numbers(-1, heads, size))
    ones = graph.constant(np.ones(size, dtype=np.float32))
    eps = part.q_norm.eps
    plain = graph.add("SimplifiedLayerNormalization", x, ones, epsilon=eps, axis=-1)
    norms = (
        part.q_norm.weight.expand(part.heads, -1),
        part.k_norm.weight.expand(part.kv_heads, -1),
    )
    x = graph.add("Mul", plain, graph.constant(torch.cat(norms).float().numpy()))
    return graph.add("Reshape", x, graph.numbers(1, -1, heads * size))


def _positioned(graph: Graph, x: str, part: Attention, config: ModelConfig) -> str:
    """Queries and keys, rotated by their positions, (1, T, (H + K) N)."""
    heads, size = part.heads + part.kv_heads, part.head_dim
    partly = {} if config.rotary_size == size else {"rotary_embedding_dim": config.rotary_size}
    inputs = x, graph.numbers(0), "cos", "sin"
    return graph.add("ms.RotaryEmbedding", *inputs, num_heads=heads, **partly)


def _linear(graph: Graph, x: str, zeros: str, weight: Tensor, bias: Tensor | None = None) -> str:
    """A linear layer, (..., D) to (..., O); each row of activations is rounded by its own step.

    In a row of zeros, the step is 0 as well, and the product zero whatever its numbers become.
    """
    largest = graph.add("ReduceMax", graph.add("Abs", x), graph.numbers(-1), keepdims=1)
    steps = graph.add("Div", largest, graph.constant(np.array(127, dtype=np.float32)))
    inputs = x, steps, zeros
    whole = graph.add("QuantizeLinear", *inputs, axis=-1, block_size=weight.shape[1])
    out = graph.add("Mul", _whole_product(graph, whole, *rounded(weight)), steps)
    return out if bias is None else graph.add("Add", out, graph.constant(bias.float().numpy()))


def _whole_product(
    graph: Graph, x: str, weight: NDArray[np.int8], scale: NDArray[np.float32]
) -> str:
    """A product in whole numbers, (..., D) uint8 to (..., O) float32."""
    one = graph.constant(np.array(1, dtype=np.float32))
    zero = graph.constant(np.array(_ZERO, dtype=np.uint8))
    constants = graph.constant(weight), one, graph.constant(scale), zero
    return graph.add("ms.MatMulIntegerToFloat", x, *constants)

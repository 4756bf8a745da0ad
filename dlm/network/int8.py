"""A model's layers and head in 8 bits for CPUs: weights rounded once, activations row by row.

ONNX Runtime runs all layers as one graph: it packs the matrices once for the processor at hand, and
its operations have a fraction of torch's overhead. Matrix products sum whole numbers, and attention
adds in a fixed order, so a row's bits depend neither on the rows that are forwarded with it nor on
the keys after it. A forward of several requests runs the graph for one after the other.

Shapes: T rows of D numbers, O out; S keys, H query heads, K key-value heads of N numbers.
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
        """Hidden states of packed requests, (N, D), as `Transformer.packed`; from embedded ids."""
        out = torch.empty_like(x)
        start = 0
        for part in rows:
            end = start + part.length
            self._run(x[start:end], part, out[start:end])
            start = end
        return out

    def logits(self, hidden: Tensor) -> Tensor:
        """(..., D) to (..., V)."""
        rows = self._head(hidden.reshape(-1, hidden.shape[-1]))
        return rows.view(*hidden.shape[:-1], -1)

    def _run(self, x: Tensor, rows: Rows, out: Tensor) -> None:
        """Forward one request's rows, (T, D) to (T, D), writing keys and values to its cache."""
        config, start, count = self._config, rows.cache.length, rows.length
        end = start + count
        mask = rows.visible(count, end, torch.float32, "cpu")
        cos, sin = self._rope.at(torch.arange(start, end), end)
        half = config.rotary_size // 2
        given = {
            "x": x.contiguous(),
            "mask": mask.repeat_interleave(_group(config), dim=0),
            "cos": cos[:, :half].contiguous(),
            "sin": sin[:, half:].contiguous(),
            "zeros": torch.full((count,), _ZERO, dtype=torch.uint8),
        }
        taken = {"hidden": out}
        for layer, pair in enumerate(rows.cache.open(count)):
            for name, tensor in zip(("keys", "values"), pair, strict=True):
                given[f"{name}{layer}"] = tensor[:end]
                # The same memory: the graph writes these before it reads the keys and values.
                taken[f"new_{name}{layer}"] = tensor[start:end].flatten(1)
        _run(self._layers, given, taken)


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
    graph.input("zeros", "uint8", "t")
    graph.node("Identity", (_linear(graph, "x", weight),), ("y",))
    graph.output("y", "t", weight.shape[0])
    session, width = _session(graph, threads), weight.shape[0]

    def run(x: Tensor) -> Tensor:
        out = torch.empty(len(x), width)
        zeros = torch.full((len(x),), _ZERO, dtype=torch.uint8)
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


_NUMPY = {torch.float32: np.float32, torch.uint8: np.uint8}


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
    graph.input("x", "float32", "t", config.hidden_size)
    graph.input("mask", "float32", "r", "s")
    graph.input("cos", "float32", "t", config.rotary_size // 2)
    graph.input("sin", "float32", "t", config.rotary_size // 2)
    graph.input("zeros", "uint8", "t")
    stream, update = "x", ""
    for number, layer in enumerate(model.layers):
        block = cast(Block, layer)
        heads = config.num_key_value_heads, config.head_dim
        for name in ("keys", "values"):
            graph.input(f"{name}{number}", "float32", "s", *heads)
            graph.output(f"new_{name}{number}", "t", heads[0] * heads[1])
        stream, normed = _add_norm(graph, stream, update, block.input_layernorm)
        update = _attention(graph, normed, block.self_attn, config)
        stream, normed = _add_norm(graph, stream, update, block.post_attention_layernorm)
        mlp = cast(MLP, block.mlp)
        both = _linear(graph, normed, mlp.gate_up_proj.weight)
        gate, up = graph.add_parts(both, (config.intermediate_size,) * 2)
        gated = graph.add("Mul", graph.add("ms.QuickGelu", gate, alpha=1.0), up)
        update = _linear(graph, gated, mlp.down_proj.weight)
        # Frees its memory for the weights of the next layer.
        model.layers[number] = nn.Identity()
    _, normed = _add_norm(graph, stream, update, model.norm)
    graph.node("Identity", (normed,), ("hidden",))
    graph.output("hidden", "t", config.hidden_size)
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


def _attention(graph: Graph, x: str, part: Attention, config: ModelConfig) -> str:
    """Attention, (T, D) to (T, D); ``part.layer`` is in the names of its keys and values."""
    size, kv_heads, width = part.head_dim, part.kv_heads, part.heads * part.head_dim
    qkv = _linear(graph, x, part.qkv_proj.weight, part.qkv_proj.bias)
    turned, new_values = width + kv_heads * size, f"new_values{part.layer}"
    both = graph.name()
    parts = graph.numbers(turned, kv_heads * size)
    graph.node("Split", (qkv, parts), (both, new_values), axis=-1)
    both = _positioned(graph, _head_norm(graph, both, part), part, config)
    queries = graph.name()
    parts = graph.numbers(width, kv_heads * size)
    graph.node("Split", (both, parts), (queries, f"new_keys{part.layer}"), axis=-1)
    group = part.heads // kv_heads
    queries = graph.add("Reshape", queries, graph.numbers(-1, kv_heads, group * size))
    if group == 1:
        queries = graph.add("Concat", queries, queries, axis=-1)
    queries = graph.add("Transpose", queries, perm=(1, 0, 2))
    queries = graph.add("Reshape", queries, graph.numbers(kv_heads, -1, size))
    inputs = queries, f"keys{part.layer}"
    likeness = graph.add("ms.FusedMatMul", *inputs, transB=1, transBatchB=1, alpha=size**-0.5)
    shares = graph.add("Softmax", graph.add("Add", likeness, "mask"), axis=-1)
    out = graph.add("ms.FusedMatMul", shares, f"values{part.layer}", transBatchB=1)
    out = graph.add("Reshape", out, graph.numbers(kv_heads, -1, _group(config) * size))
    out = graph.add("Transpose", out, perm=(1, 0, 2))
    if group == 1:
        out, _ = graph.add_parts(out, (size, size))
    out = graph.add("Reshape", out, graph.numbers(-1, width))
    return _linear(graph, out, part.o_proj.weight, part.o_proj.bias)


def _head_norm(graph: Graph, x: str, part: Attention) -> str:
    """Queries and keys, (T, (H + K) N), normalised per head if the model does that."""
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
    return graph.add("Mul", plain, graph.constant(torch.cat(norms).float().numpy()))


def _positioned(graph: Graph, x: str, part: Attention, config: ModelConfig) -> str:
    """Queries and keys, rotated by their positions, (T, (H + K) N)."""
    heads, size = part.heads + part.kv_heads, part.head_dim
    x = graph.add("Reshape", x, graph.numbers(1, -1, heads * size))
    partly = {} if config.rotary_size == size else {"rotary_embedding_dim": config.rotary_size}
    inputs = x, graph.numbers(0), "cos", "sin"
    x = graph.add("ms.RotaryEmbedding", *inputs, num_heads=heads, **partly)
    return graph.add("Reshape", x, graph.numbers(-1, heads * size))


def _linear(graph: Graph, x: str, weight: Tensor, bias: Tensor | None = None) -> str:
    """A linear layer, (T, D) to (T, O); each row of activations is rounded by its own step."""
    largest = graph.add("ReduceMax", graph.add("Abs", x), graph.numbers(-1), keepdims=1)
    # Keeps the step above 0; a row of zeros stays one with any step.
    largest = graph.add("Max", largest, graph.constant(np.array(1e-30, dtype=np.float32)))
    steps = graph.add("Div", largest, graph.constant(np.array(127, dtype=np.float32)))
    flat = graph.add("Reshape", steps, graph.numbers(-1))
    whole = graph.add("QuantizeLinear", x, flat, "zeros", axis=0)
    out = graph.add("Mul", _whole_product(graph, whole, *rounded(weight)), steps)
    return out if bias is None else graph.add("Add", out, graph.constant(bias.float().numpy()))


def _whole_product(
    graph: Graph, x: str, weight: NDArray[np.int8], scale: NDArray[np.float32]
) -> str:
    """A product in whole numbers, (T, D) uint8 to (T, O) float32."""
    one = graph.constant(np.array(1, dtype=np.float32))
    zero = graph.constant(np.array(_ZERO, dtype=np.uint8))
    constants = graph.constant(weight), one, graph.constant(scale), zero
    return graph.add("ms.MatMulIntegerToFloat", x, *constants)

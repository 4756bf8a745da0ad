"""The denoising step on a GPU: a model's weights run by the project's kernels over paged caches.

A step is a forward over one block of each request, a token, a confidence and an entropy for each
open position, and the rule that makes some of them final, all on the device. Its shapes depend on
the bucket alone, so it can be captured once as a CUDA graph and replayed. On a CPU the same code
runs on the kernels' references. It knows nothing of requests, prompts or text.

Shapes: B blocks of L positions; N rows of D numbers; V ids; P positions of a page.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, cast

import torch
from torch import Tensor, nn

from dlm.network.model import MLP, Block, Transformer
from dlm.network.rope import frequencies
from kernels import ops
from kernels.context import Context

Weights = Literal["plain", "int8", "float8"]
_EIGHT_BITS = {"int8": torch.int8, "float8": torch.float8_e4m3fn}
Product = Callable[[Tensor], Tensor]


@dataclass(frozen=True, slots=True)
class Blocks:
    """Blocks that are denoised together; the tensors stay, what they hold changes.

    Attributes:
        tokens: (B, L) int64; the mask id where undecided. A step makes some of them final.
        committed: (B,) int64: positions of each request before its block.
        pages: (B, most pages of a request) int32: where each request's positions are kept.
        banned: (B·L, ceil(V / 32)) int32: ids that may not stand at a position, as bits.
    """

    tokens: Tensor
    committed: Tensor
    pages: Tensor
    banned: Tensor

    @classmethod
    def empty(cls, shape: tuple[int, int], pages: int, vocabulary: int, device: str) -> Blocks:
        """Room for (B, L) positions in at most ``pages`` pages each."""
        rows, length = shape
        return cls(
            torch.zeros(shape, dtype=torch.int64, device=device),
            torch.zeros(rows, dtype=torch.int64, device=device),
            torch.zeros(rows, pages, dtype=torch.int32, device=device),
            torch.zeros(rows * length, -(-vocabulary // 32), dtype=torch.int32, device=device),
        )


class FusedModel:
    """A Transformer's weights over a store of pages.

    Args:
        model: Its weights are used as they are, or rounded to 8 bits.
        pages: Of the store, shared by all requests.
        page_size: P.
        weights: How the matrices inside the layers are kept.

    Attributes:
        head: (V, D): the LM head.
        store: (layers, 2, pages, P, key/value heads, numbers of a head).

    Raises:
        ValueError: The model turns parts of its heads, has experts, or is rounded for a CPU.
    """

    def __init__(
        self, model: Transformer, pages: int, page_size: int = 64, weights: Weights = "plain"
    ) -> None:
        config = model.config
        if config.rotary_size != config.head_dim or config.experts is not None:
            raise ValueError("expected a model with whole heads turned and without experts")
        if model.rounded_head is not None:
            raise ValueError("expected a model in floating point, got one rounded for a CPU")
        self.model = model
        self.page_size = page_size
        self.head = model.embed_tokens.weight
        if not config.tie_word_embeddings:
            self.head = model.lm_head.weight
        device, dtype = self.head.device, self.head.dtype
        shape = (config.num_hidden_layers, 2, pages, page_size)
        heads = (config.num_key_value_heads, config.head_dim)
        self.store = torch.zeros((*shape, *heads), dtype=dtype, device=device)
        self._frequencies = frequencies(config.head_dim, config.rope_theta, config.rope_scaling).to(
            device
        )
        self._scale = config.rope_scaling.scale if config.rope_scaling else 1.0
        self._layers = [_Layer.of(cast(Block, layer), weights) for layer in model.layers]

    def hidden(self, ids: Tensor, positions: Tensor, slots: Tensor, context: Context) -> Tensor:
        """Hidden states after the last norm; keys and values are filed.

        Args:
            ids: (N,) int64.
            positions: (N,) int64.
            slots: (N,) int64: page · P + place in it; negative files nothing.
            context: What the rows look at.

        Returns:
            (N, D).
        """
        turns = positions[:, None].float() * self._frequencies
        angles = turns.cos() * self._scale, turns.sin() * self._scale
        residual = self.model.embed_tokens(ids)
        update: Tensor | None = None
        for index, layer in enumerate(self._layers):
            where = angles, slots, context, self.store[index]
            update = self._layer(layer, residual, update, where)
        eps = self.model.config.rms_norm_eps
        assert update is not None
        return ops.add_norm(update, residual, self.model.norm.weight, eps)

    def step(self, blocks: Blocks, rule: tuple[str, float]) -> Tensor:
        """Denoise every block once, in place.

        Args:
            blocks: Changed: ``tokens``, and the store at their positions.
            rule: As `kernels.ops.accept` takes it.

        Returns:
            (B, L) bool: the positions that became final.

        Raises:
            ValueError: The model's logits are shifted, so no position predicts itself.
        """
        if self.model.config.shift:
            raise ValueError("expected a model whose logits are not shifted")
        rows, length = blocks.tokens.shape
        hidden = self._blocks_hidden(blocks, causal=0)
        index = torch.arange(rows * length, device=hidden.device)
        open_rows = index.masked_fill(
            blocks.tokens.flatten() != self.model.config.mask_token_id, -1
        )
        drafted, *worth = ops.unmask(hidden, self.head, open_rows, blocks.banned)
        confidence, entropy = (x.view(rows, length) for x in worth)
        return ops.accept(
            blocks.tokens,
            drafted.view(rows, length),
            (confidence, entropy),
            self.model.config.mask_token_id,
            rule,
        )

    def verify(self, blocks: Blocks) -> Tensor:
        """The causal choice behind every position; files the keys and values to be committed.

        Returns:
            (B, L) int64: the likeliest token behind each position, given those up to it.
        """
        hidden = self._blocks_hidden(blocks, causal=blocks.tokens.shape[1])
        index = torch.arange(len(hidden), device=hidden.device)
        tokens, _, _ = ops.unmask(hidden, self.head, index, blocks.banned)
        return tokens.view(blocks.tokens.shape)

    def captured(self, blocks: Blocks, rule: tuple[str, float]) -> Callable[[], None]:
        """A step on these blocks as one CUDA graph.

        Returns:
            Runs the step on whatever the tensors of ``blocks`` hold by then.

        Raises:
            ValueError: The blocks are not on a CUDA device.
        """
        if not blocks.tokens.is_cuda:
            raise ValueError(f"blocks: got device {blocks.tokens.device}, expected cuda")
        kept = blocks.tokens.clone()
        side = torch.cuda.Stream()  # type: ignore[no-untyped-call]
        side.wait_stream(torch.cuda.current_stream())
        # Kernels are compiled and libraries initialised outside of the graph.
        with torch.cuda.stream(side):
            for _ in range(3):
                self.step(blocks, rule)
        torch.cuda.current_stream().wait_stream(side)
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            self.step(blocks, rule)
        blocks.tokens.copy_(kept)
        return graph.replay

    def _blocks_hidden(self, blocks: Blocks, causal: int) -> Tensor:
        rows, length = blocks.tokens.shape
        device = blocks.tokens.device
        positions = blocks.committed[:, None] + torch.arange(length, device=device)
        page = blocks.pages.long().gather(1, positions // self.page_size)
        slots = page * self.page_size + positions % self.page_size
        context = Context(
            blocks.pages,
            torch.arange(0, rows * length + 1, length, dtype=torch.int32, device=device),
            (blocks.committed + length).to(torch.int32),
            torch.full((rows,), causal, dtype=torch.int32, device=device),
            torch.zeros(rows, dtype=torch.int32, device=device),
            length,
        )
        return self.hidden(blocks.tokens.flatten(), positions.flatten(), slots.flatten(), context)

    def _layer(
        self, layer: _Layer, residual: Tensor, update: Tensor | None, where: _Where
    ) -> Tensor:
        """Add an update to the residual stream; returns the next one, of this layer's end."""
        eps = self.model.config.rms_norm_eps
        if update is None:
            x = ops.add_norm(residual, None, layer.first_norm, eps)
        else:
            x = ops.add_norm(update, residual, layer.first_norm, eps)
        angles, slots, context, store = where
        flat = store.view(2, -1, *store.shape[3:])
        cache = flat[0], flat[1]
        queries = ops.rope(layer.qkv(x), layer.head_norms, eps, angles, slots, cache)
        # Few requests leave most of a GPU idle, unless their keys are shared out.
        busy = 1 if queries.device.type == "cpu" else 16 // len(context.lengths)
        shares = 1 << (max(1, busy).bit_length() - 1)
        attended = ops.attention(queries, store[0], store[1], context, shares)
        x = ops.add_norm(layer.out(attended.flatten(1)), residual, layer.second_norm, eps)
        return layer.down(ops.silu_mul(layer.gate_up(x)))


_Where = tuple[tuple[Tensor, Tensor], Tensor, Context, Tensor]
"""Cosines and sines, slots, what the rows look at, and a layer's pages."""


@dataclass(frozen=True, slots=True)
class _Layer:
    """A layer's products, and the weights of its norms."""

    first_norm: Tensor
    qkv: Product
    head_norms: tuple[Tensor, Tensor] | None
    out: Product
    second_norm: Tensor
    gate_up: Product
    down: Product

    @classmethod
    def of(cls, block: Block, weights: Weights) -> _Layer:
        attention, mlp = block.self_attn, cast(MLP, block.mlp)
        norms = (attention.q_norm.weight, attention.k_norm.weight) if attention.normed else None
        return cls(
            block.input_layernorm.weight,
            _product(attention.qkv_proj, weights),
            norms,
            _product(attention.o_proj, weights),
            block.post_attention_layernorm.weight,
            _product(mlp.gate_up_proj, weights),
            _product(mlp.down_proj, weights),
        )


def _product(part: nn.Linear, weights: Weights) -> Product:
    if weights == "plain":
        return part
    rounded, scale = ops.quantize(part.weight.detach(), _EIGHT_BITS[weights])
    bias = part.bias

    def product(x: Tensor) -> Tensor:
        out = ops.linear(x, rounded, scale)
        return out if bias is None else out + bias

    return product

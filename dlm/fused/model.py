"""Runs a model's weights with the project's kernels over paged caches.

Nothing here waits for the device, so a forward can be captured as a CUDA graph. On a CPU, the same
code runs on the kernels' references. It knows nothing of requests, prompts or text.

Shapes: N rows of D numbers; V ids; P positions of a page.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import cast

import torch
from torch import Tensor, nn

from dlm.network.model import MLP, Block, Transformer
from dlm.network.rope import frequencies
from kernels import ops
from kernels.context import Context


class FusedModel:
    """A Transformer's weights, used as they are, over a store of pages.

    Attributes:
        head: (V, D): the LM head.
        store: (layers, 2, pages, P, key/value heads, numbers of a head).

    Raises:
        ValueError: Only part of each head rotates, or the model has experts or is rounded for a
            CPU.
    """

    def __init__(self, model: Transformer, pages: int, page_size: int = 64) -> None:
        config = model.config
        if config.rotary_size != config.head_dim or config.experts is not None:
            raise ValueError("expected a model with whole heads rotated and without experts")
        if model.rounded is not None:
            raise ValueError("expected a model in floating point, got one rounded for a CPU")
        self.model = model
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
        self._layers = [_Layer.of(cast(Block, layer)) for layer in model.layers]

    def hidden(self, ids: Tensor, positions: Tensor, slots: Tensor, context: Context) -> Tensor:
        """Hidden states after the last norm; keys and values are written to the store.

        Args:
            ids: (N,) int64.
            positions: (N,) int64.
            slots: (N,) int64: page · P + place in the page; nothing is written for negative ones.
            context: For each request, its pages and which positions its rows see.

        Returns:
            (N, D).
        """
        angles = positions[:, None].float() * self._frequencies
        rotation = angles.cos() * self._scale, angles.sin() * self._scale
        residual = self.model.embed_tokens(ids)
        update: Tensor | None = None
        for index, layer in enumerate(self._layers):
            inputs = rotation, slots, context, self.store[index]
            update = self._layer(layer, residual, update, inputs)
        eps = self.model.config.rms_norm_eps
        assert update is not None
        return ops.add_norm(update, residual, self.model.norm.weight, eps)

    def _layer(
        self, layer: _Layer, residual: Tensor, update: Tensor | None, inputs: _Inputs
    ) -> Tensor:
        """Add an update to the residual stream; return the layer's output, the next update."""
        eps = self.model.config.rms_norm_eps
        if update is None:
            x = ops.add_norm(residual, None, layer.first_norm, eps)
        else:
            x = ops.add_norm(update, residual, layer.first_norm, eps)
        rotation, slots, context, store = inputs
        flat = store.view(2, -1, *store.shape[3:])
        cache = flat[0], flat[1]
        queries = ops.rope(layer.qkv(x), layer.head_norms, eps, rotation, slots, cache)
        # With few requests, most of a GPU would be idle if their keys were not split.
        busy = 1 if queries.device.type == "cpu" else 16 // len(context.lengths)
        splits = 1 << (max(1, busy).bit_length() - 1)
        attended = ops.attention(queries, store[0], store[1], context, splits)
        x = ops.add_norm(layer.out(attended.flatten(1)), residual, layer.second_norm, eps)
        return layer.down(ops.silu_mul(layer.gate_up(x)))  # type: ignore[no-any-return]


_Inputs = tuple[tuple[Tensor, Tensor], Tensor, Context, Tensor]
"""Cosines and sines, slots, context, and a layer's pages."""


@dataclass(frozen=True, slots=True)
class _Layer:
    """A layer's linear projections, and the weights of its norms."""

    first_norm: Tensor
    qkv: nn.Linear
    head_norms: tuple[Tensor, Tensor] | None
    out: nn.Linear
    second_norm: Tensor
    gate_up: nn.Linear
    down: nn.Linear

    @classmethod
    def of(cls, block: Block) -> _Layer:
        attention, mlp = block.self_attn, cast(MLP, block.mlp)
        norms = (attention.q_norm.weight, attention.k_norm.weight) if attention.normed else None
        return cls(
            block.input_layernorm.weight,
            attention.qkv_proj,
            norms,
            attention.o_proj,
            block.post_attention_layernorm.weight,
            mlp.gate_up_proj,
            mlp.down_proj,
        )

"""A step of the model as a pure function of tensors, which a compiler can take.

Shapes: M new rows after S cached positions; V vocabulary.
"""

from __future__ import annotations

import copy
from typing import cast

import torch
from torch import Tensor, nn
from torch.nn import functional

from dlm.network.model import Attention, Block, RMSNorm, Transformer
from dlm.network.rope import RopeTable


class Step(nn.Module):
    """Logits (M, V) of M new tokens, causal among themselves, after S cached positions."""

    mask: Tensor
    cos: Tensor
    sin: Tensor

    def __init__(self, model: Transformer, rows: int, context: int) -> None:
        super().__init__()
        config = model.config
        embedding = model.embed_tokens.weight
        self.embed = nn.Embedding.from_pretrained(embedding.detach().clone())
        self.layers, self.norm = copy.deepcopy(model.layers), copy.deepcopy(model.norm)
        head = embedding if config.tie_word_embeddings else model.lm_head.weight
        with torch.device("meta"):
            self.head = nn.Linear(config.hidden_size, config.vocab_size, bias=False)
        self.head.weight = nn.Parameter(head.detach().clone(), requires_grad=False)
        positions = torch.arange(context, context + rows, device=embedding.device)
        table = RopeTable(config.rotary_size, config.rope_theta, config.rope_scaling)
        cos, sin = table.at(positions[:, None], context + rows)
        self.register_buffer("cos", cos)
        self.register_buffer("sin", sin)
        hidden = torch.arange(context + rows, device=embedding.device) > positions[:, None]
        mask = torch.zeros(hidden.shape, dtype=embedding.dtype, device=embedding.device)
        self.register_buffer("mask", mask.masked_fill(hidden, -torch.inf))

    def forward(self, ids: Tensor, cache: Tensor) -> Tensor:
        """Logits of ids (M,) over a cache (layers, 2, key/value heads, S, numbers)."""
        x = self.embed(ids)
        for index, layer in enumerate(self.layers):
            block = cast(Block, layer)
            x = x + self._attended(block.self_attn, _normed(block.input_layernorm, x), cache[index])
            x = x + block.mlp(_normed(block.post_attention_layernorm, x))
        return self.head(_normed(self.norm, x))  # type: ignore[no-any-return]

    def _attended(self, attention: Attention, x: Tensor, cache: Tensor) -> Tensor:
        rows, size = x.shape[0], attention.head_dim
        heads, kv_heads = attention.heads, attention.kv_heads
        qkv = attention.qkv_proj(x).reshape(rows, heads + 2 * kv_heads, size)
        queries, keys, values = qkv.split((heads, kv_heads, kv_heads), dim=1)
        if attention.normed:
            queries, keys = _normed(attention.q_norm, queries), _normed(attention.k_norm, keys)
        queries, keys = self._turned(queries).transpose(0, 1), self._turned(keys).transpose(0, 1)
        group = heads // kv_heads
        keys = torch.cat((cache[0], keys), dim=1).repeat_interleave(group, dim=0)
        values = torch.cat((cache[1], values.transpose(0, 1)), dim=1)
        values = values.repeat_interleave(group, dim=0)
        out = functional.scaled_dot_product_attention(
            queries[None], keys[None], values[None], attn_mask=self.mask
        )
        joined = out[0].transpose(0, 1).reshape(rows, heads * size)
        return attention.o_proj(joined)  # type: ignore[no-any-return]

    def _turned(self, x: Tensor) -> Tensor:
        left, right = x.chunk(2, dim=-1)
        turned = x * self.cos + torch.cat((right, left), dim=-1) * self.sin
        return turned.to(x.dtype)


def _normed(norm: RMSNorm | nn.Module, x: Tensor) -> Tensor:
    kept = cast(RMSNorm, norm)
    return x * torch.rsqrt(x.square().mean(dim=-1, keepdim=True) + kept.eps) * kept.weight

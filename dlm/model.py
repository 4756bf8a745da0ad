"""A Qwen3-style Transformer: causal model and block denoiser with the same weights.

Which positions see which is the caller's matter: a forward takes an attention mask, or none, and a
cache, or none. It knows nothing of blocks, masks of tokens, sampling or training.

Projections that read the same input are one matrix (query, key and value; gate and up): fewer and
larger products, which is what a CPU step of 16 positions spends its time on. ``dlm.weights`` splits
them into Qwen3's names on disk.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional

from dlm.cache import KVCache
from dlm.config import ModelConfig


def rope_table(config: ModelConfig, positions: Tensor) -> tuple[Tensor, Tensor]:
    """Cosines and sines of rotary embedding.

    Args:
        config: Of the model.
        positions: (B, T) int64.

    Returns:
        cos, sin: each (B, 1, T, N) float32, both halves alike.

    Source:
        Su et al. 2021, in the half-split layout of Llama and Qwen.
    """
    half = config.head_dim // 2
    exponents = torch.arange(half, dtype=torch.float32, device=positions.device) / half
    angles = positions[:, None, :, None].float() * config.rope_theta**-exponents
    angles = torch.cat((angles, angles), dim=-1)
    return angles.cos(), angles.sin()


def rotate(x: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
    """Apply rotary embedding to (B, H, T, N)."""
    left, right = x.chunk(2, dim=-1)
    return x * cos + torch.cat((-right, left), dim=-1) * sin


class RMSNorm(nn.Module):
    """Root-mean-square normalisation with a learned scale over the last dimension."""

    def __init__(self, size: int, eps: float) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.ones(size))
        self.eps = eps

    def forward(self, x: Tensor) -> Tensor:
        """Normalise (..., size); computed in float32."""
        return functional.rms_norm(x.float(), self.weight.shape, self.weight.float(), self.eps).to(
            x.dtype
        )


class Attention(nn.Module):
    """Grouped-query attention with normalised queries and keys."""

    def __init__(self, config: ModelConfig, layer: int) -> None:
        super().__init__()
        self.layer = layer
        self.heads = config.num_attention_heads
        self.kv_heads = config.num_key_value_heads
        self.head_dim = config.head_dim
        width = (self.heads + 2 * self.kv_heads) * self.head_dim
        self.qkv_proj = nn.Linear(config.hidden_size, width, bias=False)
        self.o_proj = nn.Linear(self.heads * self.head_dim, config.hidden_size, bias=False)
        self.q_norm = RMSNorm(self.head_dim, config.rms_norm_eps)
        self.k_norm = RMSNorm(self.head_dim, config.rms_norm_eps)

    def forward(
        self,
        x: Tensor,
        rope: tuple[Tensor, Tensor],
        mask: Tensor | None,
        cache: KVCache | None,
    ) -> Tensor:
        """Attend.

        Args:
            x: (B, T, D).
            rope: From `rope_table`.
            mask: (B or 1, 1, T, S) bool, true where a position may look; None looks everywhere.
            cache: Committed keys and values to look at before the new ones; B must be 1.

        Returns:
            (B, T, D).
        """
        rows, length, _ = x.shape
        heads = self.heads, self.kv_heads, self.kv_heads
        qkv = self.qkv_proj(x).view(rows, length, sum(heads), self.head_dim).transpose(1, 2)
        queries, keys, values = qkv.split(heads, dim=1)
        cos, sin = rope
        queries = rotate(self.q_norm(queries), cos, sin).to(values.dtype)
        keys = rotate(self.k_norm(keys), cos, sin).to(values.dtype)
        if cache is not None:
            keys, values = cache.write(self.layer, keys, values)
        group = self.heads // self.kv_heads
        # On a CPU repeating the whole cache costs a quarter of the attention. Elsewhere it is the
        # better deal: the backward pass, and CUDA's kernels that take a mask, know no groups.
        grouped = cache is not None and not x.is_cuda
        if group > 1 and not grouped:
            keys = keys.repeat_interleave(group, dim=1)
            values = values.repeat_interleave(group, dim=1)
        out = functional.scaled_dot_product_attention(
            queries, keys, values, attn_mask=mask, enable_gqa=grouped
        )
        out = out.transpose(1, 2).reshape(rows, length, self.heads * self.head_dim)
        return self.o_proj(out)  # type: ignore[no-any-return]


class MLP(nn.Module):
    """SwiGLU."""

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        self.gate_up_proj = nn.Linear(config.hidden_size, 2 * config.intermediate_size, bias=False)
        self.down_proj = nn.Linear(config.intermediate_size, config.hidden_size, bias=False)

    def forward(self, x: Tensor) -> Tensor:
        """(B, T, D) to (B, T, D)."""
        gate, up = self.gate_up_proj(x).chunk(2, dim=-1)
        return self.down_proj(functional.silu(gate) * up)  # type: ignore[no-any-return]


class Block(nn.Module):
    """One layer: attention, then MLP, each on a normalised residual stream."""

    def __init__(self, config: ModelConfig, layer: int) -> None:
        super().__init__()
        self.input_layernorm = RMSNorm(config.hidden_size, config.rms_norm_eps)
        self.self_attn = Attention(config, layer)
        self.post_attention_layernorm = RMSNorm(config.hidden_size, config.rms_norm_eps)
        self.mlp = MLP(config)

    def forward(
        self,
        x: Tensor,
        rope: tuple[Tensor, Tensor],
        mask: Tensor | None,
        cache: KVCache | None,
    ) -> Tensor:
        """(B, T, D) to (B, T, D); arguments as in `Attention`."""
        x = x + self.self_attn(self.input_layernorm(x), rope, mask, cache)
        return x + self.mlp(self.post_attention_layernorm(x))  # type: ignore[no-any-return]


class Transformer(nn.Module):
    """Token ids to hidden states to logits, with tied embeddings."""

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        self.config = config
        self.embed_tokens = nn.Embedding(config.vocab_size, config.hidden_size)
        self.layers = nn.ModuleList(
            Block(config, layer) for layer in range(config.num_hidden_layers)
        )
        self.norm = RMSNorm(config.hidden_size, config.rms_norm_eps)

    def forward(
        self,
        ids: Tensor,
        positions: Tensor,
        mask: Tensor | None = None,
        cache: KVCache | None = None,
    ) -> Tensor:
        """Hidden states after the last norm.

        Args:
            ids: (B, T) int64.
            positions: (B, T) int64, for the rotary embedding.
            mask: (B or 1, 1, T, S) bool, true where a position may look; None looks everywhere.
            cache: Written behind its committed positions, not committed; B must be 1.

        Returns:
            (B, T, D).
        """
        rope = rope_table(self.config, positions)
        x = self.embed_tokens(ids)
        for layer in self.layers:
            x = layer(x, rope, mask, cache)
        return self.norm(x)  # type: ignore[no-any-return]

    def logits(self, hidden: Tensor) -> Tensor:
        """(..., D) to (..., V), the embedding serving as head."""
        return functional.linear(hidden, self.embed_tokens.weight)

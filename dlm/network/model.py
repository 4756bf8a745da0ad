"""A Transformer like Qwen's: causal model and block denoiser with the same weights.

The caller decides which positions see which. There are two ways to run it: `Transformer.packed`
serves the new positions of any number of requests, each over its own cache; `Transformer.forward`
takes equally long rows and an attention mask, as training does. It knows nothing of masked tokens,
sampling or training.

Projections of the same input are one matrix (query, key and value; gate and up), which makes
products fewer and larger: a CPU step of 16 positions spends its time on them. `dlm.loading.weights`
splits them into the names on disk.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Protocol

import torch
from torch import Tensor, nn
from torch.nn import functional

from dlm.kv_cache.cache import KVCache
from dlm.network.config import ModelConfig
from dlm.network.moe import MixtureOfExperts
from dlm.network.padding import GRAIN, padded, whole_keys
from dlm.network.rope import RopeTable, rotate

Attend = Callable[[Tensor, Tensor, Tensor], Tensor]
"""A custom attention: from queries, keys and values, each (B, H, T, N), to (B, H, T, N)."""


OUTPUTS = ("o_proj.weight", "down_proj.weight")
"""Suffixes of the names of a layer's matrices that write into the residual stream."""


@dataclass(frozen=True, slots=True)
class Rows:
    """One request's part of a packed forward.

    Attributes:
        cache: Holds its committed positions; the new ones are written after them, not committed.
        length: T: the number of its new positions.
        causal: Number of these, from the left, that see only themselves and what stands before
            them; the others see all new positions as well.
        block: Above 0, the size of blocks: a position sees up to the end of its own block, and
            ``causal`` has no effect. The first block begins at position 0.
        wanted: The new positions whose hidden states are wanted.
        joined: Whether they may be computed as one with the rows before them, which are of the same
            request: faster, but the last bits then depend on these.
    """

    cache: KVCache
    length: int
    causal: int
    block: int = 0
    wanted: slice = field(default_factory=lambda: slice(None))
    joined: bool = False

    def mask(self, dtype: torch.dtype, device: torch.device, head_dim: int) -> Tensor | None:
        """The attention mask: 0 where a position may look, -inf elsewhere; None if none is needed.

        Returns:
            (1, 1, T, S). If some positions are causal, in float32 on a CPU, T and S are large
            enough for their bits not to depend on what is forwarded with them.
        """
        end = self.cache.length + self.length
        count, seen = self.length, end
        if self._exact and dtype == torch.float32 and device.type == "cpu":
            count, seen = count + -count % GRAIN, whole_keys(end, head_dim)
        elif not self.block and (not self.causal or count == 1):
            return None
        return self.visible(count, seen, dtype, device)[None, None]

    def visible(
        self, count: int, seen: int, dtype: torch.dtype, device: torch.device | str
    ) -> Tensor:
        """A mask, (count, seen): 0 where new positions may look, and -inf elsewhere."""
        start, end = self.cache.length, self.cache.length + self.length
        positions = torch.arange(start, start + count, device=device)
        if self.block:
            ends = (positions // self.block + 1) * self.block
        else:
            ends = torch.full_like(positions, end)
            ends[: self.causal] = positions[: self.causal] + 1
        hidden = torch.arange(start, seen, device=device) >= ends[:, None]
        mask = torch.zeros(count, seen, dtype=dtype, device=device)
        # All see the committed positions, which may be a hundred times as many as the new ones.
        mask[:, start:].masked_fill_(hidden, -torch.inf)
        return mask

    @property
    def _exact(self) -> bool:
        return self.causal > 0 and not self.block


Span = tuple[int, int, KVCache, Tensor | None]
"""One request's rows [start, end) of a packed forward, its cache and its mask."""


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


class Embedding(nn.Embedding):
    """An embedding table that is not filled on the meta device.

    To fill it there, torch would import its compiler, which takes longer than loading a small
    model.
    """

    def reset_parameters(self) -> None:
        """Fill the table with random numbers, unless it is on the meta device."""
        if not self.weight.is_meta:
            super().reset_parameters()


class Attention(nn.Module):
    """Grouped-query attention, with normalised queries and keys if the config says so."""

    def __init__(self, config: ModelConfig, layer: int) -> None:
        super().__init__()
        self.layer = layer
        self.heads = config.num_attention_heads
        self.kv_heads = config.num_key_value_heads
        self.head_dim = config.head_dim
        width = (self.heads + 2 * self.kv_heads) * self.head_dim
        self.qkv_proj = nn.Linear(config.hidden_size, width, bias=config.qkv_bias)
        attended = self.heads * self.head_dim
        self.o_proj = nn.Linear(attended, config.hidden_size, bias=config.output_bias)
        self.normed = config.qk_norm
        if self.normed:
            self.q_norm = RMSNorm(self.head_dim, config.rms_norm_eps)
            self.k_norm = RMSNorm(self.head_dim, config.rms_norm_eps)

    def _project(self, x: Tensor, rope: tuple[Tensor, Tensor]) -> tuple[Tensor, Tensor, Tensor]:
        """(..., D) to queries (..., H, N), keys and values (..., K, N), with rotary positions."""
        qkv = self.qkv_proj(x).unflatten(-1, (-1, self.head_dim))
        # Queries and keys together, for half as many small operations, which are slow on a CPU.
        rotated, values = qkv.split((self.heads + self.kv_heads, self.kv_heads), dim=-2)
        if self.normed:
            rotated = self._norm(rotated)
        rotated = rotate(rotated, *rope).to(values.dtype)
        queries, keys = torch.split(rotated, [self.heads, self.kv_heads], dim=-2)
        return queries, keys, values

    def _norm(self, x: Tensor) -> Tensor:
        """Normalise queries and keys, (..., H + K, N), as `RMSNorm` does each."""
        weights = torch.cat(
            (
                self.q_norm.weight.expand(self.heads, -1),
                self.k_norm.weight.expand(self.kv_heads, -1),
            )
        )
        plain = functional.rms_norm(x.float(), (self.head_dim,), eps=self.q_norm.eps)
        return (plain * weights.float()).to(x.dtype)

    def forward(
        self,
        x: Tensor,
        rope: tuple[Tensor, Tensor],
        mask: Tensor | Attend | None,
    ) -> Tensor:
        """Attend in rows of equal length.

        Args:
            x: (B, T, D).
            rope: Cosines and sines, each (B, T, 1, R).
            mask: (B or 1, 1, T, T) bool, true where a position may look; None looks everywhere. Or
                a function that computes the attention.

        Returns:
            (B, T, D).
        """
        queries, keys, values = (part.transpose(1, 2) for part in self._project(x, rope))
        out = self._attend(queries, keys, values, mask, grouped=False)
        return self.o_proj(out.transpose(1, 2).flatten(2))  # type: ignore[no-any-return]

    def packed(self, x: Tensor, rope: tuple[Tensor, Tensor], spans: Sequence[Span]) -> Tensor:
        """(N, D) to (N, D): each request attends to its own cache, and padding rows to nothing."""
        queries, keys, values = (part.transpose(0, 1) for part in self._project(x, rope))
        parts: list[Tensor] = []
        for start, end, cache, mask in spans:
            rows, asking = slice(start, end), queries[None, :, start:end]
            wanted = 0 if mask is None else mask.shape[-1]
            seen = cache.write(self.layer, keys[None, :, rows], values[None, :, rows], wanted)
            if mask is not None and mask.shape[-2] > end - start:
                asking = functional.pad(asking, (0, 0, 0, mask.shape[-2] - (end - start)))
            attended = self._attend(asking, *seen, mask, grouped=True)[0, :, : end - start]
            parts.append(attended.transpose(0, 1).flatten(1))
        missing = len(x) - sum(len(part) for part in parts)
        if missing:
            parts.append(x.new_zeros(missing, self.heads * self.head_dim))
        return self.o_proj(parts[0] if len(parts) == 1 else torch.cat(parts))  # type: ignore[no-any-return]

    def _attend(
        self,
        queries: Tensor,
        keys: Tensor,
        values: Tensor,
        mask: Tensor | Attend | None,
        grouped: bool,
    ) -> Tensor:
        """(B, H, T, N), (B, K, S, N) twice to (B, H, T, N)."""
        group = self.heads // self.kv_heads
        # On a CPU, repeating the whole cache would cost a quarter of the attention's time.
        # Elsewhere it pays: the backward pass, and CUDA's kernels with a mask, support no groups.
        grouped = grouped and not queries.is_cuda
        if group > 1 and not grouped:
            keys = keys.repeat_interleave(group, dim=1)
            values = values.repeat_interleave(group, dim=1)
        if not (mask is None or isinstance(mask, Tensor)):
            return mask(queries, keys, values)
        return functional.scaled_dot_product_attention(
            queries, keys, values, attn_mask=mask, enable_gqa=group > 1 and grouped
        )


class MLP(nn.Module):
    """A feed-forward layer with SwiGLU."""

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        self.gate_up_proj = nn.Linear(config.hidden_size, 2 * config.intermediate_size, bias=False)
        self.down_proj = nn.Linear(config.intermediate_size, config.hidden_size, bias=False)

    def forward(self, x: Tensor) -> Tensor:
        """(..., D) to (..., D)."""
        gate, up = self.gate_up_proj(x).chunk(2, dim=-1)
        return self.down_proj(functional.silu(gate) * up)  # type: ignore[no-any-return]


class Block(nn.Module):
    """One layer: attention, then MLP, each on a normalised residual stream."""

    def __init__(self, config: ModelConfig, layer: int) -> None:
        super().__init__()
        self.input_layernorm = RMSNorm(config.hidden_size, config.rms_norm_eps)
        self.self_attn = Attention(config, layer)
        self.post_attention_layernorm = RMSNorm(config.hidden_size, config.rms_norm_eps)
        experts = config.experts
        mixed = experts is not None and layer >= experts.dense_layers
        self.mlp = (
            MixtureOfExperts(config.hidden_size, experts) if mixed and experts else MLP(config)
        )

    def forward(
        self,
        x: Tensor,
        rope: tuple[Tensor, Tensor],
        mask: Tensor | Attend | None,
    ) -> Tensor:
        """(B, T, D) to (B, T, D); arguments as in `Attention`."""
        x = x + self.self_attn(self.input_layernorm(x), rope, mask)
        return x + self.mlp(self.post_attention_layernorm(x))  # type: ignore[no-any-return]

    def packed(self, x: Tensor, rope: tuple[Tensor, Tensor], spans: Sequence[Span]) -> Tensor:
        """(N, D) to (N, D); arguments as in `Attention.packed`."""
        x = x + self.self_attn.packed(self.input_layernorm(x), rope, spans)
        return x + self.mlp(self.post_attention_layernorm(x))  # type: ignore[no-any-return]


class Rounded(Protocol):
    """Layers and head that replace a model's own (`dlm.network.int8`)."""

    def hidden(self, x: Tensor, rows: Sequence[Rows]) -> Tensor:
        """As `Transformer.packed`, from embedded ids, (N, D)."""
        ...

    def logits(self, hidden: Tensor) -> Tensor:
        """(..., D) to (..., V)."""
        ...


class Transformer(nn.Module):
    """Computes hidden states from token ids, and logits from hidden states.

    Attributes:
        lm_head: The head; missing if the embedding serves as head.
        rounded: Layers and head in 8 bits, if they have replaced the model's own.
    """

    lm_head: nn.Linear

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        self.config = config
        self.embed_tokens = Embedding(config.vocab_size, config.hidden_size)
        self.layers = nn.ModuleList(
            Block(config, layer) for layer in range(config.num_hidden_layers)
        )
        self.norm = RMSNorm(config.hidden_size, config.rms_norm_eps)
        self.rounded: Rounded | None = None
        if not config.tie_word_embeddings:
            self.lm_head = nn.Linear(config.hidden_size, config.vocab_size, bias=False)
        self._rope = RopeTable(config.rotary_size, config.rope_theta, config.rope_scaling)

    @property
    def head_weight(self) -> Tensor:
        """The head's weight, (V, D), which may be the embedding's."""
        tied = self.config.tie_word_embeddings
        return self.embed_tokens.weight if tied else self.lm_head.weight

    def forward(
        self,
        ids: Tensor,
        positions: Tensor,
        mask: Tensor | Attend | None = None,
    ) -> Tensor:
        """Hidden states after the last norm, (B, T, D), of rows of equal length.

        Ids and positions are (B, T) int64; the mask is as in `Attention.forward`.
        """
        rope = self._rope.at(positions[:, :, None], int(positions.max()) + 1)
        x = self.embed_tokens(ids)
        for layer in self.layers:
            x = layer(x, rope, mask)
        return self.norm(x)  # type: ignore[no-any-return]

    def packed(self, ids: Tensor, rows: Sequence[Rows]) -> Tensor:
        """Hidden states after the last norm, of the wanted positions of several requests.

        On a CPU, a request's results are the same, bit for bit, in any batch: attention is computed
        for each request on its own, and rows are padded to numbers for which matrix products give a
        row the same bits (`dlm.network.padding`). In float32 and int8, causal positions also get
        the same bits however their own request is split into forwards.

        Args:
            ids: (N,) int64, the requests' tokens one after the other.
            rows: The requests, with N positions in all, each with its own cache.

        Returns:
            (W, D), where W is the number of wanted positions.

        Raises:
            ValueError: The lengths do not add up to N, or a cache is full.
        """
        total = sum(part.length for part in rows)
        if ids.shape != (total,):
            raise ValueError(f"ids: got shape {tuple(ids.shape)}, expected ({total},)")
        device = ids.device
        x = self.embed_tokens(ids)
        if self.rounded is not None:
            return self.rounded.hidden(x, rows)
        x = padded(x)
        positions = torch.zeros(len(x), dtype=torch.int64, device=device)
        spans: list[Span] = []
        start = 0
        for part in rows:
            first, end = part.cache.length, start + part.length
            torch.arange(first, first + part.length, out=positions[start:end])
            spans.append((start, end, part.cache, part.mask(x.dtype, device, self.config.head_dim)))
            start = end
        end = max(part.cache.length + part.length for part in rows)
        rope = self._rope.at(positions[:, None], end)
        for layer in self.layers:
            x = layer.packed(x, rope, spans)  # type: ignore[operator]
        parts = zip(spans, rows, strict=True)
        wanted = [x[start:end][part.wanted] for (start, end, *_), part in parts]
        return self.norm(torch.cat(wanted))  # type: ignore[no-any-return]

    def logits(self, hidden: Tensor) -> Tensor:
        """Logits, (..., D) to (..., V).

        Rows (n, D) without gradients get the same bits in any batch on a CPU, as in `packed`.
        """
        if self.rounded is not None:
            return self.rounded.logits(hidden)
        weight = self.head_weight
        if hidden.dim() != 2 or hidden.requires_grad:
            return functional.linear(hidden, weight)
        return functional.linear(padded(hidden), weight)[: len(hidden)]

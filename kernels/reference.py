"""What each kernel computes, in plain torch: the reference that the kernels are tested against.

It also runs where there is no CUDA device. Arguments are checked and described in `kernels.ops`.
"""

from __future__ import annotations

import torch
from torch.nn import functional

from kernels.context import Context

_WORD = 0xFFFFFFFF


def unmask(
    hidden: torch.Tensor,
    weight: torch.Tensor,
    rows: torch.Tensor,
    banned: torch.Tensor | None,
    noise: tuple[torch.Tensor, torch.Tensor] | None,
) -> tuple[torch.Tensor, torch.Tensor]:
    """A token for each row, and the model's probability for it."""
    ids = torch.arange(weight.shape[0], device=hidden.device)
    # bfloat16 times bfloat16 is exact in float32, and the kernel sums in float32 as well.
    logits = hidden[rows.clamp(min=0)].float() @ weight.float().T
    if banned is not None:
        bits = (banned[:, ids // 32] >> (ids % 32)) & 1
        logits = logits.masked_fill(bits.bool(), -torch.inf)
    scores = logits
    if noise is not None:
        temperatures, seeds = noise[0][:, None], noise[1][:, None]
        drawn = logits / temperatures.masked_fill(temperatures == 0, 1.0) + gumbel(seeds, ids)
        scores = torch.where(temperatures > 0, drawn, logits)
    tokens = _argmax(scores)
    chosen = logits.softmax(dim=-1).gather(-1, tokens[:, None])[:, 0]
    padding = rows < 0
    return tokens.masked_fill(padding, 0), chosen.masked_fill(padding, torch.nan)


def gumbel(seeds: torch.Tensor, ids: torch.Tensor) -> torch.Tensor:
    """Gumbel noise, float32, from seeds and ids alone; both are int64, below 2³²."""
    mixed = _mix((seeds + _mix(ids)) & _WORD)
    # 23 bits: with 24, the largest value would round to 1, whose noise is infinite.
    uniform = ((mixed >> 9).float() + 0.5) * 2.0**-23
    return -(-uniform.log()).log()


def attention(
    queries: torch.Tensor, keys: torch.Tensor, values: torch.Tensor, context: Context
) -> torch.Tensor:
    """The attention of every row's heads, computed one request after another."""
    out = torch.empty_like(queries)
    starts = context.starts.tolist()
    for request, length in enumerate(context.lengths.tolist()):
        first, last = starts[request], starts[request + 1]
        rows = last - first
        if not rows:
            continue
        positions = torch.arange(length, device=queries.device)
        pages = context.pages[request].long()[positions // keys.shape[1]]
        slots = positions % keys.shape[1]
        row = torch.arange(rows, device=queries.device)
        seen = torch.where(row < context.causal[request], length - rows + row + 1, length)
        if block := int(context.blocks[request]):
            seen = (((length - rows + row) // block + 1) * block).clamp(max=length)
        out[first:last] = functional.scaled_dot_product_attention(
            queries[first:last].transpose(0, 1)[None].float(),
            keys[pages, slots].transpose(0, 1)[None].float(),
            values[pages, slots].transpose(0, 1)[None].float(),
            attn_mask=positions < seen[:, None],
            enable_gqa=True,
        )[0].transpose(0, 1)
    return out


def rope(
    qkv: torch.Tensor,
    norms: tuple[torch.Tensor, torch.Tensor] | None,
    eps: float,
    angles: tuple[torch.Tensor, torch.Tensor],
    slots: torch.Tensor,
    out: tuple[torch.Tensor, torch.Tensor, torch.Tensor],
) -> None:
    """Normalise and rotate queries and keys, and write keys and values into their slots."""
    queries, keys, values = out
    size = queries.shape[2]
    parts = [queries.shape[1], keys.shape[1], keys.shape[1]]
    new_queries, new_keys, new_values = torch.split(qkv.view(len(qkv), -1, size), parts, dim=1)
    if norms is not None:
        new_queries = _norm(new_queries, norms[0], eps)
        new_keys = _norm(new_keys, norms[1], eps)
    queries.copy_(_rotate(new_queries, *angles))
    filed = slots >= 0
    keys[slots[filed]] = _rotate(new_keys, *angles)[filed]
    values[slots[filed]] = new_values[filed]


def add_norm(
    x: torch.Tensor, residual: torch.Tensor | None, weight: torch.Tensor, eps: float
) -> torch.Tensor:
    """The norm of ``x + residual``; the sum is written to ``residual``."""
    if residual is None:
        return _norm(x, weight, eps)
    residual.copy_(x.float() + residual.float())
    return _norm(residual, weight, eps)


def silu_mul(gate_up: torch.Tensor) -> torch.Tensor:
    """SiLU of the first half times the second."""
    gate, up = gate_up.float().chunk(2, dim=-1)
    return (functional.silu(gate) * up).to(gate_up.dtype)


def _argmax(scores: torch.Tensor) -> torch.Tensor:
    # argmax takes nan as the largest value, but nan must lose, so that the token is a real id.
    return scores.masked_fill(scores.isnan(), -torch.inf).argmax(dim=-1)


def _mix(x: torch.Tensor) -> torch.Tensor:
    """Wellons' "lowbias32" on 32-bit values in int64; `_times` avoids overflows of int64."""
    x = x ^ (x >> 16)
    x = _times(x, 0x7FEB352D)
    x = x ^ (x >> 15)
    x = _times(x, 0x846CA68B)
    return x ^ (x >> 16)


def _times(x: torch.Tensor, factor: int) -> torch.Tensor:
    low, high = factor & 0xFFFF, factor >> 16
    return (x * low + ((x * high & 0xFFFF) << 16)) & _WORD


def _norm(x: torch.Tensor, weight: torch.Tensor, eps: float) -> torch.Tensor:
    wide = x.float()
    scale = (wide.square().mean(dim=-1, keepdim=True) + eps).rsqrt()
    return (wide * scale * weight.float()).to(x.dtype)


def _rotate(x: torch.Tensor, cos: torch.Tensor, sin: torch.Tensor) -> torch.Tensor:
    left, right = x.float().chunk(2, dim=-1)
    cos, sin = cos[:, None], sin[:, None]
    return torch.cat((left * cos - right * sin, right * cos + left * sin), dim=-1).to(x.dtype)

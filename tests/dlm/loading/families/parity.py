"""Logits of our model, uncached under a mask and cached block by block."""

from __future__ import annotations

import torch
from torch import Tensor

from dlm.kv_cache.cache import KVCache
from dlm.network.model import Rows, Transformer


def full(model: Transformer, ids: Tensor, sees: Tensor) -> Tensor:
    """(T, V) of ids (1, T) under a mask (T, T)."""
    positions = torch.arange(ids.shape[1])[None]
    return model.logits(model(ids, positions, sees[None, None])[0])


def cached(model: Transformer, ids: Tensor, block: int) -> Tensor:
    """(T, V) of ids (1, T): blocks one after the other, each committed as it saw itself."""
    cache, out = KVCache(model.config, ids.shape[1]), []
    for start in range(0, ids.shape[1], block):
        part = ids[0, start : start + block]
        hidden = model.packed(part, [Rows(cache, len(part), 0)])
        cache.commit(len(part))
        out.append(model.logits(hidden))
    return torch.cat(out)

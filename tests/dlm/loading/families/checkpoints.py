"""Tiny random checkpoints in foreign layouts, written as their makers write them.

Nothing here uses `dlm.loading.families`: names and shapes are spelled out again.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import load_file, save_file
from torch import Tensor

VOCABULARY, HIDDEN, WIDTH, LAYERS, HEADS, KV_HEADS, SIZE = 120, 32, 48, 3, 4, 2, 12
MASK, END = 119, 2


def shape(**changes: Any) -> dict[str, Any]:
    """Of a small Qwen, in its config's words."""
    sizes: dict[str, Any] = {
        "vocab_size": VOCABULARY,
        "hidden_size": HIDDEN,
        "intermediate_size": WIDTH,
        "num_hidden_layers": LAYERS,
        "num_attention_heads": HEADS,
        "num_key_value_heads": KV_HEADS,
        "max_position_embeddings": 512,
        "rms_norm_eps": 1e-5,
        "tie_word_embeddings": False,
        "rope_parameters": {"rope_type": "default", "rope_theta": 20_000.0},
    }
    return sizes | changes


def shaken(model: torch.nn.Module, seed: int = 5) -> Any:
    """Random weights, large enough that positions, biases and norms decide the logits."""
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for parameter in model.parameters():
            noise = torch.randn(parameter.shape, generator=generator)
            parameter.copy_(0.25 * noise if parameter.dim() > 1 else 1 + 0.2 * noise)
    return model.eval()


def reconfigure(directory: Path, **changes: Any) -> None:
    """Change keys of config.json; None takes one out."""
    file = directory / "config.json"
    raw = json.loads(file.read_text(encoding="utf-8")) | changes
    file.write_text(json.dumps({k: v for k, v in raw.items() if v is not None}), encoding="utf-8")


def rename(directory: Path, names: dict[str, str]) -> dict[str, Tensor]:
    """Rewrite the weights with parts of their names replaced; returns them."""
    file = directory / "model.safetensors"
    out = {}
    for name, tensor in load_file(file).items():
        for theirs, ours in names.items():
            name = name.replace(theirs, ours)
        out[name] = tensor.clone()
    save_file(out, file)
    return out


def penalty(sees: Tensor) -> Tensor:
    """A mask (T, T) as stock transformers takes it: additive, 4-D."""
    lowest = torch.finfo(torch.float32).min
    return torch.zeros(sees.shape).masked_fill(~sees, lowest)[None, None]


def block_causal(length: int, block: int) -> Tensor:
    """(T, T), true where a position may look: to the end of its own block."""
    own = torch.arange(length) // block
    return own[:, None] >= own[None, :]


def tokens(length: int, seed: int = 3) -> Tensor:
    return torch.randint(0, VOCABULARY, (1, length), generator=torch.Generator().manual_seed(seed))

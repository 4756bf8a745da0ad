"""Checkpoints on disk: safetensors with Qwen3's names, strict in both directions."""

from __future__ import annotations

import json
from pathlib import Path

import torch
from safetensors import safe_open
from safetensors.torch import save_file
from torch import Tensor

from dlm.config import ModelConfig
from dlm.model import Transformer

_FUSED = {
    "self_attn.qkv_proj.weight": ("self_attn.q_proj", "self_attn.k_proj", "self_attn.v_proj"),
    "mlp.gate_up_proj.weight": ("mlp.gate_proj", "mlp.up_proj"),
}


def load_model(
    directory: Path,
    dtype: torch.dtype = torch.float32,
    device: torch.device | str = "cpu",
) -> Transformer:
    """Build the model of a checkpoint directory and fill it.

    Args:
        directory: Holds config.json and model.safetensors, or shards and their index.
        dtype: Of the parameters.
        device: Where they go.

    Raises:
        FileNotFoundError: A file is missing.
        ValueError: A weight is missing, unexpected or of the wrong shape; the text names it.
    """
    config = ModelConfig.load(directory)
    with torch.device("meta"):
        model = Transformer(config)
    tensors = _read(directory)
    parameters = {}
    for name, parameter in model.state_dict().items():
        parts = []
        for part, rows in _parts(config, name, parameter):
            if part not in tensors:
                raise ValueError(f"{directory}: missing weight {part}")
            tensor, expected = tensors.pop(part), (rows, *parameter.shape[1:])
            if tuple(tensor.shape) != expected:
                raise ValueError(
                    f"{directory}: {part}: got shape {tuple(tensor.shape)}, expected {expected}"
                )
            parts.append(tensor.to(dtype))
        parameters[name] = torch.cat(parts) if len(parts) > 1 else parts[0]
    if tensors:
        raise ValueError(f"{directory}: unexpected weights {sorted(tensors)}")
    model.load_state_dict(parameters, assign=True)
    return model.to(device).eval().requires_grad_(False)


def save_model(model: Transformer, directory: Path, dtype: torch.dtype = torch.bfloat16) -> None:
    """Write config.json and model.safetensors; `load_model` reads them back.

    Args:
        model: What to write.
        directory: Made when missing.
        dtype: Of the parameters on disk.
    """
    directory.mkdir(parents=True, exist_ok=True)
    model.config.save(directory)
    tensors = {}
    for name, parameter in model.state_dict().items():
        parts = _parts(model.config, name, parameter)
        pieces = parameter.detach().to("cpu", dtype).split([rows for _, rows in parts])
        for (part, _), piece in zip(parts, pieces, strict=True):
            # Cloned, as safetensors writes no two tensors that share memory.
            tensors[part] = piece.clone()
    save_file(tensors, str(directory / "model.safetensors"), metadata={"format": "pt"})


def _read(directory: Path) -> dict[str, Tensor]:
    index = directory / "model.safetensors.index.json"
    if index.is_file():
        files = sorted(set(json.loads(index.read_text(encoding="utf-8"))["weight_map"].values()))
    else:
        files = ["model.safetensors"]
    tensors: dict[str, Tensor] = {}
    for name in files:
        if not (directory / name).is_file():
            raise FileNotFoundError(f"{directory / name}: no such weights file")
        with safe_open(str(directory / name), framework="pt") as shard:
            tensors |= {key: shard.get_tensor(key) for key in list(shard.keys())}
    # A tied head may be written out as well; it is the embedding again.
    tensors.pop("lm_head.weight", None)
    return tensors


def _parts(config: ModelConfig, name: str, parameter: Tensor) -> list[tuple[str, int]]:
    """What a parameter is on disk: names and row counts of the matrices that it is made of."""
    for fused, parts in _FUSED.items():
        if name.endswith(fused):
            prefix = name.removesuffix(fused)
            query = config.num_attention_heads * config.head_dim
            key = config.num_key_value_heads * config.head_dim
            rows = (query, key, key) if len(parts) == 3 else (config.intermediate_size,) * 2
            return [(f"model.{prefix}{p}.weight", n) for p, n in zip(parts, rows, strict=True)]
    return [(f"model.{name}", parameter.shape[0])]

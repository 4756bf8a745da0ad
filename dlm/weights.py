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
    tensors = _fuse(config, _read(directory))
    expected = {name: tensor.shape for name, tensor in model.state_dict().items()}
    missing = sorted(expected.keys() - tensors.keys())
    unexpected = sorted(tensors.keys() - expected.keys())
    if missing or unexpected:
        raise ValueError(f"{directory}: missing weights {missing}, unexpected weights {unexpected}")
    for name, shape in expected.items():
        if tensors[name].shape != shape:
            raise ValueError(
                f"{directory}: {name}: got shape {tuple(tensors[name].shape)}, "
                f"expected {tuple(shape)}"
            )
    model.load_state_dict({n: t.to(dtype) for n, t in tensors.items()}, assign=True)
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
    tensors = {
        name: tensor.detach().to("cpu", dtype).contiguous().clone()
        for name, tensor in _split(model.config, model.state_dict()).items()
    }
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
            for key in shard.keys():  # noqa: SIM118 - safe_open is not a dict
                tensors[key.removeprefix("model.")] = shard.get_tensor(key)
    # A tied head may be written out as well; it is the embedding again.
    tensors.pop("lm_head.weight", None)
    return tensors


def _parts(config: ModelConfig, name: str) -> list[tuple[str, int]]:
    """Names and row counts of the matrices that a fused parameter is made of; none if it is not."""
    for fused, parts in _FUSED.items():
        if name.endswith(fused):
            prefix = name.removesuffix(fused)
            query = config.num_attention_heads * config.head_dim
            key = config.num_key_value_heads * config.head_dim
            rows = (query, key, key) if len(parts) == 3 else (config.intermediate_size,) * 2
            return [(f"{prefix}{part}.weight", n) for part, n in zip(parts, rows, strict=True)]
    return []


def _split(config: ModelConfig, tensors: dict[str, Tensor]) -> dict[str, Tensor]:
    out: dict[str, Tensor] = {}
    for name, tensor in tensors.items():
        parts = _parts(config, name)
        pieces = torch.split(tensor, [rows for _, rows in parts]) if parts else (tensor,)
        for part, piece in zip([p for p, _ in parts] or [name], pieces, strict=True):
            out[f"model.{part}"] = piece
    return out


def _fuse(config: ModelConfig, tensors: dict[str, Tensor]) -> dict[str, Tensor]:
    out = dict(tensors)
    with torch.device("meta"):
        names = list(Transformer(config).state_dict())
    for name in names:
        parts = [part for part, _ in _parts(config, name)]
        if parts and all(part in out for part in parts):
            out[name] = torch.cat([out.pop(part) for part in parts])
    return out

"""Converts Whisper's weights between CTranslate2's file and torch, and computes its forward.

A model is a dict of tensors under the names that CTranslate2 gives them, so nothing is renamed on
the way in or out. B is a batch, T mel frames (100 a second), S = T / 2 encoder states, L tokens,
D the width, V the vocabulary.

``python -m voice.finetune.weights IN... --out OUT`` writes the mean of model folders in 8-bit
integers. A mean of the packaged model and several checkpoints of a run still knows words that the
run's clips lack.

Sources: Radford et al. 2022 (the network); Wortsman et al. 2022, "Model soups" and "Robust
fine-tuning of zero-shot models" (the mean).
"""

from __future__ import annotations

import argparse
import json
import shutil
from collections.abc import Mapping, Sequence
from importlib.metadata import distribution
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn import functional

from dlm.command_line import told
from voice.hearing.asr.model_file import ModelFile, eight_bit, read, write
from voice.hearing.asr.packaged import PACKAGED, read_packaged

_HEAD = 64
"""The width of one attention head in every size of Whisper."""
EMBEDDINGS = "decoder/embeddings/weight"
_QUANTISED = ("linear_0/weight", "linear_1/weight", "linear_2/weight", "embeddings/weight")

Weights = Mapping[str, Tensor]


def packaged_folder() -> Path:
    """The folder of the packaged tiny.en.

    Raises:
        ModelError: The package is not installed, or its weights are not the expected ones.
    """
    read_packaged("tiny.en")
    package, file, _ = PACKAGED["tiny.en"]["model.bin"][0]
    return Path(str(distribution(package).locate_file(file))).parent


def tensors(model: ModelFile) -> dict[str, Tensor]:
    """The weights in float32, with 8-bit matrices divided by their scales."""
    found = {}
    for name, array in model.arrays.items():
        if name.endswith("_scale") or array.ndim == 0:
            continue
        values = array.astype(np.float32)
        if array.dtype == np.int8:
            values /= model.arrays[name + "_scale"].astype(np.float32)[:, None]
        found[name] = torch.from_numpy(values)
    return found


def quantised(model: ModelFile, weights: Weights) -> ModelFile:
    """The model with other weights, its matrices in 8 bits with a scale for each row."""
    arrays: dict[str, NDArray[np.generic]] = {}
    for name, array in model.arrays.items():
        if name.endswith("_scale"):
            continue
        if name not in weights:
            arrays[name] = array
            continue
        values = weights[name].detach().float().numpy()
        if name.endswith(_QUANTISED):
            arrays[name], arrays[name + "_scale"] = eight_bit(values)
        else:
            arrays[name] = values.astype(np.float32)
    return ModelFile(model.spec, model.revision, arrays, model.aliases)


def export(
    source: Path, weights: Weights, target: Path, settings: Mapping[str, object] | None = None
) -> None:
    """Write a folder that CTranslate2 and faster-whisper load, with ``source``'s tokenizer.

    Args:
        settings: Settings in config.json that override ``source``'s.
    """
    target.mkdir(parents=True, exist_ok=True)
    write(quantised(read((source / "model.bin").read_bytes()), weights), target / "model.bin")
    for other in source.iterdir():
        if other.is_file() and other.name != "model.bin":
            shutil.copyfile(other, target / other.name)
    config = json.loads((source / "config.json").read_text(encoding="utf-8")) | (settings or {})
    (target / "config.json").write_text(json.dumps(config) + "\n", encoding="utf-8")


def encode(weights: Weights, mel: Tensor) -> Tensor:
    """Encoder states (B, S, D) of log-mel features (B, 80, T), T even and at most 3,000."""
    x = mel
    for conv, stride in (("encoder/conv1", 1), ("encoder/conv2", 2)):
        bias = weights[conv + "/bias"]
        x = functional.gelu(functional.conv1d(x, weights[conv + "/weight"], bias, stride, 1))
    x = x.transpose(1, 2) + weights["encoder/position_encodings/encodings"][: x.shape[2]]
    for layer in _layers(weights, "encoder"):
        x = _self_attention(weights, layer, x, causal=False)
        x = _feed_forward(weights, layer, x)
    return _norm(weights, "encoder", x)


def decode(weights: Weights, tokens: Tensor, states: Tensor) -> Tensor:
    """Logits (B, L, V) for the token after each of ``tokens`` (B, L) int64, given the states."""
    return functional.linear(decoder_states(weights, tokens, states), weights[EMBEDDINGS])


def decoder_states(weights: Weights, tokens: Tensor, states: Tensor) -> Tensor:
    """The decoder's final states (B, L, D), from which the logits are computed."""
    x = functional.embedding(tokens, weights[EMBEDDINGS])
    x = x + weights["decoder/position_encodings/encodings"][: tokens.shape[1]]
    for layer in _layers(weights, "decoder"):
        x = _self_attention(weights, layer, x, causal=True)
        x = _cross_attention(weights, f"{layer}/attention", x, states)
        x = _feed_forward(weights, layer, x)
    return _norm(weights, "decoder", x)


def trainable(name: str) -> bool:
    """Whether a tensor is fine-tuned: all but the token embeddings and the positions."""
    return name != EMBEDDINGS and "position_encodings" not in name


def _layers(weights: Weights, part: str) -> list[str]:
    names = dict.fromkeys("/".join(name.split("/")[:2]) for name in weights)
    return [name for name in names if name.startswith(f"{part}/layer_") and name[-1].isdigit()]


def _linear(weights: Weights, name: str, x: Tensor) -> Tensor:
    return functional.linear(x, weights[name + "/weight"], weights[name + "/bias"])


def _norm(weights: Weights, name: str, x: Tensor) -> Tensor:
    name += "/layer_norm"
    return functional.layer_norm(x, x.shape[-1:], weights[name + "/gamma"], weights[name + "/beta"])


def _self_attention(weights: Weights, layer: str, x: Tensor, causal: bool) -> Tensor:
    name = layer + "/self_attention"
    q, k, v = _linear(weights, name + "/linear_0", _norm(weights, name, x)).chunk(3, dim=-1)
    return x + _linear(weights, name + "/linear_1", _attend(q, k, v, causal))


def _cross_attention(weights: Weights, name: str, x: Tensor, states: Tensor) -> Tensor:
    q = _linear(weights, name + "/linear_0", _norm(weights, name, x))
    k, v = _linear(weights, name + "/linear_1", states).chunk(2, dim=-1)
    return x + _linear(weights, name + "/linear_2", _attend(q, k, v, causal=False))


def _feed_forward(weights: Weights, layer: str, x: Tensor) -> Tensor:
    name = layer + "/ffn"
    inner = functional.gelu(_linear(weights, name + "/linear_0", _norm(weights, name, x)))
    return x + _linear(weights, name + "/linear_1", inner)


def _attend(q: Tensor, k: Tensor, v: Tensor, causal: bool) -> Tensor:
    """Attention in plain products: a fifth faster here than torch's own, above all backwards."""
    q, k, v = (part.reshape(*part.shape[:2], -1, _HEAD).transpose(1, 2) for part in (q, k, v))
    scores = (q * _HEAD**-0.5) @ k.transpose(2, 3)
    if causal:
        scores = scores + torch.full_like(scores[0, 0], -torch.inf).triu(1)
    mixed: Tensor = scores.softmax(-1).to(v.dtype) @ v
    return mixed.transpose(1, 2).flatten(2)


def mean(models: Sequence[Weights]) -> dict[str, Tensor]:
    """The mean of each tensor over models of the same shape."""
    return {name: torch.stack([model[name] for model in models]).mean(0) for name in models[0]}


def main(arguments: list[str] | None = None) -> None:
    """Read the command line and write the folder.

    Raises:
        SystemExit: 2 if a file cannot be read or written.
    """
    parser = argparse.ArgumentParser(
        "python -m voice.finetune.weights", description=str(__doc__).split("\n")[0]
    )
    parser.add_argument("sources", type=Path, nargs="+", help="folders with a model.bin")
    parser.add_argument("--out", type=Path, required=True, help="gets the last one's config.json")
    options = parser.parse_args(arguments)
    with told(parser):
        models = [tensors(read((source / "model.bin").read_bytes())) for source in options.sources]
        export(options.sources[-1], mean(models), options.out)


if __name__ == "__main__":
    main()

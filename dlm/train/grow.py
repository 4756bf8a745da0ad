"""``python -m dlm.train.grow CHECKPOINT --layers 0,1,1,2 --out DIR``: a deeper checkpoint.

Layers that are named again are copies whose outputs begin at zero, so that the deeper model
computes what the shallower one did until training changes it.

Source: block expansion (arXiv 2401.02415).
"""

from __future__ import annotations

import argparse
import shutil
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import torch

from dlm.loading.weights import load_model, save_model
from dlm.network.model import OUTPUTS, Transformer


def grown(model: Transformer, layers: Sequence[int]) -> Transformer:
    """A model with more layers and the same outputs.

    Args:
        model: Of our own family.
        layers: The layers in their new order; the first of a number is the layer itself, further
            ones are copies that write nothing yet.

    Raises:
        ValueError: A layer is missing, unknown or out of order, or the model has experts.
    """
    count = model.config.num_hidden_layers
    if list(dict.fromkeys(layers)) != list(range(count)) or list(layers) != sorted(layers):
        raise ValueError(f"layers: got {list(layers)}, expected 0 to {count - 1} in order, each")
    if model.config.experts is not None:
        raise ValueError("expected a model without experts")
    deeper = Transformer(replace(model.config, num_hidden_layers=len(layers)))
    weights = model.state_dict()
    made = {n: tensor for n, tensor in weights.items() if not n.startswith("layers.")}
    for place, layer in enumerate(layers):
        copied = layer in layers[:place]
        for name, tensor in model.layers[layer].state_dict().items():
            silent = copied and name.endswith(OUTPUTS)
            made[f"layers.{place}.{name}"] = torch.zeros_like(tensor) if silent else tensor
    deeper.load_state_dict(made)
    return deeper


def main(arguments: list[str] | None = None) -> None:
    """Read the command line, write, and say how large it became.

    Raises:
        SystemExit: What was asked for cannot be done, 2.
    """
    parser = argparse.ArgumentParser(prog="dlm.train.grow", description=__doc__)
    parser.add_argument("checkpoint", type=Path, help="directory of a checkpoint")
    parser.add_argument("--layers", required=True, help="in their new order, with commas")
    parser.add_argument("--out", type=Path, required=True, help="directory of the deeper one")
    options = parser.parse_args(arguments)
    try:
        if options.out.resolve() == options.checkpoint.resolve():
            raise ValueError(f"{options.out}: got the checkpoint's own directory, expected another")
        layers = [int(word) for word in options.layers.split(",")]
        model = grown(load_model(options.checkpoint), layers)
        save_model(model, options.out)
        shutil.copyfile(options.checkpoint / "tokenizer.json", options.out / "tokenizer.json")
    except (ValueError, OSError) as error:
        parser.exit(2, f"{parser.prog}: {error}\n")
    size = sum(parameter.numel() for parameter in model.parameters())
    print(f"{options.out}: {len(layers)} layers, {size:,} parameters")


if __name__ == "__main__":
    main()

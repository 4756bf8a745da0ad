"""Loads a checkpoint: its model and its dialect."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import torch

from dlm.language.chat_format import Dialect
from dlm.language.chat_template import ChatTemplate
from dlm.language.template import Template
from dlm.language.tokenizer import Tokenizer
from dlm.loading.families.registry import recognise
from dlm.loading.hub import find
from dlm.loading.placement import best_device, best_dtype, best_threads, usable_device
from dlm.loading.weights import load_model
from dlm.network.config import MODEL_TYPE
from dlm.network.int8 import round_weights
from dlm.network.model import Transformer


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """A loaded checkpoint.

    Attributes:
        name: Name of its directory or hub repository.
        model: The model, on its device and in its dtype.
        dialect: Turns dialogues into ids, and ids into answers.
    """

    name: str
    model: Transformer
    dialect: Dialect


def load_checkpoint(
    checkpoint: str | Path,
    dtype: torch.dtype | None = None,
    device: torch.device | str | None = None,
    threads: int = 0,
) -> Checkpoint:
    """Load a checkpoint of any known family.

    Args:
        checkpoint: A directory in the Hugging Face layout, or ``owner/name`` on the hub.
        dtype: Type of the parameters; int8 rounds the matrices (`dlm.network.int8`) and leaves the
            rest in float32. None chooses the fastest (`dlm.loading.placement`).
        device: Device of the parameters; None chooses CUDA if there is a CUDA device.
        threads: Most threads of a rounded model; 0 chooses the fastest number.

    Raises:
        FileNotFoundError: A file is missing, or a repository cannot be downloaded.
        ValueError: The checkpoint is of no known family or malformed, int8 is requested on a device
            that is not a CPU, or there is no such device; the text says which.
    """
    directory = find(checkpoint)
    family, config = recognise(directory)
    place = best_device() if device is None else usable_device(device)
    dialect: Dialect
    if family.model_type == MODEL_TYPE:
        dialect = Template(Tokenizer.load(directory), config.declarations)
        marks = (config.mask_token_id, config.eos_token_id)
        if marks != (dialect.mask, dialect.end):
            raise ValueError(
                f"{directory}: mask_token_id, eos_token_id: got {marks}, "
                f"expected {(dialect.mask, dialect.end)}"
            )
    else:
        dialect = ChatTemplate.load(directory, config)
    if dialect.size > config.vocab_size:
        raise ValueError(
            f"{directory}: tokenizer: got {dialect.size} entries, the model has {config.vocab_size}"
        )
    kind = dtype or best_dtype(config, place)
    if kind == torch.int8:
        if place.type != "cpu":
            raise ValueError(f"dtype: got int8 on {place}, expected a CPU")
        model = load_model(directory, torch.float32, place)
        round_weights(model, threads or best_threads(config))
    else:
        model = load_model(directory, kind, place)
    name = str(checkpoint) if not Path(checkpoint).is_dir() else directory.resolve().name
    return Checkpoint(name, model, dialect)

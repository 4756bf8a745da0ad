"""Reads and writes checkpoints: safetensors under a family's names, none missing or unexpected."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file
from torch import Tensor

from dlm.loading.families.family import QWEN, Family, Part
from dlm.loading.families.registry import recognise
from dlm.loading.hub import placed, weight_files
from dlm.loading.products import based, parameters_of
from dlm.loading.sums import SUMS, check_sums
from dlm.network.config import ModelConfig
from dlm.network.model import Transformer

SCALE = "_scale"
"""Suffix of the names of row scales of matrices stored in 8 bits (`dlm.train.export`)."""

_READABLE = ("F64", "F32", "F16", "BF16")


def load_model(
    directory: Path,
    dtype: torch.dtype = torch.float32,
    device: torch.device | str = "cpu",
) -> Transformer:
    """Build the model of a checkpoint directory and load its weights.

    Args:
        directory: Holds config.json and model.safetensors, or shards and their index.
        dtype: Type of the parameters.
        device: Device of the parameters.

    Raises:
        FileNotFoundError: A file is missing.
        ValueError: The checkpoint is of no known family or malformed; a file differs from its sum
            (`dlm.loading.sums`); or a weight is missing, unexpected, or of the wrong shape or type.
            The text names it.
    """
    check_sums(directory)
    family, config = recognise(directory)
    with torch.device("meta"):
        model = Transformer(config)
    shapes = {name: parameter.shape for name, parameter in model.state_dict().items()}
    if base := based(directory):
        read = parameters_of(directory, base, config, shapes)
        parameters = {name: tensor.to(device, dtype) for name, tensor in read}
    else:
        parameters = _parameters(directory, family, config, shapes, dtype, device)
    model.load_state_dict(parameters, assign=True)
    return model.eval().requires_grad_(False)


def _parameters(
    directory: Path,
    family: Family,
    config: ModelConfig,
    shapes: Mapping[str, torch.Size],
    dtype: torch.dtype,
    device: torch.device | str,
) -> dict[str, Tensor]:
    with _opened(directory) as shards:
        parameters = {}
        for name, shape in shapes.items():
            parts = family.names.parts(config, name, shape)
            tensors = [shards.take(part).to(device, dtype) for part in parts]
            whole = torch.cat(tensors) if len(tensors) > 1 else tensors[0]
            parameters[name] = whole.view(shape)
        if config.tie_word_embeddings:
            # A tied head may be stored as well; then it must equal the embedding.
            outer = family.names.outer
            shards.drop_copy(outer["lm_head.weight"], parameters["embed_tokens.weight"])
        shards.finish()
    return parameters


def save_model(
    model: Transformer,
    directory: Path,
    dtype: torch.dtype = torch.bfloat16,
    state: Mapping[str, Tensor] | None = None,
) -> None:
    """Write config.json and model.safetensors of the shipped family; `load_model` reads them back.

    Args:
        model: The model to write.
        directory: Created if it is missing; weights that are in it are replaced.
        dtype: Type of the parameters on disk.
        state: Parameters to write instead of the model's own, which training may hold in another
            form.

    Raises:
        OSError: A file cannot be written.
    """
    directory.mkdir(parents=True, exist_ok=True)
    model.config.save(directory)
    tensors = {}
    for name, parameter in (state or model.state_dict()).items():
        parts = QWEN.parts(model.config, name, parameter.shape)
        pieces = parameter.detach().to("cpu", dtype).split([part.shape[0] for part in parts])
        for part, piece in zip(parts, pieces, strict=True):
            # Cloned, because safetensors refuses tensors that share memory.
            tensors[part.name] = piece.clone()
    file = directory / "model.safetensors"
    try:
        save_file(tensors, str(file), metadata={"format": "pt"})
    except SafetensorError as error:
        raise OSError(f"{file}: {error}") from error
    # An old index would be read instead of this file, and sums of old weights would not fit it.
    for old in (*directory.glob("model*.safetensors*"), directory / SUMS):
        if old != file:
            old.unlink(missing_ok=True)


class _Shards:
    """Open weight files; each weight is read when it is taken, and can be taken once."""

    def __init__(self, directory: Path, where: dict[str, Any]) -> None:
        self._directory = directory
        self._where = where

    def take(self, part: Part) -> Tensor:
        name = part.name
        if name not in self._where:
            raise ValueError(f"{self._directory}: missing weight {name}")
        stored = self._where.pop(name).get_slice(name)
        shape = tuple(stored.get_shape())
        if shape != part.shape:
            raise ValueError(f"{self._directory}: {name}: got shape {shape}, expected {part.shape}")
        if stored.get_dtype() == "I8" and name + SCALE in self._where:
            scale = self._where.pop(name + SCALE).get_tensor(name + SCALE)
            return stored[:].float() * scale  # type: ignore[no-any-return]
        if stored.get_dtype() not in _READABLE:
            raise ValueError(
                f"{self._directory}: {name}: got type {stored.get_dtype()}, expected one of "
                f"{_READABLE}"
            )
        return stored[:]  # type: ignore[no-any-return]

    def drop_copy(self, name: str, original: Tensor) -> None:
        """Take a weight that must be a copy of another, if it is there."""
        if name not in self._where:
            return
        copy = self.take(Part(name, tuple(original.shape)))
        if not torch.equal(copy.to(original.device, original.dtype), original):
            raise ValueError(
                f"{self._directory}: {name}: differs from the embedding, to which config.json "
                "ties it"
            )

    def finish(self) -> None:
        if self._where:
            raise ValueError(f"{self._directory}: unexpected weights {sorted(self._where)}")


@contextmanager
def _opened(directory: Path) -> Iterator[_Shards]:
    place = placed(directory)
    with ExitStack() as stack:
        where: dict[str, Any] = {}
        for file in weight_files(directory):
            path = directory / file
            if not path.is_file():
                raise FileNotFoundError(f"{path}: no such weights file")
            try:
                shard = stack.enter_context(safe_open(str(path), framework="pt"))
            except SafetensorError as error:
                raise ValueError(f"{path}: {error}") from error
            for name in shard.keys():  # noqa: SIM118
                if name in where or (place is not None and place.get(name) != file):
                    raise ValueError(f"{path}: got weight {name}, which the index puts elsewhere")
                where[name] = shard
        yield _Shards(directory, where)

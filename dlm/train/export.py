"""``python -m dlm.train.export RUN --out DIR``: a run's weights as a checkpoint to keep.

Weights are written to files of bounded size with an index, in bfloat16 or, at half the size, in 8
bits: each row of a matrix is whole numbers from -127 to 127 times one scale. Loading turns them
into float32 again, so 8 bits save disk space and transfer but no computation. For a run of
`dlm.train.low_rank`, the products alone can be written; loading adds them to the base model.
"""

from __future__ import annotations

import argparse
import json
import shutil
from collections.abc import Mapping
from pathlib import Path

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file, save_file
from torch import Tensor

from dlm.command_line import number, told
from dlm.language.tokenizer import Mark, Tokenizer
from dlm.loading.gguf import Base
from dlm.loading.hub import weight_files
from dlm.loading.products import LAYERS, VECTORS, VOCABULARY, Source, carved
from dlm.loading.sums import write_sums
from dlm.loading.weights import SCALE, load_model
from dlm.network.model import Transformer
from dlm.train.low_rank import products_of

Weights = dict[str, Tensor]

MIB = 2**20
_INDEX = "model.safetensors.index.json"
SHARD_MIB = 14.0
"""Below the 15 MiB that a file in the repository may have."""


def quantised(tensors: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Matrices as int8 with a scale for each row; vectors as they are.

    Returns:
        Each matrix (R, C) as int8, and beside it its scales (R, 1) float32 under ``NAME_scale``.
    """
    out = {}
    for name, tensor in tensors.items():
        if tensor.dim() != 2:
            out[name] = tensor
            continue
        exact = tensor.float()
        scale = exact.abs().amax(dim=1, keepdim=True).clamp(min=1e-12) / 127
        out[name] = (exact / scale).round().to(torch.int8)
        out[name + SCALE] = scale
    return out


def shards(tensors: Mapping[str, Tensor], limit: int) -> list[dict[str, Tensor]]:
    """Tensors in groups of at most ``limit`` bytes, in order.

    Raises:
        ValueError: One tensor alone is larger.
    """
    groups: list[dict[str, Tensor]] = [{}]
    room = limit
    for name, tensor in tensors.items():
        size = tensor.numel() * tensor.element_size()
        if size > limit:
            raise ValueError(f"{name}: got {size} bytes, expected at most {limit} for a file")
        if size > room:
            groups.append({})
            room = limit
        groups[-1][name] = tensor
        room -= size
    return groups


def write(tensors: Mapping[str, Tensor], directory: Path, limit: int) -> list[Path]:
    """Write weights to one file, or to several with an index if they exceed the limit.

    Args:
        directory: Weights that are already in it are replaced.
        limit: Most bytes of weights in a file.

    Returns:
        The weights' files.

    Raises:
        ValueError: A tensor is too large for a file; existing weights are kept.
        OSError: A file cannot be written; existing weights are kept.
    """
    # Existing weights are replaced only after everything has been written.
    groups = shards(tensors, limit)
    directory.mkdir(parents=True, exist_ok=True)
    count = len(groups)
    names = [f"model-{i:05}-of-{count:05}.safetensors" for i in range(1, count + 1)]
    if count == 1:
        names = ["model.safetensors"]
    made: dict[str, Path] = {}
    try:
        for name, group in zip(names, groups, strict=True):
            made[name] = directory / f"{name}.partial"
            save_file(group, str(made[name]), metadata={"format": "pt"})
        if count > 1:
            index = {
                "metadata": {"total_size": sum(t.nbytes for t in tensors.values())},
                "weight_map": {key: n for n, g in zip(names, groups, strict=True) for key in g},
            }
            made[_INDEX] = directory / f"{_INDEX}.partial"
            made[_INDEX].write_text(json.dumps(index, indent=1) + "\n", encoding="utf-8")
    except (SafetensorError, OSError) as error:
        for partial in made.values():
            partial.unlink(missing_ok=True)
        raise OSError(f"{directory}: cannot be written: {error}") from error
    for old in directory.glob("model*.safetensors*"):
        if old not in made.values():
            old.unlink()
    for name, partial in made.items():
        partial.replace(directory / name)
    return [directory / name for name in names]


def blended(ours: Mapping[str, Tensor], theirs: Mapping[str, Tensor], share: float) -> Weights:
    """A weighted mean of two checkpoints' weights.

    A run that continued from another has learned new data and forgotten a little of the old; the
    weights in between are often better at both than either checkpoint is.

    Args:
        share: Weight of ``theirs``, in [0, 1].

    Raises:
        ValueError: Names or shapes differ, or the share is out of range.

    Source: model soups (arXiv 2203.05482).
    """
    if not 0 <= share <= 1:
        raise ValueError(f"share: got {share}, expected 0 to 1")
    if {n: t.shape for n, t in ours.items()} != {n: t.shape for n, t in theirs.items()}:
        raise ValueError("expected two checkpoints of one shape")
    return {n: torch.lerp(t.float(), theirs[n].float(), share).to(t.dtype) for n, t in ours.items()}


def stored(directory: Path) -> Weights:
    """Read a checkpoint's weights from one file or several; 8-bit weights become float32.

    Raises:
        FileNotFoundError: A file is missing.
        ValueError: The index is malformed, a file is damaged, or the weights are changes of a base.
    """
    found: Weights = {}
    for file in weight_files(directory):
        try:
            found |= load_file(str(directory / file))
        except SafetensorError as error:
            raise ValueError(f"{directory / file}: {error}") from error
    if VOCABULARY in found:
        # Its ids would be rounded, and a matrix cannot be mixed with its change.
        raise ValueError(f"{directory}: got changes of a base, expected whole weights")
    scales = {name: found.pop(name + SCALE) for name in list(found) if name + SCALE in found}
    return {n: t.float() * scales[n] if n in scales else t for n, t in found.items()}


def export(
    run: Path, out: Path, int8: bool, limit: int, blend: tuple[Path, float] | None = None
) -> list[Path]:
    """Write a run's checkpoint with its configuration and tokenizer; returns the weights' files.

    Args:
        int8: Whether matrices are stored in 8 bits.
        limit: Most bytes of weights in a file.
        blend: Another run of the same model, and its share of the weights.

    Raises:
        OSError: A run has saved nothing yet, or a file cannot be written.
        ValueError: A tensor is too large for a file, the other run has another shape or is damaged,
            or ``out`` is the run's own directory.
    """
    if out.resolve() == run.resolve():
        raise ValueError(f"{out}: got the run's own directory, expected another")
    tensors = stored(run)
    if blend:
        other, share = blend
        tensors = blended(tensors, stored(other), share)
    if int8:
        tensors = quantised(tensors)
    else:
        tensors = {name: tensor.to(torch.bfloat16) for name, tensor in tensors.items()}
    files = write(tensors, out, limit)
    for name in ("config.json", "tokenizer.json"):
        shutil.copyfile(run / name, out / name)
    write_sums([*files, out / "tokenizer.json"], out)
    return files


def export_products(
    run: Path, out: Path, rank: int, limit: int, source: Source, place: Path
) -> list[Path]:
    """Write how a run differs from its base (`dlm.loading.products`), and return the files.

    Args:
        run: A run whose vocabulary consists of the marks and entries of the base's.
        rank: Rank of the products.
        limit: Most bytes of weights in a file.
        source: The base.
        place: Directory of the base's file, used if its package is not installed.

    Raises:
        OSError: A file is missing or cannot be written.
        ValueError: The base's file is not the expected one, or the run was not made from it or
            differs from it by more than such products.
    """
    if out.resolve() == run.resolve():
        raise ValueError(f"{out}: got the run's own directory, expected another")
    model = load_model(run)
    base = Base(source.find(place))
    tokenizer = Tokenizer.load(run)
    ids = {token: number for number, token in enumerate(base.tokens)}
    tokens = [tokenizer.bpe.id_to_token(number) for number in range(model.config.vocab_size)]
    vocabulary = [-1] * len(Mark) + [ids.get(token or "", -1) for token in tokens[len(Mark) :]]
    tensors = {
        VOCABULARY: torch.tensor(vocabulary, dtype=torch.int32),
        LAYERS: torch.tensor(_layers_in(model, base), dtype=torch.int32),
    }
    shapes = {name: tensor.shape for name, tensor in model.state_dict().items()}
    layers: list[int] = tensors[LAYERS].tolist()
    began = dict(carved(base, model.config, shapes, tensors[VOCABULARY], layers))
    vectors, own = model.embed_tokens.weight, tensors[VOCABULARY] < 0
    if not torch.equal(vectors[~own], began["embed_tokens.weight"][~own]):
        raise ValueError(f"{run}: word vectors differ from those of the base")
    tensors |= {VECTORS: vectors[own], **products_of(model, began, rank)}
    files = write(tensors, out, limit)
    model.config.save(out)
    source.note(out)
    shutil.copyfile(run / "tokenizer.json", out / "tokenizer.json")
    write_sums([*files, out / "tokenizer.json"], out)
    return files


def _layers_in(model: Transformer, base: Base) -> list[int]:
    """Which of the base's layers a model has, found by their norms, which stay frozen."""
    name = "model.layers.{}.input_layernorm.weight"
    norms = [base.take(name.format(n)) for n in range(base.config["num_hidden_layers"])]
    found = []
    for layer in model.layers:
        weight = layer.get_parameter("input_layernorm.weight")
        alike = [n for n, norm in enumerate(norms) if torch.equal(norm.bfloat16().float(), weight)]
        if not alike:
            raise ValueError("a layer is none of the base's")
        found.append(alike[0])
    return found


def main(arguments: list[str] | None = None) -> None:
    """Read the command line, write the files and print their sizes.

    Raises:
        SystemExit: 2 if what was asked for cannot be done.
    """
    parser = argparse.ArgumentParser(prog="dlm.train.export", description=__doc__)
    parser.add_argument("run", type=Path, help="directory of a run, or of a checkpoint")
    parser.add_argument("--out", type=Path, required=True, help="directory of the checkpoint")
    parser.add_argument("--int8", action="store_true", help="matrices in 8 bits")
    parser.add_argument("--shard-mib", type=float, default=SHARD_MIB, help="most in one file")
    parser.add_argument("--blend", type=Path, help="a run whose weights are mixed in")
    parser.add_argument("--blend-share", type=float, default=0.3, help="its share of the weights")
    parser.add_argument(
        "--products", type=number(int), metavar="RANK", help="what a base differs in"
    )
    parser.add_argument("--base", type=Path, help="directory of the base's file, if not installed")
    options = parser.parse_args(arguments)
    blend = (options.blend, options.blend_share) if options.blend else None
    limit = int(options.shard_mib * MIB)
    if options.products and (blend or options.int8):
        parser.error("--products: got --blend or --int8 as well, expected one of them")
    with told(parser):
        if options.products:
            place = options.base or options.run
            run, rank = options.run, options.products
            files = export_products(run, options.out, rank, limit, Source(), place)
        else:
            files = export(options.run, options.out, options.int8, limit, blend)
    for file in files:
        print(f"{file} {file.stat().st_size / MIB:.1f} MiB")


if __name__ == "__main__":
    main()

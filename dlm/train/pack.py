"""``python -m dlm.train.pack``: write dialogues into one file that a run can train from.

A machine that has the checkout and this file needs neither the corpora nor the generator's time.
The file is a compressed NumPy archive: all ids laid end to end, each dialogue's length, the ranges
of its answers, the same of held-out dialogues, the tokenizer, and what the data are. It is read
whole.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

import numpy as np

from dlm.command_line import number, told
from dlm.language.template import Encoded, Template
from dlm.language.tokenizer import Tokenizer
from dlm.train.config import TrainConfig
from dlm.train.data import Mixture, held_out_rows, learn, shares, short, training_rows
from dlm.train.machine import CONFIGS, machine

Arrays = dict[str, np.ndarray[Any, Any]]
FORMAT = 1
_ARRAYS = ("ids", "ends", "answers", "answer_ends")


@dataclass(frozen=True, slots=True)
class Dialogues(Sequence[Encoded]):
    """Many dialogues in few arrays.

    Attributes:
        ids: (tokens,) uint16, laid end to end.
        ends: (n,) int64, where each dialogue ends in ``ids``.
        answers: (m, 2) uint16, ranges within their dialogue.
        answer_ends: (n,) int64, where each dialogue's ranges end in ``answers``.
    """

    ids: np.ndarray[Any, Any]
    ends: np.ndarray[Any, Any]
    answers: np.ndarray[Any, Any]
    answer_ends: np.ndarray[Any, Any]

    @classmethod
    def of(cls, rows: Iterable[Encoded]) -> Dialogues:
        """Lay dialogues end to end.

        Raises:
            ValueError: An id or a position does not fit in 16 bits.
        """
        ids: list[np.ndarray[Any, Any]] = []
        answers: list[tuple[int, int]] = []
        lengths, counts = [], []
        for row in rows:
            if len(row.ids) > 0xFFFF or (row.ids and max(row.ids) > 0xFFFF):
                raise ValueError(
                    f"got {len(row.ids)} tokens up to id {max(row.ids)}, expected at most {0xFFFF}"
                )
            ids.append(np.asarray(row.ids, dtype=np.uint16))
            answers += row.answers
            lengths.append(len(row.ids))
            counts.append(len(row.answers))
        return cls(
            np.concatenate(ids) if ids else np.empty(0, np.uint16),
            np.cumsum(lengths, dtype=np.int64),
            np.asarray(answers, dtype=np.uint16).reshape(-1, 2),
            np.cumsum(counts, dtype=np.int64),
        )

    def __len__(self) -> int:
        return len(self.ends)

    def __getitem__(self, index: Any) -> Any:
        """The dialogue of this number; slices are not supported."""
        if not 0 <= index < len(self):
            raise IndexError(f"got dialogue {index}, expected 0 to {len(self) - 1}")
        ids, answers = (
            slice(int(ends[index - 1]) if index else 0, int(ends[index]))
            for ends in (self.ends, self.answer_ends)
        )
        ranges = [(int(start), int(end)) for start, end in self.answers[answers]]
        return Encoded(self.ids[ids].tolist(), ranges)


@dataclass(frozen=True, slots=True)
class PackedData:
    """The content of a file.

    Attributes:
        train: Dialogues to learn from.
        heldout: Dialogues to evaluate on; may be empty.
        tokenizer: Text of tokenizer.json.
        source: Where the data come from: seed, shares, commit, number of tokens.
    """

    train: Dialogues
    heldout: Dialogues
    tokenizer: str
    source: dict[str, Any]


def write(file: Path, data: PackedData) -> None:
    """Write a file; an existing one is replaced atomically, once all is written."""
    arrays: Arrays = {
        "format": np.asarray(FORMAT),
        "tokenizer": np.frombuffer(data.tokenizer.encode(), dtype=np.uint8),
        "told": np.frombuffer(json.dumps(data.source).encode(), dtype=np.uint8),
    }
    for name, part in (("train", data.train), ("heldout", data.heldout)):
        arrays |= {f"{name}_{key}": getattr(part, key) for key in _ARRAYS}
    partial = file.with_name(f"{file.name}.partial")
    with partial.open("wb") as out:
        # NumPy's type hints take any keyword for one of savez_compressed's own parameters.
        np.savez_compressed(out, **arrays)  # type: ignore[arg-type]
    partial.replace(file)


def read(file: Path) -> PackedData:
    """Read a file.

    Raises:
        FileNotFoundError: There is no such file.
        ValueError: The file does not contain packed dialogues of this format.
    """
    expected = f"{file}: expected packed dialogues of format {FORMAT}"
    with file.open("rb") as stream:
        try:
            arrays = np.load(stream, allow_pickle=False)
        except (ValueError, EOFError, BadZipFile) as error:
            raise ValueError(expected) from error
        if "format" not in arrays or int(arrays["format"]) != FORMAT:
            raise ValueError(expected)
        train, heldout = (
            Dialogues(*(arrays[f"{name}_{key}"] for key in _ARRAYS))
            for name in ("train", "heldout")
        )
        return PackedData(
            train,
            heldout,
            arrays["tokenizer"].tobytes().decode(),
            json.loads(arrays["told"].tobytes()),
        )


def pack(
    config: TrainConfig, tokenizer: Tokenizer, tokens: int, corpora: Path | None
) -> PackedData:
    """Make training dialogues of at least so many tokens, and the configuration's held-out ones."""
    version = config.model().declarations
    template = Template(tokenizer, version)
    mixture = Mixture(corpora, config.share_alike, config.readings, config.reasons)
    rows = training_rows(template, mixture)(config.seed)

    def enough() -> Iterator[Encoded]:
        count = 0
        for row in short(rows, config.max_length):
            yield row
            count += len(row.ids)
            if count >= tokens:
                return

    train = Dialogues.of(enough())
    heldout = held_out_rows(template, mixture, config.max_length, config.evaluate_dialogues)
    source = {
        "seed": config.seed,
        "shares": shares(),
        "corpora": corpora is not None,
        "share_alike": config.share_alike,
        "reasons": config.reasons,
        "readings": config.readings,
        "declarations": version,
        "dialogues": len(train),
        "tokens": len(train.ids),
        "commit": machine()["commit"],
    }
    bpe = str(tokenizer.bpe.to_str(pretty=True))
    return PackedData(train, Dialogues.of(heldout), bpe, source)


def main(arguments: list[str] | None = None) -> None:
    """Read the command line and write the file.

    Raises:
        SystemExit: 2 if what was asked for cannot be done.
    """
    parser = argparse.ArgumentParser(prog="dlm.train.pack", description=__doc__)
    parser.add_argument("--tokens", type=number(float), required=True, help="at least so many")
    parser.add_argument("--out", type=Path, required=True, help="the file, .npz")
    parser.add_argument("--config", type=Path, default=CONFIGS / "gpu.toml", help="TOML; gpu.toml")
    parser.add_argument("--corpora", type=Path, help="directory of the text corpora")
    parser.add_argument("--tokenizer", type=Path, help="directory of one; else it is learned")
    parser.add_argument("--set", action="append", default=[], help="an option: 'seed = 3'")
    options = parser.parse_args(arguments)
    if options.out.suffix != ".npz":
        parser.error(f"--out: got {options.out}, expected a name that ends in .npz")
    with told(parser):
        # Fail now rather than after an hour's work if the directory cannot be made.
        options.out.parent.mkdir(parents=True, exist_ok=True)
        data = _packed(options)
        write(options.out, data)
    size = options.out.stat().st_size / 2**20
    trained = f"{len(data.train)} dialogues, {len(data.train.ids)} tokens"
    print(f"{options.out}: {trained}, {len(data.heldout)} held out, {size:.1f} MiB")


def _packed(options: argparse.Namespace) -> PackedData:
    config = TrainConfig.load(options.config, options.set)
    known = options.tokenizer
    tokenizer = Tokenizer.load(known) if known else learn(options.corpora, config)
    if tokenizer.vocab_size > config.vocab_size:
        most = f"more than the {config.vocab_size} of {options.config}"
        raise ValueError(f"{options.tokenizer}: got {tokenizer.vocab_size} entries, {most}")
    return pack(config, tokenizer, int(options.tokens), options.corpora)


if __name__ == "__main__":
    main()

"""Encoded dialogues in one file, so that a machine without corpora or generator can train.

A compressed NumPy archive: all ids laid end to end, each dialogue's length, the ranges of its
answers, the same of held-out dialogues, the tokenizer, and what the data are. It is read whole.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

import numpy as np

from dlm.language.template import Encoded

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
        """The dialogue of that number; slices are not offered."""
        first, last = self._range(self.ends, index)
        a, b = self._range(self.answer_ends, index)
        ranges = [(int(start), int(end)) for start, end in self.answers[a:b]]
        return Encoded(self.ids[first:last].tolist(), ranges)

    @staticmethod
    def _range(ends: np.ndarray[Any, Any], index: int) -> tuple[int, int]:
        if not 0 <= index < len(ends):
            raise IndexError(f"got dialogue {index}, expected 0 to {len(ends) - 1}")
        return int(ends[index - 1]) if index else 0, int(ends[index])


@dataclass(frozen=True, slots=True)
class PackedData:
    """What a file holds.

    Attributes:
        train: To learn from.
        heldout: To evaluate on; may be empty.
        tokenizer: Text of tokenizer.json.
        told: Where the data come from: seed, shares, commit, number of tokens.
    """

    train: Dialogues
    heldout: Dialogues
    tokenizer: str
    told: dict[str, Any]


def write(file: Path, data: PackedData) -> None:
    """Write a file; an existing one is replaced at once, when all is written."""
    arrays: Arrays = {
        "format": np.asarray(FORMAT),
        "tokenizer": np.frombuffer(data.tokenizer.encode(), dtype=np.uint8),
        "told": np.frombuffer(json.dumps(data.told).encode(), dtype=np.uint8),
    }
    for name, part in (("train", data.train), ("heldout", data.heldout)):
        arrays |= {f"{name}_{key}": getattr(part, key) for key in _ARRAYS}
    partial = file.with_name(f"{file.name}.partial")
    with partial.open("wb") as out:
        # NumPy's types know of no names but its own beside the arrays.
        np.savez_compressed(out, **arrays)  # type: ignore[arg-type]
    partial.replace(file)


def read(file: Path) -> PackedData:
    """Read a file.

    Raises:
        FileNotFoundError: There is none.
        ValueError: It is no such file, or of another format.
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

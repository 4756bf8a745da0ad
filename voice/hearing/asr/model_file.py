"""Reads and writes CTranslate2's model.bin (version 6), and quantises matrices to 8-bit integers.

Source: CTranslate2's ``model_spec.py``.
"""

from __future__ import annotations

import math
import struct
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

_VERSION = 6
_TYPES = ("<f4", "i1", "<i2", "<i4", "<f2")
"""numpy's type for each type number of the file."""


@dataclass(frozen=True, slots=True)
class ModelFile:
    """A model.bin's contents. ``arrays`` keeps the file's order; ``aliases`` are (alias, name)."""

    spec: str
    revision: int
    arrays: dict[str, NDArray[Any]]
    aliases: tuple[tuple[str, str], ...]


def read(data: bytes | bytearray) -> ModelFile:
    """Read a model.bin. The arrays are views of ``data``, writable if it is a bytearray.

    Raises:
        ValueError: It has another version of the format, an array of the wrong size, or too few
            bytes.
    """
    file = _Reader(data)
    version = file.number("I")
    if version != _VERSION:
        raise ValueError(f"expected version {_VERSION} of a model.bin's format, got {version}")
    spec, revision = file.text(), file.number("I")
    arrays = dict(file.array() for _ in range(file.number("I")))
    aliases = tuple((file.text(), file.text()) for _ in range(file.number("I")))
    return ModelFile(spec, revision, arrays, aliases)


def write(model: ModelFile, path: Path) -> None:
    """Write a model.bin, the inverse of `read`."""
    with path.open("wb") as file:
        file.write(struct.pack("<I", _VERSION) + _packed(model.spec))
        file.write(struct.pack("<II", model.revision, len(model.arrays)))
        for name, array in model.arrays.items():
            file.write(_packed(name) + struct.pack("<B", array.ndim))
            file.write(struct.pack(f"<{array.ndim}I", *array.shape))
            kind = [np.dtype(known) for known in _TYPES].index(array.dtype)
            file.write(struct.pack("<BI", kind, array.nbytes) + array.tobytes())
        file.write(struct.pack("<I", len(model.aliases)))
        for alias, name in model.aliases:
            file.write(_packed(alias) + _packed(name))


def eight_bit(rows: NDArray[np.float32]) -> tuple[NDArray[np.int8], NDArray[np.float32]]:
    """Rows (R, C) quantised to 8-bit integers, and the scales (R,) that multiplied them."""
    largest = np.abs(rows).max(axis=1)
    scales = np.where(largest == 0, 1, 127 / np.where(largest == 0, 1, largest))
    return np.rint(rows * scales[:, None]).astype(np.int8), scales.astype(np.float32)


class _Reader:
    def __init__(self, data: bytes | bytearray) -> None:
        self._data, self._at = data, 0

    def number(self, kind: str) -> int:
        try:
            (value,) = struct.unpack_from("<" + kind, self._data, self._at)
        except struct.error as error:
            raise ValueError("expected a model.bin, got fewer bytes than it needs") from error
        self._at += struct.calcsize("<" + kind)
        return int(value)

    def text(self) -> str:
        size = self.number("H")
        self._at += size
        return self._data[self._at - size : self._at - 1].decode()

    def array(self) -> tuple[str, NDArray[Any]]:
        name = self.text()
        shape = [self.number("I") for _ in range(self.number("B"))]
        kind, size = np.dtype(_TYPES[self.number("B")]), self.number("I")
        if size != kind.itemsize * math.prod(shape):
            raise ValueError(f"expected {math.prod(shape)} numbers in {name}, got {size} bytes")
        self._at += size
        flat = np.frombuffer(self._data, kind, math.prod(shape), self._at - size)
        return name, flat.reshape(shape)


def _packed(text: str) -> bytes:
    data = text.encode() + b"\0"
    return struct.pack("<H", len(data)) + data

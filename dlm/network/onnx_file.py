"""Writes ONNX models: the few messages of the format that a graph of operations needs.

ONNX Runtime comes without the package that writes models. This module knows nothing of what the
graph computes.

Source: https://github.com/onnx/onnx/blob/main/onnx/onnx.proto, in the encoding of protocol buffers.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

_TYPES = {"float32": 1, "uint8": 2, "int8": 3, "int64": 7}
_IR_VERSION, _OPSET = 10, 21
_FLOAT, _INT, _INTS = 1, 2, 7
_EXTERNAL = 1
_SMALL = 2**16

Weights = dict[str, NDArray[Any]]
Attribute = float | int | tuple[int, ...]


class Graph:
    """A graph that is built operation by operation.

    Attributes:
        weights: Large constants, which are given to the session separately from the file.
    """

    def __init__(self) -> None:
        self.weights: Weights = {}
        self._small: list[bytes] = []
        self._nodes: list[bytes] = []
        self._inputs: list[bytes] = []
        self._outputs: list[bytes] = []
        self._count = 0

    def input(self, name: str, dtype: str, *shape: int | str) -> None:
        """Add an input; a dimension given by name may have any size."""
        self._inputs.append(_field(11, _value(name, dtype, shape)))

    def output(self, name: str, *shape: int | str) -> None:
        """Declare a result that the session returns, in float32."""
        self._outputs.append(_field(12, _value(name, "float32", shape)))

    def constant(self, value: NDArray[Any]) -> str:
        """Add a constant, and return its name."""
        name = self.name()
        if value.nbytes < _SMALL:
            self._small.append(_field(5, _tensor(name, value, inside=True)))
        else:
            self.weights[name] = np.ascontiguousarray(value)
        return name

    def numbers(self, *values: int) -> str:
        """Add whole numbers as a constant, for shapes and axes, and return its name."""
        return self.constant(np.array(values, dtype=np.int64))

    def add(self, kind: str, *inputs: str, **attributes: Attribute) -> str:
        """Add an operation with one result, and return the result's name."""
        name = self.name()
        self.node(kind, inputs, (name,), **attributes)
        return name

    def add_parts(self, whole: str, sizes: Sequence[int]) -> tuple[str, ...]:
        """Split the last dimension into parts, and return their names."""
        names = tuple(self.name() for _ in sizes)
        self.node("Split", (whole, self.numbers(*sizes)), names, axis=-1)
        return names

    def node(
        self, kind: str, inputs: tuple[str, ...], outputs: tuple[str, ...], **attributes: Attribute
    ) -> None:
        """Add an operation; kinds that ONNX Runtime itself defines are written ``ms.Name``.

        Attributes given as int become integer attributes, others floats.
        """
        domain, _, name = kind.rpartition(".")
        self._nodes.append(
            _field(
                1,
                b"".join(_field(1, one.encode()) for one in inputs)
                + b"".join(_field(2, one.encode()) for one in outputs)
                + _field(4, name.encode())
                + b"".join(_field(5, _attribute(*pair)) for pair in attributes.items())
                + (_field(7, b"com.microsoft") if domain else b""),
            )
        )

    def written(self) -> bytes:
        """The model as bytes; its large constants stay outside."""
        graph = b"".join(
            (
                *self._nodes,
                _field(2, b"graph"),
                *self._small,
                *(_field(5, _tensor(*pair)) for pair in self.weights.items()),
                *self._inputs,
                *self._outputs,
            )
        )
        versions = _field(8, _field(2, _OPSET)) + _field(
            8, _field(1, b"com.microsoft") + _field(2, 1)
        )
        return _field(1, _IR_VERSION) + _field(7, graph) + versions

    def name(self) -> str:
        """A new name that is not in use."""
        self._count += 1
        return f"_{self._count}"


def _varint(number: int) -> bytes:
    number &= (1 << 64) - 1
    out = bytearray()
    while number > 127:
        out.append(number & 127 | 128)
        number >>= 7
    return bytes((*out, number))


def _field(number: int, value: int | float | bytes) -> bytes:
    if isinstance(value, int):
        return _varint(number << 3) + _varint(value)
    if isinstance(value, float):
        return _varint(number << 3 | 5) + struct.pack("<f", value)
    return _varint(number << 3 | 2) + _varint(len(value)) + value


def _attribute(name: str, value: Attribute) -> bytes:
    if isinstance(value, tuple):
        held, kind = b"".join(_field(8, number) for number in value), _INTS
    elif isinstance(value, int):
        held, kind = _field(3, value), _INT
    else:
        held, kind = _field(2, value), _FLOAT
    return _field(1, name.encode()) + held + _field(20, kind)


def _tensor(name: str, value: NDArray[Any], inside: bool = False) -> bytes:
    where = _field(1, b"location") + _field(2, b"given")
    return (
        b"".join(_field(1, size) for size in value.shape)
        + _field(2, _TYPES[str(value.dtype)])
        + _field(8, name.encode())
        + (_field(9, value.tobytes()) if inside else _field(13, where) + _field(14, _EXTERNAL))
    )


def _value(name: str, dtype: str, shape: tuple[int | str, ...]) -> bytes:
    sizes = (
        _field(1, _field(1, size) if isinstance(size, int) else _field(2, size.encode()))
        for size in shape
    )
    tensor = _field(1, _TYPES[dtype]) + _field(2, b"".join(sizes))
    return _field(1, name.encode()) + _field(2, _field(1, tensor))

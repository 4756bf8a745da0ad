"""Checks that all operations make of their tensors, and the messages for failed ones."""

from __future__ import annotations

from collections.abc import Sequence

import torch

FLOATS = (torch.float16, torch.bfloat16, torch.float32)


def expect(name: str, got: object, expected: str, good: bool) -> None:
    """Unless ``good``, raise a ValueError that names an argument, what it got and expects."""
    if not good:
        raise ValueError(f"{name}: got {got}; expected {expected}")


def expect_tensor(
    name: str,
    tensor: torch.Tensor,
    shape: Sequence[int | str],
    dtypes: Sequence[torch.dtype],
    dense: bool = True,
) -> None:
    """Check the shape, dtype and layout of a tensor.

    Args:
        name: Name of the argument.
        tensor: The argument.
        shape: A size for each dimension, or a name if any size will do.
        dtypes: The dtypes that are allowed.
        dense: Whether the whole tensor must be contiguous, or only its last dimension.

    Raises:
        ValueError: The tensor does not meet this.
    """
    wanted = f"({', '.join(map(str, shape))}{',' if len(shape) == 1 else ''})"
    fits = tensor.ndim == len(shape) and all(
        isinstance(size, str) or size == actual
        for size, actual in zip(shape, tensor.shape, strict=True)
    )
    expect(name, f"shape {tuple(tensor.shape)}", wanted, fits)
    names = ", ".join(str(dtype).removeprefix("torch.") for dtype in dtypes)
    expect(name, tensor.dtype, names, tensor.dtype in dtypes)
    strides = f"strides {tensor.stride()}"
    if dense:
        expect(name, strides, "a contiguous tensor", tensor.is_contiguous())
    else:
        # A single column is contiguous with any stride.
        close = not tensor.ndim or tensor.shape[-1] <= 1 or tensor.stride(-1) == 1
        expect(name, strides, "the last one to be 1", close)

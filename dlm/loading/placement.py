"""Defaults for running a model: the fastest device, number format, kernels and threads."""

from __future__ import annotations

import functools
import importlib.util
import os
import time
from collections.abc import Callable
from enum import StrEnum

import torch
from torch.nn import functional

from dlm.network.config import ModelConfig
from dlm.network.int8 import product

SMALL = 100_000_000
"""Matrix entries up to which bfloat16 is never chosen on a CPU.

A step of such a model consists of many small operations, which do not get faster with half as many
bytes. Besides, in float32 or int8 a request's tokens do not depend on the rest of a batch.
"""

SHORT = 10_000_000
"""Matrix entries up to which a step of 16 positions takes at most two or three milliseconds."""

_ROWS, _INNER, _OUTER, _TRIES = 16, 1024, 2048, 6


def best_device() -> torch.device:
    """CUDA if there is a CUDA device, else the CPU."""
    return torch.device("cuda" if torch.cuda.is_available() else "cpu")


def usable_device(name: torch.device | str) -> torch.device:
    """A device by its name, after trying it out.

    Raises:
        ValueError: It cannot be used here.
    """
    try:
        device = torch.device(name)
        # Copying the number back fails on a device that cannot compute.
        torch.zeros(1, device=device).item()
    except (RuntimeError, AssertionError) as error:
        reason = str(error).partition("\n")[0]
        message = f"device: got {str(name)!r}, which cannot be used here: {reason}"
        raise ValueError(message) from error
    return device


def best_dtype(config: ModelConfig, device: torch.device) -> torch.dtype:
    """The fastest type: bfloat16 on CUDA; int8, bfloat16 (for large models) or float32 on CPUs.

    A mixture's experts are not rounded, so int8 is only for dense models.
    """
    if device.type == "cuda":
        return torch.bfloat16
    if device.type == "cpu" and config.experts is None and int8_is_fast():
        return torch.int8
    large = device.type == "cpu" and matrix_entries(config) > SMALL
    return torch.bfloat16 if large and bfloat16_is_fast() else torch.float32


class Kernels(StrEnum):
    """What runs a model: plain torch, or the project's kernels."""

    AUTO = "auto"
    EAGER = "eager"
    FUSED = "fused"


def uses_kernels(config: ModelConfig, device: torch.device, wanted: Kernels) -> bool:
    """Whether the project's kernels run a model: by default on CUDA, if they support it.

    Raises:
        ValueError: The kernels are required but cannot run the model; the text says why.
    """
    if wanted is Kernels.EAGER or (wanted is Kernels.AUTO and device.type != "cuda"):
        return False
    why_not = _obstacle(config, device)
    if why_not and wanted is Kernels.FUSED:
        raise ValueError(f"kernels: got fused, {why_not}")
    return why_not is None


def _obstacle(config: ModelConfig, device: torch.device) -> str | None:
    if importlib.util.find_spec("triton") is None:
        return "and Triton is not installed: pip install triton (it ships for Linux alone)"
    if device.type != "cuda" and os.environ.get("TRITON_INTERPRET") != "1":
        return f"and the device is {device}, not cuda (TRITON_INTERPRET=1 tries them out on a CPU)"
    size = config.head_dim
    if size < 16 or size & (size - 1):
        return f"and the model's heads are of {size} numbers, not of 16, 32, 64 or so"
    if config.rotary_size != size or config.experts is not None:
        return "and the model has experts, or heads that are turned in part"
    return None


def best_threads(config: ModelConfig) -> int:
    """CPU threads for a step: one if steps are so short that a second thread would only wait.

    On two busy cores, a second thread makes a small model's step slower, and takes the core that
    recognition and synthesis need.
    """
    # The cores of this process: threads beyond them wait for one another and double a step's cost.
    ours = hasattr(os, "sched_getaffinity")
    cores = len(os.sched_getaffinity(0)) if ours else os.cpu_count() or 1
    return 1 if matrix_entries(config) <= SHORT else min(4, cores)


def matrix_entries(config: ModelConfig) -> int:
    """About how many weights a forward reads: all matrices, but not the embedding as a table."""
    attention = 2 * (config.num_attention_heads + config.num_key_value_heads) * config.head_dim
    width = config.intermediate_size
    if config.experts is not None:
        width = (config.experts.per_token + config.experts.shared) * config.experts.width
    layer = config.hidden_size * (attention + 3 * width)
    return config.num_hidden_layers * layer + config.vocab_size * config.hidden_size


@functools.cache
def bfloat16_is_fast(device: str = "cpu") -> bool:
    """Whether a GPU multiplies bfloat16 natively, or this CPU does so faster than float32.

    A CPU is measured once, in less than a second.
    """
    if torch.device(device).type == "cuda":
        return bool(torch.cuda.is_bf16_supported(including_emulation=False))
    return _seconds(_product(torch.bfloat16)) < _seconds(_product(torch.float32)) / 1.2


@functools.cache
def int8_is_fast() -> bool:
    """Whether this CPU multiplies 8-bit matrices faster than float32; also measured once."""
    rounded = product(torch.ones(_OUTER, _INNER))
    rows = torch.ones(_ROWS, _INNER)
    return _seconds(lambda: rounded(rows)) < _seconds(_product(torch.float32)) / 1.2


def _product(dtype: torch.dtype) -> Callable[[], object]:
    rows = torch.ones(_ROWS, _INNER, dtype=dtype)
    weight = torch.ones(_OUTER, _INNER, dtype=dtype)
    return lambda: functional.linear(rows, weight)


def _seconds(run: Callable[[], object]) -> float:
    """The shortest of several runs, on one thread: threads wait for each other on busy machines."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    best = float("inf")
    try:
        with torch.inference_mode():
            for _ in range(_TRIES):
                start = time.perf_counter()
                run()
                best = min(best, time.perf_counter() - start)
    finally:
        torch.set_num_threads(threads)
    return best

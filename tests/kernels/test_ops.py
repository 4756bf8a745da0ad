from __future__ import annotations

import importlib
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
import torch

from kernels import ops
from kernels.context import Context


def test_ops_work_without_triton(repo_root: Path) -> None:
    program = (
        "import sys; sys.modules['triton'] = None\n"
        "import torch; from kernels import ops; print(ops.silu_mul(torch.ones(1, 4)).shape)"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=repo_root, capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "torch.Size([1, 2])"


def floats(*shape: int) -> torch.Tensor:
    return torch.zeros(*shape)


def ints(*shape: int, dtype: torch.dtype = torch.int64) -> torch.Tensor:
    return torch.zeros(*shape, dtype=dtype)


def context(requests: int = 1, rows: int = 2) -> Context:
    small = torch.int32
    return Context(
        ints(requests, 1, dtype=small),
        torch.tensor([0, rows], dtype=small),
        ints(requests, dtype=small) + rows,
        ints(requests, dtype=small),
        ints(requests, dtype=small),
        rows,
    )


HALF = torch.float16
REJECTED: dict[str, Callable[[], object]] = {
    "weight: got shape": lambda: ops.unmask(floats(2, 3), floats(5, 4), ints(2)),
    "rows: got torch.int32": lambda: ops.unmask(
        floats(2, 3), floats(5, 3), ints(2, dtype=torch.int32)
    ),
    r"banned: got shape \(2, 2\); expected \(2, 1\)": lambda: ops.unmask(
        floats(2, 3), floats(5, 3), ints(2), ints(2, 2, dtype=torch.int32)
    ),
    "temperatures: got torch.int64; expected float32": lambda: ops.unmask(
        floats(2, 3), floats(5, 3), ints(2), None, (ints(2), ints(2))
    ),
    "queries: got 3 heads; expected a multiple of 2": lambda: ops.attention(
        floats(2, 3, 16), floats(1, 4, 2, 16), floats(1, 4, 2, 16), context()
    ),
    "splits: got 3; expected a power of 2": lambda: ops.attention(
        floats(2, 4, 16), floats(1, 4, 2, 16), floats(1, 4, 2, 16), context(), splits=3
    ),
    "qkv: got width 50": lambda: ops.rope(
        floats(2, 50), None, 1e-6, (floats(2, 8), floats(2, 8)), ints(2), (floats(4, 1, 16),) * 2
    ),
    r"weight: got shape \(5,\)": lambda: ops.add_norm(floats(2, 4), None, floats(5), 1e-6),
    "gate_up: got width 5; expected an even one": lambda: ops.silu_mul(floats(2, 5)),
}


@pytest.mark.parametrize("message", REJECTED)
def test_bad_arguments_are_named(message: str) -> None:
    with pytest.raises(ValueError, match=message):
        REJECTED[message]()


def test_kernels_run_on_a_cpu_where_that_is_asked_for(device: torch.device) -> None:
    pytest.importorskip("triton", reason="Triton ships for Linux alone")
    seen = []
    kernels = importlib.import_module("kernels.mlp")
    before = kernels.silu_mul_into
    kernels.silu_mul_into = lambda *given: (seen.append(1), before(*given))
    try:
        x = torch.randn(3, 8, device=device)
        plain = ops.silu_mul(x)
        calls = len(seen)
        with ops.interpreted():
            torch.testing.assert_close(ops.silu_mul(x), plain)
        assert (calls, len(seen) - calls) == (int(x.is_cuda), 1)
    finally:
        kernels.silu_mul_into = before


def test_no_rows_are_no_trouble(device: torch.device) -> None:
    none = torch.zeros(0, dtype=torch.int64, device=device)
    weight = torch.zeros(5, 4, device=device)
    assert ops.unmask(torch.zeros(3, 4, device=device), weight, none)[0].shape == (0,)
    empty = torch.zeros(0, 4, device=device)
    assert ops.add_norm(empty, None, torch.ones(4, device=device), 1e-6).shape == (0, 4)
    assert ops.silu_mul(empty).shape == (0, 2)

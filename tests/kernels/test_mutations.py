"""Planted bugs: the parity checks of each kernel notice every one of them.

A kernel's source is changed in one place and loaded as a module of its own; its test module then
checks that one instead.
"""

from __future__ import annotations

import ast
import importlib.util
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType

import pytest
import torch

pytest.importorskip("triton", reason="Triton ships for Linux alone")

from kernels import attention, mlp, norm, rope, unmask
from tests.kernels import (
    test_attention,
    test_mlp,
    test_norm,
    test_rope,
    test_unmask,
)

MUTATIONS: list[tuple[ModuleType, ModuleType, str, str]] = [
    (unmask, test_unmask, "(ids % 32)[None, :]) & 1", "(ids % 31)[None, :]) & 1"),
    (unmask, test_unmask, "x ^= x >> 15", "x ^= x >> 14"),
    (unmask, test_unmask, "tl.where(temperatures > 0.0, drawn, logits)", "drawn"),
    (unmask, test_unmask, "tile * COLUMNS + index, mask", "index, mask"),
    (unmask, test_unmask, "mixed >> 9", "mixed >> 8"),
    (unmask, test_unmask, "tl.load(rows_ptr + slot) < 0", "tl.load(rows_ptr + slot) < -9"),
    (unmask, test_unmask, "tl.sum(sums * scale, axis=0)", "tl.sum(sums, axis=0)"),
    (unmask, test_unmask, "tl.exp(logit - shift) / total", "1.0 / total"),
    (attention, test_attention, "causal, position + 1, length)", "causal, position, length)"),
    (attention, test_attention, "// tl.maximum(block, 1) + 1) *", "// tl.maximum(block, 1)) *"),
    (attention, test_attention, "tl.minimum(of_block, length)", "of_block"),
    (attention, test_attention, "acc * rescale[:, None] +", "acc +"),
    (attention, test_attention, "positions % PAGE\n", "positions % PAGE + (page == 1)\n"),
    (attention, test_attention, "tl.exp(best - tl.max(best, axis=0))", "1.0 + 0 * best"),
    (attention, test_attention, "kv_head * heads_per_key + inner", "kv_head + inner"),
    (attention, test_attention, "+ SIZE + 1) * scale,", "+ SIZE + 1),"),
    (attention, test_attention, "acc * scale[:, None], axis=0", "acc, axis=0"),
    (attention, test_attention, "split * total * HEADS + at", "at"),
    (norm, test_norm, "/ width + eps", "/ WIDTH + eps"),
    (norm, test_norm, "/ width + eps)", "/ width)"),
    (norm, test_norm, "tl.store(at, x, mask=inside)", "tl.store(at, x, mask=offsets < 0)"),
    (mlp, test_mlp, "gate * sigmoid * up", "sigmoid * up"),
    (mlp, test_mlp, "tl.where(gate >= 0, 1.0, small)", "tl.where(gate >= 0, small, 1.0)"),
    (mlp, test_mlp, "tl.load(at + width", "tl.load(at + width - 1"),
    (rope, test_rope, "x * cos - y * sin", "x * cos + y * sin"),
    (rope, test_rope, "q_right, k_right", "q_right, q_right"),
    (rope, test_rope, "KV_HEADS + head - HEADS) *", "KV_HEADS) *"),
    (rope, test_rope, "/ (2 * HALF)", "/ HALF"),
]  # fmt: skip


def functions(source: str) -> dict[str, tuple[str, set[str]]]:
    """Text of each function that Triton compiles, and what it calls."""
    found = {}
    for node in ast.parse(source).body:
        if isinstance(node, ast.FunctionDef) and "triton.jit" in map(
            ast.unparse, node.decorator_list
        ):
            calls = {ast.unparse(x.func) for x in ast.walk(node) if isinstance(x, ast.Call)}
            found[node.name] = ast.get_source_segment(source, node) or "", calls
    return found


def planted(kernel: str, known: dict[str, tuple[str, set[str]]], texts: list[str]) -> int:
    """How many of these texts stand in a kernel, or in what it calls."""
    parts, left = set(), [kernel]
    while left:
        name = left.pop()
        parts.add(name)
        left += known[name][1] & known.keys() - parts
    return sum(any(text.strip() in known[part][0] for part in parts) for text in texts)


def test_every_kernel_has_three_planted_bugs() -> None:
    counts = {}
    for module in {mutation[0] for mutation in MUTATIONS}:
        assert module.__file__ is not None
        known = functions(Path(module.__file__).read_text(encoding="utf-8"))
        texts = [good for kernel, _, good, _ in MUTATIONS if kernel is module]
        for name in known:
            if name.endswith("_kernel"):
                counts[f"{module.__name__}.{name}"] = planted(name, known, texts)
    assert len(counts) == 7
    assert min(counts.values()) >= 3, counts


@contextmanager
def mutated(kernel: ModuleType, tested: ModuleType, source: str, file: Path) -> Iterator[None]:
    """Let a test module check a kernel made of other source, which Triton reads from its file."""
    file.write_text(source, encoding="utf-8")
    spec = importlib.util.spec_from_file_location(file.stem, file)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[file.stem] = module
    spec.loader.exec_module(module)
    name = kernel.__name__.rpartition(".")[2]
    setattr(tested, name, module)
    try:
        yield
    finally:
        setattr(tested, name, kernel)
        del sys.modules[file.stem]


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize(
    ("kernel", "tested", "good", "bad"),
    MUTATIONS,
    ids=[f"{m[0].__name__.rpartition('.')[2]}: {m[3].strip()}" for m in MUTATIONS],
)
def test_a_planted_bug_is_noticed(
    kernel: ModuleType,
    tested: ModuleType,
    good: str,
    bad: str,
    tmp_path: Path,
    device: torch.device,
) -> None:
    assert kernel.__file__ is not None
    source = Path(kernel.__file__).read_text(encoding="utf-8")
    assert source.count(good) == 1, f"{good!r} stands there {source.count(good)} times"
    file = tmp_path / f"mutated_{kernel.__name__.rpartition('.')[2]}.py"
    with mutated(kernel, tested, source.replace(good, bad), file), pytest.raises(AssertionError):
        for check in tested.CHECKS:
            check(device)

"""Kernels are compiled for a Hopper on any machine, in a process that does not interpret them."""

from __future__ import annotations

import ast
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("triton", reason="Triton ships for Linux alone")

from benchmarks.kernels import compiling

PROGRAM = """
import json
from dataclasses import asdict
from benchmarks.kernels.compiling import compiling, launches
with compiling() as made:
    for launch in launches(quick=True):
        launch()
print(json.dumps([asdict(one) for one in made]))
"""


@pytest.fixture(scope="module")
def made(repo_root: Path, tmp_path_factory: pytest.TempPathFactory) -> list[dict[str, Any]]:
    """What was compiled for a denoising step and every operation at the shapes of an 8B model."""
    kept = {k: v for k, v in os.environ.items() if k != "TRITON_INTERPRET"}
    cache = str(tmp_path_factory.mktemp("triton"))
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        cwd=repo_root,
        env={**kept, "TRITON_CACHE_DIR": cache},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return list(json.loads(done.stdout))


def launched(repo_root: Path) -> set[str]:
    """Names of the functions that are kernels, not parts of one."""
    names = set()
    for file in (repo_root / "kernels").glob("*.py"):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            jitted = isinstance(node, ast.FunctionDef) and "triton.jit" in map(
                ast.unparse, node.decorator_list
            )
            if jitted and node.name.endswith("_kernel"):
                names.add(node.name)
    return names


def test_every_kernel_compiles_for_a_hopper(made: list[dict[str, Any]], repo_root: Path) -> None:
    assert {one["name"] for one in made} == launched(repo_root)


def test_nothing_spills_and_all_fits(made: list[dict[str, Any]]) -> None:
    for one in made:
        assert one["stack_bytes"] == 0, one
        assert one["shared_bytes"] <= compiling.SHARED_BYTES, one


def test_products_run_on_tensor_cores(made: list[dict[str, Any]]) -> None:
    products = [one for one in made if one["name"] in ("_attention_kernel", "_tiles_kernel")]
    assert len(products) >= 3
    assert all(one["tensor_cores"] for one in products), products

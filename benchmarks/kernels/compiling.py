"""Compiles the kernels for a GPU that need not be there: ``benchmarks.kernels.compiling``.

The interpreter, in which kernels are tested without a device, accepts much that the compiler
refuses, and knows nothing of registers and shared memory. So everything that `benchmarks.gpu`
launches is launched here on tensors without memory, and each launch stops after compilation by
Triton, down to the machine code of a Hopper (H100, H200). That whole forwards run on such tensors
also shows that nothing in them waits for the device, since no value could be read.

Results: benchmarks/results/compiling.json. TRITON_INTERPRET must not be set.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import torch

from benchmarks.dlm.gpu_step import MODELS, batch_of, runner_of
from benchmarks.kernels.speed import SMALL, Shape, cases
from benchmarks.report import Program
from dlm.fused.packing import Packed
from dlm.fused.runner import PAGE
from dlm.network.model import Transformer
from kernels import ops

HOPPER = 90
SHARED_BYTES = 227 * 1024
"""The most shared memory that a program can use on a Hopper."""

_USED = re.compile(r"REG:(\d+) STACK:(\d+) SHARED:\d+ LOCAL:(\d+)")


@dataclass(frozen=True, slots=True)
class Compiled:
    """A kernel as it was compiled.

    Attributes:
        name: Of the kernel's function.
        constants: The options that it was compiled for.
        dtypes: Of its tensors.
        registers: Per thread.
        stack_bytes: Per thread, in slow memory: what did not fit into registers.
        shared_bytes: Shared memory per program.
        tensor_cores: Whether its products run on tensor cores.
    """

    name: str
    constants: dict[str, Any]
    dtypes: tuple[str, ...]
    registers: int
    stack_bytes: int
    shared_bytes: int
    tensor_cores: bool


class _Device:
    """Answers what Triton asks a device driver before it compiles."""

    def get_current_device(self) -> int:
        return 0

    def get_current_stream(self, device: int) -> int:
        return device

    def get_current_target(self) -> Any:
        from triton.backends.compiler import GPUTarget

        return GPUTarget("cuda", HOPPER, 32)


@contextmanager
def compiling() -> Iterator[list[Compiled]]:
    """Make launches of the project's kernels, on tensors without memory, compile and nothing else.

    Yields:
        The kernels compiled so far, each once.

    Raises:
        RuntimeError: Triton is set to interpret.
    """
    from triton.runtime import driver
    from triton.runtime.jit import JITFunction

    from kernels.interpreter import INTERPRETED

    if INTERPRETED:
        raise RuntimeError("expected TRITON_INTERPRET not to be set: there is nothing to compile")
    made: dict[int, Compiled] = {}
    plain = JITFunction.run

    def run(self: Any, *given: Any, grid: Any, warmup: bool, **options: Any) -> Any:
        kernel = plain(self, *given, grid=grid, warmup=True, **options)
        if id(kernel) not in made:
            dtypes = [str(x.dtype)[6:] for x in given if isinstance(x, torch.Tensor)]
            made[id(kernel)] = _told(self.__name__, kernel, options, tuple(dtypes))
            told.append(made[id(kernel)])
        return kernel

    told: list[Compiled] = []
    driver.set_active(_Device())
    JITFunction.run = run
    try:
        with ops.interpreted():
            yield told
    finally:
        JITFunction.run = plain


def _told(name: str, kernel: Any, constants: dict[str, Any], dtypes: tuple[str, ...]) -> Compiled:
    import triton

    program = Path(triton.__file__).parent / "backends" / "nvidia" / "bin" / "cuobjdump"
    with tempfile.NamedTemporaryFile(suffix=".cubin") as file:
        file.write(kernel.asm["cubin"])
        file.flush()
        command = [str(program), "--dump-resource-usage", file.name]
        said = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    used = _USED.search(said)
    assert used is not None, said
    registers, stack, local = map(int, used.groups())
    mma = "mma.sync" in kernel.asm["ptx"] or "wgmma" in kernel.asm["ptx"]
    return Compiled(name, constants, dtypes, registers, stack + local, kernel.metadata.shared, mma)


def step(name: str, requests: int) -> None:
    """Launch a denoising step at a model's shapes, with two layers."""
    config = replace(MODELS[name], num_hidden_layers=2)
    with torch.device("meta"):
        model = Transformer(config)
    model = model.to(torch.bfloat16).eval().requires_grad_(False)
    with torch.inference_mode():
        runner = runner_of(model, requests, 1024)
        batch = batch_of(runner, config, requests, 1024)
        columns = -(-config.max_position_embeddings // PAGE)
        packed = Packed.of(batch, columns)
        hidden = runner.launch(*runner.sent(packed), packed.most_rows)
        head = model.embed_tokens.weight if config.tie_word_embeddings else model.lm_head.weight
        ops.unmask(hidden, head, torch.zeros(len(hidden), dtype=torch.int64, device="meta"))


def operations(batch: int, shape: Shape, dtype: torch.dtype) -> None:
    """Launch every operation of `benchmarks.kernels.speed`, and one that samples tokens."""
    for case in cases(batch, shape, "meta", dtype):
        case.run()
    with torch.device("meta"):
        hidden, head = (torch.empty(n, shape.width, dtype=dtype) for n in (32, shape.vocabulary))
        rows = torch.zeros(32, dtype=torch.int64)
        banned = torch.zeros(32, -(-shape.vocabulary // 32), dtype=torch.int32)
        ops.unmask(hidden, head, rows, banned, (torch.ones(32), rows))


def launches(quick: bool) -> Iterator[Callable[[], None]]:
    """Everything to compile; if ``quick``, only enough for each kernel to come up once."""
    yield lambda: step("8B", 1)
    yield lambda: operations(1, Shape(), torch.bfloat16)
    if quick:
        return
    yield lambda: operations(32, Shape(), torch.bfloat16)
    yield lambda: operations(2, SMALL, torch.float32)
    yield lambda: operations(2, SMALL, torch.float16)
    for name in MODELS:
        for requests in (1, 8):
            yield lambda name=name, requests=requests: step(name, requests)


def main() -> None:
    """Compile everything, and report what each kernel uses."""
    program = Program("benchmarks.kernels.compiling", __doc__)
    program.add_argument("--quick", action="store_true", help="each kernel once, nothing written")
    quick = program.parse_args().quick
    try:
        with compiling() as made:
            for launch in launches(quick):
                launch()
    except RuntimeError as error:
        sys.exit(f"benchmarks.kernels.compiling: {error}")
    for one in made:
        print(f"{one.name:18} {one.dtypes[0]:9} {one.registers:3} registers, {one.stack_bytes} "
              f"bytes of stack, {one.shared_bytes:6} of shared memory, tensor cores: "
              f"{one.tensor_cores}, {one.constants}")  # fmt: skip
    if not quick:
        import triton

        figures = {
            "triton": triton.__version__,
            "capability": HOPPER,
            "kernels": [asdict(x) for x in made],
        }
        program.write(figures)


if __name__ == "__main__":
    main()

"""What 8 bits cost in quality: ``python -m benchmarks.dlm.number_formats --corpora DIR``.

Answers the same held-out cases in float32; with matrices and activations in 8 bits
(`dlm.network.int8`), as CPUs run them; and with weights that `dlm.train.export --int8` has rounded
on disk, run in either format. Counts the answers that are right, and those that equal float32's,
word for word. Results: benchmarks/results/number_formats.json.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import torch

from benchmarks.report import Program, share, shipped_checkpoint
from dlm.engine.engine import SHIPPED, Engine, Finished, Request
from dlm.evaluate.cases import Case
from dlm.evaluate.run import ask_engine
from dlm.evaluate.scores import score
from dlm.evaluate.sets import Material, chosen
from dlm.language.messages import Answer
from dlm.train.export import SHARD_MIB, export

EXACT = "float32"
SETS = ("own", "others", "unseen")
KEPT = ("call", "tool", "decision", "reply")


def ways(checkpoint: Path, directory: Path) -> Iterator[tuple[str, Path, torch.dtype]]:
    """Each way's name, the folder of its weights, and the format that they run in."""
    yield EXACT, checkpoint, torch.float32
    yield "int8 at run time", checkpoint, torch.int8
    export(checkpoint, directory, int8=True, limit=int(SHARD_MIB * 2**20))
    yield "int8 on disk", directory, torch.float32
    yield "int8 on disk and at run time", directory, torch.int8


def answered(
    checkpoint: Path, dtype: torch.dtype, asked: list[Case]
) -> tuple[dict[str, Any], list[Answer | None]]:
    """One way's scores and its answers; None stands for a malformed answer."""
    engine = Engine.load(checkpoint, dtype=dtype, device="cpu")
    ask = ask_engine(engine)
    answers: list[Answer | None] = []

    def kept(request: Request) -> Finished | None:
        finished = ask(request)
        answers.append(finished.answer if finished else None)
        return finished

    try:
        figures = score(asked, kept).figures()
    finally:
        engine.close()
    return {k: v for k, v in figures.items() if k.removesuffix("_cases") in KEPT}, answers


def measure(checkpoint: Path, asked: list[Case]) -> dict[str, Any]:
    """Measure all ways on the same cases."""
    told: dict[str, Any] = {}
    exact: list[Answer | None] = []
    with tempfile.TemporaryDirectory() as directory:
        for name, place, dtype in ways(checkpoint, Path(directory) / "rounded"):
            figures, answers = answered(place, dtype, asked)
            exact = exact or answers
            same = sum(one == other for one, other in zip(answers, exact, strict=True))
            weights = sum(f.stat().st_size for f in place.glob("*.safetensors"))
            told[name] = {
                "weights_mib": round(weights / 2**20, 1),
                **figures,
                "same_answer": share(same, len(answers)),
            }
            print(name, told[name], flush=True)
    return told


def main() -> None:
    """Measure and write the results."""
    program = Program("benchmarks.dlm.number_formats", __doc__, "corpora")
    program.add_argument("--checkpoint", type=Path, default=SHIPPED)
    program.add_argument("--scale", type=float, default=0.5, help="how many cases, 1 is usual")
    options = program.parse_args()
    material = Material.load(options.corpora)
    asked = [case for name in SETS for case in chosen(name, material, options.scale)]
    told = {"sets": SETS, "cases": len(asked), "ways": measure(options.checkpoint, asked)}
    told["checkpoint"] = shipped_checkpoint()
    program.write(told)


if __name__ == "__main__":
    main()

"""Tokens per second of a checkpoint on a GPU: ``python -m benchmarks.dlm.gpu_tokens``.

The engine answers short prompts at every effort, 1 to 64 at once, with the project's kernels and
eagerly. The time is that of the whole engine, with rounds, grammar and text, not of forwards alone.
For each effort the highest rate over all numbers at once is named. Mercury 2's published 1,009
tokens per second, on a Blackwell GPU and for a model of another size, is given as a reference
point, not as a comparison of models. Results: benchmarks/results/gpu_tokens.json. ``--dry-run``
answers one prompt, on any machine.
"""

from __future__ import annotations

import argparse
import sys
from contextlib import closing
from dataclasses import asdict
from functools import partial
from typing import Any

import torch

from benchmarks.report import shipped_checkpoint
from benchmarks.series import Series, add_options
from dlm.bench import engine_ask, measure
from dlm.effort import Effort
from dlm.engine.engine import SHIPPED, Engine

MERCURY_2_TOKENS_S = 1009
AT_ONCE = (1, 4, 16, 64)
ROUNDS = 16
LONGEST = 128


def rates(engine: Engine, at_once: tuple[int, ...], rounds: int, longest: int) -> dict[str, Any]:
    """Tokens per second for each effort and number of answers at once, and the highest of them."""
    told: dict[str, Any] = {}
    ask = engine_ask(engine, longest)
    for effort in Effort:
        rows = [measure(ask, effort, count, rounds) for count in at_once]
        best = max(rows, key=lambda row: row.tokens_s)
        told[str(effort)] = {
            "at_once": {str(row.at_once): asdict(row) for row in rows},
            "alone_tokens_s": rows[0].tokens_s,
            "most_tokens_s": best.tokens_s,
            "most_at": best.at_once,
        }
        print(f"{engine.placement}, {effort}: {rows[0].tokens_s} tokens/s alone, "
              f"{best.tokens_s} with {best.at_once} at once", flush=True)  # fmt: skip
    return told


def main() -> None:
    """Measure with kernels and eagerly."""
    parser = argparse.ArgumentParser(prog="benchmarks.dlm.gpu_tokens", description=__doc__)
    parser.add_argument("--dry-run", action="store_true", help="one prompt, nothing written")
    parser.add_argument("--checkpoint", default=str(SHIPPED))
    add_options(parser)
    given = parser.parse_args()
    if given.dry_run:
        with closing(Engine.load(given.checkpoint)) as engine:
            rates(engine, (1,), 1, 4)
        return
    if not torch.cuda.is_available():
        sys.exit("benchmarks.dlm.gpu_tokens needs an NVIDIA GPU; --dry-run does not")
    shipped = given.checkpoint == str(SHIPPED)
    series = Series("gpu_tokens", "benchmarks.dlm.gpu_tokens", given)
    series.tell(
        {
            "device": torch.cuda.get_device_name(),
            "checkpoint": shipped_checkpoint() if shipped else given.checkpoint,
            "mercury_2_tokens_s": MERCURY_2_TOKENS_S,
        }
    )
    for kernels in ("fused", "eager"):
        series.add(kernels, partial(run_by, kernels, given.checkpoint))
    series.close()


def run_by(kernels: str, checkpoint: str) -> dict[str, Any]:
    """Rates of a checkpoint, run with kernels or eagerly."""
    with closing(Engine.load(checkpoint, kernels=kernels)) as engine:
        return rates(engine, AT_ONCE, ROUNDS, LONGEST)


if __name__ == "__main__":
    main()

"""The shipped model on dialogues that training never showed: ``python -m benchmarks.dlm.quality``.

Held-out phrasings of our own generator, with and without span constraints on arguments, through the
engine as voice uses it (instant, verified). Results: benchmarks/results/quality.json.
"""

from __future__ import annotations

import argparse
import itertools
import time
from pathlib import Path
from typing import Any

from benchmarks.report import machine, write
from dlm.engine import SHIPPED, Engine
from dlm.evaluate.__main__ import ask
from dlm.evaluate.scores import score
from dlm.train.dialogues import generate

SEED = 99


def measure(engine: Engine, corpora: Path | None, count: int, spans: bool) -> dict[str, Any]:
    """Scores over so many held-out dialogues, and seconds for each answer."""
    rows = itertools.islice(generate(seed=SEED, corpora=corpora, split="heldout"), count)
    began = time.monotonic()
    scores = score(rows, lambda request: ask(engine, request), spans=spans)
    answers = scores.counts["decision"][1]
    spent_ms = (time.monotonic() - began) * 1000 / answers
    return {"dialogues": count, "answer_ms_mean": round(spent_ms, 1), **scores.figures()}


def main() -> None:
    """Measure and write the results."""
    parser = argparse.ArgumentParser(prog="benchmarks.dlm.quality", description=__doc__)
    parser.add_argument("--checkpoint", type=Path, default=SHIPPED)
    parser.add_argument("--corpora", type=Path, help="directory of the text corpora")
    parser.add_argument("--count", type=int, default=400, help="dialogues")
    arguments = parser.parse_args()
    began = machine()
    engine = Engine.load(arguments.checkpoint)
    told = {
        "spans": measure(engine, arguments.corpora, arguments.count, spans=True),
        "free": measure(engine, arguments.corpora, arguments.count, spans=False),
    }
    engine.close()
    for name, figures in told.items():
        print(name, figures)
    print(write("quality", "benchmarks.dlm.quality", told, began))


if __name__ == "__main__":
    main()

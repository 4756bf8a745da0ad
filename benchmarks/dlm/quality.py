"""The shipped model on what training never showed: ``python -m benchmarks.dlm.quality``.

Everything that `dlm.evaluate` measures, through the engine as voice uses it (instant, verified),
and recordings of real people through the embedded recogniser. Results go to
benchmarks/results/quality.json.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from benchmarks.dlm.heard import heard
from benchmarks.report import machine, shipped_checkpoint, write
from dlm.engine import SHIPPED, Engine
from dlm.evaluate.report import table
from dlm.evaluate.run import Plan, ask_engine, evaluate


def measure(engine: Engine, plan: Plan) -> dict[str, Any]:
    """All figures of a model."""
    ask = ask_engine(engine)
    figures = evaluate(plan, ask, engine, print).figures
    return figures | ({"heard": told} if (told := heard(ask)) else {})


def main() -> None:
    """Measure and write the results."""
    parser = argparse.ArgumentParser(prog="benchmarks.dlm.quality", description=__doc__)
    parser.add_argument("--checkpoint", type=Path, default=SHIPPED)
    parser.add_argument("--corpora", type=Path, help="directory of the text corpora")
    parser.add_argument("--scale", type=float, default=1.0, help="how many cases, 1 is usual")
    arguments = parser.parse_args()
    began = machine()
    engine = Engine.load(arguments.checkpoint)
    told = measure(engine, Plan(arguments.corpora, scale=arguments.scale))
    told["placement"] = engine.placement
    engine.close()
    print(table(told))
    told["checkpoint"] = shipped_checkpoint()
    print(write("quality", "benchmarks.dlm.quality", told, began))


if __name__ == "__main__":
    main()

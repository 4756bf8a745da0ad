"""Scores the shipped model on what training never showed: ``python -m benchmarks.dlm.quality``.

Runs everything that `dlm.evaluate` measures, through the engine as voice uses it (instant,
verified), and recordings of real people through the embedded recogniser. The calls are repeated on
other draws of the cases, since shares differ by one to three points between draws. The first
failure of each set is written down. Results go to benchmarks/results/quality.json.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from statistics import mean
from typing import Any

from benchmarks.dlm.heard import heard
from benchmarks.report import Program, shipped_checkpoint
from dlm.engine.engine import SHIPPED, Engine
from dlm.evaluate.report import table
from dlm.evaluate.run import Plan, ask_engine, evaluate
from dlm.evaluate.scores import Ask

DRAWN = ("own", "others", "unseen")
"""Sets that are measured on further draws."""
UNQUOTED = frozenset({"services"})
"""Sets under share-alike licences, whose failures are not written to the results."""


def measure(engine: Engine, plan: Plan, draws: int = 0) -> dict[str, Any]:
    """All figures of a model, the first failure of each set, and calls on further draws."""
    ask = ask_engine(engine)
    told = evaluate(plan, ask, engine, print)
    figures = told.figures | {"failures": first_failures(told.failures)}
    if draws:
        figures["draws"] = over_draws(plan, ask, range(1, draws + 1))
    return figures | ({"heard": real} if (real := heard(ask)) else {})


def first_failures(failures: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """The first failure of each set, in the order of the sets, without the declared tools."""
    first: dict[str, dict[str, Any]] = {}
    for failure in failures:
        if failure["set"] not in UNQUOTED:
            first.setdefault(failure["set"], failure)
    return [{k: v for k, v in failure.items() if k != "tools"} for failure in first.values()]


def over_draws(plan: Plan, ask: Ask, seeds: Iterable[int]) -> dict[str, dict[str, Any]]:
    """Shares of exact calls in the sets `DRAWN`, over several seeds of the cases."""
    names = tuple(name for name in DRAWN if name in plan.names)
    shares: dict[str, list[float]] = {name: [] for name in names}
    for seed in seeds:
        drawn = replace(plan, names=names, seed=seed, extras=False)
        sets = evaluate(drawn, ask, None, print).figures["sets"]
        for name in names:
            if "call" in sets.get(name, {}):
                shares[name].append(sets[name]["call"])
    return {
        name: {
            "mean": round(mean(found), 4),
            "least": min(found),
            "most": max(found),
            "call": found,
        }
        for name, found in shares.items()
        if found
    }


def main() -> None:
    """Measure and write the results."""
    program = Program("benchmarks.dlm.quality", __doc__, "corpora")
    program.add_argument("--checkpoint", type=Path, default=SHIPPED)
    program.add_argument("--scale", type=float, default=1.0, help="how many cases, 1 is usual")
    program.add_argument("--draws", type=int, default=8, help="further draws of the calls")
    arguments = program.parse_args()
    engine = Engine.load(arguments.checkpoint)
    told = measure(engine, Plan(arguments.corpora, scale=arguments.scale), arguments.draws)
    told["placement"] = engine.placement
    engine.close()
    print(table({name: found for name, found in told.items() if name != "failures"}))
    told["checkpoint"] = shipped_checkpoint()
    program.write(told)


if __name__ == "__main__":
    main()

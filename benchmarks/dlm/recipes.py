"""Compares recipes at equal processor time: ``python -m benchmarks.dlm.recipes --data x.npz``.

Every recipe trains from random weights, on the same packed dialogues in the same order, on one
thread, for the same processor time, whatever else the machine does. The recipes are models of
several sizes on one schedule, which begins with next-token prediction, and one size with the joint
objective from the first step on. Measured are held-out losses, calls on held-out phrasings, tokens
per forward, and, before anything trains, the milliseconds of a step in 8 bits. ``python -m
dlm.train.pack`` writes the data. Results: benchmarks/results/recipes.json; recipes of an earlier
run with the same minutes, data, number format, commit and machine are kept.
"""

from __future__ import annotations

import json
import multiprocessing
import tempfile
import time
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.dlm.step import rounded, timed
from benchmarks.report import RESULTS, Program, differences
from dlm.engine.engine import Engine
from dlm.evaluate.run import Plan, ask_engine, evaluate
from dlm.loading.placement import bfloat16_is_fast
from dlm.network.model import Transformer
from dlm.train.batches import Place, Recipe, batches, passes
from dlm.train.config import TrainConfig
from dlm.train.data import HELD_OUT_SEED
from dlm.train.loop import Run
from dlm.train.machine import prepare
from dlm.train.pack import PackedData, read
from dlm.train.reporting import Report


def _shape(width: int, layers: int, heads: int, kv_heads: int) -> dict[str, Any]:
    return {
        "hidden_size": width,
        "intermediate_size": 3 * width,
        "num_hidden_layers": layers,
        "num_attention_heads": heads,
        "num_key_value_heads": kv_heads,
    }


RECIPES: dict[str, dict[str, Any]] = {
    "13M": _shape(384, 7, 6, 2),
    "6M": _shape(256, 6, 4, 2),
    "6M, joint from scratch": _shape(256, 6, 4, 2) | {"ar_share": 0.0},
    "3M": _shape(192, 5, 3, 1),
    "28M": _shape(512, 9, 8, 4),
}
"""Name → changes to the configuration; all heads have 64 dimensions."""
USUAL = tuple(name for name in RECIPES if name != "28M")
STEP_POSITIONS = 16
STEP_REPEATS = 30


@dataclass(frozen=True, slots=True)
class Sweep:
    """What all recipes have in common.

    Attributes:
        config: The training's configuration, to which recipes make changes.
        data: The file of packed dialogues.
        plan: How the trained models are evaluated.
    """

    config: TrainConfig
    data: Path
    plan: Plan


def trained(config: TrainConfig, data: PackedData, directory: Path) -> Run:
    """Train from random weights until the processor time is over; the run is saved."""
    directory.mkdir(parents=True)
    (directory / "tokenizer.json").write_text(data.tokenizer, encoding="utf-8")
    run = Run(config, directory)
    recipe = Recipe(directory, config.seed, config.tokens_per_step, config.max_length)
    rows = passes(data.train, recipe, Place())
    run.train(rows, config.total_minutes, _quiet, clock=time.process_time)
    return run


def _quiet(row: Report) -> None:
    """Report nothing: several recipes train at a time, and their steps would mix."""


def judged(run: Run, data: PackedData, plan: Plan) -> dict[str, Any]:
    """Figures of a finished run."""
    config = run.config
    rng = np.random.default_rng(HELD_OUT_SEED)
    rows = (data.heldout[number] for number in range(len(data.heldout)))
    heldout = list(batches(rows, config.tokens_per_step, config.max_length, rng))
    told: dict[str, Any] = {
        "parameters": sum(p.numel() for p in run.model.parameters()),
        "tokens": run.tokens,
        "steps": run.step,
        "cpu_minutes": round(run.elapsed_s / 60, 2),
        **run.evaluate(heldout),
    }
    engine = Engine.load(run.directory, threads=1)
    try:
        told["sets"] = evaluate(plan, ask_engine(engine), engine, lambda _: None).figures["sets"]
    finally:
        engine.close()
    return told


def learned(name: str, sweep: Sweep) -> dict[str, Any]:
    """Train and judge one recipe, in a process of its own."""
    prepare(1)
    data = read(sweep.data)
    with tempfile.TemporaryDirectory() as directory:
        run = trained(replace(sweep.config, **RECIPES[name]), data, Path(directory) / "run")
        return judged(run, data, sweep.plan)


def measure(names: list[str], sweep: Sweep, jobs: int) -> dict[str, Any]:
    """Train and judge recipes, ``jobs`` at a time, each on one thread."""
    told: dict[str, Any] = {}
    steps = {name: step_ms(replace(sweep.config, **RECIPES[name])) for name in names}
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(jobs, context, max_tasks_per_child=1) as pool:
        running = {name: pool.submit(learned, name, sweep) for name in names}
        for name, result in running.items():
            told[name] = result.result() | {"step_ms": steps[name]}
            print(name, told[name], flush=True)
    return told


def step_ms(config: TrainConfig) -> dict[str, Any]:
    """Milliseconds of a step of 16 positions in 8 bits; only the model's shape matters."""
    model = Transformer(config.model()).eval().requires_grad_(False)
    return timed(rounded(model), STEP_POSITIONS, STEP_REPEATS)


def kept(file: Path, setting: dict[str, Any], began: dict[str, Any]) -> dict[str, Any]:
    """Recipes of an earlier run that are comparable with this one's; prints why if none are.

    Args:
        file: The earlier run's results.
        setting: Figures that must be the same.
        began: `benchmarks.report.machine` as this run found it.
    """
    if not file.is_file():
        return {}
    told = json.loads(file.read_text(encoding="utf-8"))
    earlier: dict[str, Any] = told["figures"]
    others = [f"{key} differ" for key in setting if earlier.get(key) != setting[key]]
    if other := ", ".join([*others, differences(told, began)]).strip(", "):
        print(f"nothing is kept of {file.name}, which is of another run: {other}", flush=True)
        return {}
    recipes: dict[str, Any] = earlier["recipes"]
    return recipes


def main() -> None:
    """Train, measure, and write the results."""
    program = Program("benchmarks.dlm.recipes", __doc__, "set", "corpora")
    program.add_argument("--data", type=Path, required=True, help="packed dialogues, .npz")
    program.add_argument("--config", type=Path, default=Path("configs/train/sweep.toml"))
    program.add_argument("--minutes", type=float, default=6.0, help="of a core, for each")
    program.add_argument("--scale", type=float, default=0.5, help="how many cases, 1 is usual")
    program.add_argument("--jobs", type=int, default=2, help="recipes at a time, a core each")
    program.add_argument("--recipes", nargs="+", choices=RECIPES, default=USUAL)
    options = program.parse_args()
    minutes = f"total_minutes = {options.minutes}"
    config = TrainConfig.load(options.config, [*options.set, minutes, "threads = 1"])
    prepare(config.threads)
    if config.autocast == "auto":
        # Decided once for all: on a busy machine each recipe might come to another answer.
        config = replace(config, autocast="bfloat16" if bfloat16_is_fast() else "off")
    plan = Plan(options.corpora, names=("own",), scale=options.scale, extras=False)
    told: dict[str, Any] = {"minutes": options.minutes, "autocast": config.autocast}
    told["data"] = read(options.data).source
    recipes = kept(RESULTS / "recipes.json", told, program.began)
    began_s = time.monotonic()
    recipes |= measure(list(options.recipes), Sweep(config, options.data, plan), options.jobs)
    told["wall_minutes"] = round((time.monotonic() - began_s) / 60, 1)
    program.write(told | {"recipes": recipes})


if __name__ == "__main__":
    main()

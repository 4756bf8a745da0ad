"""The shipped model's step by other runtimes on this CPU: ``python -m benchmarks.dlm.backends``.

Every runtime gets the same float32 module (`benchmarks.dlm.pure_step`): the whole step of 8, 16 and
32 rows behind 256 cached positions, and its matrix products alone; on one thread and on two. The
engine's own forward, which keeps its cache and packs requests, stands beside them. Runtimes take
turns, so that the machine's moods meet all alike. How often a step's likeliest tokens are those of
float32 is counted on held-out dialogues. Those that are not installed, or fail, are named with the
reason. Results: benchmarks/results/backends.json.
"""

from __future__ import annotations

import argparse
import copy
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import torch
from torch import Tensor, nn

from benchmarks.dlm.pure_step import Linears, Step
from benchmarks.dlm.runtimes import MAKERS, SLOW, Run
from benchmarks.report import Program, percentiles, share
from dlm.datagen.dialogues import generate
from dlm.engine.engine import SHIPPED
from dlm.kv_cache.cache import KVCache
from dlm.language.messages import Turn
from dlm.language.template import Template, tools_of, turn_of
from dlm.loading.checkpoint import Checkpoint, load_checkpoint
from dlm.network.int8 import round_weights
from dlm.network.model import Rows, Transformer

CONTEXT = 256
ROWS = (8, 16, 32)
THREADS = (1, 2)
SEED = 99
DIALOGUES = 24
REPEATS = 40
PAUSE_S = 0.002


def dialogues(template: Template, length: int, count: int) -> list[list[int]]:
    """The first so many tokens of held-out dialogues that are that long."""
    out: list[list[int]] = []
    for row in generate(seed=SEED, corpora=None, split="heldout"):
        tools = tools_of(row["tools"])
        system = [Turn("system", row["system"])] if row.get("system") else []
        ids = template.dialogue([*system, *map(turn_of, row["messages"])], tools).ids
        if len(ids) >= length:
            out.append(list(ids[-length:]))
        if len(out) == count:
            return out
    raise ValueError(f"got {len(out)} dialogues of {length} tokens, expected {count}")


def arguments(model: Transformer, ids: Sequence[int], rows: int) -> tuple[Tensor, Tensor]:
    """New tokens, and the cache of those before them, as `Step` takes them."""
    cache = KVCache(model.config, CONTEXT)
    with torch.inference_mode():
        model.packed(torch.tensor(ids[:CONTEXT]), [Rows(cache, CONTEXT, CONTEXT)])
    cache.commit(CONTEXT)
    # Writing nothing gives what is there.
    nothing = torch.empty(1, model.config.num_key_value_heads, 0, model.config.head_dim)
    layers = range(model.config.num_hidden_layers)
    held = torch.stack([torch.cat(cache.write(layer, nothing, nothing)) for layer in layers])
    return torch.tensor(ids[CONTEXT : CONTEXT + rows]), held


def engine_step(model: Transformer, ids: Sequence[int], rows: int) -> Callable[[], object]:
    """The engine's forward of so many causal rows, logits included."""
    cache = KVCache(model.config, CONTEXT + rows)
    with torch.inference_mode():
        model.packed(torch.tensor(ids[:CONTEXT]), [Rows(cache, CONTEXT, CONTEXT)])
    cache.commit(CONTEXT)
    new = torch.tensor(ids[CONTEXT : CONTEXT + rows])
    return lambda: model.logits(model.packed(new, [Rows(cache, rows, rows)]))


def made_of(
    module: nn.Module, tried: tuple[Tensor, ...], threads: int, names: Sequence[str]
) -> Any:
    """What each runtime makes of a module, and why others make nothing."""
    runs: dict[str, Run] = {}
    missing: dict[str, str] = {}
    for name in names:
        try:
            run = MAKERS[name](module, tried, threads)
            run(*tried)
        except Exception as error:
            # Whatever keeps a foreign runtime from running is its result.
            missing[name] = f"{type(error).__name__}: {str(error).splitlines()[0][:120]}"
        else:
            runs[name] = run
    return runs, missing


def milliseconds(runs: dict[str, Callable[[], object]], repeats: int) -> dict[str, Any]:
    """Each once after the other, again and again: on the clock, and of the processor.

    The second counts all threads, and not the time that other programs had the processor.
    """
    wall: dict[str, list[float]] = {name: [] for name in runs}
    cpu: dict[str, list[float]] = {name: [] for name in runs}
    for _ in range(repeats):
        for name, run in runs.items():
            # Twice, the first to have its own weights and code in the caches again.
            run()
            began, busy = time.perf_counter(), time.process_time()
            run()
            cpu[name].append((time.process_time() - busy) * 1000)
            wall[name].append((time.perf_counter() - began) * 1000)
            time.sleep(PAUSE_S)
    return {
        name: {
            **percentiles(wall[name], 3),
            "least": round(min(wall[name]), 3),
            "cpu": percentiles(cpu[name], 3),
        }
        for name in runs
    }


def agreement(runs: dict[str, Run], given: Sequence[tuple[Tensor, ...]]) -> dict[str, Any]:
    """How often the likeliest token at a position is that of float32."""
    expected = torch.cat([runs["float32"](*one).argmax(dim=-1) for one in given])
    out = {}
    for name, run in runs.items():
        got = torch.cat([torch.as_tensor(run(*one)).argmax(dim=-1) for one in given])
        out[name] = share(int((got == expected).sum()), len(expected))
    return out


def measure(checkpoint: Checkpoint, options: argparse.Namespace) -> Iterator[dict[str, Any]]:
    """All runtimes, rows and threads; gives what there is after each size."""
    model, dialect = checkpoint.model, checkpoint.dialect
    assert isinstance(dialect, Template)
    long = dialogues(dialect, CONTEXT + max(ROWS), options.dialogues)
    rounded = copy.deepcopy(model)
    round_weights(rounded)
    told: dict[str, Any] = {"context": CONTEXT, "missing": {}, "steps": {}}
    for threads in options.threads:
        torch.set_num_threads(threads)
        for rows in options.rows:
            step = Step(model, rows, CONTEXT).eval().requires_grad_(False)
            given = [arguments(model, ids, rows) for ids in long]
            names = [name for name in MAKERS if name not in SLOW or (rows, threads) == (16, 1)]
            runs, missing = made_of(step, given[0], threads, names)
            told["missing"] |= missing
            clocked = {name: _bound(run, given[0]) for name, run in runs.items()}
            clocked["engine, float32"] = engine_step(model, long[0], rows)
            clocked["engine, int8"] = engine_step(rounded, long[0], rows)
            found: dict[str, Any] = {"step_ms": milliseconds(clocked, options.repeats)}
            if threads == options.threads[0]:
                found["agreement"] = agreement(runs, given)
            found["products_ms"] = products_ms(step, rows, threads, options.repeats)
            told["steps"][f"{rows} rows, {threads} threads"] = found
            show(f"{rows} rows, {threads} threads", found)
            yield told


def products_ms(step: Step, rows: int, threads: int, repeats: int) -> dict[str, Any]:
    """Of the matrix products alone."""
    layer = step.layers[0].mlp
    widths = step.head.in_features, layer.down_proj.in_features  # type: ignore[union-attr]
    given = tuple(torch.randn(rows, int(width)) for width in widths)  # type: ignore[arg-type]
    quick = [name for name in MAKERS if name not in SLOW]
    runs, _ = made_of(Linears(step).eval(), given, threads, quick)
    return milliseconds({name: _bound(run, given) for name, run in runs.items()}, repeats)


def _bound(run: Run, given: tuple[Tensor, ...]) -> Callable[[], object]:
    return lambda: run(*given)


def show(title: str, found: dict[str, Any]) -> None:
    """Print what was found."""
    print(title, flush=True)
    for name, spent in found["step_ms"].items():
        products = found["products_ms"].get(name, {}).get("cpu", {}).get("p50", "")
        same = found.get("agreement", {}).get(name, {}).get("rate", "")
        clocked = f"{spent['p50']:8} (least {spent['least']}, cpu {spent['cpu']['p50']})"
        print(f"  {name:34} {clocked} {products} {same}", flush=True)


def main() -> None:
    """Measure and write the results."""
    program = Program("benchmarks.dlm.backends", __doc__)
    program.add_argument("--repeats", type=int, default=REPEATS)
    program.add_argument("--dialogues", type=int, default=DIALOGUES)
    program.add_argument("--rows", type=int, nargs="+", default=list(ROWS))
    program.add_argument("--threads", type=int, nargs="+", default=list(THREADS))
    options = program.parse_args()
    checkpoint = load_checkpoint(SHIPPED, torch.float32, "cpu")
    with torch.inference_mode():
        for told in measure(checkpoint, options):
            program.write(told)
    for name, why in told["missing"].items():
        print(f"left out: {name}: {why}")


if __name__ == "__main__":
    main()

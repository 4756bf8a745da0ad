"""Teaches lists of tools, and measures it: ``python -m benchmarks.dlm.teach --corpora DIR``.

``python -m dlm.teach`` teaches lists of benchmarks/dlm/teaching, with a handful of examples for
each tool where ``examples/NAME.jsonl`` exists, unless ``--without-examples`` is given. Before and
after, each model gets the sentences of ``NAME.jsonl``, which another author wrote. Both authors had
read nothing but the tools' descriptions. Sets of `dlm.evaluate` measure what the shipped agents can
still do. Results: benchmarks/results/teach.json.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from benchmarks.report import ROOT, Program
from dlm.engine.engine import SHIPPED, Engine
from dlm.evaluate.run import Plan, ask_engine, evaluate
from dlm.teach import sentences, sources
from dlm.teach.__main__ import main as teach

LISTS = ROOT / "benchmarks" / "dlm" / "teaching"
ASIDE = ("todoist", "giphy", "messages")
"""Lists whose sentences nobody reads; the others' were read while the generator was written."""
SETS = ("own", "unseen", "unasked", "talk")
SEED = 99


def judged(checkpoint: Path, name: str) -> dict[str, Any]:
    """The figures of a checkpoint on a list's sentences."""
    tools = sources.read(str(LISTS / f"{name}.json"))
    system = f"You are a voice assistant for {name}. Use a tool when one fits."
    engine = Engine.load(checkpoint)
    try:
        said = sentences.read(LISTS / f"{name}.jsonl", tools)
        found, _ = sentences.measure(engine, said, tools, system)
    finally:
        engine.close()
    return found


def shipped(checkpoint: Path, corpora: Path | None) -> dict[str, Any]:
    """A checkpoint's scores, by set, on what the shipped agents can do."""
    engine = Engine.load(checkpoint)
    try:
        plan = Plan(corpora, SETS, 0.5, extras=False, seed=SEED)
        sets: dict[str, Any] = evaluate(plan, ask_engine(engine), engine, print).figures["sets"]
    finally:
        engine.close()
    return sets


def main() -> None:
    """Teach, measure, and write the results."""
    program = Program("benchmarks.dlm.teach", __doc__, "set", "corpora", "name")
    program.add_argument("--lists", nargs="+", default=ASIDE)
    program.add_argument("--minutes", type=float, default=14.0, help="for each list")
    program.add_argument("--without-examples", action="store_true")
    program.add_argument("--out", type=Path, default=ROOT / "runs" / "teach")
    options = program.parse_args()
    before = shipped(SHIPPED, options.corpora)
    told: dict[str, Any] = {"shipped": before, "lists": {}}
    for name in options.lists:
        out = options.out / name
        command = [str(LISTS / f"{name}.json"), "--out", str(out)]
        command += ["--minutes", str(options.minutes)]
        command += ["--corpora", str(options.corpora)] if options.corpora else []
        examples = LISTS / "examples" / f"{name}.jsonl"
        if examples.exists() and not options.without_examples:
            command += ["--examples", str(examples)]
        teach([*command, *(word for change in options.set for word in ("--set", change))])
        report = json.loads((out / "report.json").read_text(encoding="utf-8"))
        told["lists"][name] = {
            "minutes": report["minutes"],
            "training_minutes": report["training_minutes"],
            "steps": report["steps"],
            "before": judged(SHIPPED, name),
            "after": judged(out / "checkpoint", name),
            "shipped": shipped(out / "checkpoint", options.corpora),
        }
        print(name, json.dumps(told["lists"][name]), flush=True)
    program.write(told, options.name)


if __name__ == "__main__":
    main()

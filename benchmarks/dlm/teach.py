"""Teaching lists of tools: ``python -m benchmarks.dlm.teach --sentences DIR --corpora DIR``.

Each list of benchmarks/dlm/teaching is taught by ``python -m dlm.teach``, without examples. Before
and after it is asked sentences of people who had read the tools' descriptions alone: DIR holds them
by list, ``NAME.jsonl``. What the shipped agents can do is measured by sets of `dlm.evaluate`.
Results: benchmarks/results/teach.json.
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
SETS = ("own", "unseen", "unasked", "talk")
SEED = 99


def judged(checkpoint: Path, name: str, said: Path, corpora: Path | None) -> dict[str, Any]:
    """The figures of a checkpoint on a list's sentences, and on what the shipped agents can do."""
    tools = sources.read(str(LISTS / f"{name}.json"))
    system = f"You are a voice assistant for {name}. Use a tool when one fits."
    engine = Engine.load(checkpoint)
    try:
        found, _ = sentences.measure(engine, sentences.read(said, tools), tools, system)
        plan = Plan(corpora, SETS, 0.5, extras=False, seed=SEED)
        sets = evaluate(plan, ask_engine(engine), engine, print).figures["sets"]
    finally:
        engine.close()
    return {"sentences": found, "sets": sets}


def main() -> None:
    """Teach, measure, and write the results."""
    program = Program("benchmarks.dlm.teach", __doc__, "set", "corpora", "name")
    program.add_argument("--sentences", type=Path, required=True, help="NAME.jsonl of each list")
    program.add_argument("--lists", nargs="+", default=["mcp", "openapi", "functions"])
    program.add_argument("--minutes", type=float, default=14.0, help="for each list")
    program.add_argument("--out", type=Path, default=ROOT / "runs" / "teach")
    options = program.parse_args()
    told: dict[str, Any] = {}
    for name in options.lists:
        out, said = options.out / name, options.sentences / f"{name}.jsonl"
        command = [
            str(LISTS / f"{name}.json"),
            "--out",
            str(out),
            "--minutes",
            str(options.minutes),
        ]
        command += ["--corpora", str(options.corpora)] if options.corpora else []
        teach([*command, *(word for change in options.set for word in ("--set", change))])
        report = json.loads((out / "report.json").read_text(encoding="utf-8"))
        told[name] = {
            "minutes": report["minutes"],
            "training_minutes": report["training_minutes"],
            "before": judged(SHIPPED, name, said, options.corpora),
            "after": judged(out / "checkpoint", name, said, options.corpora),
        }
        print(name, json.dumps(told[name]), flush=True)
    program.write(told, options.name)


if __name__ == "__main__":
    main()

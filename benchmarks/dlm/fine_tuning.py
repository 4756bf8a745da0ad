"""Teaching the shipped model a tool: ``python -m benchmarks.dlm.fine_tuning --corpora DIR``.

Measures before and after `python -m dlm.train --init` on the dialogues of examples/fine_tuning: the
new tool on phrasings and plants that training never shows, and everything else on the generator's
held-out dialogues, as they are and with the new tool declared as well. Results:
benchmarks/results/fine_tuning.json.
"""

from __future__ import annotations

import itertools
import json
import tempfile
import time
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import torch

from benchmarks.report import Program, share
from dlm.datagen.dialogues import generate
from dlm.datagen.examples import row_of
from dlm.engine.engine import SHIPPED, Engine
from dlm.evaluate.cases import cases
from dlm.evaluate.run import ask_engine
from dlm.language.messages import Call
from dlm.train.__main__ import main as train
from examples.fine_tuning.watering import TOOL, lines

SEED = 97
HELD_OUT_LINES = 120


def measure(engine: Engine, rows: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    """How many calls are right in name and arguments, and how many other answers call nothing.

    The latter are counted apart after a tool's result (``replies``) and after the user's message
    (``talk``), since few models call anything after a result.
    """
    right = dict.fromkeys(("calls", "talk", "replies"), 0)
    asked, ask = dict(right), ask_engine(engine)
    for case in cases(rows):
        result = case.turns[-1].role == "tool"
        kind = "calls" if case.wanted.calls else "replies" if result else "talk"
        asked[kind] += 1
        finished = ask(case.request())
        right[kind] += bool(finished) and plain(finished.answer.calls) == plain(case.wanted.calls)
    return {kind: share(right[kind], asked[kind]) for kind in asked}


def plain(calls: Iterable[Call]) -> list[tuple[str, dict[str, str]]]:
    """Calls without differences in case and outer punctuation, which do not count."""
    return [
        (c.name, {k: str(v).lower().strip(" .,!?") for k, v in c.arguments.items()}) for c in calls
    ]


def rest(corpora: Path | None, count: int, beside: bool) -> list[dict[str, Any]]:
    """Held-out dialogues of the generator; the new tool is declared in them too if ``beside``."""
    rows = list(itertools.islice(generate(SEED, corpora, "heldout"), count))
    return [row | {"tools": [*row["tools"], TOOL]} for row in rows] if beside else rows


def judged(checkpoint: Path, corpora: Path | None, count: int) -> dict[str, Any]:
    """All figures of a checkpoint."""
    engine = Engine.load(checkpoint)
    try:
        return {
            "new_tool": measure(engine, map(row_of, lines(HELD_OUT_LINES, "heldout"))),
            "rest": measure(engine, rest(corpora, count, beside=False)),
            "rest_beside_new_tool": measure(engine, rest(corpora, count, beside=True)),
        }
    finally:
        engine.close()


def main() -> None:
    """Measure, fine-tune, measure, and write the results."""
    program = Program("benchmarks.dlm.fine_tuning", __doc__, "set", "corpora")
    program.add_argument("--checkpoint", type=Path, default=SHIPPED)
    program.add_argument("--count", type=int, default=300, help="dialogues of the rest")
    program.add_argument("--lines", type=int, default=240, help="dialogues that teach")
    options = program.parse_args()
    told: dict[str, Any] = {"lines": options.lines}
    threads = torch.get_num_threads()
    told["before"] = judged(options.checkpoint, options.corpora, options.count)
    with tempfile.TemporaryDirectory() as directory:
        data, out = Path(directory) / "watering.jsonl", Path(directory) / "run"
        text = "".join(json.dumps(line) + "\n" for line in lines(options.lines, "train"))
        data.write_text(text, encoding="utf-8")
        command = ["--init", options.checkpoint, "--data", data, "--out", out]
        command += ["--corpora", options.corpora] if options.corpora else []
        command += itertools.chain(*(("--set", change) for change in options.set))
        # An engine sets the threads of the whole process to the few that it needs; training wants
        # all cores.
        torch.set_num_threads(threads)
        start = time.monotonic()
        train([str(word) for word in command])
        told["training_s"] = round(time.monotonic() - start)
        told["run"] = json.loads((out / "run.json").read_text(encoding="utf-8"))
        told["after"] = judged(out, options.corpora, options.count)
    for when in ("before", "after"):
        print(when, told[when])
    program.write(told)


if __name__ == "__main__":
    main()

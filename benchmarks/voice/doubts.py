"""How often the agent doubts calls that are right: ``benchmarks.voice.doubts --corpora DIR``.

Answers held-out cases of `dlm.evaluate`, and looks at the answers that have calls. The agent asks
about calls that it doubts (`voice.understanding.low_confidence`): needlessly if the call was right,
rightly if it was wrong.
Results: with --name, benchmarks/results/NAME.json.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from benchmarks.report import Program, share
from dlm.engine.engine import Engine
from dlm.evaluate.cases import CALLS, Case
from dlm.evaluate.run import ask_engine
from dlm.evaluate.scores import Ask, Scores, compare
from dlm.evaluate.sets import SEED, Material, chosen
from voice.config import load_config
from voice.tools import Toolbox
from voice.types import ToolCall, ToolSpec
from voice.understanding.low_confidence import in_doubt

SETS = ("own", "others", "spontaneous", "coffee", "asking", "unasked", "talk")


def judged(cases: list[Case], ask: Ask, tools: dict[str, ToolSpec]) -> Iterator[tuple[bool, bool]]:
    """For each answer to a user's message that has calls: is it right, and is it doubted?"""
    for case in cases:
        finished = ask(case.request())
        if finished is None or not finished.answer.calls or case.turns[-1].role != "user":
            continue
        calls = [ToolCall("", call.name, {**call.arguments}) for call in finished.answer.calls]
        doubted = in_doubt(finished.confidence, case.turns[-1].content, calls, tools)
        yield compare(Scores(), case, finished) and case.kind in CALLS, doubted


def main() -> None:
    """Answer the cases and print the shares by set."""
    program = Program("benchmarks.voice.doubts", __doc__, "corpora", "name")
    program.add_argument("--scale", type=float, default=0.5, help="how many cases, as dlm.evaluate")
    program.add_argument("--seed", type=int, default=SEED, help="of the cases")
    options = program.parse_args()
    config = load_config(None, [])
    toolbox = Toolbox(config.tools, config.turn)
    tools = {spec.name: spec for spec in toolbox.specs(toolbox.names)}
    engine = Engine.load(threads=1)
    counts: Counter[tuple[str, bool, bool]] = Counter()
    try:
        for name in SETS:
            material = Material.load(options.corpora, options.seed)
            cases = chosen(name, material, options.scale)
            for right, doubted in judged(cases, ask_engine(engine), tools):
                counts.update([(name, right, doubted), ("all", right, doubted)])
    finally:
        engine.close()
    figures = {
        name: {
            kind: share(
                counts[name, right, True], sum(counts[name, right, d] for d in (True, False))
            )
            for kind, right in (("right, doubted", True), ("wrong, doubted", False))
        }
        for name in (*SETS, "all")
    }
    for name, found in figures.items():
        print(name, found, flush=True)
    if options.name:
        program.write(figures, options.name)


if __name__ == "__main__":
    main()

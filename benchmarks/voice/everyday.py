"""Types everyday conversations with the agents as they ship: ``benchmarks.voice.everyday``.

Each conversation is a real session of its own, with the model, the tools and a store in memory;
only speech is left out. The sets are in benchmarks/voice/everyday_sets. Their author knew what the
agents are for and which tools they have, but had seen neither code nor training data. The failures
in ``open`` are read to find faults. ``aside`` is kept apart: look at its counts, never at its
messages. ``questions`` ask for general knowledge, which no tool has: the answer can be right,
honestly unknown or wrong.

A set has one conversation a line, ``{"id", "agent", "kind", "turns"}``.
`benchmarks.voice.everyday_checks` describes what a turn expects, and judges it. The table counts
turns by kind. Results, if all sets are run: benchmarks/results/everyday.json.
"""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from benchmarks.report import Program, share
from benchmarks.voice.everyday_checks import Verdict, judge
from dlm.datagen.corpora.files import rows
from voice.config import load_config
from voice.demo.server import EMBEDDED
from voice.session.resources import Resources
from voice.session.typed import typing

SETS = ("open", "aside", "questions")
FOLDER = Path(__file__).parent / "everyday_sets"


@dataclass(frozen=True, slots=True)
class Turn:
    """One message, and what the agent did and said.

    Attributes:
        calls: Name and arguments of every call, in order.
        results: What the tools returned.
    """

    conversation: str
    kind: str
    agent: str
    number: int
    said: str
    calls: tuple[tuple[str, dict[str, Any]], ...]
    results: tuple[str, ...]
    reply: str
    verdict: Verdict
    expected: Mapping[str, Any]


async def converse(resources: Resources, conversation: Mapping[str, Any]) -> list[Turn]:
    """Hold one conversation; what follows a goodbye is not said."""
    turns = []
    async with typing(resources) as talk:
        for number, expected in enumerate(conversation["turns"]):
            if talk.ended:
                break
            done = await talk.say(expected["say"])
            verdict = judge(expected, conversation["kind"], done.calls, done.reply, talk.read_only)
            calls = tuple((call.name, dict(call.arguments)) for call in done.calls)
            place = conversation["id"], conversation["kind"], conversation["agent"], number
            became = calls, done.results, done.reply, verdict, expected
            turns.append(Turn(*place, expected["say"], *became))
    return turns


async def hold(conversations: Sequence[Mapping[str, Any]], settings: Sequence[str]) -> list[Turn]:
    """Hold conversations one after the other."""
    resources = Resources.load(load_config(None, [*EMBEDDED, *settings]))
    agents = {"assistant": resources, "coffee": resources.for_agent("coffee")}
    turns: list[Turn] = []
    try:
        for conversation in conversations:
            turns += await converse(agents[conversation["agent"]], conversation)
    finally:
        await resources.close()
    return turns


def table(turns: Sequence[Turn]) -> str:
    """A table of verdicts by kind of conversation."""
    kinds = sorted({turn.kind for turn in turns})
    rows = [f"{'':16}{'turns':>8}" + "".join(f"{verdict:>20}" for verdict in Verdict)]
    for kind in [*kinds, "all"]:
        some = [turn for turn in turns if kind in (turn.kind, "all")]
        counts = Counter(turn.verdict for turn in some)
        cells = (f"{counts[v]:>12} {counts[v] / len(some):6.1%}" for v in Verdict)
        rows.append(f"{kind:16}{len(some):>8}" + "".join(f"{cell:>20}" for cell in cells))
    return "\n".join(rows)


def figures(turns: Sequence[Turn]) -> dict[str, Any]:
    """Shares of each verdict, by kind and over all."""
    return {
        kind: {str(v): share(sum(t.verdict is v for t in some), len(some)) for v in Verdict}
        for kind in [*sorted({turn.kind for turn in turns}), "all"]
        if (some := [turn for turn in turns if kind in (turn.kind, "all")])
    }


def read(name: str) -> list[dict[str, Any]]:
    """The conversations of one of the `SETS`, or of a file."""
    if name in SETS:
        return [*rows(FOLDER / f"{name}.jsonl.xz")]
    lines = Path(name).read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines if line.strip()]


def main() -> None:
    """Hold the conversations and print a table for each set."""
    program = Program("benchmarks.voice.everyday", __doc__)
    program.add_argument(
        "sets", nargs="*", default=SETS, help="open, aside, questions, or files of JSON lines"
    )
    program.add_argument("--failures", type=Path, help="write what was not right here, JSON lines")
    program.add_argument("--kinds", nargs="*", help="only conversations of these kinds")
    program.add_argument("--set", action="append", default=[], help="as of voice.serve")
    program.add_argument("--name", default="everyday", help="of the results")
    options = program.parse_args()
    told: dict[str, Any] = {}
    failed: list[dict[str, Any]] = []
    for name in options.sets:
        conversations = read(name)
        if options.kinds:
            conversations = [one for one in conversations if one["kind"] in options.kinds]
        turns = asyncio.run(hold(conversations, options.set))
        print(f"{name}\n{table(turns)}")
        told[name] = {"turns": len(turns), "by_kind": figures(turns)}
        if options.failures and name != "aside":
            failed += [asdict(turn) for turn in turns if turn.verdict is not Verdict.RIGHT]
            text = "".join(json.dumps(turn, ensure_ascii=False) + "\n" for turn in failed)
            options.failures.write_text(text, encoding="utf-8")
    if tuple(options.sets) == SETS and not options.kinds:
        program.write(told, options.name)


if __name__ == "__main__":
    main()

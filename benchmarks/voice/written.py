"""Do the agents do what written conversations expect? ``benchmarks.voice.written``.

Two authors, who knew what the agents are for and which tools they have but had seen neither code
nor training data, wrote conversations. They are held as typed sessions, with the model and the
tools as they ship. For each message it is written which calls are right, every argument a stretch
of the user's words. ``open`` may be read to find faults; of ``aside`` look at the counts alone.

A message is right if exactly the written calls were made, or if nothing was changed where none is
written. It is asked if this took a question of the agent's, which is answered with "yes" if it is
about written calls, else with "no"; undone if nothing was changed where something should have been;
wrong if something else was done. What the agent says is not judged.
Results: benchmarks/results/written.json.
"""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmarks.report import Program, share, shipped_checkpoint
from voice.config import load_config
from voice.demo.server import EMBEDDED
from voice.finetune.lessons import as_written, conversations, of_made, of_written
from voice.session.resources import Resources
from voice.session.typed import TypedTurn, typing
from voice.types import ToolCall

FOLDER = Path(__file__).parent / "written_sets"
SETS = ("open", "aside")
OUTCOMES = ("right", "asked", "undone", "wrong")


def outcome(
    turn: Mapping[str, Any],
    calls: Sequence[ToolCall],
    read_only: frozenset[str],
    asked: bool = False,
) -> str:
    """Which of `OUTCOMES` a message has.

    Args:
        turn: The message, with the calls that are right.
        calls: The calls that were made.
        read_only: Names of the tools that change nothing.
        asked: Whether the agent asked a question, and it was answered.
    """
    changed = any(call.name not in read_only for call in calls)
    if as_written(turn, calls) or not (turn.get("calls") or changed):
        return "asked" if asked and changed else "right"
    return "wrong" if changed else "undone"


def answer_to(turn: Mapping[str, Any], done: TypedTurn) -> str:
    """What a person answers to the agent's question about calls; empty if it asked none."""
    left = of_written(turn) - of_made(done.calls)
    if not done.proposed or done.ended or as_written(turn, done.calls):
        return ""
    return "yes" if of_made(done.proposed) <= left else "no"


async def hold(resources: Resources, talk: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Hold a conversation until it is over or the agent has said goodbye; return its messages."""
    found: list[dict[str, Any]] = []
    async with typing(resources) as agent:
        for turn in talk["turns"]:
            if agent.ended:
                break
            done = await agent.say(turn["say"])
            calls, reply = done.calls, done.reply
            if answer := answer_to(turn, done):
                done = await agent.say(answer)
                calls, reply = (*calls, *done.calls), f"{reply} - {answer} - {done.reply}"
            became = outcome(turn, calls, agent.read_only, bool(answer))
            made = [[call.name, dict(call.arguments)] for call in calls]
            told = {"outcome": became, "reply": reply, "made": made}
            found.append({"id": talk["id"], "agent": talk["agent"], **turn, **told})
    return found


async def hold_all(talks: Sequence[Mapping[str, Any]], settings: Sequence[str]) -> list[Any]:
    """Hold conversations one after the other, and return their messages."""
    resources = Resources.load(load_config(None, [*EMBEDDED, *settings]))
    agents = {name: resources.for_agent(name) for name in {talk["agent"] for talk in talks}}
    try:
        return [one for talk in talks for one in await hold(agents[talk["agent"]], talk)]
    finally:
        await resources.close()


def figures(messages: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Shares of each outcome, by agent and over all."""
    told = {}
    for agent in (*sorted({one["agent"] for one in messages}), "all"):
        counts = Counter(one["outcome"] for one in messages if agent in (one["agent"], "all"))
        told[agent] = {name: share(counts[name], counts.total()) for name in OUTCOMES}
    return told


def main() -> None:
    """Hold the conversations and write how many messages came out right."""
    program = Program("benchmarks.voice.written", __doc__, "set")
    program.add_argument("--failures", type=Path, help="write what went wrong of `open`")
    options = program.parse_args()
    told: dict[str, Any] = {"checkpoint": shipped_checkpoint()}
    for name in SETS:
        talks = [*conversations([FOLDER / f"{name}.jsonl.xz"])]
        messages = asyncio.run(hold_all(talks, options.set))
        told[name] = {"conversations": len(talks), "messages": figures(messages)}
        print(name, json.dumps(told[name]))
        if options.failures and name == "open":
            wrong = [one for one in messages if one["outcome"] != "right"]
            text = "".join(json.dumps(one, ensure_ascii=False) + "\n" for one in wrong)
            options.failures.write_text(text, encoding="utf-8")
    program.write(told)


if __name__ == "__main__":
    main()

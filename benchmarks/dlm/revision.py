"""Revising a draft against answering afresh: ``python -m benchmarks.dlm.revision``.

Held-out dialogues whose last user message arrives word by word, as interim transcripts do. Each
word asks for an answer twice: afresh, and with the answer to the words before as a draft. Both are
verified, so the answers are the same; what differs is the number of model forwards. Results:
benchmarks/results/revision.json.
"""

from __future__ import annotations

import itertools
import time
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from benchmarks.report import Program, share
from dlm.datagen.dialogues import generate
from dlm.engine.engine import SHIPPED, Engine, Finished, Request
from dlm.language.copy_sources import sources
from dlm.language.messages import Answer, Tool, Turn
from dlm.language.template import tools_of, turn_of

SEED = 99


@dataclass(slots=True)
class Tally:
    """Sums over answers: how many, the same as afresh, forwards, seconds, tokens, tokens kept."""

    answers: int = 0
    same: int = 0
    unchanged: int = 0
    forwards: list[int] = field(default_factory=lambda: [0, 0])
    seconds: list[float] = field(default_factory=lambda: [0.0, 0.0])
    tokens: int = 0
    kept: int = 0

    def figures(self) -> dict[str, Any]:
        """Means per answer, afresh and revised."""
        count = max(1, self.answers)
        fresh, revised = (round(forwards / count, 2) for forwards in self.forwards)
        return {
            "answers": self.answers,
            "same_as_fresh": share(self.same, self.answers),
            "draft_still_right": share(self.unchanged, self.answers),
            "tokens_kept": share(self.kept, self.tokens),
            "forwards_fresh": fresh,
            "forwards_revised": revised,
            "forwards_saved": round(1 - revised / fresh, 3) if fresh else None,
            "ms_fresh": round(self.seconds[0] * 1000 / count, 1),
            "ms_revised": round(self.seconds[1] * 1000 / count, 1),
        }


def cases(corpora: Path | None, count: int) -> Iterator[tuple[list[Turn], tuple[Tool, ...]]]:
    """Dialogues up to a user message that is answered, that message last."""
    for row in itertools.islice(generate(seed=SEED, corpora=corpora, split="heldout"), count):
        tools = tools_of(row["tools"])
        turns = [Turn("system", row["system"])] if row.get("system") else []
        turns += [turn_of(message) for message in row["messages"]]
        users = [index for index, turn in enumerate(turns) if turn.role == "user"]
        if users:
            yield turns[: users[-1] + 1], tools


def interim(turns: list[Turn], tools: tuple[Tool, ...]) -> Iterator[tuple[Request, bool]]:
    """A request for each word that the last message has grown by, and whether it is the last."""
    words = turns[-1].content.split()
    for count in range(1, len(words) + 1):
        heard = [*turns[:-1], Turn("user", " ".join(words[:count]))]
        yield Request(tuple(heard), tools, copy_sources=sources(heard)), count == len(words)


def timed(engine: Engine, request: Request) -> tuple[Finished, float]:
    """An answer, and how many seconds it took."""
    began = time.perf_counter()
    return engine.answer(request), time.perf_counter() - began


def measure(engine: Engine, corpora: Path | None, count: int) -> dict[str, Any]:
    """Figures over all interim transcripts, over whole messages, and for words and calls."""
    tallies = {name: Tally() for name in ("interim", "final", "final_words", "final_calls")}
    for turns, tools in cases(corpora, count):
        earlier: Answer | None = None
        for request, last in interim(turns, tools):
            # The first of a prompt reads its new words; both do when it is asked once before.
            engine.answer(replace(request, max_tokens=1))
            fresh, fresh_s = timed(engine, request)
            if earlier is not None:
                revised, revised_s = timed(engine, replace(request, draft=earlier))
                kind = "final_calls" if fresh.answer.calls else "final_words"
                for name in ("final", kind) if last else ("interim",):
                    tally = tallies[name]
                    tally.answers += 1
                    tally.same += revised.answer == fresh.answer
                    tally.unchanged += earlier == fresh.answer
                    tally.tokens += revised.usage.answer_tokens
                    tally.kept += revised.usage.kept
                    for index, (done, spent) in enumerate(((fresh, fresh_s), (revised, revised_s))):
                        tally.forwards[index] += done.usage.forwards
                        tally.seconds[index] += spent
            earlier = fresh.answer
    return {"dialogues": count, **{name: tally.figures() for name, tally in tallies.items()}}


def main() -> None:
    """Measure and write the results."""
    program = Program("benchmarks.dlm.revision", __doc__, "corpora")
    program.add_argument("--checkpoint", type=Path, default=SHIPPED)
    program.add_argument("--count", type=int, default=60, help="dialogues")
    arguments = program.parse_args()
    engine = Engine.load(arguments.checkpoint)
    told = measure(engine, arguments.corpora, arguments.count)
    engine.close()
    for name, figures in told.items():
        print(name, figures)
    program.write(told)


if __name__ == "__main__":
    main()

"""Dialogues of a user's own beside ours, in a share: what fine-tuning learns from."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from random import Random
from typing import Any

from dlm.datagen.readings import row_of

Row = dict[str, Any]

MOST_OTHERS = 5
"""Other tools that are declared beside a dialogue's own, at most."""


def mixed(examples: Sequence[Row], own: Iterator[Row], replay: float, seed: int) -> Iterator[Row]:
    """Examples and our own dialogues in a share, without end.

    Half of either declare some of the others' tools as well, in any order: the model must go on
    choosing by what is said, not by which tools it sees. As many of the examples are readings
    (`dlm.datagen.readings`) as of our own, as far as the examples allow any. Our own are marked
    ``replayed``.

    Args:
        examples: From `dlm.datagen.examples.read`.
        own: Endless.
        replay: Share of ``own``, from 0 to 1.
        seed: The same order for the same seed.
    """
    rng = Random(f"{seed}/mixed")
    taught = list({tool["name"]: tool for row in examples for tool in row["tools"]}.values())
    dialogues = _round(examples, rng)
    readings = _round([made for row in examples if (made := reading(row))], rng)
    while True:
        row = next(own)
        if rng.random() < replay:
            yield {**beside(row, taught, rng), "replayed": True}
        elif row.get("reading") and (made := next(readings, None)):
            yield made
        else:
            yield beside(next(dialogues), row["tools"], rng)


def _round(rows: Sequence[Row], rng: Random) -> Iterator[Row]:
    """All rows in any order, again and again; none where there is none."""
    while rows:
        yield from rng.sample(list(rows), len(rows))


def beside(row: Row, others: Sequence[Row], rng: Random) -> Row:
    """A dialogue with, every other time, some tools more; its tools in any order then.

    A reading stays as it is: it is of one tool.
    """
    names = {tool["name"] for tool in row["tools"]}
    new = [tool for tool in others if tool["name"] not in names]
    if row.get("reading") or not row["tools"] or not new or rng.random() < 0.5:
        return row
    tools = [*row["tools"], *rng.sample(new, rng.randint(1, min(MOST_OTHERS, len(new))))]
    rng.shuffle(tools)
    return {**row, "tools": tools}


def reading(row: Row) -> Row | None:
    """The reading in a dialogue: its first request behind the one tool that it calls.

    None where the first message of the user is not answered by calls, or by calls of several tools.
    """
    asked, answer = [*row["messages"], {}, {}][:2]
    called = {call["name"] for call in answer.get("tool_calls", ())}
    if asked.get("role") != "user" or len(called) != 1:
        return None
    (tool,) = (tool for tool in row["tools"] if tool["name"] in called)
    return row_of(tool, [asked, answer])

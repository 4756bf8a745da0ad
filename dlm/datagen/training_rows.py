"""The rows that training reads: dialogues, some of them interrupted, readings, and examples.

A reading is a single request with only the tool that serves it declared, and the user's words are
learned too. From readings the model learns how likely words are under a tool's declaration, which
`dlm.decoding.tool_likelihood` uses to choose between tools. A reading has no system message and
nothing before the request. Its words weigh less than an answer's (`TrainConfig.reading_weight`):
they are hard to predict, and at full weight they were half of the loss.

If an agent is interrupted, the dialogue keeps what was heard. `voice.dialogue.history` shows
conversations to the model in that form, so training has it, too: a reply that breaks off, or none
after a tool's result, and then the user.

Examples are a user's own dialogues, for fine-tuning.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from random import Random
from typing import Any, TypeVar

from dlm.datagen.dialogues import SHARES, Source, stream
from dlm.datagen.holdout import NothingHeldOutError
from dlm.datagen.own_tools.script import Script
from dlm.datagen.tools import catalog
from dlm.datagen.tools.renaming import rename
from dlm.datagen.turns import basic
from dlm.datagen.unfamiliar import unfamiliar_tools
from dlm.datagen.unfamiliar.unfamiliar_tools import Scene

Row = dict[str, Any]
T = TypeVar("T")

_UNFAMILIAR = 0.75
"""Share of readings with an unfamiliar tool (`dlm.datagen.unfamiliar.unfamiliar_tools`)."""
_RENAMED = 0.6
"""Share of the others in which the tool is renamed."""


def taught(source: Source, share: float, seed: int) -> Iterator[Row]:
    """Our own dialogues, endless, some with an interruption, and readings among them.

    Args:
        share: Share of readings, at least 0 and below 1.
    """
    rng = Random(f"{seed}/readings")
    chance = Random(f"{seed}/interruptions")
    for row in stream(Random(f"{seed}/{source.split}"), source, SHARES):
        while rng.random() < share:
            made = reading(source, rng)
            if made is not None:
                yield made
        yield interrupted(row, chance)


def reading(source: Source, rng: Random) -> Row | None:
    """A reading as a row of the training data, ``reading`` true; None if a draw does not fit."""
    if rng.random() < _UNFAMILIAR:
        purposes = source.corpora.purposes if source.corpora else {}
        found = unfamiliar_tools.single(Scene(rng, source.values, source.split, purposes))
        return None if found is None else _reading_row(*found)
    script = Script(rng, source.values, source.split, source.corpora)
    tool = rng.choice(list(catalog.SAY))
    try:
        basic.request(script, tool)
    except NothingHeldOutError:
        if source.split == "train":
            raise
        return None
    row = _reading_row(catalog.SPECS[tool], script.messages[:2])
    if rng.random() < _RENAMED:
        row |= rename(row, rng, source.split)
    return row


def _reading_row(spec: Row, messages: list[Row]) -> Row:
    """The row for a tool, and a request with the answer that calls it."""
    return {"system": "", "tools": [spec], "messages": messages, "reading": True}


MOST_OTHERS = 5
"""Most other tools that are added to the declared ones."""
RUN = 6
"""Most examples in a row with the same beginning, which a joined batch stores once."""


def mixed(examples: Sequence[Row], own: Iterator[Row], replay: float, seed: int) -> Iterator[Row]:
    """Examples, endless, mixed with our own dialogues, which have the share ``replay``.

    Half of either kind also declare some of the other kind's tools, in random order, so that the
    model keeps choosing by what is said, not by which tools it sees. Examples with the same
    instructions and tools come in short runs. The share of readings is the same in both kinds, if
    the examples contain any.
    """
    rng = Random(f"{seed}/mixed")
    taught = list({tool["name"]: tool for row in examples for tool in row["tools"]}.values())
    runs = _round(partial(_runs, examples, rng))
    made = [reading for row in examples if (reading := reading_in(row))]
    readings = _round(lambda: rng.sample(made, len(made)))
    run: list[Row] = []
    while True:
        row = next(own)
        if rng.random() < replay:
            yield from _beside([row], taught, rng)
        elif row.get("reading") and (reading := next(readings, None)):
            yield reading
        else:
            run = run or _beside(next(runs), row["tools"], rng)
            yield run.pop(0)


def _round(once: Callable[[], list[T]]) -> Iterator[T]:
    """The items of repeated calls, without end; ends when a call returns nothing."""
    while some := once():
        yield from some


def _runs(rows: Sequence[Row], rng: Random) -> list[list[Row]]:
    """All rows in random order, except that those with the same beginning come in runs."""
    alike: dict[str, list[Row]] = {}
    for row in rng.sample(list(rows), len(rows)):
        alike.setdefault(json.dumps([row["system"], row["tools"]]), []).append(row)
    runs = [some[at : at + RUN] for some in alike.values() for at in range(0, len(some), RUN)]
    return rng.sample(runs, len(runs))


def _beside(rows: Sequence[Row], others: Sequence[Row], rng: Random) -> list[Row]:
    """Dialogues that share their tools, half of the time with others added in random order.

    A reading is returned as it is, since it has a single tool.
    """
    first = rows[0]
    names = {tool["name"] for tool in first["tools"]}
    new = [tool for tool in others if tool["name"] not in names]
    if first.get("reading") or not names or not new or rng.random() < 0.5:
        return list(rows)
    tools = [*first["tools"], *rng.sample(new, rng.randint(1, min(MOST_OTHERS, len(new))))]
    rng.shuffle(tools)
    return [{**row, "tools": tools} for row in rows]


def reading_in(row: Row) -> Row | None:
    """The reading in a dialogue: its first request, with the one tool that it calls.

    None if the first message is not the user's, or if the answer is not to be learned or does not
    call a single tool.
    """
    asked, answer = [*row["messages"], {}, {}][:2]
    called = {call["name"] for call in answer.get("tool_calls", ())}
    if asked.get("role") != "user" or len(called) != 1 or answer.get("cut"):
        return None
    (tool,) = (tool for tool in row["tools"] if tool["name"] in called)
    return _reading_row(tool, [asked, answer])


SHARE = 0.2
"""Share of interruptions among the dialogues that have a message to interrupt."""

UNHEARD = 0.2
"""Share of interrupted replies to a tool's result of which not a word was heard."""


def interrupted(row: Row, rng: Random, share: float = SHARE) -> Row:
    """A dialogue in which the user may interrupt the agent.

    Args:
        row: A row of the training data. Its last message is never cut, as nobody speaks after it.

    Returns:
        The row, or one with a message that ends early and has ``cut``, which means that it is not
        an answer to learn. A reply to a tool's result may be left out altogether.
    """
    messages = row["messages"]
    found = [at for at in range(len(messages) - 1) if _can_be_cut(messages, at)]
    if rng.random() >= share or not found:
        return row
    at = rng.choice(found)
    words = messages[at]["content"].split()
    heard = words[: rng.randint(1, len(words) - 1)]
    left = [{**messages[at], "content": " ".join(heard), "cut": True}]
    if _after_result(messages, at) and rng.random() < UNHEARD:
        left = []
    return {**row, "messages": [*messages[:at], *left, *messages[at + 1 :]]}


def _can_be_cut(messages: Sequence[Mapping[str, Any]], at: int) -> bool:
    """Whether the agent says a message to the user, and nothing later needs its lost words."""
    one = messages[at]
    if one["role"] != "assistant" or messages[at + 1]["role"] != "user":
        return False
    said = one.get("content") or ""
    if len(said.split()) < 2:
        return False
    # If the reply is repeated later, its words must be available from the result before it.
    again = any(later.get("content") == said for later in messages[at + 1 :])
    return _after_result(messages, at) or not again


def _after_result(messages: Sequence[Mapping[str, Any]], at: int) -> bool:
    return at > 0 and messages[at - 1]["role"] == "tool"

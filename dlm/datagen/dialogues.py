"""Generates endless training dialogues: the entry point of `dlm.datagen`.

``python -m dlm.datagen.dialogues --count 20 --seed 1`` prints some as JSON lines.

A dialogue is made in five steps. `stream` draws a kind from `SHARES`. That kind's writer writes
turns into a `dlm.datagen.own_tools.script.Script` (an agent's own tools:
`dlm.datagen.conversations`; what can happen in a turn is `dlm.datagen.turns.basic`), a
`dlm.datagen.unfamiliar.unfamiliar_tools.Scene` (tools that no agent ships) or a
`dlm.datagen.results.talk.ResultTalk` (what such tools answer, and what is asked about it), or the
row is written as a whole (`dlm.datagen.unfamiliar.written_tools`: functions called for in writing).
A turn picks a phrasing of the split (`dlm.datagen.holdout`), fills its slots
(`dlm.datagen.values.slots`), and has it transcribed (`dlm.datagen.language.noise`). Simulated tools
answer the calls, and replies are worded from their results. Finally the tools to declare are chosen
and, for some kinds, renamed (`dlm.datagen.tools.renaming`). Texts with structured answers are made
separately (`dlm.datagen.extraction.documents`, `dlm.datagen.extraction.composed_extraction`).

A new kind of dialogue is a writer in `dlm.datagen.conversations` or `_OTHERS` and a share in
`SHARES`; a new kind of turn is a function in `dlm.datagen.turns.basic`; new words are entries in
``data/``.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from random import Random
from typing import Any

from dlm.command_line import number, told
from dlm.datagen import examples
from dlm.datagen.conversations import ALIKE, AT_LENGTH, WRITERS
from dlm.datagen.corpora.collection import Corpora, as_heard, load
from dlm.datagen.extraction import composed_extraction, documents
from dlm.datagen.holdout import NothingHeldOutError
from dlm.datagen.language.noise import Style
from dlm.datagen.language.phrases import fill
from dlm.datagen.language.wording import WORDING
from dlm.datagen.language.words import WORDS
from dlm.datagen.own_tools.script import Script
from dlm.datagen.results import composed_results, facts
from dlm.datagen.tools import catalog
from dlm.datagen.tools.catalog import AGENT_TOOLS, INSTRUCTIONS, INVENTED, Written
from dlm.datagen.tools.renaming import rename
from dlm.datagen.unfamiliar import unfamiliar_tools, written_tools
from dlm.datagen.unfamiliar.unfamiliar_tools import Scene
from dlm.datagen.values.slots import Values

SHARES: dict[str, float] = {
    "assistant": 0.115,
    "coffee": 0.045,
    "errands": 0.07,
    "drinks": 0.07,
    "assistant_renamed": 0.065,
    "coffee_renamed": 0.02,
    "invented": 0.025,
    "errands_renamed": 0.015,
    "drinks_renamed": 0.015,
    "corpus": 0.025,
    "stranger": 0.15,
    "written": 0.12,
    "extraction": 0.08,
    "results": 0.1,
    "talk": 0.085,
}
"""Share of each kind of dialogue; "corpus" is left out without corpora."""

FEW_TOOLS = 0.75
"""Share of rows that declare only some of the agent's tools: declarations cost tokens and teach
nothing, as they have no loss."""

UNASKED = 0.24
"""Share of turns that mention an order without giving it, in training."""

COMPOSED = 0.75
"""Share of texts with structured answers that are composed of facts (`composed_extraction`)."""

AT_EASE = 0.6
"""Share of training dialogues whose users speak spontaneously (`spontaneous`)."""

COMPOSED_RESULTS = 0.75
"""Share of dialogues about results whose tools and results are composed."""


@dataclass(frozen=True, slots=True)
class Source:
    """Where the words of a stream of dialogues come from: one split's values and rows.

    Attributes:
        style: How users are transcribed; None draws a style for each dialogue.
        unasked: Share of turns that mention an order without giving it
            (`dlm.datagen.language.mentions`).
        at_ease: Share of dialogues whose users speak spontaneously
            (`dlm.datagen.language.spontaneous`).
    """

    values: Values
    corpora: Corpora | None
    split: str
    style: Style | None = None
    unasked: float = 0.0
    at_ease: float = 0.0

    @classmethod
    def load(cls, corpora: Path | None, split: str, share_alike: bool = False) -> Source:
        """Read the corpora, if there are any; arguments and errors are those of `generate`."""
        if split not in ("train", "heldout"):
            raise ValueError(f"split must be train or heldout, got {split!r}")
        rows = load(corpora, split, share_alike) if corpora is not None else None
        if split == "heldout":
            return cls(Values(corpora, share_alike), rows, split)
        values = Values(corpora, share_alike, free=True)
        return cls(values, rows, split, unasked=UNASKED, at_ease=AT_EASE)

    def draw_ease(self, rng: Random) -> bool:
        """Draw whether the user of a dialogue speaks spontaneously."""
        return bool(self.at_ease) and rng.random() < self.at_ease


def generate(
    seed: int,
    corpora: Path | None = None,
    split: str = "train",
    share_alike: bool = False,
    unasked: float | None = None,
) -> Iterator[dict[str, Any]]:
    """Endless dialogues in the project's chat format, the same for the same arguments.

    Args:
        corpora: Directory of the text corpora; None for the grammars alone.
        split: "train", or "heldout" for phrasings, rows and tool names that training never shows.
        share_alike: Whether lists under a share-alike licence may be used.
        unasked: As in `Source`; None for the split's default.

    Raises:
        ValueError: There is no such split.
        FileNotFoundError: A corpus is missing.
    """
    source = Source.load(corpora, split, share_alike)
    if unasked is not None:
        source = replace(source, unasked=unasked)
    yield from stream(Random(f"{seed}/{split}"), source, SHARES)


def stream(rng: Random, source: Source, shares: Mapping[str, float]) -> Iterator[dict[str, Any]]:
    """Endless dialogues of some kinds.

    Args:
        shares: Share of each kind, named as in `SHARES`; "corpus" is left out without corpora.
    """
    kinds = [kind for kind in shares if source.corpora is not None or kind != "corpus"]
    weights = [shares[kind] for kind in kinds]
    while True:
        row = _attempt(rng, source, rng.choices(kinds, weights)[0])
        if row is not None:
            yield row


def _attempt(rng: Random, source: Source, kind: str) -> dict[str, Any] | None:
    if kind in _OTHERS:
        return _OTHERS[kind](rng, source)
    agent = kind.removesuffix("_renamed")
    ease = agent in AT_LENGTH or source.draw_ease(rng)
    script = Script(rng, source.values, source.split, source.corpora, source.unasked, ease)
    if source.style is not None:
        script.restyle(source.style)
    try:
        WRITERS[agent](script)
    except NothingHeldOutError:
        if source.split == "train":
            raise
        return None
    if not script.messages or script.messages[-1]["role"] != "assistant":
        return None
    if all(m["role"] != "user" for m in script.messages):
        return None
    if agent == "talk":
        agent = rng.choice(("assistant", "invented"))
    agent = AT_LENGTH.get(agent, agent)
    return _row(script, agent, kind.endswith("_renamed") or agent == "invented")


def _row(script: Script, agent: str, renamed: bool) -> dict[str, Any]:
    rng = script.rng
    own = AGENT_TOOLS.get(agent, ())
    names = [n for n in own if n not in script.forbidden]
    if agent == "invented" or rng.random() < FEW_TOOLS:
        names = _subset(script, names or _any_tools(script))
    tools = [catalog.SPECS[n] for n in names]
    row = {"system": _instructions(rng, agent), "tools": tools, "messages": script.messages}
    if not renamed:
        return row
    spare = 20 - len(tools)
    if agent != "invented" and spare > 0 and rng.random() < 0.5:
        others = [n for n in INVENTED if n not in script.forbidden and n not in ALIKE]
        row["tools"] = tools + [
            catalog.SPECS[n] for n in rng.sample(others, rng.randint(1, min(4, spare)))
        ]
    return rename(row, rng, script.split)


def _any_tools(script: Script) -> list[str]:
    """Tools of any kind, including those that the dialogue used."""
    names = [n for n in catalog.SPECS if n not in script.forbidden and n not in script.used]
    script.rng.shuffle(names)
    return [*sorted(script.used), *names]


def _subset(script: Script, names: list[str]) -> list[str]:
    rng = script.rng
    others = [n for n in names if n not in script.used]
    rng.shuffle(others)
    most = min(7, len(others), 20 - len(script.used))
    keep = script.used | set(others[: rng.randint(0 if script.used else 1, max(1, most))])
    return [n for n in names if n in keep]


def _instructions(rng: Random, agent: str) -> str:
    if agent in INSTRUCTIONS and rng.random() < 0.85:
        return INSTRUCTIONS[agent]
    if agent not in INSTRUCTIONS and rng.random() < 0.4:
        return INSTRUCTIONS["assistant"]
    return anyones_instructions(rng)


def anyones_instructions(rng: Random) -> str:
    """A system message of an agent that is not ours."""
    fields = {"name": "Quicksilver", "company": rng.choice(WORDS["company"])}
    return fill(rng.choice(WORDING.instructions), rng, fields)


def _corpus_row(rng: Random, source: Source) -> dict[str, Any] | None:
    if source.corpora is None or not source.corpora.dialogues:
        return None
    found = as_heard(rng.choice(source.corpora.dialogues), rng)
    return {"system": _instructions(rng, ""), **found}


def _unfamiliar(rng: Random, source: Source) -> dict[str, Any] | None:
    purposes = source.corpora.purposes if source.corpora else {}
    scene = Scene(rng, source.values, source.split, purposes, source.draw_ease(rng))
    written = unfamiliar_tools.write(scene, source.unasked)
    return None if written is None else _of_strangers(rng, written)


def _results(rng: Random, source: Source) -> dict[str, Any]:
    ease = source.draw_ease(rng)
    writer = composed_results if rng.random() < COMPOSED_RESULTS else facts
    written = writer.write(rng, source.values, source.split, source.style, ease)
    return _of_strangers(rng, written)


def _of_strangers(rng: Random, written: Written) -> dict[str, Any]:
    tools, messages = written
    return {"system": _instructions(rng, ""), "tools": tools, "messages": messages}


def _extraction(rng: Random, split: str) -> dict[str, Any]:
    if rng.random() < COMPOSED:
        return composed_extraction.extraction(rng, split).row
    return documents.extraction(rng, split).row


_OTHERS: dict[str, Callable[[Random, Source], dict[str, Any] | None]] = {
    "corpus": _corpus_row,
    "stranger": _unfamiliar,
    "results": _results,
    "written": lambda rng, source: written_tools.write(rng, source.split),
    "extraction": lambda rng, source: _extraction(rng, source.split),
}
"""Writers of rows that need no `Script`."""


def main(arguments: list[str] | None = None) -> None:
    """Print dialogues as JSON lines.

    Raises:
        SystemExit: 2 if a corpus cannot be read.
    """
    parser = argparse.ArgumentParser(prog="dlm.datagen.dialogues", description=__doc__)
    parser.add_argument("--count", type=number(int), default=20, help="how many")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--corpora", type=Path, help="directory of the text corpora")
    parser.add_argument("--split", choices=("train", "heldout"), default="train")
    parser.add_argument("--share-alike", action="store_true", help="read those corpora as well")
    mentions = "share of turns that mention an order without giving it"
    parser.add_argument("--unasked", type=number(float, 0, 1), metavar="SHARE", help=mentions)
    parser.add_argument("--chat", action="store_true", help="as lines to fine-tune on")
    options = parser.parse_args(arguments)
    place = options.corpora, options.split, options.share_alike
    rows = generate(options.seed, *place, options.unasked)
    with told(parser):
        for _ in range(options.count):
            row = next(rows)
            row = examples.line_of(row) if options.chat else row
            sys.stdout.write(json.dumps(row, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    main()

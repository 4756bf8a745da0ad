"""The sets of cases; all are determined by a seed, and none is shown in training."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from random import Random
from typing import Any

from dlm.datagen.corpora.collection import Corpora, load, services
from dlm.datagen.dialogues import Source, stream
from dlm.datagen.extraction import composed_extraction
from dlm.datagen.holdout import NothingHeldOutError
from dlm.datagen.language.noise import Style
from dlm.datagen.own_tools.script import Script, calls_of
from dlm.datagen.results import composed_results
from dlm.datagen.tools import catalog, descriptions
from dlm.datagen.tools.catalog import AGENT_TOOLS, INSTRUCTIONS
from dlm.datagen.training_rows import interrupted
from dlm.datagen.turns import at_ease, basic
from dlm.datagen.unfamiliar import unfamiliar_tools
from dlm.datagen.unfamiliar.unfamiliar_tools import Scene
from dlm.datagen.values.slots import Values
from dlm.evaluate.cases import CALLS, Case, Kind, cases
from dlm.evaluate.talk import alike
from dlm.language.messages import Turn
from dlm.language.template import turns_of

SEED = 99
SERVICES = "sgd_dev_test.jsonl.xz"
SERVICES_READ = 1500
NOISY = Style(cased=False, digits=False, rate=1.6)
CLEAN = Style()

Row = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Material:
    """What sets are made of: slot values, the corpora's held-out rows, random draws.

    Attributes:
        services: Schema-guided dialogues about services that are in no training data.
    """

    values: Values
    heldout: Corpora | None
    services: list[Row]
    seed: int
    rng: Random

    @classmethod
    def load(cls, corpora: Path | None, seed: int = SEED) -> Material:
        """Read the corpora, if there are any."""
        if corpora is None:
            return cls(Values(), None, [], seed, Random(seed))
        heldout = load(corpora, "heldout")
        found = services(corpora / SERVICES, wanted=False, most=SERVICES_READ)
        return cls(Values(corpora), heldout, found, seed, Random(seed))


def _streamed(
    material: Material, shares: dict[str, float], style: Style | None = None
) -> Iterator[Case]:
    source = Source(material.values, material.heldout, "heldout", style)
    return cases(stream(material.rng, source, shares))


def own(material: Material) -> Iterator[Case]:
    """Held-out phrasings for the agents' own tools under their own names."""
    return _streamed(material, {"assistant": 0.7, "coffee": 0.3})


def renamed(material: Material) -> Iterator[Case]:
    """The same tools under names that training never shows, and tools written for other tasks."""
    return _streamed(material, {"assistant_renamed": 0.6, "coffee_renamed": 0.25, "invented": 0.15})


def unseen(material: Material) -> Iterator[Case]:
    """Tools for things and purposes that training never shows."""
    return _streamed(material, {"stranger": 1.0})


def opaque(material: Material) -> Iterator[Case]:
    """Unseen tools and functions with parameters that only their descriptions tell apart."""
    source = Source(material.values, material.heldout, "heldout")
    rows = stream(material.rng, source, {"stranger": 0.6, "written": 0.4})
    for case in cases(descriptions.opaque(row, 1.0) for row in rows):
        told = {t.name for t in case.tools if t.properties and descriptions.tells_all(t.parameters)}
        if case.kind in CALLS and {call.name for call in case.wanted.calls} <= told:
            yield case


def noisy(material: Material) -> Iterator[Case]:
    """Held-out phrasings as a bad recogniser hears them."""
    found = _streamed(material, {"assistant": 0.7, "coffee": 0.3}, NOISY)
    return (case for case in found if case.kind in CALLS)


def others(material: Material) -> Iterator[Case]:
    """Sentences of other authors, from each tool in turn, without coffee orders."""
    return _labelled(material, lambda tool: tool != "order_drink")


def coffee(material: Material) -> Iterator[Case]:
    """Orders that customers make in other people's dialogues."""
    return _labelled(material, lambda tool: tool == "order_drink")


def _labelled(material: Material, wanted: Callable[[str], bool]) -> Iterator[Case]:
    if material.heldout is None:
        return
    requests = {t: list(r) for t, r in sorted(material.heldout.requests.items()) if wanted(t)}
    for rows in requests.values():
        material.rng.shuffle(rows)
    while any(requests.values()):
        for tool, rows in requests.items():
            if rows:
                yield from cases([_asked(material, tool, rows.pop())])


def _asked(material: Material, tool: str, row: list[Any]) -> Row:
    script = Script(material.rng, material.values, "heldout")
    script.restyle(CLEAN)
    given = script.speak(row)
    calls = calls_of(tool, given)
    made = [{"name": name, "arguments": arguments} for name, arguments in calls]
    script.messages.append({"role": "assistant", "content": None, "tool_calls": made})
    return _offered(script, "coffee" if tool in AGENT_TOOLS["coffee"] else "assistant")


def _offered(script: Script, agent: str) -> Row:
    tools = [catalog.SPECS[name] for name in AGENT_TOOLS[agent] if name not in script.forbidden]
    return {"system": INSTRUCTIONS[agent], "tools": tools, "messages": script.messages}


def _written(
    material: Material, write: Callable[[Script], object], split: str, at_ease: bool = False
) -> Iterator[Row]:
    while True:
        corpora = material.heldout if split == "heldout" else None
        script = Script(material.rng, material.values, split, corpora, at_ease=at_ease)
        try:
            write(script)
        except NothingHeldOutError:
            continue
        if script.messages and script.messages[-1]["role"] == "assistant":
            yield _offered(script, "assistant")


def unknown_services(material: Material) -> Iterator[Case]:
    """Calls of other people's services, in dialogues that were written for them."""
    rows = material.rng.sample(material.services, len(material.services))
    return (case for case in cases(rows) if case.kind in CALLS)


def parallel(material: Material) -> Iterator[Case]:
    """Two requests in one message."""

    def write(script: Script) -> None:
        first, second = script.rng.sample(AGENT_TOOLS["assistant"], 2)
        basic.compound(script, first, second)

    return (c for c in cases(_written(material, write, "train")) if c.kind is Kind.PARALLEL)


def going_on(material: Material) -> Iterator[Case]:
    """Follow-ups and corrections, in wordings of training with other values."""
    return _second_calls(_two_requests(material))


def interrupting(material: Material) -> Iterator[Case]:
    """The same as interruptions, while the agent still reports the first request's result."""
    return _second_calls(interrupted(row, material.rng, 1.0) for row in _two_requests(material))


def _two_requests(material: Material) -> Iterator[Row]:
    tools = [t for t in AGENT_TOOLS["assistant"] if t in catalog.MORE and t in catalog.FIX]

    def write(script: Script) -> None:
        basic.request(script, script.rng.choice(tools))
        script.rng.choice((basic.follow_up, basic.correction))(script)

    return _written(material, write, "train")


def _second_calls(rows: Iterable[Row]) -> Iterator[Case]:
    return (c for c in cases(rows) if c.kind in CALLS and any(t.calls for t in c.turns))


def spontaneous(material: Material) -> Iterator[Case]:
    """Held-out phrasings in spontaneous speech: several requests, second thoughts, corrections."""
    tools = [t for t in AGENT_TOOLS["assistant"] if t != "end_conversation"]

    def write(script: Script) -> None:
        first, second, third = script.rng.sample(tools, 3)
        moves: tuple[Callable[[], object], ...] = (
            lambda: basic.request(script, first),
            lambda: basic.compound(script, first, second),
            lambda: basic.compound(script, first, second, third),
            lambda: at_ease.several(script, first),
            lambda: at_ease.abandon(script, first, second),
            lambda: at_ease.withdraw(script, first),
            lambda: at_ease.tell(script),
        )
        script.rng.choice(moves)()

    return _decided(_written(material, write, "heldout", at_ease=True))


def at_length(material: Material) -> Iterator[Case]:
    """Several drinks or errands at once, and short remarks about them afterwards."""
    found = _streamed(material, {"drinks": 0.3, "errands": 0.7})
    return (case for case in found if case.kind is not Kind.REPLY)


def asking(material: Material) -> Iterator[Case]:
    """Requests that lack what the tool needs, and the user's answer when asked for it."""
    tools = [t for t in AGENT_TOOLS["assistant"] if t in catalog.LACKING]

    def write(script: Script) -> None:
        basic.bare_request(script, script.rng.choice(tools))

    found = cases(_written(material, write, "train"))
    return (c for c in found if c.kind in (Kind.ASK, Kind.ANSWERED))


def out_of_scope(material: Material) -> Iterator[Case]:
    """Requests that no tool serves: sentences of other authors."""
    for row in _written(material, basic.unfit, "heldout") if material.heldout else ():
        yield from cases([row])


def talking(material: Material) -> Iterator[Case]:
    """Small talk for which the fitting replies are known."""
    fitting = alike(material.heldout)
    for case in _streamed(material, {"talk": 1.0}):
        if case.kind is Kind.TALK and case.wanted.content in fitting:
            yield replace(case, fitting=fitting[case.wanted.content])


def results(material: Material) -> Iterator[Case]:
    """Results of tools with things and fields that training never shows, told and asked about."""

    def rows() -> Iterator[Row]:
        while True:
            tools, messages = composed_results.write(material.rng, material.values, "heldout")
            yield {"system": INSTRUCTIONS["assistant"], "tools": tools, "messages": messages}

    return (case for case in cases(rows()) if case.values)


def unasked(material: Material) -> Iterator[Case]:
    """Actions of the agents' own tools that are mentioned, or only seem to be asked for."""

    def write(script: Script) -> None:
        basic.mention(script, script.rng.choice(AGENT_TOOLS["assistant"]))

    return _decided(_written(material, write, "heldout"))


def unasked_unseen(material: Material) -> Iterator[Case]:
    """The same with tools that training never shows."""
    purposes = material.heldout.purposes if material.heldout else {}

    def rows() -> Iterator[Row]:
        while True:
            written = unfamiliar_tools.mention(
                Scene(material.rng, material.values, "heldout", purposes)
            )
            if written is not None:
                tools, messages = written
                system = INSTRUCTIONS["assistant"]
                yield {"system": system, "tools": tools, "messages": messages}

    return _decided(rows())


def extraction(material: Material) -> Iterator[Case]:
    """Texts on held-out topics, and what a schema wants extracted from them."""
    while True:
        one = composed_extraction.extraction(material.rng, "heldout")
        *turns, _ = turns_of(one.row)
        wanted = Turn("assistant", json.dumps(one.answer, ensure_ascii=False))
        yield Case(tuple(turns), (), wanted, Kind.JSON, schema=one.schema)


def _decided(rows: Iterable[Row]) -> Iterator[Case]:
    return (c for c in cases(rows) if c.kind in CALLS or c.kind is Kind.TALK)


SETS: dict[str, tuple[Callable[[Material], Iterator[Case]], int]] = {
    "own": (own, 420),
    "renamed": (renamed, 260),
    "others": (others, 240),
    "unseen": (unseen, 260),
    "opaque": (opaque, 160),
    "services": (unknown_services, 100),
    "noise": (noisy, 200),
    "coffee": (coffee, 100),
    "parallel": (parallel, 60),
    "going_on": (going_on, 100),
    "interrupting": (interrupting, 100),
    "spontaneous": (spontaneous, 160),
    "at_length": (at_length, 240),
    "asking": (asking, 80),
    "out_of_scope": (out_of_scope, 150),
    "results": (results, 200),
    "unasked": (unasked, 160),
    "unasked_unseen": (unasked_unseen, 160),
    "talk": (talking, 200),
    "extraction": (extraction, 300),
}
"""Sets by name, with their number of cases at scale 1."""


def chosen(name: str, material: Material, scale: float) -> list[Case]:
    """The cases of a set.

    Args:
        scale: Factor on the usual number of cases.

    Raises:
        ValueError: No set has this name.
    """
    if name not in SETS:
        raise ValueError(f"set must be one of {', '.join(SETS)}, got {name!r}")
    made, size = SETS[name]
    own_draws = replace(material, rng=Random(f"{material.seed} {name}"))
    return list(islice(made(own_draws), max(1, round(size * scale))))

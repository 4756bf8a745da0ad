"""What the generators draw, as hashes: the same seeds must go on giving the same rows.

``golden.json`` was written by the first version of this file (commit aa5e569) from the code as it
was before the package was laid out as rooms (commit 0a1942e).

``python -m tests.dlm.datagen.golden CORPORA`` writes it anew, for changes that are meant to change
what is drawn. ``CORPORA`` is the directory of the text corpora, of which only some rows are read.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
import lzma
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import islice
from pathlib import Path
from random import Random
from typing import Any

from dlm.datagen import examples, holdout
from dlm.datagen.corpora.collection import load
from dlm.datagen.corpora.intent_tools import SLOT_NAMES, TOPICS, UNFIT, offer
from dlm.datagen.corpora.spans import day, duration, expression, moment, tokens
from dlm.datagen.dialogues import SHARES, Source, generate, stream
from dlm.datagen.language import mentions
from dlm.datagen.language import spoken_values as spoken
from dlm.datagen.language.noise import Style, plain
from dlm.datagen.language.spoken_sums import evaluate
from dlm.datagen.language.wording import SMALL_TALK, TALK, WORDING, Topic
from dlm.datagen.language.words import CURRENCIES, UNITS, WORDS, Unit
from dlm.datagen.own_tools.script import Script
from dlm.datagen.reasons import reasoned
from dlm.datagen.tools import catalog
from dlm.datagen.tools.catalog import INVENTED, TOOLS
from dlm.datagen.tools.renaming import rename
from dlm.datagen.training_rows import interrupted, mixed, taught
from dlm.datagen.turns import basic
from dlm.datagen.unfamiliar import composed_tools
from dlm.datagen.unfamiliar.composed_tools import ACTIONS, KINDS, THINGS, Kind
from dlm.datagen.unfamiliar.unfamiliar_tools import Scene, mention, single
from dlm.datagen.values.slots import COMPOSED, Values
from dlm.evaluate.sets import SETS, Material, chosen
from dlm.evaluate.talk import alike, openers
from dlm.language.spoken_numbers import number

ROWS_READ = 300
"""Rows of each corpus, spread evenly."""


def digest(value: Any) -> str:
    """A short hash of plain data, the order of keys included; sets in their sorted order."""
    text = json.dumps(value, default=_plain, ensure_ascii=False)
    return hashlib.sha256(text.encode()).hexdigest()[:12]


def _plain(value: Any) -> Any:
    if isinstance(value, set | frozenset | range):
        return sorted(value)
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {f.name: getattr(value, f.name) for f in dataclasses.fields(value)}
    return repr(value)


def drawn(corpora: Path | None, scale: int = 1) -> Iterator[tuple[str, str]]:
    """Names of all that is compared, each with its hash.

    Args:
        corpora: Directory of the corpora, or of excerpts; None for what needs none.
        scale: How many rows, as a multiple of what the test compares.
    """
    if corpora is None:
        yield from ((f"list {name}", digest(_split(value))) for name, value in _lists().items())
        yield "values read", digest(list(_values_read(150 * scale)))
    sources = {split: Source.load(corpora, split) for split in ("train", "heldout")}
    for name, rows in (*_generated(corpora), *_streams(sources), *_moves(sources)):
        yield name, digest(list(islice(rows, 12 * scale)))
    yield from _for_training(sources, scale)
    material = Material.load(corpora)
    for name in SETS:
        if corpora is not None or name not in ("others", "coffee", "services", "out_of_scope"):
            yield f"set {name}", digest(chosen(name, material, 0.04 * scale))
    if corpora is not None:
        yield from _read_rows(corpora, material)


def _lists() -> dict[str, Any]:
    """Every list that is drawn from."""
    specs = catalog.SPECS
    kinds = {name: {k: p.kind for k, p in t.parameters.items()} for name, t in INVENTED.items()}
    lacking = [(t, p) for t in catalog.LACKING for p in catalog.LACKING[t]]
    own = {name: catalog.AGENTS_OWN[name] for name in TOOLS}
    return {
        "say": catalog.SAY, "more": catalog.MORE, "bare": catalog.LACKING, "fix": catalog.FIX,
        "ask": {f"{t} {p}": catalog.question(t, p) for t, p in lacking}, "schemas": TOOLS,
        "give": {f"{t} {p}": catalog.answers(t, p) for t, p in lacking}, "specs": specs,
        "can": catalog.CAN, "invented": {name: (specs[name], k) for name, k in kinds.items()},
        "refusals": WORDING.refusals, "replies": {name: t.replies for name, t in own.items()},
        "declines": WORDING.declines, "errors": WORDING.errors, "greetings": WORDING.greetings,
        "abilities": {name: t.ability for name, t in own.items() if t.ability},
        "small talk": _talk(SMALL_TALK), "talk": _talk(TALK.topics),
        "shop talk": _talk(TALK.shop_talk), "about the user": [
            TALK.abilities.say, TALK.introduction.say, TALK.repeat, TALK.own_name.say,
        ],
        "words": WORDS, "units": {name: _unit(u) for name, u in UNITS.items()},
        "currencies": CURRENCIES, "things": THINGS, "actions": ACTIONS,
        "kinds": {name: _kind(kind) for name, kind in KINDS.items()},
        "heads": {g: composed_tools.heads(g) for g in THINGS},
        "modifiers": composed_tools.modifiers(),
        "verbs": [a.name for a in composed_tools.plain_actions()],
        "frame verbs": mentions.VERBS,
        "frames": [[g.of("train"), g.of("heldout"), g.answers] for g in mentions.GROUPS],
        "other names": {split: {name: _names(name, split) for name in TOOLS}
                        for split in ("heldout", "train")},
        "parameters": {name: p.names for name, p in catalog.PARAMETER.items() if p.names},
        "slot names": SLOT_NAMES, "topics": TOPICS, "unfit": UNFIT,
    }  # fmt: skip


@dataclasses.dataclass
class _Kind:
    value: str
    said: tuple[str, ...]
    names: tuple[str, ...]
    typed: str


def _unit(unit: Unit) -> Any:
    return unit.measures, int(unit.size) if unit.size == int(unit.size) else unit.size


def _kind(kind: Kind) -> Any:
    return _Kind(kind.value, kind.said, kind.names, kind.type)


def _talk(topics: Mapping[str, Topic]) -> dict[str, Any]:
    return {name: (topic.say, topic.answers) for name, topic in topics.items()}


def _names(tool: str, split: str) -> Any:
    found = catalog.other_names(tool, split)
    return [found.verbs, found.nouns, found.descriptions]


def _split(value: Any) -> Any:
    """Plain data with each list of strings as its parts of the two splits."""
    if isinstance(value, Mapping):
        return {str(key): _split(value[key]) for key in sorted(value)}
    if isinstance(value, tuple | list) and value and all(isinstance(v, str) for v in value):
        return [holdout.members(tuple(value), split) for split in ("train", "heldout")]
    return [_split(v) for v in value] if isinstance(value, tuple | list) else value


def _values_read(count: int) -> Iterator[Any]:
    """Values of every kind as they are drawn, and what is read in them."""
    rng, values = Random(5), Values()
    now = spoken.datetime(2025, 6, 4, 10, 30)
    for kind in (*COMPOSED, *WORDS):
        for at in range(count // 10):
            text = values.draw(kind, rng, digits=at % 3 == 0)
            words = tokens(f"please {text} then")
            yield text, plain(text, False), number(text), spoken.digits(text)
            yield (
                spoken.duration(text),
                str(spoken.day(text, now.date())),
                str(spoken.when(text, now)),
            )
            yield evaluate(text), [f(words) for f in (day, duration, expression, moment)]


def _generated(corpora: Path | None) -> Iterator[tuple[str, Iterable[Any]]]:
    yield "generate train", generate(0, corpora, unasked=0.7)
    yield "generate heldout", generate(0, corpora, "heldout")
    yield "generate as chat", map(examples.line_of, generate(1, corpora, share_alike=True))


def _streams(sources: Mapping[str, Source]) -> Iterator[tuple[str, Iterable[Any]]]:
    for split, source in sources.items():
        for kind in SHARES:
            if kind != "corpus" or source.corpora is not None:
                yield f"kind {kind} {split}", stream(Random(f"{kind}"), source, {kind: 1.0})
        for seed in (0, 1):
            yield f"stream {split} {seed}", stream(Random(seed), source, SHARES)
        plainly = dataclasses.replace(source, unasked=0.0)
        yield f"nothing unasked {split}", stream(Random(2), plainly, SHARES)
        noisy = dataclasses.replace(source, style=Style(True, True, 1.6))
        yield f"noisy {split}", stream(Random(7), noisy, SHARES)


def _moves(sources: Mapping[str, Source]) -> Iterator[tuple[str, Iterable[Any]]]:
    """Each turn that a dialogue can take, of every tool."""
    other = {
        "repeat": basic.repeat, "chat": basic.chat, "small talk": basic.small_talk,
        "goodbye": basic.goodbye, "unfit": basic.unfit, "acquaintance": basic.acquaintance,
        "shop talk": basic.shop_talk, "swap": basic.swap_drink, "again": basic.same_drink,
        "without": basic.leave_out, "clear": basic.clear_order,
        "more": basic.follow_up, "fix": basic.correction,
    }  # fmt: skip
    each: dict[str, Callable[[Script, str], object]] = {
        "request": lambda s, t: basic.request(s, t),
        "unasked": lambda s, t: basic.mention(s, t),
        "decline": lambda s, t: basic.decline(s, t),
        "compound": lambda s, t: basic.compound(s, t, s.rng.choice(list(catalog.SAY))),
        "bare": lambda s, t: t in catalog.LACKING and basic.bare_request(s, t),
        "after": lambda s, t: basic.request(s, t) and s.rng.choice(list(other.values()))(s),
    }
    for split, source in sources.items():
        for name, move in each.items():
            yield f"move {name} {split}", _each_tool(name, source, move)
        for name, change in other.items():
            tool = "order_drink" if name in ("swap", "again", "without", "clear") else "set_timer"
            yield f"move {name} {split}", _changes(name, source, tool, change)
        yield f"single {split}", _scenes(source, single)
        yield f"named {split}", _scenes(source, mention)


def _each_tool(name: str, source: Source, move: Callable[[Script, str], object]) -> Iterator[Any]:
    for seed in range(1000):
        messages = []
        for tool in catalog.SAY:
            chance = Random(f"{name} {tool} {seed}")
            script = Script(chance, source.values, source.split, source.corpora)
            script.offer(TOOLS)
            try:
                move(script, tool)
            except holdout.NothingHeldOutError:
                continue
            messages.append(script.messages)
        yield messages


def _changes(
    name: str, source: Source, tool: str, change: Callable[[Script], object]
) -> Iterator[Any]:
    for seed in range(1000):
        script = Script(Random(f"{name} {seed}"), source.values, source.split, source.corpora)
        script.offer(TOOLS)
        try:
            basic.request(script, tool)
            change(script)
        except holdout.NothingHeldOutError:
            pass
        yield script.messages


def _scenes(source: Source, write: Callable[[Scene], Any]) -> Iterator[Any]:
    purposes = source.corpora.purposes if source.corpora else {}
    for seed in range(1000):
        yield write(Scene(Random(seed), source.values, source.split, purposes))


def _for_training(sources: Mapping[str, Source], scale: int) -> Iterator[tuple[str, str]]:
    """What training is given: readings, interruptions, reasons, and examples of a user's own."""
    count = 60 * scale
    for split, source in sources.items():
        yield f"readings {split}", digest(list(islice(taught(source, 0.4, 3), count)))
    source = sources["train"]
    rows = list(islice(stream(Random(9), source, SHARES), count))
    rng = Random(4)
    yield "interrupted", digest([interrupted(row, rng, 1.0) for row in rows])
    plainly = stream(Random(9), source, {"assistant": 0.6, "coffee": 0.4})
    renamed = (rename(row, rng, "train") for row in plainly)
    yield "renamed", digest(list(islice(renamed, count)))
    thought = reasoned(taught(source, 0.2, 6), 0.5, 8)
    yield "reasons", digest(list(islice(thought, count)))
    own = examples.row_of(json.loads(json.dumps(examples.line_of(rows[0]))))
    yield "example", digest(own)
    mix = mixed([own, *rows[1:9]], taught(source, 0.2, 6), 0.5, 8)
    yield "mixed", digest(list(islice(mix, count)))


def _read_rows(corpora: Path, material: Material) -> Iterator[tuple[str, str]]:
    """What is read of the corpora."""
    for split in ("train", "heldout"):
        read = load(corpora, split, share_alike=True)
        for name in ("requests", "talk", "unfit", "chat", "dialogues", "purposes"):
            yield f"corpora {name} {split}", digest(getattr(read, name))
        rng = Random(2)
        wishes = [offer(p, rng, "snake", p.rows[0][1]) for p in read.purposes.values()]
        yield f"offered purposes {split}", digest([w.spec for w in wishes])
    assert material.heldout is not None
    yield "openers", digest(openers(material.heldout, corpora, 40, 3))
    yield "alike", digest(sorted(alike(material.heldout).items()))


def excerpts(corpora: Path, out: Path) -> None:
    """Write some rows of each corpus, spread evenly, into another directory."""
    for path in sorted(corpora.glob("*.jsonl.xz")):
        with lzma.open(path, "rb") as file:
            rows = file.readlines()
        if not path.name.startswith("slot_values"):
            rows = rows[:: max(1, len(rows) // ROWS_READ)]
        with lzma.open(out / path.name, "wb", preset=0) as kept:
            kept.writelines(rows)


def main(corpora: Path) -> None:
    """Print all hashes as JSON."""
    with tempfile.TemporaryDirectory() as place:
        excerpts(corpora, Path(place))
        found = {"alone": dict(drawn(None)), "corpora": dict(drawn(Path(place)))}
    sys.stdout.write(json.dumps(found, indent=1) + "\n")


if __name__ == "__main__":
    main(Path(sys.argv[1]))

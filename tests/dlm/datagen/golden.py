"""What the generators draw, as hashes: the same seeds must go on giving the same rows.

``golden.json`` was written from the code as it was before the package was laid out as rooms (commit
0a1942e, where these modules lay in ``dlm/train``):

    sed 's/dlm\\.datagen/dlm.train/' tests/dlm/datagen/golden.py > /tmp/golden.py
    cd CHECKOUT_OF_0a1942e && PYTHONPATH=. python /tmp/golden.py CORPORA > golden.json

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

from dlm.datagen import (
    catalog,
    composed_words,
    examples,
    holdout,
    moves,
    moves_coffee,
    nouns,
    phrasings,
    rename,
    rename_words,
    said,
    strangers,
    unasked,
)
from dlm.datagen.arithmetic import evaluate
from dlm.datagen.composed import COMPOSED
from dlm.datagen.corpora import load
from dlm.datagen.dialogues import SHARES, Source, generate, stream
from dlm.datagen.intent_tools import SLOT_NAMES, offer
from dlm.datagen.intents import TOPICS, UNFIT
from dlm.datagen.interruptions import interrupted
from dlm.datagen.inventions import INVENTIONS
from dlm.datagen.mixing import mixed
from dlm.datagen.noise import Style, plain
from dlm.datagen.readings import taught
from dlm.datagen.reasons import reasoned
from dlm.datagen.replies import ABILITIES, DECLINES, ERRORS, GREETINGS, REPLIES
from dlm.datagen.scene import Scene
from dlm.datagen.schemas import TOOLS
from dlm.datagen.script import Script
from dlm.datagen.small_talk import SMALL_TALK
from dlm.datagen.spans import day, duration, expression, moment, tokens
from dlm.datagen.talk import ABLE, NAMED, REPEAT, SHOP_TALK, TALK, WHO_AM_I
from dlm.datagen.values import Values
from dlm.datagen.words import CURRENCIES, UNITS, WORDS
from dlm.evaluate.sets import SETS, Stock, chosen
from dlm.evaluate.talk import alike, openers

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
    stock = Stock.load(corpora)
    for name in SETS:
        if corpora is not None or name not in ("others", "coffee", "services", "out_of_scope"):
            yield f"set {name}", digest(chosen(name, stock, 0.04 * scale))
    if corpora is not None:
        yield from _read_rows(corpora, stock)


def _lists() -> dict[str, Any]:
    """Every list that is drawn from."""
    drawn_with = {name: (t.spec, t.kinds) for name, t in INVENTIONS.items()}
    asks = {(t, p): catalog.question(t, p) for t in catalog.BARE for p in catalog.BARE[t]}
    gives = {(t, p): catalog.answers(t, p) for t in catalog.BARE for p in catalog.BARE[t]}
    tables = {
        "say": catalog.SAY, "more": catalog.MORE, "bare": catalog.BARE, "fix": catalog.FIX,
        "ask": {" ".join(k): v for k, v in asks.items()}, "schemas": TOOLS,
        "give": {" ".join(k): v for k, v in gives.items()}, "specs": catalog.SPECS,
        "can": catalog.CAN, "invented": drawn_with, "refusals": phrasings.REFUSALS,
        "replies": REPLIES, "declines": DECLINES, "errors": ERRORS, "greetings": GREETINGS,
        "abilities": ABILITIES, "small talk": SMALL_TALK, "talk": TALK, "shop talk": SHOP_TALK,
        "about the user": [ABLE, NAMED, REPEAT, WHO_AM_I], "words": WORDS, "units": UNITS,
        "currencies": CURRENCIES, "things": composed_words.ALL_THINGS,
        "actions": composed_words.ALL_ACTIONS, "kinds": composed_words.ALL_KINDS,
        "heads": {g: nouns.heads(g) for g in composed_words.ALL_THINGS},
        "modifiers": nouns.modifiers(), "verbs": nouns.deeds(), "frame verbs": unasked.VERBS,
        "frames": [[g.of("train"), g.of("heldout"), g.answers] for g in unasked.GROUPS],
        "other names": rename_words.OTHERS, "parameters": rename_words.PARAMETERS,
        "slot names": SLOT_NAMES, "topics": TOPICS, "unfit": UNFIT,
    }  # fmt: skip
    return tables


def _split(value: Any) -> Any:
    """Plain data with each list of strings as its parts of the two splits."""
    if isinstance(value, Mapping):
        return {str(key): _split(item) for key, item in value.items()}
    if isinstance(value, tuple | list) and value and all(isinstance(v, str) for v in value):
        return [holdout.members(tuple(value), split) for split in ("train", "heldout")]
    return [_split(v) for v in value] if isinstance(value, tuple | list) else value


def _values_read(count: int) -> Iterator[Any]:
    """Values of every kind as they are drawn, and what is read in them."""
    rng, values = Random(5), Values()
    now = said.datetime(2025, 6, 4, 10, 30)
    for kind in (*COMPOSED, *WORDS):
        for number in range(count // 10):
            text = values.draw(kind, rng, digits=number % 3 == 0)
            words = tokens(f"please {text} then")
            yield text, plain(text, False), said.number(text), said.digits(text)
            yield said.duration(text), str(said.day(text, now.date())), str(said.when(text, now))
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
        "repeat": moves.repeat, "chat": moves.chat, "small talk": moves.small_talk,
        "goodbye": moves.goodbye, "unfit": moves.unfit, "acquaintance": moves.acquaintance,
        "shop talk": moves.shop_talk, "swap": moves_coffee.swap, "again": moves_coffee.again,
        "without": moves_coffee.without, "clear": moves_coffee.clear,
        "more": moves.follow_up, "fix": moves.correction,
    }  # fmt: skip
    each: dict[str, Callable[[Script, str], object]] = {
        "request": lambda s, t: moves.request(s, t),
        "unasked": lambda s, t: moves.unasked(s, t),
        "decline": lambda s, t: moves.decline(s, t),
        "compound": lambda s, t: moves.compound(s, t, s.rng.choice(list(catalog.SAY))),
        "bare": lambda s, t: t in catalog.BARE and moves.bare_request(s, t),
        "after": lambda s, t: moves.request(s, t) and s.rng.choice(list(other.values()))(s),
    }
    for split, source in sources.items():
        for name, move in each.items():
            yield f"move {name} {split}", _each_tool(name, source, move)
        for name, change in other.items():
            tool = "order_drink" if name in ("swap", "again", "without", "clear") else "set_timer"
            yield f"move {name} {split}", _changes(name, source, tool, change)
        yield f"single {split}", _scenes(source, strangers.single)
        yield f"named {split}", _scenes(source, strangers.named)


def _each_tool(name: str, source: Source, move: Callable[[Script, str], object]) -> Iterator[Any]:
    for seed in range(1000):
        messages = []
        for tool in catalog.SAY:
            script = Script(Random(f"{name} {tool} {seed}"), source.values, source.split)
            script.corpora, script.repertoire = source.corpora, tuple(TOOLS)
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
        script.repertoire = tuple(TOOLS)
        try:
            moves.request(script, tool)
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
    renamed = (rename.rename(row, rng, "train") for row in plainly)
    yield "renamed", digest(list(islice(renamed, count)))
    thought = reasoned(taught(source, 0.2, 6), 0.5, 8)
    yield "reasons", digest(list(islice(thought, count)))
    own = examples.row_of(json.loads(json.dumps(examples.line_of(rows[0]))))
    yield "example", digest(own)
    mix = mixed([own, *rows[1:9]], taught(source, 0.2, 6), 0.5, 8)
    yield "mixed", digest(list(islice(mix, count)))


def _read_rows(corpora: Path, stock: Stock) -> Iterator[tuple[str, str]]:
    """What is read of the corpora."""
    for split in ("train", "heldout"):
        read = load(corpora, split, share_alike=True)
        for name in ("requests", "talk", "unfit", "chat", "dialogues", "purposes"):
            yield f"corpora {name} {split}", digest(getattr(read, name))
        rng = Random(2)
        wishes = [offer(p, rng, "snake", p.rows[0][1]) for p in read.purposes.values()]
        yield f"offered purposes {split}", digest([w.spec for w in wishes])
    assert stock.heldout is not None
    yield "openers", digest(openers(stock.heldout, corpora, 40, 3))
    yield "alike", digest(sorted(alike(stock.heldout).items()))


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

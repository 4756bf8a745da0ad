"""Encodes the dialogue generator's rows, and learns a vocabulary from them.

Apart from the command line's check of example files, this is the only module of training that
knows the generator (`dlm.datagen`).
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from dlm.language.messages import Turn
from dlm.language.template import Encoded, Template, tools_of, turn_of
from dlm.language.tokenizer import Mark, Tokenizer
from dlm.train.config import TrainConfig

HELD_OUT_SEED = 7


@dataclass(frozen=True, slots=True)
class Mixture:
    """What the training data are made of.

    Attributes:
        corpora: Directory of the text corpora; None for generated dialogues alone.
        share_alike: Whether corpora under share-alike licences may be used.
        readings: Share of readings (`dlm.datagen.training_rows`) among our own rows.
        reasons: Share of all dialogues that end in a message with reasoning before it.
        examples: File of dialogues to learn, in the chat format; None for our own alone.
        replay: Share of our own dialogues when there are examples.
    """

    corpora: Path | None = None
    share_alike: bool = False
    readings: float = 0.0
    reasons: float = 0.0
    examples: Path | None = None
    replay: float = 0.0


def encode_row(template: Template, row: Mapping[str, Any]) -> Encoded:
    """Encode a dialogue of the training data.

    In a reading (`dlm.datagen.training_rows`) the user's words count as an answer. A message of
    the agent that was cut off by an interruption does not.
    """
    turns = [
        replace(turn_of(message), reasoning=message.get("reasoning", ""))
        for message in row["messages"]
    ]
    if row.get("system"):
        turns.insert(0, Turn("system", row["system"]))
    encoded = template.dialogue(turns, tools_of(row["tools"]))
    whole = [not m.get("cut") for m in row["messages"] if m["role"] == "assistant"]
    encoded.answers[:] = itertools.compress(encoded.answers, whole)
    if row.get("reading"):
        start = encoded.ids.index(Mark.USER) + 1
        encoded.answers.insert(0, (start, encoded.ids.index(Mark.END, start) + 1))
    return encoded


def held_out_rows(
    template: Template, mixture: Mixture, max_length: int, count: int
) -> list[Encoded]:
    """Dialogues of at most ``max_length`` tokens to evaluate losses on, the same for all runs.

    They contain neither readings nor reasoning, so that losses are comparable from run to run. Only
    the corpora of the mixture are used.
    """
    from dlm.datagen.dialogues import Source
    from dlm.datagen.training_rows import taught

    source = Source.load(mixture.corpora, "heldout", mixture.share_alike)
    rows = (encode_row(template, row) for row in taught(source, 0.0, HELD_OUT_SEED))
    return list(itertools.islice(short(rows, max_length), count))


def short(rows: Iterable[Encoded], max_length: int) -> Iterator[Encoded]:
    """Those dialogues that have an answer and at most ``max_length`` tokens."""
    return (row for row in rows if len(row.ids) <= max_length and row.answers)


def training_rows(template: Template, mixture: Mixture) -> Callable[[int], Iterator[Encoded]]:
    """A function from a seed to an endless stream of dialogues, determined by the seed."""
    from dlm.datagen.dialogues import Source
    from dlm.datagen.examples import read
    from dlm.datagen.reasons import reasoned
    from dlm.datagen.tools.descriptions import opaque
    from dlm.datagen.training_rows import mixed, taught

    examples = read(mixture.examples) if mixture.examples else None
    source = Source.load(mixture.corpora, "train", mixture.share_alike)

    def rows(seed: int) -> Iterator[Encoded]:
        made = taught(source, mixture.readings, seed)
        if template.declarations > 1:
            # Version 1 has no parameter descriptions: there, opaque names could only be guessed.
            made = map(opaque, made)
        if examples is not None:
            made = mixed(examples, made, mixture.replay, seed)
        return (encode_row(template, row) for row in reasoned(made, mixture.reasons, seed))

    return rows


def scripted(
    seed: int, corpora: Path | None, split: str, share_alike: bool
) -> Iterator[dict[str, Any]]:
    """Endless rows of the generator as they are, without readings and reasoning."""
    from dlm.datagen.dialogues import generate

    return generate(seed=seed, corpora=corpora, split=split, share_alike=share_alike)


def shares() -> dict[str, float]:
    """The generator's mixture, by kind of dialogue."""
    from dlm.datagen.dialogues import SHARES

    return dict(SHARES)


def learn(corpora: Path | None, config: TrainConfig) -> Tokenizer:
    """A vocabulary of what users and agents say, and of how tools are declared and called."""
    said = texts(corpora, config.share_alike, config.tokenizer_dialogues)
    return Tokenizer.train(said, config.vocab_size)


def texts(corpora: Path | None, share_alike: bool, dialogues: int) -> Iterator[str]:
    """Every text in a number of dialogues, each after a space, as in a prompt."""
    for row in itertools.islice(scripted(0, corpora, "train", share_alike), dialogues):
        for message in row["messages"]:
            yield f" {message['content'] or ''}"
            for call in message.get("tool_calls") or ():
                yield f" {call['name']}"
                yield from (f" {key} {value}" for key, value in call["arguments"].items())
        for tool in row["tools"]:
            yield f" {tool['name']}"
            yield f" {tool['description']}"
            for name, schema in tool["parameters"].get("properties", {}).items():
                yield f" {name}"
                yield from (f" {told}" for told in (schema.get("description"),) if told)

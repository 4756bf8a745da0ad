"""Batches of encoded dialogues in an order that a resumed run can take up where it stopped.

Data come in chunks, each made anew from its number alone: of the generator, so many dialogues; of a
file, one pass over it in an order drawn for that pass. A place is a chunk and how many of its
batches have been used, so that going on means skipping less than a chunk.
"""

from __future__ import annotations

import itertools
import multiprocessing
import queue
import signal
import threading
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, replace
from multiprocessing import resource_tracker
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from dlm.language.messages import Turn
from dlm.language.template import Encoded, Template, tools_of, turn_of
from dlm.language.tokenizer import Mark, Tokenizer
from dlm.train.packed import Dialogues

HELD_OUT_SEED = 7
POOL_ROWS = 512
CHUNK_DIALOGUES = 16_384
CHUNK_SEEDS = 1_000_003
"""Between the seeds of two runs' first chunks, so that no two runs share any."""
WAITING = 32
"""Batches that another process makes ahead."""

T = TypeVar("T")


class NothingToLearn(ValueError):
    """No dialogue is short enough, or none has an answer."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where in the data a run is: so many batches of a chunk are used."""

    chunk: int = 0
    batch: int = 0


Placed = tuple[Place, list[Encoded]]
"""A batch, and the place after it."""


@dataclass(frozen=True, slots=True)
class Recipe:
    """What batches are made of, and how large they are.

    Attributes:
        tokenizer: Directory that holds tokenizer.json.
        seed: Not negative.
        tokens_per_batch: Rows times the longest row, at most.
        max_length: Longer dialogues are left out, tokens.
        corpora: Directory of the text corpora; None for generated dialogues alone.
        share_alike: Whether corpora under share-alike licences may be used.
        examples: A file of dialogues to learn, in the chat format; None for our own alone.
        replay: Share of our own dialogues beside the examples.
        reasons: Share of all dialogues that end in a message with reasoning before it.
        readings: Share of readings (`dlm.datagen.readings`) among our own rows.
    """

    tokenizer: Path
    seed: int
    tokens_per_batch: int
    max_length: int
    corpora: Path | None = None
    share_alike: bool = False
    examples: Path | None = None
    replay: float = 0.0
    reasons: float = 0.0
    readings: float = 0.0


def encode_row(template: Template, row: Mapping[str, Any]) -> Encoded:
    """A dialogue of the training data as ids.

    Of a reading (`dlm.datagen.readings`) the user's words stand among the answers; an agent's
    message that was interrupted (`dlm.datagen.interruptions`) is none.
    """
    turns = [
        replace(turn_of(message), reasoning=message.get("reasoning", ""))
        for message in row["messages"]
    ]
    if row.get("system"):
        turns.insert(0, Turn("system", row["system"]))
    encoded = template.dialogue(turns, tools_of(row["tools"]))
    told = [message for message in row["messages"] if message["role"] == "assistant"]
    whole = [not message.get("cut") for message in told]
    encoded.answers[:] = itertools.compress(encoded.answers, whole)
    encoded.replayed = bool(row.get("replayed"))
    if row.get("reading"):
        start = encoded.ids.index(Mark.USER) + 1
        encoded.answers.insert(0, (start, encoded.ids.index(Mark.END, start) + 1))
    return encoded


def held_out_rows(
    template: Template, corpora: Path | None, share_alike: bool, max_length: int, count: int
) -> list[Encoded]:
    """Dialogues that losses are told of, the same for all runs, packed or not.

    There are no readings and no reasons in them, so that losses stay comparable from run to run.

    Args:
        template: Of the model.
        corpora: Directory of the text corpora; None for generated dialogues alone.
        share_alike: Whether corpora under share-alike licences may be used.
        max_length: Longer ones are left out, tokens.
        count: How many.
    """
    from dlm.datagen.dialogues import Source
    from dlm.datagen.readings import taught

    source = Source.load(corpora, "heldout", share_alike)
    rows = (encode_row(template, row) for row in taught(source, 0.0, HELD_OUT_SEED))
    return list(itertools.islice(short(rows, max_length), count))


def short(rows: Iterable[Encoded], max_length: int) -> Iterator[Encoded]:
    """Dialogues of at most so many tokens in which an answer is learned."""
    return (row for row in rows if len(row.ids) <= max_length and row.answers)


def batches(
    rows: Iterable[Encoded], tokens_per_batch: int, max_length: int, rng: np.random.Generator
) -> Iterator[list[Encoded]]:
    """Group dialogues of like length, so that little is padding.

    Args:
        rows: Endless or not; those longer than ``max_length`` are left out.
        tokens_per_batch: Rows times the longest row of a batch, at most.
        max_length: Tokens.
        rng: Orders the batches of each pool.
    """
    # Large batches need a larger pool for their rows to be alike.
    size = max(POOL_ROWS, tokens_per_batch // 16)
    kept = short(rows, max_length)
    while pool := list(itertools.islice(kept, size)):
        yield from _cut(pool, tokens_per_batch, rng)


def _cut(
    pool: list[Encoded], tokens_per_batch: int, rng: np.random.Generator
) -> Iterator[list[Encoded]]:
    pool = sorted(pool, key=lambda row: len(row.ids), reverse=True)
    groups: list[list[Encoded]] = []
    while pool:
        size = max(1, tokens_per_batch // len(pool[0].ids))
        groups.append(pool[:size])
        pool = pool[size:]
    for index in rng.permutation(len(groups)):
        yield groups[index]


def in_order(
    chunk_of: Callable[[int], Iterable[Encoded]], recipe: Recipe, place: Place
) -> Iterator[Placed]:
    """Batches of one chunk after another from a place on, without end.

    Args:
        chunk_of: The dialogues of a chunk, the same whenever it is asked for.
        recipe: Sizes and seed.
        place: Where to begin.

    Raises:
        NothingToLearn: A chunk has no such dialogue.
    """
    for chunk in itertools.count(place.chunk):
        rng = np.random.default_rng((recipe.seed, chunk))
        made = batches(chunk_of(chunk), recipe.tokens_per_batch, recipe.max_length, rng)
        used = place.batch if chunk == place.chunk else 0
        number = 0
        for number, batch in enumerate(made, start=1):
            if number > used:
                yield Place(chunk, number), batch
        if number == 0:
            told = f"max_length: got {recipe.max_length}, expected more"
            raise NothingToLearn(f"{told}: no dialogue with an answer is that short")


def passes(dialogues: Dialogues, recipe: Recipe, place: Place) -> Iterator[Placed]:
    """Batches of a packed file, pass after pass, each in an order of its own."""

    def one(chunk: int) -> Iterator[Encoded]:
        order = np.random.default_rng((recipe.seed, chunk, 1)).permutation(len(dialogues))
        return (dialogues[int(row)] for row in order)

    return in_order(one, recipe, place)


def generated(recipe: Recipe, place: Place) -> Iterator[Placed]:
    """Batches of the generator, and of examples where the recipe names a file of them."""
    from dlm.datagen.dialogues import Source
    from dlm.datagen.examples import read
    from dlm.datagen.mixing import mixed
    from dlm.datagen.readings import taught
    from dlm.datagen.reasons import reasoned

    template = Template(Tokenizer.load(recipe.tokenizer))
    examples = read(recipe.examples) if recipe.examples else None
    source = Source.load(recipe.corpora, "train", recipe.share_alike)

    def one(chunk: int) -> Iterator[Encoded]:
        seed = recipe.seed * CHUNK_SEEDS + chunk
        rows = taught(source, recipe.readings, seed)
        if examples is not None:
            rows = mixed(examples, rows, recipe.replay, seed)
        taken = itertools.islice(rows, CHUNK_DIALOGUES)
        return (encode_row(template, row) for row in reasoned(taken, recipe.reasons, seed))

    return in_order(one, recipe, place)


def stream(recipe: Recipe, place: Place) -> Generator[Placed, None, None]:
    """`generated`, made ahead by another process; about `WAITING` batches wait.

    It ends when that process is asked to, as when a whole process group is.

    Raises:
        NothingToLearn: As `in_order`.
        RuntimeError: The process ended, after it said why.
    """
    context = multiprocessing.get_context("spawn")
    reader, writer = context.Pipe(duplex=False)
    process = context.Process(target=_produce, args=(writer, recipe, place), daemon=True)
    with _deaf():
        process.start()
    # With the only other end in that process, its end is the end of what is read, even in the
    # middle of a batch; a queue would be waited on for ever then.
    writer.close()
    try:
        yield from _received(reader)
        process.join()
        if process.exitcode != -signal.SIGTERM:
            raise RuntimeError(f"the data process ended with exit code {process.exitcode}")
    finally:
        reader.close()
        process.terminate()


def _received(reader: Connection) -> Iterator[Placed]:
    """What is sent, up to the end or to what breaks off."""
    with suppress(EOFError, OSError):
        while True:
            placed: Placed | NothingToLearn = reader.recv()
            if isinstance(placed, NothingToLearn):
                raise placed
            yield placed


def _produce(writer: Connection, recipe: Recipe, place: Place) -> None:
    # Whoever took the batches may be killed, and nobody reads them then.
    with suppress(BrokenPipeError), closing(ahead(generated(recipe, place), WAITING)) as made:
        try:
            for placed in made:
                writer.send(placed)
        except NothingToLearn as error:
            writer.send(error)


@contextmanager
def _deaf() -> Iterator[None]:
    """Let a process that is started meanwhile never hear Ctrl-C, which a terminal sends to all."""
    # Where it is not running, starting a process starts it, and leaves SIGINT unblocked.
    resource_tracker.ensure_running()
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def ahead(items: Iterator[T], depth: int) -> Generator[T, None, None]:
    """The same items, taken by a thread while the caller works; at most ``depth`` wait.

    What the iterator raises is raised here, after the items before it.
    """
    channel: queue.Queue[tuple[T] | BaseException | None] = queue.Queue(maxsize=depth)
    stopped = threading.Event()

    def put(item: tuple[T] | BaseException | None) -> None:
        while not stopped.is_set():
            try:
                return channel.put(item, timeout=0.1)
            except queue.Full:
                continue

    def take() -> None:
        try:
            for item in items:
                put((item,))
                if stopped.is_set():
                    return
        except Exception as error:
            put(error)
        put(None)

    thread = threading.Thread(target=take, name="dlm-batches", daemon=True)
    thread.start()
    try:
        while (given := channel.get()) is not None:
            if isinstance(given, BaseException):
                raise given
            yield given[0]
    finally:
        stopped.set()
        thread.join()

"""Batches of encoded dialogues, in an order that a resumed run can continue where it stopped.

Data come in chunks, each determined by its number: a fixed count of generated dialogues, or one
pass over a file in an order drawn for that pass. A place is a chunk and the number of its batches
that are used, so that resuming has to skip less than a chunk.
"""

from __future__ import annotations

import itertools
import multiprocessing
import queue
import signal
import threading
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, field
from multiprocessing import resource_tracker
from multiprocessing.connection import Connection
from pathlib import Path
from typing import TypeVar

import numpy as np

from dlm.language.template import Encoded, Template
from dlm.language.tokenizer import Tokenizer
from dlm.train.data import Mixture, short, training_rows
from dlm.train.objective import beginning

POOL_ROWS = 512
CHUNK_DIALOGUES = 16_384
CHUNK_SEEDS = 1_000_003
"""Distance between the seeds of two runs' first chunks, so that no chunk is in two runs."""
WAITING = 32
"""Number of batches that the data process keeps ready."""

T = TypeVar("T")


class NothingToLearn(ValueError):
    """No dialogue is short enough, or none has an answer."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where in the data a run is: a chunk, and how many of its batches are used."""

    chunk: int = 0
    batch: int = 0


Placed = tuple[Place, list[Encoded]]
"""A batch, and the place after it."""


@dataclass(frozen=True, slots=True)
class Recipe:
    """What batches are made of, and their size.

    Attributes:
        tokenizer: Directory that holds tokenizer.json.
        seed: Not negative.
        tokens_per_batch: Limit on the number of rows times the longest row; on the length of the
            one row if joined.
        max_length: Dialogues of more tokens than this are left out.
        mixture: What the generator makes.
        declarations: Version of the declarations of tools.
        joined: Whether a batch is laid end to end, with a beginning that several share stored once.
    """

    tokenizer: Path
    seed: int
    tokens_per_batch: int
    max_length: int
    mixture: Mixture = field(default_factory=Mixture)
    declarations: int = 1
    joined: bool = False

    def template(self) -> Template:
        """The template that encodes the dialogues."""
        return Template(Tokenizer.load(self.tokenizer), self.declarations)


def batches(
    rows: Iterable[Encoded], tokens_per_batch: int, max_length: int, rng: np.random.Generator
) -> Iterator[list[Encoded]]:
    """Group dialogues of similar length, so that there is little padding.

    Args:
        tokens_per_batch: Limit on the rows of a batch times its longest row.
        rng: Orders the batches of each pool.
    """
    # Large batches need a larger pool for their rows to be of similar length.
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


def joined_batches(
    rows: Iterable[Encoded], tokens_per_batch: int, max_length: int
) -> Iterator[list[Encoded]]:
    """Group dialogues as they come; a beginning that several in a batch share counts once."""
    batch: list[Encoded] = []
    begun: set[tuple[int, ...]] = set()
    size = 0
    for row in short(rows, max_length):
        start = tuple(row.ids[: beginning(row)])
        more = len(row.ids) - (len(start) if start in begun else 0)
        if batch and size + more > tokens_per_batch:
            yield batch
            batch, begun, size, more = [], set(), 0, len(row.ids)
        batch.append(row)
        begun.add(start)
        size += more
    if batch:
        yield batch


def in_order(
    chunk_of: Callable[[int], Iterable[Encoded]], recipe: Recipe, place: Place
) -> Iterator[Placed]:
    """Batches of one chunk after another from a place on, without end.

    Args:
        chunk_of: Returns the dialogues of a chunk, the same every time.

    Raises:
        NothingToLearn: A chunk has no dialogue that is short enough and has an answer.
    """
    for chunk in itertools.count(place.chunk):
        rng = np.random.default_rng((recipe.seed, chunk))
        size = recipe.tokens_per_batch, recipe.max_length
        if recipe.joined:
            made = joined_batches(chunk_of(chunk), *size)
        else:
            made = batches(chunk_of(chunk), *size, rng)
        used = place.batch if chunk == place.chunk else 0
        number = 0
        for number, batch in enumerate(made, start=1):
            if number > used:
                yield Place(chunk, number), batch
        if number == 0:
            got = f"max_length: got {recipe.max_length}, expected more"
            raise NothingToLearn(f"{got}: no dialogue with an answer is that short")


def passes(dialogues: Sequence[Encoded], recipe: Recipe, place: Place) -> Iterator[Placed]:
    """Batches of packed dialogues, pass after pass, each pass in an order of its own."""

    def one(chunk: int) -> Iterator[Encoded]:
        order = np.random.default_rng((recipe.seed, chunk, 1)).permutation(len(dialogues))
        return (dialogues[int(row)] for row in order)

    return in_order(one, recipe, place)


def generated(recipe: Recipe, place: Place) -> Iterator[Placed]:
    """Batches from the generator, and from examples if the recipe names a file of them."""
    rows = training_rows(recipe.template(), recipe.mixture)

    def one(chunk: int) -> Iterator[Encoded]:
        return itertools.islice(rows(recipe.seed * CHUNK_SEEDS + chunk), CHUNK_DIALOGUES)

    return in_order(one, recipe, place)


def stream(recipe: Recipe, place: Place) -> Generator[Placed, None, None]:
    """`generated`, run in another process that keeps about `WAITING` batches ready.

    The stream ends quietly if that process gets SIGTERM, as when a whole process group does.

    Raises:
        NothingToLearn: As from `in_order`.
        ChildProcessError: The process failed; it has printed why.
    """
    context = multiprocessing.get_context("spawn")
    reader, writer = context.Pipe(duplex=False)
    process = context.Process(target=_produce, args=(writer, recipe, place), daemon=True)
    with _sigint_blocked():
        process.start()
    # Now only that process holds the writing end: when it ends, reading ends too, even in the
    # middle of a batch. A queue would wait for ever.
    writer.close()
    try:
        yield from _received(reader)
        process.join()
        if process.exitcode != -signal.SIGTERM:
            raise ChildProcessError(f"the data process ended with exit code {process.exitcode}")
    finally:
        reader.close()
        process.terminate()


def _received(reader: Connection) -> Iterator[Placed]:
    """What the process sends until it ends."""
    with suppress(EOFError, OSError):
        while True:
            placed: Placed | NothingToLearn = reader.recv()
            if isinstance(placed, NothingToLearn):
                raise placed
            yield placed


def _produce(writer: Connection, recipe: Recipe, place: Place) -> None:
    # BrokenPipeError: the process that takes the batches may have been killed.
    with suppress(BrokenPipeError), closing(prefetched(generated(recipe, place), WAITING)) as made:
        try:
            for placed in made:
                writer.send(placed)
        except NothingToLearn as error:
            writer.send(error)


@contextmanager
def _sigint_blocked() -> Iterator[None]:
    """Processes started meanwhile ignore Ctrl-C, which a terminal sends to the whole group."""
    # Otherwise starting the process would start the tracker, which unblocks SIGINT.
    resource_tracker.ensure_running()
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def prefetched(items: Iterator[T], depth: int) -> Generator[T, None, None]:
    """The same items, taken by a thread while the caller works; at most ``depth`` are kept ready.

    What the iterator raises is raised here too, after the items that came before.
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

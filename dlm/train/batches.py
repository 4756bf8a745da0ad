"""Batches of encoded dialogues, made in a process of their own."""

from __future__ import annotations

import multiprocessing
import queue
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from dlm.template import Encoded, Template, Tool, Turn, turn_of
from dlm.tokenizer import Tokenizer

POOL_ROWS = 512


def encode_row(template: Template, row: Mapping[str, Any]) -> Encoded:
    """A dialogue of the training data as ids."""
    turns = [turn_of(message) for message in row["messages"]]
    if row.get("system"):
        turns.insert(0, Turn("system", row["system"]))
    tools = [Tool(t["name"], t["description"], t["parameters"]) for t in row["tools"]]
    return template.dialogue(turns, tools)


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
    pool: list[Encoded] = []
    for row in rows:
        if len(row.ids) > max_length or not row.answers:
            continue
        pool.append(row)
        if len(pool) == POOL_ROWS:
            yield from _cut(pool, tokens_per_batch, rng)
            pool = []
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


def stream(
    tokenizer_dir: Path,
    corpora: Path | None,
    seed: int,
    tokens_per_batch: int,
    max_length: int,
    share_alike: bool,
) -> Iterator[list[Encoded]]:
    """Batches for ever, made ahead by another process; at most 32 wait."""
    context = multiprocessing.get_context("spawn")
    channel: multiprocessing.Queue[list[Encoded]] = context.Queue(maxsize=32)
    arguments = (channel, tokenizer_dir, corpora, seed, tokens_per_batch, max_length, share_alike)
    process = context.Process(target=_produce, args=arguments, daemon=True)
    process.start()
    try:
        while True:
            try:
                yield channel.get(timeout=1.0)
            except queue.Empty:
                if not process.is_alive():
                    raise RuntimeError(
                        f"the data process ended with exit code {process.exitcode}"
                    ) from None
    finally:
        process.terminate()


def _produce(
    channel: multiprocessing.Queue[list[Encoded]],
    tokenizer_dir: Path,
    corpora: Path | None,
    seed: int,
    tokens_per_batch: int,
    max_length: int,
    share_alike: bool,
) -> None:
    from dlm.train.dialogues import generate

    template = Template(Tokenizer.load(tokenizer_dir))
    rows = (
        encode_row(template, row)
        for row in generate(seed=seed, corpora=corpora, split="train", share_alike=share_alike)
    )
    for batch in batches(rows, tokens_per_batch, max_length, np.random.default_rng(seed)):
        channel.put(batch)

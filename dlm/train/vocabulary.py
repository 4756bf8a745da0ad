"""The vocabulary of a new model, learned from generated dialogues."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from pathlib import Path

from dlm.language.tokenizer import Tokenizer


def learn(corpora: Path | None, share_alike: bool, vocab_size: int, dialogues: int) -> Tokenizer:
    """Learn from what users and agents say, and from how tools are declared and called.

    Args:
        corpora: Directory of the text corpora; None for generated dialogues alone.
        share_alike: Whether corpora under share-alike licences may be used.
        vocab_size: V, marks and bytes included.
        dialogues: How many to read.
    """
    from dlm.datagen.dialogues import generate

    rows = generate(seed=0, corpora=corpora, split="train", share_alike=share_alike)

    def texts() -> Iterator[str]:
        for row in itertools.islice(rows, dialogues):
            for message in row["messages"]:
                yield f" {message['content'] or ''}"
                for call in message.get("tool_calls") or ():
                    yield f" {call['name']}"
                    yield from (f" {key} {value}" for key, value in call["arguments"].items())
            for tool in row["tools"]:
                yield f" {tool['name']}"
                yield f" {tool['description']}"
                yield from (f" {name}" for name in tool["parameters"].get("properties", {}))

    return Tokenizer.train(texts(), vocab_size)

"""What a user should know of their dialogues before minutes go into learning them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from dlm.datagen.examples import ExampleError
from dlm.language.copy_sources import sources
from dlm.language.messages import Tool, Turn
from dlm.language.schema import is_words, options
from dlm.language.template import tools_of, turn_of

Row = dict[str, Any]

FEW_REQUESTS = 40
"""Fewer different requests are learned word for word before what they have in common is."""
MOST_TOOLS = 20
"""Tools whose calls are told one by one."""
_SHOWN = 3


def survey(
    file: Path, rows: Sequence[Row], length: Callable[[Row], int], max_length: int
) -> list[str]:
    """Tell of a file what it holds, and what in it will not be learned, or not serve.

    Args:
        file: Its name is told.
        rows: From `dlm.datagen.examples.read`.
        length: Of a dialogue, in tokens.
        max_length: Longer dialogues are left out of training, tokens.

    Returns:
        Sentences, the first about what there is; each of the others is a warning.

    Raises:
        ExampleError: All dialogues are too long.
    """
    long = [row for row in rows if length(row) > max_length]
    if len(long) == len(rows):
        raise ExampleError(f"{file}: every dialogue is longer than max_length, {max_length} tokens")
    told = [f"{file.name}: {_many(len(rows), 'dialogue')}; calls of {_called(rows)}"]
    if long:
        left_out = f"{len(long)} of {_many(len(rows), 'dialogue')} left out, longer than max_length"
        told.append(f"{left_out}, {max_length} tokens: {_lines(long)}")
    told += _too_alike(rows)
    told += _unsaid(rows)
    return told


def _called(rows: Sequence[Row]) -> str:
    counts: Counter[str] = Counter()
    for row in rows:
        counts.update(call["name"] for _, calls in _calls(row) for call in calls)
        counts.update(dict.fromkeys((tool["name"] for tool in row["tools"]), 0))
    most = counts.most_common(MOST_TOOLS)
    told = [f"{name} {count}" for name, count in most]
    if len(counts) > MOST_TOOLS:
        rest = counts.total() - sum(count for _, count in most)
        told.append(f"and {len(counts) - MOST_TOOLS} more tools {rest}")
    return ", ".join(told) or "no tool"


def _calls(row: Row) -> Iterator[tuple[int, list[Row]]]:
    for index, message in enumerate(row["messages"]):
        if message.get("tool_calls"):
            yield index, message["tool_calls"]


def _too_alike(rows: Sequence[Row]) -> Iterator[str]:
    asked = {m["content"] for row in rows for m in row["messages"] if m["role"] == "user"}
    if len(asked) < FEW_REQUESTS:
        yield (
            f"{_many(len(asked), 'different request')} in all: of fewer than {FEW_REQUESTS} the "
            "model learns the words and little else; write more phrasings, with more values"
        )
    if all(any(_calls(row)) for row in rows):
        yield (
            "every dialogue calls a tool: add some that mention what your tools are about where "
            "none is to be called, or every mention will call one"
        )


def _unsaid(rows: Sequence[Row]) -> Iterator[str]:
    """Values that the engine, which takes them from what was said, could not write."""
    found = []
    for row in rows:
        tools = {tool.name: tool for tool in tools_of(row["tools"])}
        turns = [turn_of(message) for message in row["messages"]]
        for index, turn in enumerate(turns):
            said = [text.casefold() for text in sources(turns[:index])]
            for key, value in _bound(turn, tools):
                if not any(value.casefold() in text for text in said):
                    found.append((row, f"{key} {value!r}"))
    if found:
        some = "; ".join(f"line {row['line']}: {what}" for row, what in found[:_SHOWN])
        more = f"; and {len(found) - _SHOWN} more" if len(found) > _SHOWN else ""
        yield (
            "values that the user did not say, which a call cannot hold, as values are words that "
            f"were said: {some}{more}"
        )


def _bound(turn: Turn, tools: dict[str, Tool]) -> Iterator[tuple[str, str]]:
    for call in turn.calls:
        properties = tools[call.name].properties
        for key, value in call.arguments.items():
            schema = properties[key]
            if isinstance(value, str) and is_words(schema) and not options(schema):
                yield key, value


def _lines(rows: Sequence[Row]) -> str:
    shown = ", ".join(str(row["line"]) for row in rows[:_SHOWN])
    more = f" and {len(rows) - _SHOWN} more" if len(rows) > _SHOWN else ""
    return f"line{'s' if len(rows) > 1 else ''} {shown}{more}"


def _many(count: int, noun: str) -> str:
    return f"{count} {noun}{'' if count == 1 else 's'}"

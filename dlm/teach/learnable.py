"""Reports what is wrong with a list of tools before minutes go into learning it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import combinations
from random import Random

from dlm.datagen.language.noise import Style
from dlm.language.identifiers import words
from dlm.teach.dialogues import Writer
from dlm.teach.listed import Listed
from dlm.teach.requests import TABLE, Asking

ALIKE = 0.8
"""Descriptions that share at least this part of their words are taken to say the same."""
MOST_TOOLS = 20
"""More tools than this make a long prompt, and are hard for a small model to tell apart."""
_SMALL = frozenset(TABLE.no_nouns)


def faults(askings: Sequence[Asking]) -> list[str]:
    """Why a list cannot be learned; empty if it can."""
    tools = [asking.listed for asking in askings]
    return [*(fault for tool in tools for fault in _faults_of(tool)), *_same(askings)]


def _faults_of(tool: Listed) -> Iterator[str]:
    if not _words(tool.description):
        yield f"{tool.name}: no description, by which the model knows when to call it: write one"
    for one, other in combinations(tool.properties, 2):
        if words(one) == words(other):
            yield f"{tool.name}: {one} and {other}: the names read alike"
    for name, why in tool.unsayable.items():
        yield (
            f"{tool.name}: {name} is required and {why}, which no caller can say: leave the tool"
            " out, or make it optional"
        )


def _same(askings: Sequence[Asking]) -> Iterator[str]:
    for one, other in combinations(askings, 2):
        a, b = one.listed, other.listed
        if words(a.name) == words(b.name):
            yield f"{a.name} and {b.name}: the names read alike"
        elif one.verb == other.verb and _alike(_words(a.description), _words(b.description)):
            yield (
                f"{a.name} and {b.name} say the same: {a.description!r} and {b.description!r};"
                " nobody's words tell them apart: leave one out, or describe what differs"
            )


def _words(description: str) -> frozenset[str]:
    found = re.findall(r"[^\W_]+", description.lower())
    return frozenset(word.removesuffix("s") for word in found if word not in _SMALL)


def _alike(one: frozenset[str], other: frozenset[str]) -> bool:
    return bool(one) and len(one & other) >= ALIKE * len(one | other)


def untold(writer: Writer) -> list[str]:
    """Which tools will not be learned, as no request for them could not be for another."""
    return [
        f"{a.listed.name}: will not be learned, as all requests for it would fit another tool too:"
        " describe what differs, or give examples"
        for a in writer.askings
        if not any(writer.plain(a, Random(seed), Style()) for seed in range(3))
    ]


def remarks(tools: Sequence[Listed]) -> list[str]:
    """What a user should know about a list that can be learned."""
    found = [
        f"{t.name}: {', '.join(t.left_out)} left out, no caller can say such a value"
        for t in tools
        if t.left_out
    ]
    if len(tools) > MOST_TOOLS:
        found.append(
            f"{len(tools)} tools, of which a small model tells about {MOST_TOOLS} apart:"
            " choose some with --only"
        )
    return found

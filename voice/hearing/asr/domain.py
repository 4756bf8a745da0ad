"""What a session's users are likely to say: names, and which words follow each other.

It is derived from text alone: the phrases and values in the agent's file, and the declarations of
the session's tools, including the client's.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise, product
from typing import Any

from dlm.language import identifiers
from voice.config import AgentConfig
from voice.hearing.spoken_form import spoken_form
from voice.types import ToolSpec

Words = tuple[str, ...]
Pair = tuple[str, str]

_MOST_NAMES, _LONGEST_NAME = 2000, 60
"""Limits on names from tool declarations, which a client chooses: every decode searches all names,
and a longer text is a sentence, not a name."""
_SLOT = re.compile(r"\{(\w+)\}")


@dataclass(frozen=True, slots=True)
class Domain:
    """The names, words and pairs of words that users are likely to say.

    Attributes:
        names: What a request may be about, as written: values of an agent's slots, options of
            arguments, and words from the declarations of tools.
        words: The words of the names and phrases, in their spoken form.
        pairs: Words that follow each other in a name or a phrase.
        language: Code of the language that is spoken; empty if it has to be detected.
    """

    names: tuple[str, ...] = ()
    words: frozenset[str] = frozenset()
    pairs: frozenset[Pair] = field(default=frozenset(), repr=False)
    language: str = ""

    @classmethod
    def of(cls, agent: AgentConfig) -> Domain:
        """The domain of an agent's phrases and values."""
        values = {slot: [*map(words_of, said)] for slot, said in agent.values.items()}
        phrases = [[*_places(phrase, values)] for phrase in agent.phrases]
        said = [words for of_slot in values.values() for words in of_slot]
        pairs = {pair for words in said for pair in pairwise(words)}
        for before, after in (near for places in phrases for near in pairwise(places)):
            pairs.update(product({words[-1] for words in before}, {words[0] for words in after}))
        said += [words for places in phrases for place in places for words in place]
        names = dict.fromkeys(value for of_slot in agent.values.values() for value in of_slot)
        return cls(
            tuple(names), frozenset(word for words in said for word in words), frozenset(pairs)
        )

    def including(self, tools: Collection[ToolSpec]) -> Domain:
        """The domain extended by the declarations of tools; itself if there are none."""
        if not tools:
            return self
        named: dict[str, None] = {}
        for tool in tools:
            named.update(dict.fromkeys(_options(tool.parameters)))
            for text in (identifiers.words(tool.name), tool.description, *_told(tool.parameters)):
                named.update(dict.fromkeys(words_of(text)))
        new = [name for name in named if len(name) <= _LONGEST_NAME][:_MOST_NAMES]
        said = [*map(words_of, new)]
        return replace(
            self,
            names=tuple(dict.fromkeys((*self.names, *new))),
            words=self.words.union(*said),
            pairs=self.pairs.union(*map(pairwise, said)),
        )

    def knows(self, words: Sequence[str]) -> bool:
        """Whether the domain has all of these words, and each pair of neighbours among them."""
        return self.words.issuperset(words) and self.pairs.issuperset(pairwise(words))


ANYTHING = Domain()
"""No expectations."""


def words_of(text: str) -> Words:
    """The words of a text in their spoken form."""
    return tuple(spoken_form(text).split())


def _places(phrase: str, values: Mapping[str, Sequence[Words]]) -> Iterator[list[Words]]:
    """For each place of a phrase in turn, the words that may stand there."""
    for index, part in enumerate(_SLOT.split(phrase)):
        if index % 2:
            yield [words for words in values.get(part, ()) if words]
        else:
            for word in words_of(part):
                yield [(word,)]


def _options(schema: Any) -> Iterator[str]:
    """The texts that a JSON schema names as options or examples of an argument."""
    for key, value in _entries(schema):
        if key in ("enum", "examples", "const"):
            for option in value if isinstance(value, list) else [value]:
                if isinstance(option, str):
                    plain = " " in option or (option[:1].isupper() and "_" not in option)
                    yield option if plain else identifiers.words(option)


def _told(schema: Any) -> Iterator[str]:
    """The names of a JSON schema's properties, and its descriptions."""
    for key, value in _entries(schema):
        if key == "properties" and isinstance(value, dict):
            yield from map(identifiers.words, value)
        elif key == "description" and isinstance(value, str):
            yield value


def _entries(schema: Any) -> Iterator[tuple[str, Any]]:
    """Every key in a schema with its value, at any depth."""
    waiting = [schema]
    while waiting:
        node = waiting.pop()
        if isinstance(node, dict):
            yield from node.items()
            waiting.extend(node.values())
        elif isinstance(node, list):
            waiting.extend(node)

"""What goes into a prompt and what comes out of an answer: messages, tools, calls."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from dlm.language.schema import admits_null, plain


class AnswerError(ValueError):
    """A generated answer does not have the form it must have."""


@dataclass(frozen=True, slots=True)
class Tool:
    """A function the model may call; ``parameters`` is a JSON schema of type object."""

    name: str
    description: str
    parameters: Mapping[str, Any]

    @property
    def properties(self) -> dict[str, Mapping[str, Any]]:
        """Schema of each parameter in order, as `plain` leaves it."""
        definitions = self.parameters.get("$defs", {})
        properties = self.parameters.get("properties", {})
        return {name: plain(schema, definitions) for name, schema in properties.items()}

    @property
    def required(self) -> frozenset[str]:
        """Parameters that must be given, of those there are and that may not be null."""
        return self._named - self.nulled

    @property
    def nulled(self) -> frozenset[str]:
        """Parameters that are null where an answer does not give them."""
        return self._named & self.nullable

    @property
    def nullable(self) -> frozenset[str]:
        """Parameters that may be null."""
        properties = self.parameters.get("properties", {})
        return frozenset(name for name, schema in properties.items() if admits_null(schema))

    @property
    def _named(self) -> frozenset[str]:
        names = frozenset(self.parameters.get("required", ()))
        return names.intersection(self.parameters.get("properties", ()))


@dataclass(frozen=True, slots=True)
class Call:
    """A call of a tool with parsed arguments."""

    name: str
    arguments: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Turn:
    """One message: role is system, user, assistant or tool.

    Attributes:
        reasoning: What the assistant thinks before it; of training data alone, for no dialogue that
            goes on shows what was thought.
    """

    role: str
    content: str = ""
    calls: tuple[Call, ...] = ()
    reasoning: str = ""


@dataclass(frozen=True, slots=True)
class Answer:
    """What an assistant message says and calls, and what was thought before it."""

    content: str
    calls: tuple[Call, ...]
    reasoning: str = ""

"""Messages, tools, calls and answers: the content of a dialogue."""

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
        """Parameters that must be given: required, declared and not nullable."""
        return self._named - self.nulled

    @property
    def nulled(self) -> frozenset[str]:
        """Required parameters that are null where an answer leaves them out."""
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
        reasoning: The assistant's reasoning before it; in training data only, because later prompts
            leave it out.
    """

    role: str
    content: str = ""
    calls: tuple[Call, ...] = ()
    reasoning: str = ""


@dataclass(frozen=True, slots=True)
class Answer:
    """An assistant's message: its text, its calls, and the reasoning before it."""

    content: str
    calls: tuple[Call, ...]
    reasoning: str = ""

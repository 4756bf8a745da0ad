"""Messages, tools, calls and answers: the content of a dialogue."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from dlm.language.schema import admits_null, plain


class AnswerError(ValueError):
    """A generated answer does not have the form it must have."""


@dataclass(frozen=True, slots=True)
class Reader:
    """Reads the values of a parameter, which must be spans of texts that it can read.

    Attributes:
        read: Returns what words mean, as any type that can be compared, or None if they cannot be
            read; any thread may call it.
        hardly: Reads more leniently; used if ``read`` cannot read anything in the texts.
        whole: Whether a span that is part of a longer one with another meaning is not a value, like
            "seven" in "seven thirty".
        anywhere: Whether values name existing things, which "it" may refer to.
    """

    read: Callable[[str], object]
    hardly: Callable[[str], object] | None = None
    whole: bool = False
    anywhere: bool = False


@dataclass(frozen=True, slots=True)
class Tool:
    """A function the model may call; ``parameters`` is a JSON schema of type object.

    Attributes:
        readers: Readers of the parameters that have one; they are not part of the prompt.
    """

    name: str
    description: str
    parameters: Mapping[str, Any]
    readers: Mapping[str, Reader] = field(default_factory=dict, compare=False)

    @property
    def declared(self) -> dict[str, Any]:
        """The declaration in OpenAI's form."""
        function = {"name": self.name, "description": self.description}
        return {"type": "function", "function": {**function, "parameters": dict(self.parameters)}}

    @property
    def properties(self) -> dict[str, Mapping[str, Any]]:
        """The schema of each parameter, in order, as `plain` returns it."""
        definitions = self.parameters.get("$defs", {})
        properties = self.parameters.get("properties", {})
        return {name: plain(schema, definitions) for name, schema in properties.items()}

    @property
    def required(self) -> frozenset[str]:
        """Parameters that must be given: required, declared and not nullable."""
        return self._named - self.nulled

    @property
    def nulled(self) -> frozenset[str]:
        """Required parameters that are null if an answer leaves them out."""
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
        reasoning: The assistant's reasoning before the message. Only in training data: later
            prompts leave it out.
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

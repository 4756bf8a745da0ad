"""Tools as a list declares them, reduced to what the model is told about them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class Listed:
    """A tool of a list.

    Attributes:
        description: One line.
        parameters: JSON schema of the parameters whose values can be said.
        notes: Parameter → its whole description; the model is told one line of it.
        left_out: Optional parameters whose values cannot be said.
        unsayable: Required parameters whose values cannot be said → why.
        request: How an OpenAPI operation is sent: method, path, and where each parameter goes.
        about: The whole description; the model is told only its first line.
    """

    name: str
    description: str
    parameters: Mapping[str, Any]
    notes: Mapping[str, str] = field(default_factory=dict)
    left_out: tuple[str, ...] = ()
    unsayable: Mapping[str, str] = field(default_factory=dict)
    request: tuple[str, str, Mapping[str, str]] | None = None
    about: str = ""

    @property
    def properties(self) -> Mapping[str, Any]:
        """The parameters' schemas by name."""
        found: Mapping[str, Any] = self.parameters["properties"]
        return found

    @property
    def required(self) -> tuple[str, ...]:
        """The parameters that a call must have, in the order of declaration."""
        needed = self.parameters.get("required", ())
        return tuple(name for name in self.properties if name in needed)

    @property
    def spec(self) -> dict[str, Any]:
        """The tool as dialogues declare it."""
        return {
            "name": self.name,
            "description": self.description,
            "parameters": dict(self.parameters),
        }

"""Tools as a list declares them, in the form in which the model is told of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class Listed:
    """A tool of a list.

    Attributes:
        description: One line.
        about: The whole description, which the model is not told.
        parameters: JSON schema, as far as the model can say its values.
        notes: Parameter → its whole description, of which the model is told a line.
        left_out: Optional parameters that the model cannot say.
        unsayable: Required ones, and why.
        request: How an OpenAPI operation is sent: method, path, and where each parameter goes.
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
        """As dialogues declare it."""
        return {
            "name": self.name,
            "description": self.description,
            "parameters": dict(self.parameters),
        }

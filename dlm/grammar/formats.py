"""What an answer's text has to look like, beside being text.

A format says what is wanted; `dlm.grammar.matcher` makes it binding.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


class FormatError(ValueError):
    """A format, or a tool's schema, that no grammar can be made of; the text names the feature.

    Attributes:
        tool: Name of the tool at fault; None where it is the answer's format.
        parameter: Name of its parameter at fault, where it is one.
    """

    def __init__(self, text: str, tool: str | None = None, parameter: str | None = None) -> None:
        super().__init__(text)
        self.tool = tool
        self.parameter = parameter


@dataclass(frozen=True, slots=True)
class JsonSchema:
    """One JSON value that validates against a schema (draft 2020-12)."""

    schema: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Regex:
    """Text that matches a pattern of Rust's regex syntax as a whole."""

    pattern: str


@dataclass(frozen=True, slots=True)
class Lark:
    """Text that a grammar in llguidance's Lark dialect derives from its rule ``start``."""

    grammar: str


AnswerFormat = JsonSchema | Regex | Lark

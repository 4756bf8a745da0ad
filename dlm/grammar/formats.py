"""Formats of an answer's text, and the grammar rules that enforce them.

In dialects whose texts begin with a space in the token stream, so does a formatted one; the format
rules the rest. `dlm.grammar.matcher` enforces it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from dlm.grammar.compiled import MOST_REPEATS, repeats
from dlm.grammar.schemas import bounded, closed, patterns
from dlm.language.references import MAX_LEVELS, circular, count_levels

# JSON as the training data writes it. Free whitespace would let a weak model indent without end.
_LAYOUT = {"whitespace_flexible": False, "item_separator": ", ", "key_separator": ": "}


# A string or pattern without an end is matched too (it is no literal): otherwise its end would be
# searched for again behind each quote, which takes long.
_LARK_PIECES = re.compile(
    r"""(?P<comment>(?://|\#)[^\n]*) | "(?:\\.|[^"\\\n])*"? | /(?:\\.|[^/\\])+/?""",
    re.VERBOSE,
)


class FormatError(ValueError):
    """A format or a tool's schema that cannot be turned into a grammar.

    The text names the unsupported feature and, for a tool's schema, the tool and the parameter.

    Attributes:
        tool: The tool at fault; None for the answer's format.
        parameter: The parameter at fault; None if it is not known.
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


def format_rules(
    wanted: AnswerFormat | None, lead: str = " "
) -> tuple[list[str], list[dict[str, str]]]:
    """The rule ``text`` in llguidance's Lark dialect, and the grammars that it refers to.

    The text begins with ``lead``; without a format it is plain text.

    Raises:
        FormatError: The format uses special tokens, is nested too deeply or repeats too much.
    """
    if wanted is None:
        return ["text: TEXT", rf"TEXT: /{lead}\S(.|\n)*/"], []
    begin = f'"{lead}" ' if lead else ""
    if isinstance(wanted, JsonSchema):
        return [f"text: {begin}%json {strict_json(wanted.schema)}"], []
    inner = _pattern(wanted.pattern) if isinstance(wanted, Regex) else wanted.grammar
    if not isinstance(wanted, Regex):
        _check_lark(inner)
    _check_repeats(inner)
    return [f"text: {begin}@format"], [{"name": "format", "lark_grammar": inner}]


def _check_repeats(pattern: str) -> None:
    if (got := repeats(pattern)) > MOST_REPEATS:
        message = f"got a pattern of {got} repetitions, expected at most {MOST_REPEATS}"
        raise FormatError(f"format: too many expressions: {message}")


def _check_lark(grammar: str) -> None:
    # As llguidance reads it: a string ends with its line at the latest, a pattern need not.
    bare = _LARK_PIECES.sub(lambda found: found["comment"] or '""', grammar)
    if re.search(r"<[\[|]", bare):
        raise FormatError("format: special tokens are not supported")
    if (inside := len(re.findall(r"[:(\[{]", bare))) > MAX_LEVELS:
        raise FormatError(f"format: got {inside} rules and brackets, expected at most {MAX_LEVELS}")


def strict_json(schema: Mapping[str, Any]) -> str:
    """A schema as JSON for llguidance: closed, bounded, and with a fixed layout of values.

    Raises:
        FormatError: The schema is nested too deeply, a reference in it leads back to itself, or a
            pattern in it repeats too much.
    """
    if (deep := count_levels(schema)) > MAX_LEVELS:
        raise FormatError(f"format: got {deep} levels of schemas, expected at most {MAX_LEVELS}")
    if (reference := circular(schema)) is not None:
        raise FormatError(f"format: got the reference {reference!r}, which leads back to itself")
    for pattern in patterns(schema):
        _check_repeats(pattern)
    return json.dumps({**closed(bounded(schema)), "x-guidance": _LAYOUT})


def reason(error: str) -> str:
    """The message of an llguidance error, without the grammar that it quotes."""
    message = re.sub(r"^at \d+\(\d+\): ", "", re.split(r"\n *\d+ \| ", error.strip())[0])
    lines = message.removeprefix("failed to compile JSON schema: ").splitlines()
    return " ".join(line.strip() for line in lines)


def _pattern(pattern: str) -> str:
    slashed = re.sub(r"\\.|/", lambda found: "\\/" if found[0] == "/" else found[0], pattern)
    return f"start: PATTERN\nPATTERN: /{slashed}/\n"

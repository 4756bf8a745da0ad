"""Grammar rules for an answer's text: plain words, or what its format asks for.

The text begins with a space where every text does in the token stream; what follows is the
format's.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from dlm.formats import AnswerFormat, FormatError, JsonSchema, Regex

# JSON as the training data writes it. Free whitespace would let a weak model indent for ever.
_LAYOUT = {"whitespace_flexible": False, "item_separator": ", ", "key_separator": ": "}


def format_rules(
    wanted: AnswerFormat | None, lead: str = " "
) -> tuple[list[str], list[dict[str, str]]]:
    """The rule ``text`` in llguidance's Lark dialect, and the grammars that it refers to.

    Args:
        wanted: What the text must be; None for words.
        lead: What every text begins with, if anything.

    Raises:
        FormatError: The format's grammar reaches for the marks of the dialogue.
    """
    if wanted is None:
        return ["text: TEXT", rf"TEXT: /{lead}\S(.|\n)*/"], []
    begin = f'"{lead}" ' if lead else ""
    if isinstance(wanted, JsonSchema):
        return [f"text: {begin}%json {strict_json(wanted.schema)}"], []
    inner = _pattern(wanted.pattern) if isinstance(wanted, Regex) else wanted.grammar
    if not isinstance(wanted, Regex) and re.search(r"<[\[|]", inner):
        raise FormatError("format: special tokens are not supported")
    return [f"text: {begin}@format"], [{"name": "format", "lark_grammar": inner}]


def strict_json(schema: Mapping[str, Any]) -> str:
    """A schema as llguidance takes it: unsupported keywords refused, one layout for all values."""
    return json.dumps({**schema, "x-guidance": _LAYOUT})


def reason(error: str) -> str:
    """What llguidance's report says, without the grammar that it quotes."""
    told = re.sub(r"^at \d+\(\d+\): ", "", re.split(r"\n *\d+ \| ", error.strip())[0])
    return re.sub(r"\s*\n\s*", " ", told.removeprefix("failed to compile JSON schema: "))


def _pattern(pattern: str) -> str:
    slashed = re.sub(r"\\.|/", lambda found: "\\/" if found[0] == "/" else found[0], pattern)
    return f"start: PATTERN\nPATTERN: /{slashed}/\n"

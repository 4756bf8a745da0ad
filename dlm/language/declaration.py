"""What a tool's declaration says of a parameter besides its name: type, description and default.

The type is left out if a value is plain words, and the description if it says nothing beyond the
names, the type and the options. This module knows nothing of tokens.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from dlm.language.identifiers import words
from dlm.language.messages import Tool
from dlm.language.schema import AS_FORMAT, FORMATS, is_words, options, plain, written

LONGEST_NOTE = 160
"""Most characters of a parameter's description."""
ALL_NOTES = 1600
"""Most characters of all descriptions of a tool's parameters, shared evenly among them."""
SHORTEST_NOTE = 24
"""In characters; a smaller share is not worth a description."""
LONGEST_DEFAULT = 40
"""In characters; a longer default is left out."""

_KINDS = {
    "string": "text",
    "integer": "whole number",
    "number": "number",
    "boolean": "true or false",
    "object": "object",
    "array": "list",
}
_COUNTED = ("text", "whole number", "number", "object", "list")
_DEEPEST = 3
_MOST_KEYS = 6
# What ends a sentence; "e.g." and its like do not.
_END = re.compile(r"(?<!\be\.g)(?<!\bi\.e)(?<!\bvs)(?<!\betc)[.!?](?=\s|$)")
# The article that half of all descriptions begin with, and what the marks say already.
_NEEDLESS = re.compile(r"^(?:the|an?) | ?\((?:optional|required)\)", re.IGNORECASE)
_SMALL = frozenset((
    "a", "an", "and", "any", "are", "as", "at", "be", "by", "can", "describing", "either",
    "for", "from", "given", "if", "in", "indicating", "is", "it", "its", "name", "of", "on",
    "one", "optional", "or", "representing", "required", "set", "should", "specified", "that",
    "the", "their", "this", "to", "use", "used", "value", "what", "when", "where", "whether",
    "which", "who", "will", "with", "you",
))  # fmt: skip
"""Words of descriptions that say nothing by themselves."""


def notes(tool: Tool) -> dict[str, str]:
    """For each parameter, what the declaration says of it; an empty text if there is no need."""
    properties = tool.properties
    most = min(LONGEST_NOTE, ALL_NOTES // max(1, len(properties)))
    return {name: _note(tool.name, name, one, most) for name, one in properties.items()}


def _note(tool: str, name: str, schema: Mapping[str, Any], most: int) -> str:
    kind = "" if options(schema) else kind_of(schema)
    told = _described(schema, _words(name), _words(tool) | _words(kind), most)
    note = f"{kind}: {told}" if kind and told else kind or told
    default = _default(schema)
    if not default or "default" in told.lower():
        return note
    return f"{note}; default {default}" if note else f"default {default}"


def kind_of(schema: Mapping[str, Any], depth: int = 0) -> str:
    """The type of a value in words; empty for plain words, and if the type is not known."""
    if chosen := options(schema):
        return " or ".join(map(written, chosen))
    if is_words(schema):
        return ""
    kind = schema.get("type")
    if isinstance(kind, list):
        return _joined([{**schema, "type": one} for one in kind], schema, depth)
    if kind is None:
        choices = schema.get("anyOf", schema.get("oneOf"))
        if isinstance(choices, list):
            return _joined(choices, schema, depth)
        kind = "object" if "properties" in schema else "array" if "items" in schema else ""
    form = schema.get("format", schema.get(AS_FORMAT))
    if kind == "string" and form in FORMATS:
        return str(form)
    if kind == "array":
        inner = _inner(schema.get("items"), schema, depth)
        head, joint, rest = inner.partition(" of ")
        many = f"{head}s{joint}{rest}" if head in _COUNTED else inner
        return f"list of {many}" if many else "list"
    if kind == "object" and isinstance(schema.get("properties"), Mapping) and schema["properties"]:
        keys = list(schema["properties"])[:_MOST_KEYS]
        return f"object of {', '.join(words(key) or key for key in keys)}"
    return _KINDS.get(str(kind), "")


def _inner(schema: Any, outer: Mapping[str, Any], depth: int) -> str:
    """The type, in words, of a value inside another."""
    if not isinstance(schema, Mapping) or depth >= _DEEPEST:
        return ""
    found = plain(schema, outer.get("$defs", {}))
    return kind_of(found, depth + 1) or ("text" if is_words(found) and found else "")


def _joined(choices: list[Any], outer: Mapping[str, Any], depth: int) -> str:
    found = (_inner(one, outer, depth) for one in choices if one != {"type": "null"})
    return " or ".join(dict.fromkeys(filter(None, found)))


def _described(schema: Mapping[str, Any], name: set[str], said: set[str], most: int) -> str:
    """The description, cut to ``most`` characters; empty if it only repeats what is said anyway.

    Args:
        schema: The parameter's schema.
        name: Words of the parameter's name.
        said: Words that stand elsewhere in the declaration.
        most: Most characters.
    """
    text = schema.get("description")
    if not isinstance(text, str) or most < SHORTEST_NOTE:
        return ""
    text = _NEEDLESS.sub("", " ".join(text.split()))
    telling = _words(text) - _SMALL
    said = said.union(name, *(_words(written(option)) for option in options(schema)))
    if telling <= said and (telling & name or telling <= name):
        return ""
    return cut(text, most).rstrip(".;, ")


def _words(text: str) -> set[str]:
    return {word.removesuffix("s") for word in words(text).split()} if text else set()


def cut(text: str, most: int) -> str:
    """A text cut to ``most`` characters: to whole sentences, or to the beginning of the first."""
    if len(text) <= most:
        return text
    ends = [found.end() for found in _END.finditer(text, 0, most + 1) if found.end() <= most]
    if ends:
        return text[: ends[-1]]
    return f"{text[: most - 1].rpartition(' ')[0] or text[: most - 1]}…"


def _default(schema: Mapping[str, Any]) -> str:
    """The default as a value is written; empty for a falsy or a long one."""
    value = schema.get("default")
    text = " ".join(written(value).split()) if value else ""
    return text if len(text) <= LONGEST_DEFAULT else ""

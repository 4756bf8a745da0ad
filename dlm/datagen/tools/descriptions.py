"""Describes the parameters of tools as other developers do, and gives some names without meaning.

Draws depend on the tool alone, so that descriptions do not change the rest of the dialogues.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from random import Random
from typing import Any

from dlm.datagen.tools.catalog import Spec
from dlm.datagen.tools.world import capital
from dlm.engine.json_call import NAME

OPAQUE = 0.13
"""Share of tools that get opaque parameters, among those that describe all their parameters."""
_NONE, _SOME = 0.15, 0.1
"""Shares of tools that describe no parameter, and that describe some."""
_LISTED, _EXAMPLE, _DEFAULT = 0.25, 0.2, 0.3
"""Shares of descriptions with options, of those with an example, and of parameters with a default,
among those that have any."""

_BARE = frozenset((
    "at", "by", "how", "if", "in", "near", "on", "only", "that", "until", "what", "when", "where",
    "whether", "which", "who", "whom", "whose", "why", "with",
))  # fmt: skip
"""Words that take no article before them; a name that is one of them describes nothing."""
_OPAQUE_NAMES = (
    "p{n}", "p{n}", "x{n}", "arg{n}", "arg_{c}", "param_{n}", "value{n}", "field_{n}", "in_{c}",
    "{c}", "k{n}", "a{n}", "v_{c}",
)  # fmt: skip


def synonyms(names: Iterable[str], shown: str = "") -> tuple[str, ...]:
    """Names of a parameter that may describe it, as words; ``shown`` is the name that it has."""
    found = (name.replace("_", " ") for name in names if name != shown and "{" not in name)
    return tuple(name for name in found if name not in _BARE and len(name) > 2)


def described(
    spec: Spec,
    about: Mapping[str, Sequence[str]],
    example: Callable[[str, Random], Any] = lambda key, rng: None,
) -> Spec:
    """A tool with descriptions of its parameters, as some developer writes them, or without.

    Args:
        about: Parameter → phrases that describe it and that may follow an article.
        example: Draws a value of a parameter, or None if it has no example.
    """
    rng = Random(json.dumps(spec))
    roll = rng.random()
    if roll < _NONE:
        return spec
    manner = _Manner(rng)
    required = spec["parameters"].get("required", ())
    properties: Spec = {}
    for key, schema in spec["parameters"]["properties"].items():
        properties[key] = dict(schema)
        if about.get(key) and (roll > _NONE + _SOME or rng.random() < 0.5):
            value = None if "enum" in schema else example(key, rng)
            properties[key] |= manner.tell(rng.choice(about[key]), schema, value, key in required)
    return {**spec, "parameters": {**spec["parameters"], "properties": properties}}


class _Manner:
    """How one developer writes descriptions."""

    def __init__(self, rng: Random) -> None:
        self.rng = rng
        self.article = rng.random() < 0.5
        self.small = rng.random() < 0.15
        self.stop = "." if rng.random() < 0.4 else ""

    def tell(self, phrase: str, schema: Spec, value: Any, required: bool) -> Spec:
        """A description and perhaps a default; ``value`` is an example or None."""
        rng = self.rng
        text = phrase
        if self.article and phrase.split(" ")[0] not in _BARE:
            text = f"the {phrase}"
        text = text if self.small else capital(text)
        options = schema.get("enum", ())
        if len(options) > 1 and rng.random() < _LISTED:
            *some, last = map(str, options)
            text += rng.choice((", either {}", ": {}", " ({})")).format(
                f"{', '.join(some)} or {last}"
            )
        elif value is not None and rng.random() < _EXAMPLE:
            text += rng.choice((", e.g. {}", " (e.g. {})", ", such as {}")).format(_shown(value))
        default = self._default(schema, value)
        if required or default is None or rng.random() > _DEFAULT:
            return {"description": text + self.stop}
        if rng.random() < 0.5:
            return {"description": text + self.stop, "default": default}
        return {"description": f"{text}. Default is {_shown(default)}{self.stop}"}

    def _default(self, schema: Spec, value: Any) -> Any:
        if "enum" in schema:
            return self.rng.choice(schema["enum"])
        if schema["type"] == "boolean":
            return self.rng.random() < 0.5
        return value if schema["type"] in ("integer", "number") else None


def _shown(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value)


def opaque(row: dict[str, Any], share: float = OPAQUE) -> dict[str, Any]:
    """A row in which the parameters of some tools have names without meaning.

    Then their descriptions must be read. A tool that does not describe all its parameters is left
    as it is.

    Args:
        share: Share of tools that are changed, among those that describe all parameters.
    """
    renamed = {t["name"]: keys for t in row["tools"] if (keys := _opaque_keys(t, share))}
    if not renamed:
        return row
    messages = [
        {**m, "tool_calls": [_renamed(c, renamed) for c in m["tool_calls"]]}
        if m.get("tool_calls")
        else m
        for m in row["messages"]
    ]
    tools = [_with_keys(t, renamed[t["name"]]) if t["name"] in renamed else t for t in row["tools"]]
    return {**row, "tools": tools, "messages": messages}


def tells_all(parameters: Mapping[str, Any]) -> bool:
    """Whether a tool's schema has a description of each parameter."""
    return all("description" in schema for schema in parameters.get("properties", {}).values())


def _opaque_keys(tool: Spec, share: float) -> dict[str, str]:
    """Parameter → its new name; empty if the tool keeps its own."""
    properties = tool["parameters"].get("properties", {})
    rng = Random(f"opaque {json.dumps(tool)}")
    if tool["name"] == NAME or rng.random() >= share or not tells_all(tool["parameters"]):
        return {}
    form, first = rng.choice(_OPAQUE_NAMES), rng.choice((0, 1, 1))
    return {
        key: form.format(n=number + first, c=chr(ord("a") + number))
        for number, key in enumerate(properties)
    }


def _with_keys(tool: Spec, keys: Mapping[str, str]) -> Spec:
    parameters = tool["parameters"]
    properties = {keys[key]: schema for key, schema in parameters["properties"].items()}
    required = [keys[key] for key in parameters.get("required", ())]
    return {**tool, "parameters": {**parameters, "properties": properties, "required": required}}


def _renamed(call: Spec, renamed: Mapping[str, Mapping[str, str]]) -> Spec:
    keys = renamed.get(call["name"])
    if keys is None:
        return call
    return {**call, "arguments": {keys[k]: value for k, value in call["arguments"].items()}}

"""Renames the tools of a finished dialogue, so that names must be read in the prompt."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random
from typing import Any

from dlm.datagen.holdout import held_out
from dlm.datagen.language.words import WORDS
from dlm.datagen.tools.catalog import INVENTED, PARAMETER, other_keys, other_names, parameter
from dlm.datagen.tools.descriptions import described, synonyms
from dlm.datagen.tools.world import capital

_OPTIONS: dict[str, Sequence[str]] = {
    **{kind: WORDS[kind] for kind in ("size", "roast", "milk", "list", "room", "drink")},
    **{name: known.options for name, known in PARAMETER.items() if known.options},
}
"""Parameters that another agent might declare as a closed set of options."""


def rename(row: dict[str, Any], rng: Random, split: str) -> dict[str, Any]:
    """A copy of a dialogue with other tool names, parameter names, descriptions and order.

    Args:
        split: "heldout" has exactly those names that `held_out` marks, "train" the others.
    """
    style = rng.choice(("snake", "snake", "camel", "pascal", "word"))
    names: dict[str, str] = {}
    keys: dict[str, dict[str, str]] = {}
    tools = []
    for tool in row["tools"]:
        old = tool["name"]
        names[old] = _name(old, rng, style, split, set(names.values()))
        properties = tool["parameters"]["properties"]
        keys[old] = _keys(old, list(properties), rng)
        spec = _respecified(tool, names[old], keys[old], rng, _given(row, old))
        spec |= {"description": _description(tool, rng, split)}
        tools.append(
            described(spec, {new: _about(old, key, new) for key, new in keys[old].items()})
        )
    rng.shuffle(tools)
    orders = {t["name"]: list(t["parameters"]["properties"]) for t in tools}
    messages = [_message(m, names, keys, orders) for m in row["messages"]]
    return {"system": row["system"], "tools": tools, "messages": messages}


_FORMS = (
    "{Words}.", "To {words}.", "Use this to {words}.", "Lets the user {words}.", "Tool: {words}.",
)  # fmt: skip

_VERBS = (
    "get fetch retrieve read query check look_up show tell view obtain find",
    "set create add make new start register put schedule begin",
    "delete remove cancel stop clear end drop erase kill",
    "send post submit place push transmit",
    "control change adjust update modify switch",
    "search find look_for browse query",
    "convert change transform translate",
)
"""Groups of verbs that mean the same: a tool with one of them may be named with any."""


def _wider(verbs: Sequence[str]) -> Sequence[str]:
    """A tool's verbs and, if two of them are in a group, all verbs of that group."""
    groups = [group.split() for group in _VERBS]
    best = max(groups, key=lambda group: len(set(group) & set(verbs)))
    return [*verbs, *best] if len(set(best) & set(verbs)) >= 2 else verbs


def _name(old: str, rng: Random, style: str, split: str, taken: set[str]) -> str:
    known = other_names(old, split)
    verbs = _wider(known.verbs) if rng.random() < 0.5 else known.verbs
    while True:
        words = f"{rng.choice(verbs)}_{rng.choice(known.nouns)}".split("_")
        if rng.random() < 0.1:
            words = [*words[1:], words[0]]
        if rng.random() < 0.1:
            words = [
                rng.choice(("home", "my", "app", "v2", "the", "do", "qs", "hass", "x")),
                *words,
            ]
        name = styled(words, style)
        if name not in taken and held_out("_".join(words)) == (split == "heldout"):
            return name


def styled(words: list[str], style: str) -> str:
    """Words as an identifier in camelCase, PascalCase or else (also for "word") snake_case."""
    if style == "camel":
        return words[0] + "".join(w.title() for w in words[1:])
    if style == "pascal":
        return "".join(w.title() for w in words)
    return "_".join(words)


def _keys(tool: str, old: list[str], rng: Random) -> dict[str, str]:
    new: dict[str, str] = {}
    for key in old:
        options = [name for name in other_keys(tool, key) if name not in new.values()]
        new[key] = rng.choice(options) if options else key
    return new


def _about(tool: str, key: str, shown: str) -> tuple[str, ...]:
    """What descriptions say about a parameter; for an invented tool, its other names."""
    return (
        synonyms(other_keys(tool, key), shown) if tool in INVENTED else parameter(tool, key).about
    )


def _given(row: dict[str, Any], name: str) -> dict[str, set[str]]:
    """The values that a dialogue's calls give to each parameter of a tool."""
    found: dict[str, set[str]] = {}
    for message in row["messages"]:
        for call in message.get("tool_calls", ()):
            if call["name"] == name:
                for key, value in call["arguments"].items():
                    found.setdefault(key, set()).add(value)
    return found


def _respecified(
    tool: dict[str, Any], name: str, keys: dict[str, str], rng: Random, given: dict[str, set[str]]
) -> dict[str, Any]:
    old = tool["parameters"]
    order = list(old["properties"])
    if rng.random() < 0.4:
        rng.shuffle(order)
    kept = [k for k in order if k in given or k in old["required"] or rng.random() < 0.8]
    return {
        "name": name,
        "parameters": {
            "type": "object",
            "properties": {keys[k]: _property(k, given.get(k, set()), rng) for k in kept},
            "required": [keys[k] for k in kept if k in old["required"]],
        },
    }


def _description(tool: dict[str, Any], rng: Random, split: str) -> str:
    known = other_names(tool["name"], split)
    if rng.random() < 0.7:
        return rng.choice(known.descriptions)
    if rng.random() < 0.4:
        words = f"{rng.choice(known.verbs)} {rng.choice(known.nouns)}".replace("_", " ")
        return rng.choice(_FORMS).format(words=words, Words=capital(words))
    return str(tool["description"])


def _property(key: str, given: set[str], rng: Random) -> dict[str, Any]:
    """A string schema, sometimes with a closed set of options that has every value given."""
    closed = _OPTIONS.get(key, ())
    if not closed or not given <= set(closed) or rng.random() > 0.2:
        return {"type": "string"}
    options = set(rng.sample(closed, min(len(closed), rng.randint(2, 6)))) | given
    return {"type": "string", "enum": [c for c in closed if c in options]}


def _message(
    message: dict[str, Any],
    names: dict[str, str],
    keys: dict[str, dict[str, str]],
    orders: dict[str, list[str]],
) -> dict[str, Any]:
    if message["role"] == "tool":
        return {**message, "name": names[message["name"]]}
    if not message.get("tool_calls"):
        return message
    calls = []
    for call in message["tool_calls"]:
        new = names[call["name"]]
        given = {keys[call["name"]][k]: v for k, v in call["arguments"].items()}
        calls.append({"name": new, "arguments": {k: given[k] for k in orders[new] if k in given}})
    return {**message, "tool_calls": calls}

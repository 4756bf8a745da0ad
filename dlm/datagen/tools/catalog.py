"""All tools, the agents' own and invented ones: schemas, wordings, other names.

This is the only place where the training data says what tools the agents have; the real tools have
the same names, parameters and descriptions. How a tool works is not known here. The notation of
phrasings is explained in ``data/assistant_tools.toml``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from dlm.datagen.language.phrases import parameter_of, template
from dlm.datagen.language.tables import TableError, read

Spec = dict[str, Any]
"""A tool as declared: ``{"name", "description", "parameters": JSON schema}``."""

Written = tuple[list[Spec], list[dict[str, Any]]]
"""A dialogue's tools and messages."""

Phrasings = tuple[str, ...]

ALIASES = {
    "act": "state", "every": "name", "order": "expression", "about": "text", "chore": "item",
    "one": "amount", "single_unit": "from_unit", "dose": "shots",
    "flavor": "sweetener", "many": "quantity", "items": "item", "adding": "duration",
    "longer": "duration", "whole": "when", "entire": "text", "hour": "text", "feet": "amount",
    "inches": "from_unit", "metric": "from_unit", "single_length": "to_unit", "imperial": "to_unit",
    "leave": "milk", "forgo": "sweetener", "drinks": "drink",
    "further": "expression", "bare": "duration",
}  # fmt: skip
"""Slot with values of its own → the parameter that it fills."""

_FREE = frozenset(("no", "what", "noise", "person", "place", "noun", "title"))
"""Slots that any tool's phrasings may have."""


@dataclass(frozen=True, slots=True)
class Names:
    """Verbs and nouns that other names of a tool are made from, and other descriptions of it."""

    verbs: tuple[str, ...]
    nouns: tuple[str, ...]
    descriptions: tuple[str, ...]

    def __add__(self, other: Names) -> Names:
        """These names, followed by others."""
        descriptions = self.descriptions + other.descriptions
        return Names(self.verbs + other.verbs, self.nouns + other.nouns, descriptions)


@dataclass(frozen=True, slots=True)
class AgentTool:
    """A tool of an agent of ours; its entries are described in ``data/assistant_tools.toml``."""

    description: str
    parameters: tuple[str, ...]
    say: Phrasings
    replies: dict[str, tuple[str, ...]]
    names: Names
    names_in_training: Names
    ability: str = ""
    more: Phrasings = ()
    fix: Phrasings = ()
    lacking: dict[str, Phrasings] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Parameter:
    """A parameter of the agents' tools.

    Attributes:
        names: Other names.
        ask: Questions for it.
        give: Answers to them.
        options: Its options, if another agent might list them.
        about: What descriptions say about it.
    """

    names: tuple[str, ...] = ()
    ask: tuple[str, ...] = ()
    give: Phrasings = ()
    options: tuple[str, ...] = ()
    about: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class InventedParameter:
    """A parameter of an invented tool, its kind of value and its other names."""

    kind: str
    names: tuple[str, ...]
    optional: bool = False


@dataclass(frozen=True, slots=True)
class InventedTool:
    """A tool that no agent ships; its entries are described in ``data/invented_tools.toml``."""

    descriptions: tuple[str, ...]
    verbs: tuple[str, ...]
    nouns: tuple[str, ...]
    ability: str
    say: Phrasings
    results: tuple[str, ...]
    replies: tuple[str, ...]
    more: Phrasings = ()
    lacking: Phrasings = ()
    ask: tuple[str, ...] = ()
    errors: tuple[str, ...] = ()
    parameters: dict[str, InventedParameter] = field(default_factory=dict)

    @property
    def names(self) -> Names:
        """What its other names are made from, and its descriptions."""
        return Names(self.verbs, self.nouns, self.descriptions)


def spec(name: str, description: str, parameters: Mapping[str, bool]) -> Spec:
    """A tool's schema.

    Args:
        parameters: Name → whether it is required, in schema order.
    """
    return {
        "name": name,
        "description": description,
        "parameters": {
            "type": "object",
            "properties": {key: {"type": "string"} for key in parameters},
            "required": [key for key, required in parameters.items() if required],
        },
    }


_ASSISTANT = read("assistant_tools", dict[str, AgentTool])
_COFFEE = read("coffee_tools", dict[str, AgentTool])
AGENTS_OWN = _COFFEE | _ASSISTANT
"""The agents' tools by name."""
PARAMETER = read("parameters", dict[str, Parameter])
"""Parameters of the agents' tools, by name, or by ``tool.name`` if a tool has its own entry."""
INVENTED = read("invented_tools", dict[str, InventedTool])
"""Invented tools, by their main name."""

TOOLS: dict[str, Spec] = {
    name: spec(name, tool.description, {p.rstrip("?"): p[-1] != "?" for p in tool.parameters})
    for name, tool in (_ASSISTANT | _COFFEE).items()
}
"""Every tool of both agents, by name."""
AGENT_TOOLS: dict[str, tuple[str, ...]] = {
    "assistant": tuple(_ASSISTANT),
    "coffee": (*_COFFEE, "end_conversation"),
}
INSTRUCTIONS: dict[str, str] = {
    "assistant": (
        "You are Quicksilver, a voice assistant. Answer in one or two short spoken sentences. "
        "Use a tool when one fits. Say only what the tools or the user said."
    ),
    "coffee": (
        "You are Quicksilver, taking orders for a coffee shop on the telephone. "
        "Use the tools to build the order. Confirm briefly and ask what else."
    ),
}

SPECS: dict[str, Spec] = TOOLS | {
    name: spec(name, tool.descriptions[0], {k: not p.optional for k, p in tool.parameters.items()})
    for name, tool in INVENTED.items()
}
"""Every tool's schema, by its main name."""
PARAMETERS: dict[str, list[str]] = {
    name: list(shown["parameters"]["properties"]) for name, shown in SPECS.items()
}
"""Every tool's parameters in schema order."""
_ALL: dict[str, AgentTool | InventedTool] = {**AGENTS_OWN, **INVENTED}
SAY: dict[str, Phrasings] = {name: tool.say for name, tool in _ALL.items()}
"""Requests that have everything that the tool needs."""
MORE: dict[str, Phrasings] = {name: tool.more for name, tool in _ALL.items() if tool.more}
"""Follow-ups on the previous call."""
CAN: dict[str, str] = {name: tool.ability for name, tool in _ALL.items() if tool.ability}
"""What completes "I can't ..." if the tool is not declared."""


def _lacking(name: str) -> dict[str, Phrasings]:
    tool = _ALL[name]
    if isinstance(tool, AgentTool):
        return tool.lacking
    return {PARAMETERS[name][0]: tool.lacking} if tool.lacking else {}


def _fix(name: str) -> Phrasings:
    tool = _ALL[name]
    if isinstance(tool, AgentTool):
        return tool.fix
    if not PARAMETERS[name] or name in ("transfer_money", "send_message", "call_contact"):
        return ()
    forms = ("{no} %s", "{no} i meant %s", "{no} i said %s", "sorry %s", "not that %s")
    return tuple(form % f"{{{PARAMETERS[name][0]}}}" for form in forms)


LACKING = {name: asked for name in _ALL if (asked := _lacking(name))}
"""Tool → required parameter → requests that lack it."""
FIX = {name: found for name in _ALL if (found := _fix(name))}
"""Corrections of the previous call."""


def parameter(tool: str, name: str) -> Parameter:
    """A parameter of an agent's tool: the tool's own entry, or the common one."""
    return PARAMETER.get(f"{tool}.{name}") or PARAMETER[name]


def question(tool: str, name: str) -> tuple[str, ...]:
    """What the agent asks when a parameter of a tool is missing."""
    return INVENTED[tool].ask if tool in INVENTED else parameter(tool, name).ask


def answers(tool: str, name: str) -> Phrasings:
    """How the user gives a missing parameter."""
    if tool not in INVENTED:
        return parameter(tool, name).give
    slot = f"{{{name}}}"
    return slot, f"{slot} please", f"it's {slot}", f"i want {slot}"


def other_names(tool: str, split: str) -> Names:
    """Other names of a tool; for "heldout", without those that only training has."""
    if tool in INVENTED:
        return INVENTED[tool].names
    own = AGENTS_OWN[tool]
    return own.names if split == "heldout" else own.names + own.names_in_training


def other_keys(tool: str, name: str) -> tuple[str, ...]:
    """Names that a parameter of a tool may have."""
    if tool in INVENTED:
        return INVENTED[tool].parameters[name].names or (name,)
    return parameter(tool, name).names


def _check(tool: str, phrasings: Phrasings) -> None:
    """Raise TableError unless phrasings differ, are lower case and have the tool's slots once."""
    known = {*PARAMETERS[tool], *_FREE}
    if len(set(phrasings)) < len(phrasings):
        raise TableError(f"{tool}: expected different phrasings, got one of them twice")
    for source in phrasings:
        if source != source.strip().lower():
            raise TableError(f"{tool}: expected bare lower case, got {source!r}")
        for slot in template(source.lstrip("!")).slots:
            name = parameter_of(slot)[0]
            if ALIASES.get(name, name) not in known or source.count(f"{{{slot}}}") > 1:
                raise TableError(f"{tool}: expected each slot once, of {known}, got {source!r}")


for _name in _ALL:
    for _wording in (SAY[_name], MORE.get(_name, ()), FIX.get(_name, ())):
        _check(_name, _wording)
    for _wording in LACKING.get(_name, {}).values():
        _check(_name, _wording)

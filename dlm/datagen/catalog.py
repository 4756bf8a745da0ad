"""All tools under one roof: how each is asked for, what it takes, and other names for it."""

from __future__ import annotations

from dlm.datagen import phrasings as assistant
from dlm.datagen import phrasings_coffee as coffee
from dlm.datagen import phrasings_home, phrasings_more, phrasings_time, phrasings_wide
from dlm.datagen.inventions import INVENTIONS
from dlm.datagen.replies import ABILITIES
from dlm.datagen.schemas import TOOLS, Spec

Phrasings = tuple[str, ...]

SAY: dict[str, Phrasings] = {
    **{
        name: said + phrasings_wide.SAY.get(name, ()) + phrasings_more.SAY.get(name, ())
        for name, said in (coffee.SAY | phrasings_time.SAY | phrasings_home.SAY).items()
    },
    **{name: tuple(tool.say) for name, tool in INVENTIONS.items()},
}
"""Requests that hold everything needed."""

MORE: dict[str, Phrasings] = {
    **assistant.MORE,
    **coffee.MORE,
    **{name: tuple(tool.more) for name, tool in INVENTIONS.items() if tool.more},
}
"""Follow-ups on the call before."""

SPECS: dict[str, Spec] = TOOLS | {name: tool.spec for name, tool in INVENTIONS.items()}
"""Every tool's schema under its first name."""

PARAMETERS: dict[str, list[str]] = {
    name: list(spec["parameters"]["properties"]) for name, spec in SPECS.items()
}
"""Every tool's parameters in schema order."""

CAN: dict[str, str] = ABILITIES | {name: tool.ability for name, tool in INVENTIONS.items()}
"""What completes "I can't ..." when the tool is not offered."""


def _first(name: str) -> str:
    return PARAMETERS[name][0]


def _bare() -> dict[str, dict[str, Phrasings]]:
    return {
        **assistant.BARE,
        **coffee.BARE,
        **{n: {_first(n): tuple(t.bare)} for n, t in INVENTIONS.items() if t.bare},
    }


def _fix() -> dict[str, Phrasings]:
    forms = ("{no} %s", "{no} i meant %s", "{no} i said %s", "sorry %s", "not that %s")
    made = {
        n: tuple(form % f"{{{_first(n)}}}" for form in forms)
        for n in INVENTIONS
        if PARAMETERS[n] and n not in ("transfer_money", "send_message", "call_contact")
    }
    return {**assistant.FIX, **coffee.FIX, **made}


BARE = _bare()
"""Requests that lack a required parameter, by that parameter."""

FIX = _fix()
"""Corrections of the call before."""


def question(tool: str, parameter: str) -> Phrasings:
    """What the agent asks when a parameter of a tool is missing."""
    return tuple(INVENTIONS[tool].ask) if tool in INVENTIONS else assistant.ASK[parameter]


def answers(tool: str, parameter: str) -> Phrasings:
    """How the user gives a missing parameter."""
    if tool not in INVENTIONS:
        return assistant.GIVE[parameter]
    return (
        f"{{{parameter}}}",
        f"{{{parameter}}} please",
        f"it's {{{parameter}}}",
        f"i want {{{parameter}}}",
    )

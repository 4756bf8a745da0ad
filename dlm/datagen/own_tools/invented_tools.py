"""What invented tools return, and how the agent reports it.

Results are sentences made from the arguments and random fields or, as with other people's tools,
sometimes JSON.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from random import Random

from dlm.datagen.language.phrases import fill, template
from dlm.datagen.language.spoken_values import WEEKDAYS
from dlm.datagen.language.words import WORDS
from dlm.datagen.tools.catalog import InventedTool
from dlm.datagen.tools.world import Arguments, Result, capital, drawn_clock, failure
from dlm.datagen.values.made_up import pseudo_word
from dlm.datagen.values.slots import Values
from dlm.language.spoken_numbers import number


def answer(tool: InventedTool, arguments: Arguments, values: Values, rng: Random) -> Result:
    """What an invented tool returns."""
    if tool.errors and rng.random() < 0.08:
        text = fill(rng.choice(tool.errors), rng, dict(arguments))
        return failure(capital(text))
    fitting = [r for r in tool.results if _known(r, arguments, tool)]
    chosen = rng.choice(fitting)
    fields = dict(arguments)
    for slot in sorted(template(chosen).slots - set(fields)):
        fields[slot] = _field(slot, arguments, values, rng)
    text = capital(fill(chosen, rng, fields))
    if rng.random() < 0.12:
        slots = sorted(template(chosen).slots)
        plain = {k.rstrip("23") for k in slots}
        short = len(plain) == len(slots)
        own = {k.rstrip("23") if short else k: fields[k] for k in slots}
        text = json.dumps(own if own.keys() - arguments.keys() else {"result": text})
    return Result(text, "done", fields | {"": chosen})


def reply(tool: InventedTool, result: Result, rng: Random) -> str:
    """What the agent says about an invented tool's result, using only the result's fields."""
    shown = result.fields.get("", "")
    closed = not template(shown).slots
    fitting = [r for r in tool.replies if template(r).slots <= result.fields.keys()]
    if closed:
        same = [r for r in fitting if shown.rstrip(".").lower() in r.lower()]
        fitting = same or [shown]
    else:
        fitting = [r for r in fitting if template(r).slots]
    return capital(fill(rng.choice(fitting or [shown]), rng, result.fields))


def _known(source: str, arguments: Arguments, tool: InventedTool) -> bool:
    wanted = template(source).slots & set(tool.parameters)
    return wanted <= set(arguments)


def _field(slot: str, arguments: Arguments, values: Values, rng: Random) -> str:
    kind = slot.rstrip("23")
    if kind == "letters":
        return " ".join(c.upper() for c in next(iter(arguments.values()), "") if c.isalpha())
    if kind == "pips":
        return str(rng.randint(1, round(number(arguments.get("sides", "6")) or 6)))
    if kind in _LISTS:
        return rng.choice(WORDS[kind])
    composed = _FIELDS.get(kind)
    return composed(rng) if composed else values.draw(kind, rng, True)


_FIELDS: dict[str, Callable[[Random], str]] = {
    "made": lambda rng: capital(pseudo_word(rng)),
    "price": lambda rng: f"{rng.uniform(3, 900):.2f}",
    "number": lambda rng: str(rng.randint(2, 60)),
    "code": lambda rng: str(rng.randint(100, 99999)),
    "weekday": lambda rng: rng.choice(WEEKDAYS).title(),
    "clock": drawn_clock,
}
_LISTS = ("name", "place", "noun", "adjective", "item")

"""Filling a phrasing's slots with values that fit each other, the world and the call before."""

from __future__ import annotations

import re
from datetime import timedelta
from random import Random

from dlm.datagen.composed import currency_pair, salad, unit_pair
from dlm.datagen.grammar import Piece
from dlm.datagen.inventions import INVENTIONS
from dlm.datagen.said import moment_text
from dlm.datagen.twins_home import list_name
from dlm.datagen.values import Values
from dlm.datagen.words import CURRENCIES, UNITS, WORDS
from dlm.datagen.world import Arguments, World

KINDS: dict[str, str] = {
    "place": "place", "day": "day", "duration": "duration", "name": "timer_name", "when": "when",
    "text": "task", "item": "item", "list": "list", "expression": "expression", "amount": "amount",
    "company": "company", "query": "topic", "drink": "drink", "size": "size", "roast": "roast",
    "milk": "milk", "shots": "shots", "sweetener": "sweetener", "extras": "extras",
    "quantity": "quantity", "to": "person_to", "room": "room", "person": "person", "title": "title",
    "noun": "noun", "act": "act", "every": "all", "order": "sum_order", "about": "topic",
    "chore": "task", "one": "a|one", "many": "count",
}  # fmt: skip
"""Kind of value that a parameter takes, where nothing more particular is known."""

_PARTICULAR = {("get_date", "day"): "date_day", ("confirm_order", "name"): "person"}
ALIASES = {
    "act": "state", "every": "name", "order": "expression", "about": "text", "chore": "item",
    "one": "amount", "single_unit": "from_unit", "dose": "shots",
    "flavor": "extras", "many": "quantity",
}  # fmt: skip
"""Slots that fill another's parameter with words of their own."""

_BEFORE_IN = re.compile(r"(?:^| )(?:at|on|by|for|to|past|after) ?$")
_BASE = re.compile(r"\d+$")
_SWITCHED = ("light", "switch", "light", "switch", "thermostat", "cover", "lock", "light")
_ACTS = {
    "lock": ("lock", "unlock", "lock", "unlock", "open", "close"),
    "cover": ("open", "close", "shut"),
    "switch": ("start", "stop"),
    "light": ("dim",),
}
_SIMPLE_STATES = {
    "lock": ("locked", "unlocked", "open", "closed"),
    "cover": ("open", "closed"),
    "light": ("on", "off", "half", "full"),
    "switch": ("on", "off"),
}
_PAIRED = frozenset(
    (
        "device",
        "state",
        "act",
        "single_unit",
        "from_unit",
        "to_unit",
        "from_currency",
        "to_currency",
        "noise",
    )
)


def base(slot: str) -> tuple[str, str]:
    """A slot's parameter and the number of its call: "item2" is ("item", "2")."""
    name = _BASE.sub("", slot)
    return name, slot[len(name) :]


def fill_slots(
    tool: str, pieces: list[Piece], draw: Drawing, known: Arguments | None = None
) -> list[Piece]:
    """The pieces with values in their slots.

    Args:
        tool: Whose parameters the slots are.
        pieces: An expanded template.
        draw: Where values come from.
        known: Arguments of the call before, with which new ones must fit.
    """
    names = {p.slot for p in pieces if p.slot}
    own = "".join(p.text for p in pieces)
    chosen: Arguments = {}
    for suffix in sorted({base(n)[1] for n in names}):
        wanted = {base(n)[0] for n in names if base(n)[1] == suffix}
        inherited = {**(known or {}), **{k: v for k, v in chosen.items() if k in ("state",)}}
        for name, value in draw.related(tool, wanted, own, inherited).items():
            chosen[name + suffix] = value
        for name in sorted(wanted if tool in INVENTIONS else wanted - _PAIRED):
            chosen[name + suffix] = draw.single(tool, name)
        if wanted & {"quantity", "many"} and f"drink{suffix}" in chosen:
            chosen[f"drink{suffix}"] = plural(chosen[f"drink{suffix}"])
    filled = [Piece(chosen.get(p.slot, p.text), p.slot) if p.slot else p for p in pieces]
    return _articles([Piece(p.text, _parameter(p.slot)) for p in filled])


def _parameter(slot: str) -> str:
    name, suffix = base(slot)
    return "" if name == "noise" or not name else ALIASES.get(name, name) + suffix


def plural(drink: str) -> str:
    """A drink in the plural."""
    return drink if drink.endswith("s") else drink + "s"


def _articles(pieces: list[Piece]) -> list[Piece]:
    """Turn "a" into "an" where the value that follows asks for it, and "at in an hour" right."""
    for i in range(len(pieces) - 1):
        following = pieces[i + 1].text.lstrip()
        if following.startswith("in ") and pieces[i + 1].slot:
            before = next((j for j in range(i, -1, -1) if pieces[j].text.strip()), i)
            if not pieces[before].slot:
                pieces[before] = Piece(_BEFORE_IN.sub(" ", pieces[before].text))
        vowel = following[:1].lower() in set("aeio8") and not following.startswith("one")
        if vowel and f" {pieces[i].text}".endswith(" a "):
            pieces[i] = Piece(pieces[i].text[:-1] + "n ", pieces[i].slot)
    return pieces


class Drawing:
    """Draws values for one dialogue.

    Args:
        values: The lists.
        rng: Source of chance.
        world: What timers, lists and orders there are to speak of.
        digits: Whether numbers are said as digits.
    """

    def __init__(self, values: Values, rng: Random, world: World, digits: bool) -> None:
        self.values, self.rng, self.world, self.digits = values, rng, world, digits

    def single(self, tool: str, name: str) -> str:
        """A value for one parameter that depends on no other."""
        rng, world = self.rng, self.world
        if tool == "cancel_timer" and name == "name" and rng.random() < 0.85:
            return self._timer()
        if tool == "remove_drink" and world.order and rng.random() < 0.85:
            return rng.choice(world.order)["drink"]
        if name == "drink" and rng.random() < 0.03:
            return salad(rng)
        if tool in INVENTIONS and name in INVENTIONS[tool].kinds:
            return self.values.draw(INVENTIONS[tool].kinds[name], rng, self.digits)
        kind = _PARTICULAR.get((tool, name)) or KINDS.get(name, name)
        if kind in ("name", "noun", "person") and tool == "talk":
            return self.values.draw(kind, rng, self.digits)
        return self.values.draw(kind, rng, self.digits and rng.random() < 0.9)

    def _timer(self) -> str:
        named = [name for name, _ in self.world.timers if name]
        if not named:
            named = [self.rng.choice(WORDS["timer_name"])]
            self.world.timers.append((named[0], 60 * self.rng.randint(1, 40)))
        return self.rng.choice(named)

    def related(self, tool: str, wanted: set[str], own: str, known: Arguments) -> Arguments:
        """Values that must fit each other: a device and its state, two units, two currencies."""
        found: Arguments = {}
        if wanted & {"device", "state", "act"}:
            found |= self._device(own, known, wanted)
        if wanted & {"from_unit", "to_unit", "single_unit"}:
            found |= self._units(wanted, known)
        if wanted & {"from_currency", "to_currency"}:
            first, second = currency_pair(self.rng)
            if known and "from_currency" not in wanted:
                others = [c for c in CURRENCIES if c not in known.values()]
                second = self.rng.choice(others)
            found |= {"from_currency": first, "to_currency": second}
        if "noise" in wanted:
            found["noise"] = self.rng.choice(WORDS[self.rng.choice(("noun", "adjective"))])
        return {k: v for k, v in found.items() if k in wanted}

    def _units(self, wanted: set[str], known: Arguments) -> Arguments:
        first, second = unit_pair(self.rng)
        if known and not {"from_unit", "to_unit"} <= wanted:
            fixed = known.get("to_unit" if "from_unit" in wanted else "from_unit", "miles")
            kind = UNITS.get(fixed, ("length", 1.0))[0]
            fitting = [u for u, (k, _) in UNITS.items() if k == kind and u != fixed]
            first = second = self.rng.choice(fitting)
        single = {"feet": "foot"}.get(first, first.removesuffix("s"))
        return {"from_unit": first, "to_unit": second, "single_unit": single}

    def _device(self, own: str, known: Arguments, wanted: set[str]) -> Arguments:
        rng = self.rng
        switching = (
            bool(re.search(r"\b(turn|turning|switch|too (dark|cold))\b", own)) and " to " not in own
        )
        kind = rng.choice(("light", "switch") if switching else _SWITCHED)
        if "act" in wanted:
            kind = rng.choice(list(_ACTS))
        for name in ("light", "switch", "thermostat", "cover", "lock"):
            if known.get("device", "").lower() in WORDS[name]:
                kind = name
                break
        device = self.values.draw(kind, rng)
        names = self.values.known("device_name")
        if kind == "light" and names and rng.random() < 0.25:
            device = rng.choice(names)
        found = {"device": device, "act": rng.choice(_ACTS.get(kind, ("start", "stop")))}
        return found | ({"state": self._state(kind, switching)} if "state" in wanted else {})

    def _state(self, kind: str, switching: bool) -> str:
        rng, roll = self.rng, self.rng.random()
        if switching:
            return rng.choice(("on", "off"))
        if kind == "thermostat":
            return self.values.draw("degrees", rng, self.digits)
        if kind in ("cover", "light") and roll < 0.3:
            return self.values.draw("percent", rng, self.digits)
        if kind == "light" and roll < 0.65:
            return self.values.draw("color", rng, self.digits)
        return rng.choice(_SIMPLE_STATES[kind])

    def seed(self, tool: str, arguments: Arguments) -> None:
        """Put into the world what a call is about to take away or to read, mostly."""
        rng, world = self.rng, self.world
        if rng.random() < 0.25:
            return
        if tool == "list_timers" and not world.timers:
            self._start_timers()
        elif tool == "list_reminders" and not world.reminders:
            self._note_reminders()
        elif tool == "remove_from_list":
            world.lists.setdefault(list_name(arguments), []).append(arguments["item"])
        elif tool == "cancel_timer" and not world.timers:
            if arguments.get("name", "all").lower() in ("all", "both", "every"):
                world.timers.append(("", 60 * rng.randint(1, 50)))
        elif tool == "remove_drink" and not world.order:
            world.order.append({"drink": arguments["drink"]})

    def _start_timers(self) -> None:
        rng = self.rng
        for _ in range(rng.choice((1, 1, 2, 3))):
            name = rng.choice(WORDS["timer_name"]) if rng.random() < 0.5 else ""
            self.world.timers.append((name, rng.choice((10, 60, 60, 60)) * rng.randint(1, 90)))

    def _note_reminders(self) -> None:
        rng, now = self.rng, self.world.now
        for _ in range(rng.choice((1, 1, 2, 3))):
            due = now + timedelta(minutes=5 * rng.randint(1, 700))
            shown = moment_text(due, now) if rng.random() < 0.7 else ""
            self.world.reminders.append((self.values.draw("task", rng), shown))

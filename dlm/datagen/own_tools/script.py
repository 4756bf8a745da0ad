"""One dialogue while it is written: the user's turns, the agent's calls and replies.

Slots of a phrasing are filled with values that fit each other, the world and the previous call.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from datetime import timedelta
from itertools import chain
from random import Random
from typing import Any

from dlm.datagen.corpora.collection import Corpora
from dlm.datagen.corpora.orders import ORDERS
from dlm.datagen.holdout import pick
from dlm.datagen.language.noise import Style, draw_style, utter
from dlm.datagen.language.phrases import Piece, fill, is_order, parameter_of, polite, template
from dlm.datagen.language.spoken_values import moment_text, when
from dlm.datagen.language.spontaneous import Speaker, varied
from dlm.datagen.language.texting import texted
from dlm.datagen.language.wording import WORDING
from dlm.datagen.language.words import CURRENCIES, UNITS, WORDS
from dlm.datagen.own_tools import invented_tools
from dlm.datagen.own_tools.simulated_tools import SIMULATED, alarm_text, list_name, some_items
from dlm.datagen.tools.catalog import AGENTS_OWN, ALIASES, INVENTED, PARAMETERS
from dlm.datagen.tools.world import Arguments, Result, World, capital
from dlm.datagen.values.made_up import salad
from dlm.datagen.values.slots import Values, currency_pair, other_units, plural, unit_pair
from dlm.language.spoken_numbers import words_of

Call = tuple[str, Arguments]

_INHERITED = frozenset(("state", "list", "day", "drink"))
_COFFEE = frozenset(("order_drink", "remove_drink", "read_order"))
KINDS: dict[str, str] = {
    "place": "place", "day": "day", "duration": "duration", "name": "timer_name", "when": "when",
    "text": "task", "item": "item", "list": "list", "expression": "expression", "amount": "amount",
    "company": "company", "query": "topic", "drink": "drink", "size": "size", "roast": "roast",
    "milk": "milk", "shots": "shots", "sweetener": "sweetener", "extras": "extras",
    "quantity": "quantity", "to": "person_to", "room": "room", "person": "person", "title": "title",
    "noun": "noun", "act": "act", "every": "all", "order": "sum_order", "about": "topic",
    "chore": "task", "one": "a|one", "many": "count", "adding": "adding",
    "bare": "two|three|five|six|eight|ten|twelve|fifteen|twenty|twenty five|thirty|forty five",
    "longer": "longer", "whole": "all", "entire": "all", "hour": "when", "feet": "feet",
    "inches": "feet_and_inches", "single_length": "centimeters|meters|inches|yards|cm|metres",
    "metric": "centimeters|meters|centimetres|metres|cm", "imperial": "feet and inches|feet",
    "date": "target_day", "leave": "no milk|without milk|no oat milk|no cream|without cream",
    "drinks": "drinks",
    "forgo": "no sugar|without sugar|no sweetener|no syrup|no honey|without syrup",
}  # fmt: skip
"""Parameter → kind of its values, unless `_PARTICULAR` has another for the tool."""

_PARTICULAR = {
    ("get_date", "day"): "date_day", ("confirm_order", "name"): "person",
    ("set_alarm", "when"): "alarm_when", ("set_reminder", "when"): "when_or_repeat",
    ("cancel_alarm", "when"): "alarm_named", ("change_alarm", "when"): "alarm_named",
    ("change_alarm", "to"): "alarm_when", ("change_reminder", "when"): "when_or_repeat",
    ("change_reminder", "about"): "reminder_topic", ("cancel_reminder", "about"): "reminder_topic",
    ("add_to_list", "item"): "counted_item", ("move_item", "to"): "list",
}  # fmt: skip
_ALONE = ("in ", "at ", "after ", "first thing")
"""Beginnings of moments that take no other preposition before them."""
_BEFORE_IN = re.compile(r"(?:^| )(?:at|on|by|for|to|past|after) ?$")
_AGAIN = re.compile(r"every |each |daily|hourly|week(?:day|end)s|[a-z]+days |the first of every")
_BEFORE_AGAIN = re.compile(r"(?:^| )(?:at|on|by) ?$")
_SWITCHING = re.compile(
    r"\b(turn|turning|switch|flick|knock|pop|whack|bang|stick|too (dark|cold))\b|^flip "
)
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
_KNOWN = {
    "cancel_alarm": "when", "change_alarm": "when", "cancel_reminder": "text",
    "change_reminder": "text", "change_timer": "name",
}  # fmt: skip
"""Tool → the parameter by which its call names an existing thing."""
_VARIED = 0.6
"""Share of other values that differ only in a number, for values that have one."""
_NOTES = ("{}", "call about the {}", "see to the {}", "look after the {}", "think of the {}")
_PAIRED = frozenset((
    "device", "state", "act", "single_unit", "from_unit", "to_unit", "from_currency",
    "to_currency", "noise",
))  # fmt: skip


class Script:
    """A dialogue in the making.

    Args:
        split: "train" or "heldout"; user phrasings come from this split alone.
        corpora: Rows, of the same split, that may word the user's turns.
        unasked: Share of turns that mention an order without giving it.
        at_ease: Whether the user speaks spontaneously (`dlm.datagen.language.spontaneous`).
    """

    def __init__(
        self,
        rng: Random,
        values: Values,
        split: str,
        corpora: Corpora | None = None,
        unasked: float = 0.0,
        at_ease: bool = False,
    ) -> None:
        self.rng, self.split, self.values, self.corpora = rng, split, values, corpora
        self.unasked, self.at_ease = unasked, at_ease
        self.world = World(rng, SIMULATED)
        self.style = draw_style(rng)
        self.drawing = Drawing(values, rng, self.world, self.style.digits)
        self.messages: list[dict[str, Any]] = []
        self.used: set[str] = set()
        self.forbidden: set[str] = set()
        self.last: tuple[str, Arguments, Result] | None = None
        self.last_reply = ""
        self.repertoire: tuple[str, ...] = ()
        self.ended = False
        self.texting = False

    def offer(self, tools: Iterable[str]) -> None:
        """Set the tools that the user may ask for from here on."""
        self.repertoire = tuple(tools)

    def restyle(self, style: Style) -> None:
        """Transcribe the user in another style from here on."""
        self.style = style
        self.drawing.digits = style.digits

    def say(self, text: str, kind: str = "") -> None:
        """The agent says something; ``kind``, "ask" or "decline", is for evaluations."""
        message = {"role": "assistant", "content": text}
        self.messages.append({**message, "kind": kind} if kind else message)
        self.last_reply = text

    def settle(self, text: str, kind: str = "") -> None:
        """The agent says something after which no turn refers to the last call."""
        self.say(text, kind)
        self.last = None

    def ask(
        self, tool: str, options: tuple[str, ...], known: Arguments | None = None, split: str = ""
    ) -> Arguments:
        """The user says one of ``options``; returns the slots' values as the text has them.

        Args:
            known: Arguments of the previous call, which new ones must fit.
            split: Split of the phrasing, if that is not the script's.

        Raises:
            NothingHeldOutError: No option is in the split.
        """
        source = pick(self.rng, options, split or self.split)
        pieces = self.worded(tool, source, known)
        if is_order(source):
            pieces = polite(self.rng, pieces)
        return self.speak(pieces, source.endswith("?"))

    def worded(self, tool: str, source: str, known: Arguments | None = None) -> list[Piece]:
        """A reading of a phrasing with its slots filled; adds no message."""
        pieces = template(source.lstrip("!")).expand(self.rng)
        return fill_slots(tool, pieces, self.drawing, known)

    def speaker(self, tool: str) -> Speaker:
        """The user as a spontaneous speaker about a tool."""
        return Speaker(
            self.rng,
            self.split,
            lambda symbol: self.values.text(symbol, self.rng),
            lambda slot, value: self.drawing.other(tool, slot, value),
        )

    def speak(self, pieces: list[Piece], question: bool = False) -> Arguments:
        """The user says filled pieces; returns the slots' values as the text has them."""
        if self.texting:
            pieces = texted(self.rng, pieces)
        heard = utter(self.rng, pieces, self.style, question)
        self.messages.append({"role": "user", "content": heard.text})
        return heard.values

    def call(self, calls: list[Call]) -> list[Result]:
        """The agent calls tools, and the world answers; adds the messages of both."""
        results = []
        made = [{"name": name, "arguments": arguments} for name, arguments in calls]
        self.messages.append({"role": "assistant", "content": None, "tool_calls": made})
        for name, arguments in calls:
            self.drawing.seed(name, arguments)
            result = self._result(name, arguments)
            results.append(result)
            self.used.add(name)
            self.messages.append({"role": "tool", "name": name, "content": result.text})
            self.last = (name, arguments, result)
        return results

    def _result(self, tool: str, arguments: Arguments) -> Result:
        if tool in INVENTED:
            return invented_tools.answer(INVENTED[tool], arguments, self.values, self.rng)
        return self.world.call(tool, arguments)

    def answer(self, calls: list[Call]) -> None:
        """Call tools and report their results."""
        results = self.call(calls)
        if len(results) == 1:
            self.say(self.reply(calls[0][0], results[0]))
        else:
            self.say(self._both([c[0] for c in calls], results))
            self.last = None

    def reply(self, tool: str, result: Result) -> str:
        """What the agent says about one result."""
        if result.error:
            text = result.fields["error"]
            low = text if text.startswith("I ") else text[:1].lower() + text[1:]
            return fill(self.rng.choice(WORDING.errors), self.rng, {"error": text, "low": low})
        if tool in INVENTED:
            return invented_tools.reply(INVENTED[tool], result, self.rng)
        fields = result.fields | {capital(k): capital(v) for k, v in result.fields.items() if v}
        options = AGENTS_OWN[tool].replies[result.case]
        return capital(fill(self.rng.choice(options), self.rng, fields))

    def _both(self, tools: list[str], results: list[Result]) -> str:
        texts = [r.fields["error"] if r.error else r.text for r in results]
        if self.rng.random() < 0.5:
            texts = [self.reply(t, r) for t, r in zip(tools, results, strict=True)]
            texts = [t.split("? ")[0].split(". ")[0].rstrip(".") + "." for t in texts]
        tail = " Anything else?" if set(tools) & _COFFEE else ""
        return " ".join(texts) + tail

    def changed(self, result: Result) -> str:
        """What the agent says about a drink that replaced another."""
        return capital(fill(self.rng.choice(ORDERS["changed"]), self.rng, result.fields))


def last_calls(script: Script) -> list[dict[str, Any]]:
    """The calls of the last message that made calls."""
    none: list[dict[str, Any]] = []
    return next((m["tool_calls"] for m in reversed(script.messages) if m.get("tool_calls")), none)


def call_of(tool: str, arguments: Arguments) -> Call:
    """A call of a tool with those of some arguments that it takes, in schema order."""
    return tool, {name: arguments[name] for name in PARAMETERS[tool] if name in arguments}


def calls_of(tool: str, values: Arguments) -> list[Call]:
    """The calls that a turn's slots make, one for each numbering.

    Args:
        values: Slots as heard; "item2" belongs to the second call, "item0" to every call.
    """
    groups: dict[str, Arguments] = {}
    for slot, value in values.items():
        name, suffix = parameter_of(slot)
        groups.setdefault(suffix, {})[name] = value
    shared = groups.pop(_SHARED, {})
    first = groups.setdefault("", {})
    calls = []
    for suffix in sorted(groups):
        own = groups[suffix]
        if suffix:
            own = {k: v for k, v in first.items() if k in _INHERITED} | own
        calls.append(call_of(tool, shared | own))
    return calls


_SHARED = "0"
"""The number of slots that belong to every call of a turn."""


def fill_slots(
    tool: str, pieces: list[Piece], draw: Drawing, known: Arguments | None = None
) -> list[Piece]:
    """The pieces with values in their slots.

    Args:
        known: Arguments of the previous call, which new ones must fit.
    """
    if "item" in PARAMETERS.get(tool, ()):
        pieces = [one for piece in pieces for one in _enumerated(piece, draw.rng)]
    names = {p.slot for p in pieces if p.slot and not p.text}
    own = "".join(p.text for p in pieces)
    chosen: Arguments = {}
    for suffix in sorted({parameter_of(n)[1] for n in names}):
        wanted = {parameter_of(n)[0] for n in names if parameter_of(n)[1] == suffix}
        inherited = {**(known or {}), **{k: v for k, v in chosen.items() if k in ("state",)}}
        for name, value in draw.related(wanted, own, inherited).items():
            chosen[name + suffix] = value
        for name in sorted(wanted if tool in INVENTED else wanted - _PAIRED):
            chosen[name + suffix] = draw.single(tool, name)
        if wanted & {"quantity", "many"} and f"drink{suffix}" in chosen:
            chosen[f"drink{suffix}"] = plural(chosen[f"drink{suffix}"])
    filled = [Piece(p.text or chosen.get(p.slot, ""), p.slot) for p in pieces]
    return fitted([Piece(p.text, _parameter(p.slot)) for p in filled])


def _enumerated(piece: Piece, rng: Random) -> list[Piece]:
    """The slot "{items}" as some items, each with a call: "{item}, {item2} and {item3}"."""
    if piece.slot != "items":
        return [piece]
    count = rng.choice((2, 2, 2, 3, 3, 4))
    last = rng.choice((" and ", " and ", ", and ", " and ", ", "))
    others = ", " if rng.random() < 0.8 else last
    joints = [*[others] * (count - 2), last]
    more = (
        (Piece(joint), Piece("", f"item{number}")) for number, joint in enumerate(joints, start=2)
    )
    return [Piece("", "item"), *chain.from_iterable(more)]


def _parameter(slot: str) -> str:
    name, suffix = parameter_of(slot)
    return "" if name == "noise" or not name else ALIASES.get(name, name) + suffix


def fitted(pieces: list[Piece]) -> list[Piece]:
    """Turn "a" into "an" before a value that needs it, and drop "at" in "at in an hour"."""
    for i in range(len(pieces) - 1):
        following = pieces[i + 1].text.lstrip()
        lone = _BEFORE_IN if following.startswith(_ALONE) else None
        lone = _BEFORE_AGAIN if _AGAIN.match(following) else lone
        if lone is not None and pieces[i + 1].slot:
            before = next((j for j in range(i, -1, -1) if pieces[j].text.strip()), i)
            if not pieces[before].slot:
                pieces[before] = Piece(lone.sub(" ", pieces[before].text))
        vowel = following[:1].lower() in set("aeio8") and not following.startswith("one")
        if vowel and f" {pieces[i].text}".endswith(" a "):
            pieces[i] = Piece(pieces[i].text[:-1] + "n ", pieces[i].slot)
    return pieces


class Drawing:
    """Draws values for one dialogue."""

    def __init__(self, values: Values, rng: Random, world: World, digits: bool) -> None:
        self.values, self.rng, self.world, self.digits = values, rng, world, digits

    def single(self, tool: str, name: str) -> str:
        """A value for one parameter that depends on no other."""
        rng, world = self.rng, self.world
        if tool == "cancel_timer" and name == "name" and rng.random() < 0.85:
            return self._timer()
        if tool in ("remove_drink", "change_drink") and name == "drink" and world.order:
            if rng.random() < 0.9:
                return rng.choice(world.order)["drink"]
        elif tool in _KNOWN and name == _KNOWN[tool] and rng.random() < 0.7:
            known = self._known(tool)
            if known:
                return rng.choice(known)
        if name == "drink" and rng.random() < 0.03:
            return salad(rng)
        if tool in INVENTED and name in INVENTED[tool].parameters:
            return self.values.draw(INVENTED[tool].parameters[name].kind, rng, self.digits)
        kind = _PARTICULAR.get((tool, name)) or KINDS.get(name, name)
        if kind in ("name", "noun", "person") and tool == "talk":
            return self.values.draw(kind, rng, self.digits)
        return self.values.draw(kind, rng, self.digits and rng.random() < 0.9)

    def other(self, tool: str, slot: str, value: str, known: Arguments | None = None) -> str:
        """Another value for a slot of a request; "" if none can be drawn.

        Args:
            value: The value that it has.
            known: The request's arguments, which the new value must fit.
        """
        if self.rng.random() < _VARIED and (found := varied(self.rng, value)):
            return found
        name = parameter_of(slot)[0]
        if name in _PAIRED:
            fitting = known or ({"device": value} if name == "device" else {})
            return self.related({name}, "", fitting).get(name, "")
        try:
            return self.single(tool, name)
        except ValueError:
            return ""

    def _known(self, tool: str) -> list[str]:
        """What the user may call the things that a tool can change or delete."""
        world = self.world
        if _KNOWN[tool] == "text":
            return [text for text, _ in world.reminders]
        if _KNOWN[tool] == "when":
            return [said for said, _ in world.alarms if not said.startswith(("in ", "every "))]
        return [name for name, _ in world.timers if name]

    def name_of(self, parameter: str) -> str:
        """What the user may call one of the timers, alarms or reminders; "" if there is nothing."""
        lengths = [
            f"{words_of(seconds // 60)} minute"
            for name, seconds in self.world.timers
            if not name and seconds % 60 == 0
        ]
        tool = {"name": "change_timer", "when": "cancel_alarm", "text": "cancel_reminder"}
        found = self._known(tool[parameter]) + (lengths if parameter == "name" else [])
        return self.rng.choice(found) if found else ""

    def _timer(self) -> str:
        named = [name for name, _ in self.world.timers if name]
        if not named:
            named = [self.rng.choice(WORDS["timer_name"])]
            self.world.timers.append((named[0], 60 * self.rng.randint(1, 40)))
        return self.rng.choice(named)

    def related(self, wanted: set[str], own: str, known: Arguments) -> Arguments:
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
            kind = UNITS[fixed].measures if fixed in UNITS else "length"
            first = second = self.rng.choice(other_units(kind, fixed))
        single = {"feet": "foot"}.get(first, first.removesuffix("s"))
        return {"from_unit": first, "to_unit": second, "single_unit": single}

    def _device(self, own: str, known: Arguments, wanted: set[str]) -> Arguments:
        rng = self.rng
        switching = bool(_SWITCHING.search(own)) and " to " not in own
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
        """In most cases, put into the world what a call is about to change, remove or read."""
        rng, world = self.rng, self.world
        if rng.random() < 0.25:
            return
        if tool in ("list_timers", "change_timer") and not world.timers:
            self._start_timers(arguments.get("name", ""))
        elif tool in ("list_alarms", "change_alarm", "cancel_alarm"):
            self._set_alarms(arguments.get("when", ""))
        elif tool in ("change_reminder", "cancel_reminder"):
            self._note_reminder(arguments.get("text", ""))
        elif tool in ("move_item", "clear_list"):
            known = world.lists.setdefault(list_name(arguments), [])
            known += [arguments["item"]] if "item" in arguments else some_items(world)
        elif tool == "list_reminders" and not world.reminders:
            self._note_reminders()
        elif tool == "remove_from_list":
            world.lists.setdefault(list_name(arguments), []).append(arguments["item"])
        elif tool == "cancel_timer" and not world.timers:
            if arguments.get("name", "all").lower() in ("all", "both", "every"):
                world.timers.append(("", 60 * rng.randint(1, 50)))
        elif tool in ("remove_drink", "change_drink") and not world.order:
            world.order.append({"drink": arguments["drink"]})

    def _set_alarms(self, said: str) -> None:
        """Make sure that there is an alarm called this or, if all are meant, one or two alarms."""
        rng, world = self.rng, self.world
        if said in ("all", "both", "every", ""):
            for _ in range(0 if world.alarms else rng.choice((1, 1, 1, 2))):
                other = self.values.draw("alarm_when", rng, self.digits)
                world.alarms.append((other, alarm_text(world, other)))
        elif all(known != said for known, _ in world.alarms):
            world.alarms.append((said, alarm_text(world, said)))

    def _note_reminder(self, about: str) -> None:
        """Make sure that there is a reminder of this or, if all are meant, some reminders."""
        rng, world = self.rng, self.world
        if about in ("all", "both", "every", ""):
            if not world.reminders:
                self._note_reminders()
        elif when(about, world.now) is not None:
            shown = moment_text(when(about, world.now, 7) or world.now, world.now)
            world.reminders.append((self.values.draw("task", rng), shown))
        elif all(about not in text for text, _ in world.reminders):
            text = about if len(about.split()) > 2 else rng.choice(_NOTES).format(about)
            due = world.now + timedelta(minutes=5 * rng.randint(1, 700))
            shown = moment_text(due, world.now) if rng.random() < 0.7 else ""
            world.reminders.append((text, shown))

    def _start_timers(self, named: str = "") -> None:
        rng = self.rng
        if named:
            self.world.timers.append((named, 60 * rng.randint(1, 90)))
            return
        for _ in range(rng.choice((1, 1, 2, 3))):
            name = rng.choice(WORDS["timer_name"]) if rng.random() < 0.5 else ""
            self.world.timers.append((name, rng.choice((10, 60, 60, 60)) * rng.randint(1, 90)))

    def _note_reminders(self) -> None:
        rng, now = self.rng, self.world.now
        for _ in range(rng.choice((1, 1, 2, 3))):
            due = now + timedelta(minutes=5 * rng.randint(1, 700))
            shown = moment_text(due, now) if rng.random() < 0.7 else ""
            self.world.reminders.append((self.values.draw("task", rng), shown))

"""Function calls asked for in writing, as developers send requests to the model's server.

One or several functions from many fields are declared as developers do; the request is written,
with figures, units, capitals and punctuation. The answer is one call or several, a question if a
required value is missing, or words if no function serves the request. The functions are in
``data/written_*.toml``, in the notation that ``data/written.toml`` explains. The held-out split has
exactly those whose names are held out.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cache
from random import Random
from typing import Any

from dlm.datagen.holdout import held_out
from dlm.datagen.language.phrases import Piece, fill, template, tidy
from dlm.datagen.language.tables import TableError, read
from dlm.datagen.tools.catalog import Spec
from dlm.datagen.tools.descriptions import described
from dlm.datagen.tools.renaming import styled
from dlm.datagen.tools.world import capital
from dlm.datagen.values.result_values import plain_text
from dlm.datagen.values.written_values import FLAG, RELATIVE, Draw, Drawn, enumerated, schema

FILES = (
    "written_science", "written_numbers", "written_business", "written_computing",
    "written_living", "written_leisure", "written_travel",
)  # fmt: skip

_CASUAL = 0.14
"""Share of rows in lower case, mostly without the last full stop."""
_TOLD = 0.4
"""Share of calls whose results are told, if all functions called have results."""
_NO_OPTION = 0.12
"""Share of unused optional parameters that are not declared."""
_AGAIN = 0.2
"""Share of dialogues that continue after an answer in words."""


@dataclass(frozen=True, slots=True)
class Lack:
    """Requests that lack a required value, and questions for it."""

    need: str
    say: tuple[str, ...]
    ask: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Entry:
    about: tuple[str, ...]
    can: str
    say: tuple[str, ...]
    args: tuple[str, ...] = ()
    tell: tuple[str, ...] = ()
    names: tuple[str, ...] = ()
    too: tuple[str, ...] = ()
    lack: tuple[Lack, ...] = ()
    gives: tuple[str, ...] = ()
    replies: tuple[str, ...] = ()
    like: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class _Table:
    systems: tuple[str, ...]
    before: tuple[str, ...]
    after: tuple[str, ...]
    orders: tuple[str, ...]
    joints: tuple[str, ...]
    joints_of_questions: tuple[str, ...]
    declines: tuple[str, ...]
    declines_of_any: tuple[str, ...]
    off: tuple[str, ...]
    answers: tuple[str, ...]
    lists: dict[str, tuple[str, ...]]


@dataclass(frozen=True, slots=True)
class Parameter:
    """A parameter of a function.

    Attributes:
        slot: Its name in phrasings, and the first of its names.
        kind: Kind of values, in the notation of `dlm.datagen.values.written_values`.
        each: Whether a phrasing marked with + may name several values, one for each of several
            calls.
        told: What a description says about it.
    """

    slot: str
    names: tuple[str, ...]
    kind: str
    optional: bool
    each: bool
    told: str


@dataclass(frozen=True, slots=True)
class Function:
    """A function, and how it is asked for; `entry` is as in the data files."""

    domain: str
    name: str
    entry: _Entry
    parameters: dict[str, Parameter] = field(hash=False, compare=False)


_PARAMETER = re.compile(r"([\w/*]+)(\??): (\S.*)")
_VOWEL = re.compile(r"(?i)[aeio8]|1[18]\b")
_DAYS = frozenset(day.lower() for day in RELATIVE)
_TABLE = read("written", _Table)


def _parameters(name: str, entry: _Entry) -> dict[str, Parameter]:
    found: dict[str, Parameter] = {}
    if len(entry.args) != len(entry.tell):
        raise TableError(f"{name}: expected tell of {len(entry.args)}, got {entry.tell}")
    for noted, told in zip(entry.args, entry.tell, strict=True):
        match = _PARAMETER.fullmatch(noted)
        if match is None:
            raise TableError(f"{name}: expected names: kind, got {noted!r}")
        names = tuple(match[1].replace("*", "").split("/"))
        many = "*" in match[1]
        found[names[0]] = Parameter(names[0], names, match[3], bool(match[2]), many, told)
    needed = {slot for slot, parameter in found.items() if not parameter.optional}
    lacking = [(source, needed - {one.need}) for one in entry.lack for source in one.say]
    sources = [
        *((source, needed) for source in entry.say),
        *((s, set()) for s in entry.too),
        *lacking,
    ]
    for source, least in sources:
        if not least <= _slots(source) <= found.keys():
            raise TableError(f"{name}: expected slots {least} of {set(found)}, got {source!r}")
    return found


@cache
def _slots(source: str) -> frozenset[str]:
    """All slots of a phrasing, including those with words of their own."""
    return frozenset(re.findall(r"\{(\w+)", source))


def _functions() -> tuple[Function, ...]:
    found: dict[str, Function] = {}
    for file in FILES:
        for domain, entries in read(file, dict[str, dict[str, _Entry]]).items():
            for name, entry in entries.items():
                if name in found:
                    raise TableError(f"{file}: {name} is there twice")
                found[name] = Function(domain, name, entry, _parameters(name, entry))
    return tuple(found.values())


FUNCTIONS = _functions()


@cache
def functions(split: str) -> tuple[Function, ...]:
    """The functions of a split, "train" or "heldout"."""
    return tuple(f for f in FUNCTIONS if held_out(f.name) == (split == "heldout"))


@dataclass(slots=True)
class _Offered:
    """A function as it is declared: its schema, and slot → parameter name there."""

    function: Function
    spec: Spec
    keys: dict[str, str]

    def arguments(self, values: dict[str, Any]) -> dict[str, Any]:
        return {key: values[slot] for slot, key in self.keys.items() if slot in values}


Values = dict[str, Any]


class _Row:
    """One dialogue while it is written."""

    def __init__(self, rng: Random, split: str) -> None:
        self.rng, self.split = rng, split
        self.draw = Draw(rng, _TABLE.lists, rng.random() < _CASUAL)
        self.style = rng.choice(("snake", "snake", "snake", "camel", "pascal", "dotted"))
        self.messages: list[dict[str, Any]] = []
        # Texts that begin with a value, whose case must not change.
        self._valued: list[str] = []

    # Requests

    def request(self, function: Function, source: str = "") -> tuple[str, Values]:
        """A request for one call: its text, and slot → value."""
        source = source or self.rng.choice(function.entry.say)
        text, several = self._filled(function, self._ordered(source))
        return text, several[0]

    def _ordered(self, source: str) -> str:
        """A phrasing with words put around it if it is marked as an order."""
        source = source.removeprefix("+")
        if not source.startswith("!"):
            return source
        rng, order = self.rng, source[1:]
        if rng.random() < 0.55:
            return order + ("" if rng.random() < 0.2 else ".")
        form = rng.choice(_TABLE.orders)
        return form.replace("DO", order[0].lower() + order[1:]).replace("Do", order)

    def _filled(
        self, function: Function, source: str, spread: tuple[str, ...] = (), count: int = 1
    ) -> tuple[str, list[Values]]:
        """A phrasing's text, and the values of each of its calls.

        Slots in ``spread`` have a value for each of ``count`` calls.
        """
        text, shared = [], {}
        own: list[Values] = [{} for _ in range(count)]
        arrays = [p for p in function.parameters.values() if p.kind.startswith("[")]
        self.draw.begin(apart=len(arrays) > 1)
        pieces = template(source).expand(self.rng)
        first = pieces[0]
        for piece in pieces:
            if not piece.slot:
                text.append(piece.text.lower() if self.draw.lower else piece.text)
            elif piece.slot in spread:
                drawn = [self._value(function, piece) for _ in range(count)]
                text.append(enumerated(self.rng, [said for said, _ in drawn]))
                for values, (_, value) in zip(own, drawn, strict=True):
                    values[piece.slot] = value
            else:
                said, shared[piece.slot] = self._value(function, piece)
                if said.lower() in _DAYS and text:
                    text[-1] = re.sub(r"\b[Oo]n $", "", text[-1])
                elif text and _VOWEL.match(said):
                    text[-1] = re.sub(r"\b([Aa]) $", r"\1n ", text[-1])
                text.append(said)
        written = tidy("".join(text))
        if first.slot:
            self._valued.append(written)
        elif not self.draw.lower:
            written = capital(written)
        return written, [shared | values for values in own]

    def _small(self, text: str) -> str:
        """A sentence as it follows other words in the same sentence."""
        first = re.split(r"\W", text, maxsplit=1)[0]
        fixed = first not in _OPENERS or any(map(text.startswith, self._valued))
        return text if fixed else text[0].lower() + text[1:]

    def _value(self, function: Function, piece: Piece) -> Drawn:
        kind = function.parameters[piece.slot].kind
        if not piece.text:
            return self.draw.draw(kind)
        words = piece.text.lower() if self.draw.lower else piece.text
        return self.draw.preset(kind, words)

    def several(self, function: Function) -> tuple[str, list[Values]] | None:
        """A request for several calls of one function; None if no phrasing or draw fits."""
        rng, entry = self.rng, function.entry
        spread = tuple(p.slot for p in function.parameters.values() if p.each)
        forms = [s for s in entry.say if s.startswith("+")] if spread else []
        if forms and (not entry.too or rng.random() < 0.6):
            count = rng.choice((2, 2, 2, 3, 3, 4))
            text, calls = self._filled(function, self._ordered(rng.choice(forms)), spread, count)
            return (text, calls) if calls[0].keys() & set(spread) else None
        if not entry.too:
            return None
        text, values = self.request(function)
        more = rng.choice(entry.too)
        # Whether an optional value that is not repeated applies to later calls would be a guess.
        if any(function.parameters[slot].optional for slot in values.keys() - _slots(more)):
            return None
        calls = [values]
        for _ in range(rng.choice((1, 1, 2))):
            added, others = self._filled(function, more)
            end = text[-1:] if text[-1:] in ".?" else ""
            joint = " " if " and " not in text or rng.random() < 0.5 else ", "
            text = f"{text.removesuffix(end)}{joint}{self._small(added)}{end}"
            calls.append(values | others[0])
        return text, calls

    def together(self, parts: list[str]) -> str:
        """Several requests as one message."""
        rng = self.rng
        text = parts[0]
        for part in parts[1:]:
            asked = part.endswith("?")
            plain = text[-1:] == part[-1:] and not re.search(r"[.?!:] ", text + part)
            if plain and rng.random() < 0.35:
                text = f"{text.rstrip('.?')}, and {self._small(part)}"
                continue
            forms = _TABLE.joints_of_questions if asked else _TABLE.joints
            text = text if text[-1:] in ".?!" else f"{text}."
            joint = rng.choice(forms)
            text += " " + joint.replace("PART", part).replace("part", self._small(part))
        return text

    def say(self, text: str) -> None:
        """The user writes a text, perhaps with words around it."""
        rng = self.rng
        if rng.random() < 0.16:
            lead = rng.choice(_TABLE.before)
            text = lead + (self._small(text) if lead.endswith(", ") else text)
        if rng.random() < 0.1:
            text = (text if text[-1:] in ".?!" else f"{text}.") + " " + rng.choice(_TABLE.after)
        if self.draw.lower:
            text = text.lower().rstrip(".") if rng.random() < 0.7 else text.lower()
        self.messages.append({"role": "user", "content": text})

    def declare(self, function: Function, used: set[str]) -> _Offered:
        """A function as some developer declares it; ``used`` are slots that calls have."""
        rng, entry = self.rng, function.entry
        names = [function.name, *entry.names]
        names = [name for name in names if held_out(name) == (self.split == "heldout")]
        words = rng.choice(names).split("_")
        name = styled(words, "snake" if self.style == "dotted" else self.style)
        if self.style == "dotted":
            name = f"{function.domain}.{name}"
        shown = [
            p
            for p in function.parameters.values()
            if not p.optional or p.slot in used or rng.random() > _NO_OPTION
        ]
        if rng.random() < 0.12:
            rng.shuffle(shown)
        keys: dict[str, str] = {}
        for parameter in shown:
            parts = rng.choice((parameter.slot, *parameter.names)).split("_")
            keys[parameter.slot] = styled(parts, "camel" if self.style == "camel" else "snake")
        parameters = {
            "type": "object",
            "properties": {keys[p.slot]: schema(p.kind) for p in shown},
            "required": [keys[p.slot] for p in shown if not p.optional],
        }
        spec = {"name": name, "description": rng.choice(entry.about), "parameters": parameters}
        told = {keys[p.slot]: (p.told,) for p in shown}
        kinds = {keys[p.slot]: p.kind for p in shown}

        def example(key: str, chance: Random) -> Any:
            kind = kinds[key]
            return None if kind == FLAG else Draw(chance, _TABLE.lists).draw(kind)[1]

        return _Offered(function, described(spec, told, example), keys)

    def call(self, calls: list[tuple[_Offered, Values]]) -> None:
        """Add the calls and, in some rows, their results and the reply."""
        made = [{"name": o.spec["name"], "arguments": o.arguments(v)} for o, v in calls]
        self.messages.append({"role": "assistant", "content": None, "tool_calls": made})
        if not all(o.function.entry.gives for o, _ in calls) or self.rng.random() > _TOLD:
            return
        told = []
        for offered, values in calls:
            result, reply = self._result(offered.function, values)
            name = offered.spec["name"]
            self.messages.append({"role": "tool", "name": name, "content": result})
            told.append(reply)
        self.messages.append({"role": "assistant", "content": " ".join(told)})

    def _result(self, function: Function, values: Values) -> tuple[str, str]:
        """What a function returns, and what the agent says about it."""
        rng, draw = self.rng, Draw(self.rng, _TABLE.lists)
        given: Values = {}
        for told in function.entry.gives:
            name, _, kind = told.partition(": ")
            given[name] = draw.draw(kind)[1]
        said = {k: v for k, v in values.items() if not isinstance(v, bool | list)}
        fields = {k: _shown(v) for k, v in (said | given).items()}
        replies = [r for r in function.entry.replies if template(r).slots <= fields.keys()]
        reply = capital(fill(rng.choice(replies), rng, fields))
        echoed = {k: v for k, v in said.items() if rng.random() < 0.3}
        return json.dumps(echoed | given, ensure_ascii=False), reply


def _shown(value: Any) -> str:
    if isinstance(value, list):
        return ", ".join(map(_shown, value))
    return plain_text(value)


def _openers() -> frozenset[str]:
    """First words of phrasings that are not names, and so may be written in lower case."""
    entries = [f.entry for f in FUNCTIONS]
    every = [s for e in entries for s in (*e.say, *e.too, *(s for one in e.lack for s in one.say))]
    firsts = (re.split(r"\W", s.lstrip("+!"), maxsplit=1)[0] for s in (*every, *_TABLE.orders))
    return frozenset(capital(w) for w in firsts if w and w != "I" and not w[1:].isupper())


_OPENERS = _openers()


def write(rng: Random, split: str) -> dict[str, Any] | None:
    """A dialogue in the training data's form; None if a draw does not fit."""
    row = _Row(rng, split)
    roll = rng.random()
    for part, make in _MOVES:
        if roll < part:
            tools = make(row)
            break
        roll -= part
    if tools is None:
        return None
    system = rng.choice(_TABLE.systems) if rng.random() < 0.5 else ""
    return {"system": system, "tools": [o.spec for o in tools], "messages": row.messages}


def _offered(row: _Row, wanted: dict[str, set[str]], least: int = 0) -> list[_Offered] | None:
    """Declare the wanted functions among others; ``wanted`` is name → slots that calls have.

    None if two of them get the same name.
    """
    rng, every = row.rng, functions(row.split)
    chosen = [f for f in every if f.name in wanted]
    domains = {f.domain for f in chosen}
    near = [f for f in every if f.domain in domains and f.name not in wanted]
    asked = list(chosen)
    for _ in range(max(least, rng.choice((0, 0, 1, 1, 2, 3)))):
        other = rng.choice(near if near and rng.random() < 0.4 else every)
        if other not in chosen and not any(_alike(other, one) for one in asked):
            chosen.append(other)
    rng.shuffle(chosen)
    return _declared(row, chosen, wanted)


def _declared(
    row: _Row, chosen: Iterable[Function], wanted: dict[str, set[str]]
) -> list[_Offered] | None:
    offered = [row.declare(f, wanted.get(f.name, set())) for f in chosen]
    names = {o.spec["name"].lower() for o in offered}
    return offered if len(names) == len(offered) else None


def _alike(one: Function, other: Function) -> bool:
    """Whether either could serve a request for the other."""
    return one.name in other.entry.like or other.name in one.entry.like


def _single(row: _Row) -> list[_Offered] | None:
    function = row.rng.choice(functions(row.split))
    text, values = row.request(function)
    return _answered(row, text, [(function, values)])


def _same(row: _Row) -> list[_Offered] | None:
    """Several calls of one function."""
    function = row.rng.choice(functions(row.split))
    found = row.several(function)
    if found is None:
        requests = [row.request(function) for _ in range(row.rng.choice((2, 2, 3)))]
        found = row.together([text for text, _ in requests]), [v for _, v in requests]
    return _answered(row, found[0], [(function, values) for values in found[1]])


def _different(row: _Row) -> list[_Offered] | None:
    """Calls of two or three functions, each perhaps several times."""
    rng, every = row.rng, functions(row.split)
    first = rng.choice(every)
    near = [f for f in every if f.domain == first.domain and f != first]
    others = rng.sample(every, rng.choice((1, 1, 1, 2)))
    if near and rng.random() < 0.5:
        others[0] = rng.choice(near)
    parts, calls = [], []
    for function in dict.fromkeys((first, *others)):
        several = row.several(function) if rng.random() < 0.2 else None
        if several is None:
            text, values = row.request(function)
            several = text, [values]
        parts.append(several[0])
        calls += [(function, values) for values in several[1]]
    return _answered(row, row.together(parts), calls)


_LABELLED = re.compile(r"(?:[:=] ?| is )-?\d")
"""A number with its name, which the engine would take for this parameter in every call."""


def _answered(row: _Row, text: str, calls: list[tuple[Function, Values]]) -> list[_Offered] | None:
    if len(calls) > 1 and _LABELLED.search(text):
        return None
    wanted: dict[str, set[str]] = {}
    for function, values in calls:
        wanted.setdefault(function.name, set()).update(values)
    offered = _offered(row, wanted)
    if offered is None:
        return None
    row.say(text)
    _calls(row, offered, calls)
    _go_on(row, offered)
    return offered


def _calls(row: _Row, offered: list[_Offered], calls: list[tuple[Function, Values]]) -> None:
    by_name = {o.function.name: o for o in offered}
    row.call([(by_name[f.name], values) for f, values in calls])


def _go_on(row: _Row, offered: list[_Offered]) -> None:
    """Perhaps add another request after an answer in words."""
    if not row.messages[-1]["content"] or row.rng.random() > _AGAIN:
        return
    one = row.rng.choice(offered)
    text, values = row.request(one.function)
    if values.keys() <= one.keys.keys():
        row.say(text)
        row.call([(one, values)])


def _unserved(row: _Row) -> list[_Offered] | None:
    """The user asks for something that no declared function does."""
    rng = row.rng
    if rng.random() < 0.25:
        row.say(rng.choice(_TABLE.off))
        reply = rng.choice(_TABLE.declines_of_any)
        absent = None
        offered = _offered(row, {}, least=1)
    else:
        absent = rng.choice(functions(row.split))
        row.say(row.request(absent)[0])
        reply = rng.choice(_TABLE.declines).replace("CAN", absent.entry.can)
        offered = _without(row, absent)
    if offered is None:
        return None
    row.messages.append({"role": "assistant", "content": reply, "kind": "decline"})
    _go_on(row, offered)
    return offered


def _without(row: _Row, absent: Function) -> list[_Offered] | None:
    """Declare functions of which none does what the absent one does."""
    rng, every = row.rng, functions(row.split)
    others = [f for f in every if f != absent and not _alike(f, absent)]
    near = [f for f in others if f.domain == absent.domain]
    chosen = [
        rng.choice(near if near and rng.random() < 0.4 else others)
        for _ in range(rng.choice((1, 1, 1, 2, 3)))
    ]
    return _declared(row, dict.fromkeys(chosen), {})


def _lacking(row: _Row) -> list[_Offered] | None:
    """A required value is missing: the agent asks for it, and the user may give it."""
    rng = row.rng
    able = [f for f in functions(row.split) if f.entry.lack]
    if not able:
        return None
    function = rng.choice(able)
    lack = rng.choice(function.entry.lack)
    text, values = row.request(function, rng.choice(lack.say))
    offered = _offered(row, {function.name: {*values, lack.need}})
    if offered is None:
        return None
    row.say(text)
    row.messages.append({"role": "assistant", "content": rng.choice(lack.ask), "kind": "ask"})
    if rng.random() < 0.65:
        said, value = row.draw.draw(function.parameters[lack.need].kind)
        answer = rng.choice(_TABLE.answers).replace("VALUE", said)
        row.messages.append(
            {"role": "user", "content": answer.lower() if row.draw.lower else answer}
        )
        _calls(row, offered, [(function, values | {lack.need: value})])
    return offered


_MOVES = (
    (0.45, _single), (0.17, _same), (0.13, _different), (0.15, _unserved), (1.0, _lacking),
)  # fmt: skip
"""Shares of the kinds of rows, and their writers; the last one has the rest."""

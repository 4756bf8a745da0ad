"""Tools that no agent ships: distractors, and tasks whose tools the model cannot have memorised.

Reads the tables' notation: ``@`` name | descriptions, ``n`` verbs ; nouns of other names, ``c``
what it can do, ``p`` a parameter with its kind of value and other names, ``>`` what users say,
``+`` follow-ups, ``-`` requests lacking the first parameter, ``?`` how it is asked for, ``<``
results, ``!`` an error, ``=`` replies. Results are sentences made from the arguments and random
fields, sometimes given as JSON, as other people's tools do.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from random import Random

from dlm.datagen import inventions_daily, inventions_office, said
from dlm.datagen.composed import pseudo_word
from dlm.datagen.grammar import fill, template
from dlm.datagen.schemas import Spec, spec
from dlm.datagen.values import Values
from dlm.datagen.words import WORDS
from dlm.datagen.world import Arguments, Result, capital, failure


@dataclass(slots=True)
class Invention:
    """One invented tool.

    Attributes:
        name: Its first name; `names` has others.
        descriptions: One is shown.
        verbs: First halves of other names.
        nouns: Second halves.
        ability: Completes "I can't ...".
        kinds: Parameter to kind of value; in schema order.
        optional: Parameters that may be left out.
        others: Parameter to its possible names.
        say: What users say; likewise `more`, `bare`, `ask`.
        results: Result templates; `errors` and `replies` likewise.
    """

    name: str
    descriptions: tuple[str, ...]
    verbs: list[str] = field(default_factory=list)
    nouns: list[str] = field(default_factory=list)
    ability: str = ""
    kinds: dict[str, str] = field(default_factory=dict)
    optional: set[str] = field(default_factory=set)
    others: dict[str, list[str]] = field(default_factory=dict)
    say: list[str] = field(default_factory=list)
    more: list[str] = field(default_factory=list)
    bare: list[str] = field(default_factory=list)
    ask: list[str] = field(default_factory=list)
    results: list[str] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)
    replies: list[str] = field(default_factory=list)

    @property
    def spec(self) -> Spec:
        """Its schema under its first name."""
        names = [f"{k}?" if k in self.optional else k for k in self.kinds]
        return spec(self.name, self.descriptions[0], names)


def _read() -> dict[str, Invention]:
    found: dict[str, Invention] = {}
    current: Invention | None = None
    for line in (inventions_daily.TABLE + inventions_office.TABLE).splitlines():
        mark, _, rest = line.partition(" ")
        if mark == "@":
            name, _, descriptions = rest.partition(" | ")
            current = Invention(name, tuple(descriptions.split(" / ")))
            found[name] = current
        elif mark and current is not None:
            _enter(current, mark, rest)
    return found


def _enter(tool: Invention, mark: str, rest: str) -> None:
    lists = {
        ">": tool.say, "+": tool.more, "-": tool.bare, "?": tool.ask, "<": tool.results,
        "!": tool.errors, "=": tool.replies,
    }  # fmt: skip
    if mark in lists:
        lists[mark].extend(_options(rest))
    elif mark == "n":
        verbs, nouns = rest.split(" ; ")
        tool.verbs, tool.nouns = verbs.split(), nouns.split()
    elif mark == "c":
        tool.ability = rest
    elif mark == "p":
        _parameter(tool, rest)
    else:
        raise ValueError(f"mark must be one of @nc p > + - ? < ! =, got {mark!r}")


def _parameter(tool: Invention, rest: str) -> None:
    name, _, rest = rest.partition(" ")
    if "|" in rest:
        head, _, tail = rest.rpartition("|")
        last, *others = tail.split()
        kind = f"{head}|{last}"
    else:
        kind, *others = rest.split()
    key = name.rstrip("?")
    tool.kinds[key], tool.others[key] = kind, others
    if name.endswith("?"):
        tool.optional.add(key)


def _options(text: str) -> list[str]:
    """Templates of a line; bars within brackets are the templates' own."""
    options, depth, start = [], 0, 0
    for i, char in enumerate(text):
        depth += (char in "([") - (char in ")]")
        if char == "|" and depth == 0:
            options.append(text[start:i].strip())
            start = i + 1
    return [*options, text[start:].strip()]


INVENTIONS: dict[str, Invention] = _read()


def twin(tool: Invention, arguments: Arguments, values: Values, rng: Random) -> Result:
    """What an invented tool answers.

    Args:
        tool: The tool.
        arguments: As said.
        values: For random fields of the result.
        rng: Source of chance.
    """
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


def reply(tool: Invention, result: Result, rng: Random) -> str:
    """What the agent says about an invented tool's result, from the fields that the result has."""
    shown = result.fields.get("", "")
    closed = not template(shown).slots
    fitting = [r for r in tool.replies if template(r).slots <= result.fields.keys()]
    if closed:
        same = [r for r in fitting if shown.rstrip(".").lower() in r.lower()]
        fitting = same or [shown]
    else:
        fitting = [r for r in fitting if template(r).slots]
    return capital(fill(rng.choice(fitting or [shown]), rng, result.fields))


def _known(source: str, arguments: Arguments, tool: Invention) -> bool:
    wanted = template(source).slots & set(tool.kinds)
    return wanted <= set(arguments)


def _field(slot: str, arguments: Arguments, values: Values, rng: Random) -> str:
    kind = slot.rstrip("23")
    if kind == "letters":
        return " ".join(c.upper() for c in next(iter(arguments.values()), "") if c.isalpha())
    if kind == "pips":
        return str(rng.randint(1, round(said.number(arguments.get("sides", "6")) or 6)))
    composed = _FIELDS.get(kind)
    return composed(rng) if composed else values.draw(kind, rng, True)


_FIELDS: dict[str, Callable[[Random], str]] = {
    "made": lambda rng: capital(pseudo_word(rng)),
    "price": lambda rng: f"{rng.uniform(3, 900):.2f}",
    "number": lambda rng: str(rng.randint(2, 60)),
    "code": lambda rng: str(rng.randint(100, 99999)),
    "weekday": lambda rng: rng.choice(said.WEEKDAYS).title(),
    "clock": lambda rng: (
        f"{rng.randint(1, 12)}:{5 * rng.randrange(12):02d} {rng.choice(('AM', 'PM'))}"
    ),
    "name": lambda rng: rng.choice(WORDS["name"]),
    "place": lambda rng: rng.choice(WORDS["place"]),
    "noun": lambda rng: rng.choice(WORDS["noun"]),
    "adjective": lambda rng: rng.choice(WORDS["adjective"]),
    "item": lambda rng: rng.choice(WORDS["item"]),
}

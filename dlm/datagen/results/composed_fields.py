"""Fields in the results of composed tools: their words, values, keys, and how each is told.

A field is composed anew ("engine temperature", "second driver"), so the model cannot know it and
must read it. How it is told depends on its type alone. The tables are in
``data/composed_results.toml``. Dialogues are not known here.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import cache
from random import Random

from dlm.datagen.holdout import unseen
from dlm.datagen.language.spoken_values import WEEKDAYS
from dlm.datagen.language.tables import Lists, read
from dlm.datagen.language.words import WORDS
from dlm.datagen.tools.world import capital, listing, title
from dlm.datagen.unfamiliar.composed_tools import heads, modifiers, plural
from dlm.datagen.values.made_up import blend, pseudo_word
from dlm.datagen.values.result_values import UNITS, Value, counted, draw, notation
from dlm.datagen.values.slots import Values


@dataclass(frozen=True, slots=True)
class Form:
    """How fields of a type, or a single field, are asked for and told; see the table."""

    ask: tuple[str, ...] = ()
    np: tuple[str, ...] = ()
    verb: tuple[str, ...] = ()
    bare: tuple[str, ...] = ()
    yes: tuple[str, ...] = ()
    no: tuple[str, ...] = ()
    joint: str = ""
    most: tuple[str, ...] = ()
    compared: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class _Table:
    unfit: tuple[str, ...]
    alike: tuple[str, ...]
    heads: tuple[str, ...]
    types: dict[str, Form]
    own: dict[str, Form]
    keys: Lists
    short: dict[str, str]
    labels: Lists
    deeds: Lists
    ask: Lists
    tell: Lists
    lists: Lists
    wording: Lists


TABLE = read("composed_results", _Table)
GROUPS = tuple(TABLE.labels)
PLAIN = 0.4
"""Share of fields that are a head alone, unless it always has a word before it."""
_TRIES = 40


@dataclass(frozen=True, slots=True)
class Field:
    """A field.

    Attributes:
        words: Its name as it is said, "engine temperature".
        head: The last part of its name.
        spec: Kind of its values.
        form: How it is asked for and told.
    """

    words: str
    head: str
    type: str
    spec: str
    form: Form

    @property
    def what(self) -> str:
        """Its noun phrase, with "the"."""
        if self.type == "count":
            return f"the number of {many(self.words)}"
        return f"the {many(self.words) if self.type == 'list' else self.words}"

    @property
    def measured(self) -> bool:
        """Whether values can be above or below a limit."""
        return self.type in ("size", "measure", "money", "count", "clock")

    @property
    def named(self) -> bool:
        """Whether "the W is" makes sense with its name, in the middle of a sentence."""
        return self.type not in ("flag", "has", "text", "list", "room")

    def said(self, value: Value) -> str:
        """A value as it follows "the W is": days without "on"."""
        dated = self.type in ("date", "moment")
        return value.said.removeprefix("on ") if dated else value.said

    def worded(self, source: str) -> str:
        """A phrasing with the field's words filled in."""
        source = source.replace("WS", many(self.words)).replace("AN W", an(self.words))
        return re.sub(r"\bW\b", self.words, re.sub(r"\bthe W\b", self.what, source))


@dataclass(frozen=True, slots=True)
class _Head:
    words: str
    type: str
    spec: str
    before: tuple[str, ...]
    always: bool


@cache
def _heads(group: str) -> tuple[tuple[_Head, ...], ...]:
    """The heads for a group, grouped by their line in the table."""
    found = []
    for line in TABLE.heads:
        kind, groups, spec, words, *others = line.split(" | ")
        always, before = (others or [""])[0][:1] == "+", (others or [""])[0].lstrip("+")
        if groups == "any" or group in groups.split(", "):
            with_words = tuple(before.split(", ")) if before else ()
            heads = words.split(", ")
            found.append(tuple(_Head(word, kind, spec, with_words, always) for word in heads))
    return tuple(found)


@cache
def things(group: str, split: str) -> tuple[str, ...]:
    """Nouns of a group in a split; a tenth of them is held out."""
    left = [name for name in heads(group) if name not in TABLE.unfit]
    return tuple(
        name.replace("_", " ")
        for name in left
        if unseen(f"result {name}") == (split == "heldout") and plural(name) != name
    )


@cache
def _modifiers() -> tuple[str, ...]:
    return tuple(word for word in modifiers() if word not in TABLE.unfit)


def draw_noun(rng: Random, group: str, split: str) -> str:
    """The kind of thing that a tool is about: "lantern", "harbor lantern", "zorban lantern"."""
    noun, roll = rng.choice(things(group, split)), rng.random()
    if roll < 0.3:
        return f"{rng.choice(_modifiers()).replace('_', ' ')} {noun}"
    return f"{pseudo_word(rng)} {noun}" if roll < 0.34 else noun


def any_noun(rng: Random, groups: Sequence[str] = ("goods", "machine", "record")) -> str:
    """A random noun of some groups, to stand before a head or to be listed as a thing."""
    if rng.random() < 0.06:
        return pseudo_word(rng)
    return rng.choice(things(rng.choice(groups), "train"))


_SOLID = ("goods", "machine")


def draw_field(
    rng: Random, group: str, split: str, taken: Sequence[Field] = (), kinds: Sequence[str] = ()
) -> Field | None:
    """A field that cannot be confused with those taken; None if none is found.

    Args:
        split: "train", or "heldout" for words that training never shows together.
        kinds: The types that it may have; empty for any.
    """
    lines = [line for line in _heads(group) if not kinds or line[0].type in kinds]
    for _ in range(_TRIES):
        # Sometimes use a head again, so that only the word before it tells the two apart.
        near = rng.choice(taken).head if taken and rng.random() < 0.3 else ""
        found = [head for line in lines for head in line if head.words == near and head.before]
        head = rng.choice(found or rng.choice(lines))
        field = _field(rng, head, 1.0 if found else rng.random())
        if unseen(field.words) == (split == "heldout") and not any(
            _clash(field, other) for other in taken
        ):
            return field
    return None


def _field(rng: Random, head: _Head, roll: float) -> Field:
    if head.words == "NOUN":
        words = any_noun(rng, _SOLID)
    elif not head.before or (roll < PLAIN and not head.always):
        words = head.words
    else:
        word = rng.choice(head.before)
        word = "NOUN" if "NOUN" in head.before and rng.random() < 0.35 else word
        words = _once(f"{any_noun(rng) if word == 'NOUN' else word} {head.words}")
    form = _form(head.type, head.words if words == head.words else "")
    return Field(words, head.words, head.type, head.spec, form)


def code_field(words: str) -> Field:
    """A field for a code with this name, whatever the split."""
    return Field(words, words, "code", "mark", _form("code", ""))


@cache
def _form(kind: str, own: str) -> Form:
    """The form of a type, overridden by what a field has of its own; its questions are added."""
    base, other = TABLE.types[kind], TABLE.own.get(own, Form())
    found = {f.name: getattr(other, f.name) or getattr(base, f.name) for f in fields(Form)}
    found["ask"] = other.ask * 3 + base.ask
    found["np"] = found["np"] or ("is {v}",)
    return Form(**found)


_ALIKE = [set(group.split("/")) for group in TABLE.alike]


def _clash(one: Field, other: Field) -> bool:
    """Whether a question for one field could mean the other as well."""
    if one.words == other.words or {one.type, other.type} == {"has", "count"}:
        return True
    if one.head == other.head:
        return one.type != "has" and (one.words == one.head or other.words == other.head)
    return any(one.head in group and other.head in group for group in _ALIKE)


# Values


def drawn(spec: str, rng: Random, values: Values) -> Value:
    """A value of a field's kind."""
    own = _KINDS.get(spec)
    return own(rng, values) if own else draw(spec, rng, values)


def column(spec: str, count: int, rng: Random, values: Values) -> list[Value]:
    """Up to ``count`` different values in one notation, as in a list."""
    found = [drawn(spec, rng, values)]
    for _ in range(count * _TRIES):
        value = drawn(spec, rng, values)
        if len(found) == count:
            break
        # "47 out of 100" and "2.9 out of 5" cannot be compared.
        scales = {one.said.partition(" out of ")[2] for one in (value, found[0])}
        alike = notation(value) == notation(found[0]) and value.unit == found[0].unit
        alike = alike and len(scales) == 1
        if alike and all(value.said != other.said for other in found):
            found.append(value)
    return found[:count]


def _plain(text: str) -> Value:
    return Value(text, text)


def _span(rng: Random, values: Values) -> Value:
    """A span of time."""
    unit, low, high = rng.choice((("min", 5, 180), ("h", 1, 30), ("days", 1, 60), ("weeks", 1, 9)))
    roll, number, of = rng.random(), rng.randint(low, high), UNITS[unit]
    if roll < 0.65 or unit == "weeks":
        return draw(f"int {low} {high} {unit}", rng, values)
    if roll < 0.8 or unit == "days":
        iso = f"P{number}D" if unit == "days" else f"PT{number}{unit[0].upper()}"
        return Value(iso, counted(str(number), of), "", number, of)
    hours, minutes = rng.randint(1, 12), 5 * rng.randint(1, 11)
    raw = f"PT{hours}H{minutes}M" if roll < 0.9 else f"{hours}h {minutes}m"
    said = [counted(str(hours), UNITS["h"]), counted(str(minutes), UNITS["min"])]
    return Value(raw, listing(said), "", 60 * hours + minutes)


def _phone(rng: Random, _: Values) -> Value:
    short, long, area = rng.randint(1000, 9999), rng.randint(100000, 9999999), rng.randint(201, 989)
    forms = f"+{rng.randint(1, 99)} {area} {long}", f"555-{short}", f"({area}) 555-{short}"
    return _plain(rng.choice(forms))


def _mark(rng: Random, _: Values) -> Value:
    """A number or code of something."""
    letters = "".join(rng.choice("ABCDEFGHJKLMNPQRSTUVXYZ") for _ in range(rng.randint(1, 3)))
    number = rng.choice((rng.randint(2, 99), rng.randint(1000, 999999)))
    if rng.random() < 0.3:
        return Value(rng.choice((number, str(number))), str(number))
    tail = f"-{rng.choice('XYZKQ')}{rng.randint(1, 9)}" if rng.random() < 0.2 else ""
    return _plain(f"{letters}{rng.choice(('', '-'))}{number}{tail}")


def _rating(rng: Random, _: Values) -> Value:
    most = rng.choice((5, 5, 10, 100))
    size = rng.randint(20, 99) if most == 100 else round(rng.uniform(1, most - 0.1), 1)
    parts = {"value": size, rng.choice(("max", "out_of", "of")): most}
    raw = rng.choice((f"{size}/{most}", f"{size} out of {most}", parts))
    return Value(raw, f"{size} out of {most}", size=size)


def _names(rng: Random, values: Values) -> Value:
    first, last = title(values.draw("name", rng)), rng.choice(WORDS["surname"])
    if rng.random() < 0.4:
        return _plain(first)
    raw = {"first_name": first, "last_name": last} if rng.random() < 0.12 else f"{first} {last}"
    return Value(raw, f"{first} {last}")


def _titled(rng: Random, _: Values) -> Value:
    return _plain(title(f"{rng.choice(WORDS['adjective'])} {rng.choice(WORDS['noun'])}"))


def _product(rng: Random, values: Values) -> Value:
    name = capital(rng.choice((pseudo_word(rng), blend(rng).replace(" ", ""))))
    more = "", f" {rng.randint(2, 900)}", f" {capital(pseudo_word(rng))}"
    return _titled(rng, values) if rng.random() < 0.25 else _plain(name + rng.choice(more))


def _owned(rng: Random, _: Values) -> Value:
    """The name of a shop, restaurant or similar place."""
    of, last = rng.choice(WORDS["surname"]), rng.choice(("Corner", "Place", "House", "Garden"))
    forms = (
        f"{of} and Sons",
        f"Chez {rng.choice(WORDS['name'])}",
        f"{of} {last}",
        f"Old {of} {last}",
    )
    return _plain(rng.choice(forms))


def _address(rng: Random, _: Values) -> Value:
    street = title(rng.choice(WORDS[rng.choice(("noun", "surname"))]))
    kind = rng.choice(("Street", "Road", "Lane", "Avenue", "Square"))
    return _plain(f"{rng.randint(1, 400)} {street} {kind}")


def _listed(one: Callable[[Random, Values], str]) -> Callable[[Random, Values], Value]:
    """A kind whose values are lists of two to four different things."""

    def some(rng: Random, values: Values) -> Value:
        found = [one(rng, values)]
        while len(found) < 2 or (len(found) < 4 and rng.random() < 0.5):
            found = list(dict.fromkeys((*found, one(rng, values))))
        return Value(found, listing(found))

    return some


_ROOMS = tuple(room for room in WORDS["room"] if "stairs" not in room)
_SIDES = ("north", "south", "left", "right", "unit")
_KINDS: Mapping[str, Callable[[Random, Values], Value]] = {
    "span": _span, "phone": _phone, "mark": _mark, "rating": _rating, "names": _names,
    "product": _product, "owned": _owned, "address": _address, "title": _titled,
    "things": _listed(lambda rng, _: many(any_noun(rng, _SOLID))),
    "people": _listed(lambda rng, values: _names(rng, values).said),
    "note": lambda rng, values: _plain(composed(rng.choice(TABLE.wording["notes"]), rng, values)),
    "room": lambda rng, _: _plain(rng.choice(_ROOMS)),
    "roomed": lambda rng, _: _plain(title(f"{rng.choice(_ROOMS)} {rng.choice(_SIDES)}")),
}  # fmt: skip


def composed(source: str, rng: Random, values: Values) -> str:
    """A sentence of a result, with random nouns, names, places, days and numbers in its slots."""
    made = {
        "Person": title(values.draw("name", rng)), "Place": title(values.draw("place", rng)),
        "Day": rng.choice(WEEKDAYS).title(), "n": str(rng.randint(2, 40)),
    }  # fmt: skip
    text = re.sub(r"\{(\w+)\}", lambda m: made.get(m[1]) or any_noun(rng), source)
    return re.sub(r"\ba (?=[aeio])", "an ", _once(text))


def _once(text: str) -> str:
    """A text without doubled words: "nail file" for "nail file file"."""
    return re.sub(r"\b(\w+) \1\b", r"\1", text)


# Keys


def key_words(field: Field, rng: Random) -> list[str]:
    """The words of a field's key in a result."""
    words = field.words.replace("-", " ").replace(" ", "_")
    if field.words == field.head:
        words = rng.choice(TABLE.keys.get(field.head, (words,)))
    if field.type == "count":
        some = many(field.words).replace(" ", "_")
        words = rng.choice((some, some, f"{words}_count", f"num_{some}", f"number_of_{some}"))
    elif field.type == "list":
        words = many(words)
    elif field.type == "flag":
        words = rng.choice((words, f"is_{words}"))
    elif field.type == "has":
        words = rng.choice((words, f"has_{words}", f"with_{words}", f"{words}_included"))
    found = words.split("_")
    if rng.random() < 0.12:
        found = [TABLE.short.get(word, word) for word in found]
    return found


# Sentences


def clause(field: Field, value: Value, rng: Random) -> str:
    """What follows the thing in a sentence, "costs 45 dollars"; empty if nothing can."""
    verbs = field.form.verb
    if not verbs:
        return ""
    if field.spec == "bool":
        return field.worded(verbs[0] if value.size else verbs[1])
    return field.worded(rng.choice(verbs)).replace("{v}", value.said)


def phrase(field: Field, value: Value, rng: Random) -> str:
    """What follows "the W" in a sentence, "is Friday"."""
    return _past(field, rng.choice(field.form.np)).replace("{v}", field.said(value))


def sentences(field: Field, value: Value, rng: Random) -> str:
    """An answer about a field, with ``IT`` for the thing's name."""
    roll, verb = rng.random(), clause(field, value, rng)
    if field.spec == "bool":
        return field.worded(rng.choice(field.form.yes if value.size else field.form.no))
    if verb and (roll < 0.4 or field.type == "room"):
        return f"{'IT' if roll < 0.15 else 'It'} {verb}."
    if roll < 0.6 and field.form.bare:
        said = field.said(value) if field.type == "date" else value.said
        bare = _past(field, field.worded(rng.choice(field.form.bare)))
        return bare.replace("{v}", said).replace("{V}", capital(said))
    forms = TABLE.tell[
        "full" if roll < 0.74 else "seen" if roll > 0.95 and field.named else "short"
    ]
    source = field.worded(rng.choice(forms).replace("Its W", "ITS"))
    source = source.replace("ITS", field.what.replace("the", "its", 1))
    return capital(source.replace("NP", phrase(field, value, rng)))


def _past(field: Field, source: str) -> str:
    """A phrasing, put into the past tense if the field is about the past."""
    return re.sub(r"\bis\b|'s\b", " was", source).lstrip() if "past" in field.spec else source


def an(words: str) -> str:
    """Words with "a" or "an" before them."""
    low = words.lower()
    vowel = low[0] in "aeiou" and not re.match(r"uni(?!n)|us[aeu]|eu|one|ut[ie]|ukulele", low)
    return f"{'an' if vowel or low.startswith(('hour', 'honest')) else 'a'} {words}"


def many(words: str) -> str:
    """The plural of a noun phrase."""
    first, blank, last = words.rpartition(" ")
    return f"{first}{blank}{plural(last)}"

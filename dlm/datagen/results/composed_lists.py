"""Lists that composed tools find, and what is asked about them: how many, which, the cheapest."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from dlm.datagen.results.composed_fields import (
    GROUPS,
    TABLE,
    Field,
    clause,
    column,
    draw_field,
    drawn,
    key_words,
    many,
    phrase,
)
from dlm.datagen.results.composed_talk import LACKING, TELL, Asked, Talk, Tool, fill
from dlm.datagen.tools.world import capital, listing
from dlm.datagen.values.result_values import Row, Value, as_json, asked_limit, written_key
from dlm.language.spoken_numbers import words_of

LISTS = TABLE.lists
_COUNTS = (0, 0, 1, 1, 2, 2, 2, 3, 3, 3, 4, 5, 6)
_MORE = (0, 1, 1, 2, 2, 3)
_FAILS = 0.1
_NTH = ("first", "second", "third", "fourth", "fifth", "sixth")
_NAMES = ("name", "title", "label", "item", "model")
_SHOWN = 3
"""Most items that are told at once."""
_COLUMNS = (
    "size", "measure", "money", "count", "date", "clock", "span", "place", "person", "status",
    "rating", "choice", "code",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Found:
    """Things that a tool found.

    Attributes:
        names: The name of each thing.
        columns: Fields that all have, with their values in the order of the names.
        label: Kind of the names.
    """

    tool: Tool
    names: list[Value]
    columns: list[tuple[Field, list[Value]]]
    label: str

    @property
    def moments(self) -> bool:
        """Whether the names are times, by which nobody refers to a thing."""
        return self.label == "moment"

    def item(self, at: int) -> str:
        """An item as it is told, with its first field if that can follow the name."""
        name = self.names[at].said
        for field, values in self.columns[:1]:
            if field.form.joint and field.type != "moment":
                return f"{name} {self.joint(field, values[at])}"
        return name

    def joint(self, field: Field, value: Value) -> str:
        """A field's value in the words that follow the name of its thing."""
        return field.worded(field.form.joint).replace("{v}", value.said)

    def all(self, places: Sequence[int]) -> str:
        """Some items as they are told."""
        return listing([self.item(at) for at in places])


def write(talk: Talk) -> None:
    """The user looks for things, of which none, one or several are found, and asks more."""
    rng = talk.rng
    tool = talk.tool("list", (), "", rng.choice(GROUPS))
    found = _drawn(talk, tool)
    asked = _opening(talk, found)
    slots = dict(asked.slots) | ({"x": talk.slot(tool)} if tool.kind else {})
    heard = talk.ask(asked.ask.replace(" FOR", f" {tool.say}" if tool.say else ""), slots)
    if rng.random() < _FAILS:
        talk.fail(tool, heard, TELL["failed"])
        return
    talk.call(tool, heard, _written(talk, found))
    talk.tell(asked.reply, asked.values)
    told: set[str] = set()
    for _ in range(rng.choice(_MORE)):
        if rng.random() < 0.14:
            talk.thank()
            return
        more = _more(talk, found)
        if more is None or more.ask in told:
            return
        told.add(more.ask)
        talk.ask(more.ask, more.slots, True)
        talk.tell(more.reply, more.values)


def _drawn(talk: Talk, tool: Tool) -> Found:
    rng = talk.rng
    made: list[Field] = []
    label = rng.choice(TABLE.labels[tool.group])
    names = column(label, rng.choice(_COUNTS), rng, talk.values)
    for _ in range(rng.choice((0, 1, 1, 2, 2, 3))):
        kinds = [kind for kind in _COLUMNS if label != "moment" or kind not in ("date", "clock")]
        field = draw_field(rng, tool.group, talk.split, made, kinds)
        if field is not None:
            made.append(field)
    columns = [(field, _values(talk, field, len(names))) for field in made]
    full = [(field, values) for field, values in columns if len(values) == len(names)]
    return Found(tool, names, full, label)


def _values(talk: Talk, field: Field, count: int) -> list[Value]:
    """Values of a field; days and times of day are drawn so that they can be compared."""
    if field.type == "clock":
        times = column(field.spec, 4 * count, talk.rng, talk.values)
        return [time for time in times if "T" not in time.raw][:count]
    if field.type != "date":
        return column(field.spec, count, talk.rng, talk.values)
    days = column("date", count, talk.rng, talk.values)
    return [replace(day, said=f"on {day.said}") for day in days]


def _written(talk: Talk, found: Found) -> str:
    """The text of a result."""
    rng, noun = talk.rng, found.tool.noun.replace(" ", "_").replace("-", "_")
    case, count = rng.choice(("snake", "camel", "words", "kebab")), len(found.names)
    if not count and rng.random() < 0.2:
        return rng.choice(("none", "null", "0 results", "nothing found", "No results."))
    keys = [key_words(field, rng) for field, _ in found.columns]
    label = "start" if found.moments else rng.choice((*_NAMES, noun))
    listed: list[Any] = []
    for at, name in enumerate(found.names):
        pairs = [(label, "", name.raw)]
        pairs += [
            ("_".join(k), v[at].suffix, v[at].raw)
            for k, (_, v) in zip(keys, found.columns, strict=True)
        ]
        pairs += [("id", "", rng.randint(100, 99999))] if rng.random() < 0.2 else []
        listed.append({written_key(key, suffix, case): raw for key, suffix, raw in pairs})
    if not keys and rng.random() < 0.7:
        listed = [name.raw for name in found.names]
    elif (
        count
        and rng.random() < 0.1
        and not any(isinstance(r, dict) for o in listed for r in o.values())
    ):
        sign, start = rng.choice((": ", "=")), rng.choice(("- ", "", "* "))
        lines = (", ".join(f"{k}{sign}{v}" for k, v in one.items()) for one in listed)
        return "\n".join(start + line for line in lines)
    if rng.random() < 0.2:
        return as_json(listed, rng)
    key = rng.choice(
        ("results", "items", "data", "found", many(noun), many(noun), "hits", "entries")
    )
    whole: Row = {written_key(key, "", case): listed}
    if rng.random() < 0.3:
        whole = {rng.choice(("count", "total", "num_results")): count, **whole}
    return as_json({"ok": True, **whole} if rng.random() < 0.1 else whole, rng)


# Questions


def _opening(talk: Talk, found: Found) -> Asked:
    """The question that the call answers."""
    roll, count = talk.rng.random(), len(found.names)
    top = _most(talk, found, False) if roll < 0.25 else None
    if top is not None:
        return top
    source = talk.pick(LISTS["how_many" if roll > 0.85 else "say"])
    ask = _noun(source, found)
    if not count:
        return Asked(ask, _noun(talk.pick(LISTS["empty"]), found), (LACKING + "|none",))
    if roll > 0.85:
        return replace(_count(talk, found), ask=ask)
    forms: Sequence[str] = LISTS["one" if count == 1 else "few" if count <= _SHOWN else "many"]
    if found.moments:
        forms = [form for form in forms if ": {" in form] or forms
    shown = range(min(count, _SHOWN if count <= _SHOWN else 2))
    fields = {"count": str(count), "all": found.all(shown), "some": found.all(shown)}
    needed = tuple(found.names[at].said for at in shown) if count <= _SHOWN else (str(count),)
    return Asked(ask, fill(_noun(talk.pick(forms), found), **fields), needed)


def _more(talk: Talk, found: Found) -> Asked | None:
    """Another question about a list that was found; None if no draw fits."""
    for _ in range(8):
        make = talk.rng.choices(list(_QUESTIONS), list(_QUESTIONS.values()))[0]
        asked = make(talk, found)
        if asked is not None:
            return asked
    return None


def _noun(source: str, found: Found) -> str:
    source = source.replace("NOUNs", many(found.tool.noun))
    return source.replace("[me] ", "").replace("NOUN", found.tool.noun)


def _count(talk: Talk, found: Found) -> Asked:
    count, ask = len(found.names), _noun(talk.pick(LISTS["count_more"]), found)
    if not count:
        return Asked(ask, _noun(talk.pick(LISTS["empty"]), found), (LACKING + "|none",))
    forms = LISTS["counted_one" if count == 1 else "counted"]
    reply = fill(_noun(talk.pick(forms), found), count=str(count), all=found.item(0))
    return Asked(ask, reply, ("one|1" if count == 1 else str(count),))


def _nth(talk: Talk, found: Found) -> Asked:
    at = talk.rng.randrange(min(6, len(found.names) + (talk.rng.random() < 0.3)) or 1)
    there, nth = at < len(found.names), _NTH[at]
    if len(found.names) > 1 and talk.rng.random() < 0.2:
        at, nth, there = len(found.names) - 1, "last", True
    fields = {"nth": nth, "item": found.item(at) if there else ""}
    reply = fill(talk.pick(LISTS["nth_told" if there else "no_nth"]), **fields)
    ask = talk.pick(LISTS["nth"]).replace("{nth}", nth)
    return Asked(ask, reply, (found.names[at].said if there else LACKING,))


def _of_one(talk: Talk, found: Found) -> Asked | None:
    rng, count = talk.rng, len(found.names)
    fits = [column for column in found.columns if column[0].named]
    if not count or not fits or found.moments:
        return None
    at, (field, values) = rng.randrange(count), rng.choice(fits)
    name, value = found.names[at].said, values[at]
    own = [s.replace("IT", "{x}") for s in field.form.ask if not field.worded(s).startswith("!")]
    ask = field.worded(talk.pick(LISTS["of_one"]) if rng.random() < 0.5 else rng.choice(own))
    reply = field.worded(talk.pick(LISTS["of_one_told"])).replace("NP", phrase(field, value, rng))
    if "It" in reply.split()[0] or rng.random() < 0.3:
        reply = f"{name if rng.random() < 0.5 else 'It'} {clause(field, value, rng) or ''}."
        if reply.endswith(" ."):
            reply = f"{capital(field.what)} {phrase(field, value, rng)}."
    return Asked(ask, fill(reply, name=name), (field.said(value),), {"x": name})


def _ordered(found: Found, talk: Talk) -> tuple[Field, list[Value], list[int]] | None:
    """A field by which the items can be ordered, its values, and that order; None without one."""
    fits = []
    for field, values in found.columns:
        sizes = [value.size for value in values if value.size is not None]
        one_unit = len({id(value.unit) for value in values}) == 1
        if len(set(sizes)) == len(values) > 1 and one_unit and field.type in _SIZED:
            fits.append((field, values, sorted(range(len(sizes)), key=sizes.__getitem__)))
    return talk.rng.choice(fits) if fits else None


_SIZED = ("size", "measure", "money", "count", "date", "clock", "span", "rating")


def _extreme(field: Field, high: bool, compared: bool) -> tuple[str, bool]:
    """The word for most or more of a field, and whether the word implies which field it is."""
    own = field.form.compared if compared else field.form.most
    if field.type == "count":
        return (("fewer", "more") if compared else ("fewest", "most"))[high], False
    if own:
        return own[high], True
    if field.type in ("date", "clock"):
        return (("earlier", "later") if compared else ("earliest", "latest"))[high], False
    return (("lower", "higher") if compared else ("lowest", "highest"))[high], False


def _superlative(source: str, field: Field, word: str) -> str:
    """A phrasing with the word for most or more filled in: "the most pages", "the highest fee"."""
    if field.type == "count":
        source = source.replace("the MORE W", "MORE WS").replace(" W,", " WS,")
        source = re.sub("(MOST|MORE) W\\b", r"\1 WS", source)
    return re.sub("MOST|MORE", word, field.worded(source))


def _most(talk: Talk, found: Found, more: bool = True) -> Asked | None:
    """Which item has the most or the least of something."""
    ordered = _ordered(found, talk)
    if ordered is None:
        return None
    field, values, order = ordered
    high = talk.rng.random() < 0.5
    word, whole = _extreme(field, high, False)
    at = order[-1 if high else 0]
    kind = ("most" if more else "top") + ("" if whole else "_w")
    forms = LISTS["most_told" if whole else "most_w_told"]
    name, value = found.names[at].said, values[at]
    reply = forms[0] if found.moments else talk.pick(forms)
    if found.moments and not whole:
        reply = "The one {name} has the MOST W, {v}."
    told = found.joint(field, value) if field.form.joint else value.said
    source = _superlative(_noun(talk.pick(LISTS[kind]), found), field, word)
    reply = _superlative(reply, field, word).replace("NP", phrase(field, value, talk.rng))
    reply = fill(reply.replace("TOLD", told), name=name, v=field.said(value))
    return Asked(source, reply, (name,))


def _either(talk: Talk, found: Found) -> Asked | None:
    """Which of two items has more, or less, of something."""
    ordered = _ordered(found, talk)
    if ordered is None or found.moments:
        return None
    field, values, order = ordered
    low, high = sorted(talk.rng.sample(range(len(order)), 2))
    less, most = order[low], order[high]
    over = talk.rng.random() < 0.5
    word, whole = _extreme(field, over, True)
    right, wrong = (most, less) if over else (less, most)
    tail = "" if whole else "_w"
    name, other = found.names[right].said, found.names[wrong].said
    v, w = field.said(values[right]), field.said(values[wrong])
    said = {"name": name, "other": other, "v": v, "w": w}
    reply = _superlative(talk.pick(LISTS[f"either{tail}_told"]), field, word)
    source = _superlative(talk.pick(LISTS[f"either{tail}"]), field, word)
    x, y = (name, other) if talk.rng.random() < 0.5 else (other, name)
    return Asked(source, fill(reply, **said), (name,), {"x": x, "y": y})


def _is_there(talk: Talk, found: Found) -> Asked | None:
    """Whether something is among what was found."""
    if found.moments or not found.names:
        return None
    other = talk.rng.choice(found.names) if talk.rng.random() < 0.5 else None
    other = other or drawn(found.label, talk.rng, talk.values)
    there = any(other.said == name.said for name in found.names)
    forms = LISTS["there" if there else "not_there"]
    if not there and not other.said.replace(" ", "").isalpha():
        # A number that the user said in words is nowhere in digits, so it cannot be repeated.
        forms = LISTS["not_there_it"]
    reply = fill(talk.pick(forms), name=other.said)
    return Asked(
        talk.pick(LISTS["is_there"]), reply, ("yes" if there else "no",), {"x": other.said}
    )


def _under(talk: Talk, found: Found) -> Asked | None:
    """Which items are below a limit."""
    specs = [field.spec for field, _ in found.columns]
    fits = [
        (field, values)
        for field, values in found.columns
        if field.type in ("money", "size", "measure")
        and specs.count(field.spec) == 1
        and len({id(value.unit) for value in values}) == 1
        and values[0].unit
    ]
    if not fits:
        return None
    field, values = talk.rng.choice(fits)
    unit = values[0].unit
    _, limit = asked_limit(talk.rng.choice(values), talk.rng, True)
    assert unit is not None
    below = [at for at, value in enumerate(values) if (value.size or 0) < limit]
    said = str(int(limit)) if talk.style.digits else words_of(int(limit))
    slots = {"limit": f"{said} {unit.one if limit == 1 else unit.many}"}
    if not below:
        low = min(values, key=lambda value: value.size or 0)
        reply = fill(talk.pick(LISTS["none_under"]), v=low.said)
        return Asked(talk.pick(LISTS["under"]), reply, (LACKING + "|none",), slots)
    if len(below) > _SHOWN:
        return None
    told = [f"{found.names[at].said} {found.joint(field, values[at])}" for at in below]
    reply = fill(talk.pick(LISTS["under_told"]), all=listing(told))
    needed = tuple(found.names[at].said for at in below)
    return Asked(talk.pick(LISTS["under"]), reply, needed, slots)


def _which_is(talk: Talk, found: Found) -> Asked | None:
    """Which items have some state."""
    fits = [(f, v) for f, v in found.columns if f.type in ("status", "choice") and v]
    if not fits or found.moments:
        return None
    field, values = talk.rng.choice(fits)
    said = drawn(field.spec, talk.rng, talk.values).said
    said = talk.rng.choice(values).said if talk.rng.random() < 0.8 else said
    at = [at for at, value in enumerate(values) if value.said == said]
    reply = talk.pick(LISTS["which_told" if at else "none_is"])
    reply = fill(reply, all=listing([found.names[n].said for n in at]) if at else "", x=said)
    needed = tuple(found.names[n].said for n in at) or (LACKING + "|none",)
    return Asked(talk.pick(LISTS["which_is"]), reply, needed, {"x": said})


_QUESTIONS: dict[Callable[[Talk, Found], Asked | None], int] = {
    _count: 10,
    _nth: 16,
    _of_one: 26,
    _most: 18,
    _either: 14,
    _is_there: 8,
    _under: 8,
    _which_is: 8,
}
"""Questions about a list, with weights."""

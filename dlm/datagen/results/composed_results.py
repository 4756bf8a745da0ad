"""Dialogues with composed tools, whose results can only be told by reading them.

The thing, its tool, the fields of the result, their keys and the notation of each value are drawn
for every dialogue (`dlm.datagen.results.composed_fields`), and so is what is asked: one field, two,
all, a comparison, whether something is true, what the result lacks; then more about the same
result. A result is an object, flat or nested, a list (`dlm.datagen.results.composed_lists`), one
value, prose, an error or nothing.
"""

from __future__ import annotations

import dataclasses
import itertools
import re
from collections.abc import Callable, Sequence
from random import Random
from typing import Any

from dlm.datagen.language.noise import Style, draw_style
from dlm.datagen.language.phrases import template
from dlm.datagen.results import composed_lists
from dlm.datagen.results.composed_fields import (
    GROUPS,
    TABLE,
    Field,
    any_noun,
    clause,
    code_field,
    draw_field,
    drawn,
    key_words,
    phrase,
    sentences,
)
from dlm.datagen.results.composed_talk import (
    LACKING,
    TELL,
    WORDS,
    Asked,
    Talk,
    Tool,
    fill,
    spoken,
)
from dlm.datagen.tools.catalog import Written
from dlm.datagen.tools.world import capital, title
from dlm.datagen.values.result_values import (
    WORDING,
    Row,
    Value,
    as_json,
    asked_hour,
    asked_limit,
    plain_text,
    state,
    wrapped,
    written_key,
)
from dlm.datagen.values.slots import Values

ASK = TABLE.ask
_OTHERS = (0, 1, 1, 2, 3)
"""Numbers of declared tools that nobody asks for, to draw from."""
_ROUNDS = {"train": (1, 1, 1, 2, 2), "heldout": (1,)}
_MORE = (0, 1, 1, 2, 2, 3)
"""Numbers of questions and remarks after a result, to draw from."""
_FAILS, _EMPTY, _MISSING = 0.1, 0.05, 0.1
"""Shares of calls that fail, of empty results, and of empty fields."""
_TEXTS = (("; ", ": "), (", ", "="), ("\n", ": "), (" | ", ": "), ("\n", " = "))
"""Separators of fields, and of key and value, in results that are not JSON."""
_NOTHING = ("{}", "null", "[]", "", "None", '{"result": null}', "no result")
_CASES = ("snake", "snake", "camel", "pascal", "kebab", "words")


# Things


@dataclasses.dataclass(slots=True)
class Shown:
    """A thing with what its result says.

    Attributes:
        pairs: Fields with their values; None for one that is empty or missing.
        extras: Key → value of what is in the result besides its fields.
        layout: Seed of keys and shape, so that another result of the tool looks the same. Negative
            if the result is just the value of its only field.
        named: How the agent refers to the thing.
        lead: What a deed's result has to show success.
        asked: Words of the fields that were asked for.
    """

    tool: Tool
    pairs: list[tuple[Field, Value | None]]
    extras: Row
    layout: int
    named: str = "it"
    lead: Row = dataclasses.field(default_factory=dict)
    asked: set[str] = dataclasses.field(default_factory=set)

    @property
    def told(self) -> list[tuple[Field, Value]]:
        """The fields that have a value."""
        return [(field, value) for field, value in self.pairs if value is not None]

    @property
    def prose(self) -> bool:
        """Whether the result is prose."""
        return self.layout % 10 == 0 and not self.lead


def write(
    rng: Random, values: Values, split: str, style: Style | None = None, ease: bool = False
) -> Written:
    """A dialogue; the arguments are those of `dlm.datagen.results.facts.write`."""
    talk = Talk(rng, values, split, style or draw_style(rng), ease)
    for _ in range(rng.choice(_ROUNDS[split])):
        rng.choices((_thing, composed_lists.write, _deed, _single), (46, 28, 15, 11))[0](talk)
    if not talk.messages:
        _thing(talk)
    for _ in range(rng.choice(_OTHERS)):
        talk.tool(rng.choice(("tool", "list")))
    rng.shuffle(talk.specs)
    return talk.specs, talk.messages


def _thing(talk: Talk) -> None:
    """The user asks about a thing, and the result has several fields."""
    tool = talk.tool("tool")
    fields: list[Field] = []
    while not fields:
        fields = _fields(talk, tool, talk.rng.choice((2, 2, 3, 3, 4, 5, 6)))
    shown = Shown(tool, _drawn(talk, fields), _extras(talk.rng, fields), talk.rng.getrandbits(32))
    _converse(talk, shown, _question(talk, shown), TELL["failed"])


def _single(talk: Talk) -> None:
    """The user asks for one field, and the result is just its value."""
    rng, group = talk.rng, talk.rng.choice(GROUPS)
    field = draw_field(rng, group, talk.split, (), _SINGLE)
    if field is None:
        return
    value = drawn(field.spec, rng, talk.values)
    about = "Whether a NOUN is W." if field.type == "flag" else "Whether a NOUN has AN W."
    about = field.worded(about if field.spec == "bool" else talk.pick(WORDS["about_one"]))
    if value.unit and not isinstance(value.raw, str | dict):
        about += f" In {value.unit.many}."
    tool = talk.tool("tool", field.words.replace("-", " ").split(), about, group)
    shown = Shown(tool, [(field, value)], {}, -1)
    _converse(talk, shown, _one(talk, shown, False), TELL["failed"])


def _deed(talk: Talk) -> None:
    """The user has something done, and the result mostly has a number for it."""
    rng, group = talk.rng, talk.rng.choice(GROUPS)
    verb, done = rng.choice(TABLE.deeds[group]).split()

    def worded(source: str) -> str:
        return source.replace("VERB", verb).replace("DONE", done)

    tool = talk.tool("deed", (verb,), worded(talk.pick(WORDS["about_deed"])), group)
    code = code_field(rng.choice(WORDS["codes"]))
    number = drawn("mark", rng, talk.values) if rng.random() < 0.8 else None
    fields = _fields(talk, tool, rng.choice((0, 1, 1, 2)), _DEED_KINDS)
    key, _, raw = worded(rng.choice(WORDS["successes"])).partition("=")
    lead = {key: True if raw == "true" else raw}
    extras, layout = _extras(rng, fields), rng.getrandbits(32)
    shown = Shown(tool, [(code, number), *_drawn(talk, fields)], extras, layout, "it", lead)
    reply = worded(talk.pick(TELL["done"]))
    needed: tuple[str, ...] = (done,)
    if number is not None:
        told = code.worded(talk.pick(TELL["code"])).replace("{v}", number.said)
        reply = told.replace("{done}", reply).replace("{comma}", reply.rstrip("."))
        needed = (done, number.said)
        shown.asked.add(code.words)
    asked = Asked(worded(talk.pick(ASK["deed"])), reply, needed)
    if rng.random() < 0.08:
        heard = _begin(talk, shown, asked)
        waiting = state(rng.choice(WORDING["states"]), rng)
        talk.call(tool, heard, as_json({rng.choice(("status", "state")): waiting.raw}, rng))
        pending = rng.choice(WORDING["pending"]).replace("{state}", waiting.said)
        talk.tell(re.sub(r"\bIT\b", shown.named, pending), (waiting.said,))
        return
    _converse(talk, shown, asked, list(map(worded, TELL["undone"])), worded(TELL["done_yes"][0]))


_DEED_KINDS = ("date", "clock", "moment", "money", "place", "span", "person", "street")
_SINGLE = (
    "size", "measure", "money", "count", "flag", "has", "status", "person", "date", "code",
    "choice", "place", "clock", "rating",
)  # fmt: skip


def _fields(talk: Talk, tool: Tool, count: int, kinds: Sequence[str] = ()) -> list[Field]:
    found: list[Field] = []
    for _ in range(count):
        made = draw_field(talk.rng, tool.group, talk.split, found, kinds)
        if made is not None:
            found.append(made)
    return found


def _drawn(talk: Talk, fields: Sequence[Field]) -> list[tuple[Field, Value | None]]:
    """Values for fields, some of them missing; the first always has one."""
    found: list[tuple[Field, Value | None]] = []
    for made in fields:
        none = found and talk.rng.random() < _MISSING and made.spec != "bool"
        found.append((made, None if none else drawn(made.spec, talk.rng, talk.values)))
    return found


def _begin(talk: Talk, shown: Shown, asked: Asked) -> dict[str, str]:
    """The user asks about the thing by its name."""
    tool = shown.tool
    slots = dict(asked.slots) | ({"x": talk.slot(tool)} if tool.kind else {})
    heard = talk.ask(re.sub(r"\bIT\b", tool.say, asked.ask), slots)
    x = heard.get("x", "")
    proper = tool.kind in ("names", "place")
    shown.named = tool.named.replace("{x}", title(x) if proper else x)
    return heard


def _converse(
    talk: Talk, shown: Shown, asked: Asked | None, fails: Sequence[str], done: str = ""
) -> None:
    """The first question, its answer, and more questions about the result.

    Args:
        done: For a deed, how the agent confirms once more that it was done.
    """
    assert asked is not None, "the first field has a value"
    rng, tool, roll = talk.rng, shown.tool, talk.rng.random()
    heard = _begin(talk, shown, asked)
    if roll < _FAILS:
        talk.fail(tool, heard, [re.sub(r"\bIT\b", "it", form) for form in fails])
        return
    if roll < _FAILS + _EMPTY and not done:
        talk.call(tool, heard, rng.choice(_NOTHING))
        talk.tell(talk.pick(TELL["none"]).replace("IT", shown.named), (LACKING,))
        return
    talk.call(tool, heard, _written(talk, shown))
    _answer(talk, shown, asked)
    for _ in range(rng.choice(_MORE if len(shown.pairs) > 1 else _MORE[:3])):
        roll = rng.random()
        if roll < 0.14:
            talk.thank()
            return
        if done and roll < 0.4:
            talk.ask(talk.pick(ASK["did_it"]), {}, True)
            talk.tell(re.sub(r"\bIT\b", "it", done), ("yes",))
        elif roll < 0.28 and tool.kind and not done and shown.layout >= 0:
            if not _same(talk, shown, asked):
                return
        elif more := _question(talk, shown, True):
            asked = more
            talk.ask(again(asked.ask, rng), asked.slots, True)
            _answer(talk, shown, asked)


def _answer(talk: Talk, shown: Shown, asked: Asked) -> None:
    first = talk.messages[-1]["role"] == "tool"
    named = shown.named if first or talk.rng.random() < 0.1 else "it"
    reply = asked.reply.replace(" of IT", f" of {named}" if named != "it" else "")
    talk.tell(re.sub(r"\bIT\b", named, reply), asked.values)


def _same(talk: Talk, shown: Shown, asked: Asked) -> bool:
    """The user asks the same about another thing, whose result has the same fields."""
    shown.pairs = _drawn(talk, [field for field, _ in shown.pairs])
    shown.extras, shown.asked = _extras(talk.rng, [field for field, _ in shown.pairs]), set()
    then = _all(talk, shown, False) if asked.about == "all" else None
    if asked.about in {field.words for field, _ in shown.told}:
        then = _one(talk, shown, False, asked.about)
    if then is None:
        return False
    heard = _begin(talk, shown, Asked(talk.rng.choice(WORDING["same"]), "", ()))
    talk.call(shown.tool, heard, _written(talk, shown))
    _answer(talk, shown, then)
    return True


def again(source: str, rng: Random) -> str:
    """A question, reworded to be about what was just spoken of."""
    source = re.sub(r" (?:of|for|with|on|about|in) IT\b", "", source.lstrip("!"))
    source = re.sub(r"\bIT\b", "it", source)
    lone = source.endswith("?") and not source.startswith(("and ", "so ", "sorry ", "okay "))
    return f"and {source}" if lone and rng.random() < 0.25 else source


# Questions about a thing


def _question(talk: Talk, shown: Shown, more: bool = False) -> Asked | None:
    for _ in range(30):
        make = talk.rng.choices(list(_QUESTIONS), [w[more] for w in _QUESTIONS.values()])[0]
        found = make(talk, shown, more)
        if found is not None:
            return found
    return None


def _one(talk: Talk, shown: Shown, more: bool, about: str = "") -> Asked | None:
    """A question for one field; None if all were asked for, except that some are asked again."""
    rng, told = talk.rng, shown.told
    left = [pair for pair in told if pair[0].words not in shown.asked]
    if not left and not about:
        if not told or (more and rng.random() < 0.8):
            return None
        left = told
    field, value = next((p for p in told if p[0].words == about), None) or rng.choice(left)
    source = talk.pick(field.form.ask)
    if field.named and more and field.words in shown.asked:
        source = talk.pick(ASK["repeat"])
    elif field.named and rng.random() < 0.5:
        source = talk.pick(ASK["more" if more else "any"])
    shown.asked.add(field.words)
    held = ("yes" if value.size else "no") if field.spec == "bool" else field.said(value)
    return Asked(field.worded(source), sentences(field, value, rng), (held,), {}, field.words)


def _two(talk: Talk, shown: Shown, more: bool) -> Asked | None:
    """A question for two fields, of which the result may lack one."""
    rng, named = talk.rng, [pair for pair in shown.told if pair[0].named]
    if not named:
        return None
    field, value = rng.choice(named)
    other = next((pair for pair in rng.sample(named, len(named)) if pair[0] != field), None)
    others = [f for f, _ in shown.pairs] if rng.random() < 0.3 else []
    lacks = draw_field(rng, shown.tool.group, talk.split, others) if others else None
    source = talk.pick(ASK["two_more" if more else "two"])
    told = f"{field.what} {phrase(field, value, rng)}"
    if lacks is not None and lacks.named:
        both = [field.what, lacks.what]
        reply = fill(talk.pick(TELL["known_else"]), told=told, what=lacks.what)
        needed: tuple[str, ...] = (field.said(value), LACKING)
    elif other is not None:
        both = [field.what, other[0].what]
        reply = whole([(field, value), other], rng)
        needed = (field.said(value), other[0].said(other[1]))
    else:
        return None
    order = both if rng.random() < 0.6 else both[::-1]
    return Asked(fill(source, W1=order[0], W2=order[1]), capital(reply), needed)


def _all(talk: Talk, shown: Shown, more: bool) -> Asked | None:
    """A question for everything."""
    if more or len(shown.told) > 4:
        return None
    held = [f.words if f.spec == "bool" else f.said(v).rstrip(".") for f, v in shown.told]
    shown.asked |= {field.words for field, _ in shown.told}
    return Asked(talk.pick(ASK["all"]), whole(shown.told, talk.rng), tuple(held), {}, "all")


def whole(told: Sequence[tuple[Field, Value]], rng: Random) -> str:
    """Sentences that tell some fields, beginning with those whose subject is the thing."""
    verbs: list[str] = []
    phrases: list[str] = []
    last: list[str] = []
    for field, value in told:
        verb = clause(field, value, rng)
        often = len(verbs) < 2 and rng.random() < 0.75
        if verb and (field.spec == "bool" or field.type == "room" or often):
            verbs.append(verb)
        elif field.named:
            phrases.append(f"{field.what} {phrase(field, value, rng)}")
        else:
            last.append(f"{field.what} {phrase(field, value, rng)}")
    lines = []
    for at in range(0, len(verbs), 2):
        first, *second = verbs[at : at + 2]
        if first.startswith("has ") and not first.startswith("has no "):
            second = [re.sub(r"^has (?!no )", "", verb) for verb in second]
        lines.append(" and ".join((first, *second)))
    parts = [f"{'it' if at else 'IT'} {line}" for at, line in enumerate(lines)]
    if phrases and not parts:
        parts.append(re.sub(r"^(the .+?) (is|comes) ", r"\1 of IT \2 ", phrases.pop(0), count=1))
        if phrases:
            parts[0] += f" and {phrases.pop(0)}"
    parts += [" and ".join(phrases[at : at + 2]) for at in range(0, len(phrases), 2)]
    return " ".join(f"{capital(part)}." for part in (*parts, *last))


def _limit(talk: Talk, shown: Shown, more: bool) -> Asked | None:
    """Whether a number or a time is above or below another."""
    rng = talk.rng
    fits = [(f, v) for f, v in shown.told if f.measured and v.size is not None]
    if not fits:
        return None
    field, value = rng.choice(fits)
    timed = field.type == "clock"
    said, size = (asked_hour if timed else asked_limit)(value, rng, talk.style.digits)
    over = rng.random() < 0.5
    forms = ("before", "after") if timed else ("below", "above")
    assert value.size is not None
    right = value.size > size if over else value.size < size
    source = fill(_read(rng.choice(WORDING[forms[over]]), rng), what=field.what)
    told = rng.choice((f"{field.what} {phrase(field, value, rng)}", f"it's {value.said}"))
    reply = f"{'Yes' if right else 'No'}, {told}."
    return Asked(source, reply, ("yes" if right else "no", value.said), {"limit": said})


def _is_it(talk: Talk, shown: Shown, more: bool) -> Asked | None:
    """Whether a field has some value."""
    rng = talk.rng
    fits = [(f, v) for f, v in shown.told if f.type in _STATED]
    if not fits:
        return None
    field, value = rng.choice(fits)
    other = value if rng.random() < 0.45 else drawn(field.spec, rng, talk.values)
    told = field.worded(rng.choice(("the W is {v}", "it's {v}"))).replace("{v}", value.said)
    reply = f"{'Yes' if other.said == value.said else 'No'}, {told}."
    held = "yes" if other.said == value.said else "no"
    source = field.worded(talk.pick(ASK["is_it"]))
    return Asked(source.replace("V", "{v}"), reply, (held, value.said), {"v": other.said})


_STATED = ("status", "choice", "brand", "place", "person")


def _higher(talk: Talk, shown: Shown, more: bool) -> Asked | None:
    """Which of two similar fields has the higher value."""
    rng, told = talk.rng, shown.told
    ordered = [(f, v) for f, v in told if f.measured and f.type != "clock" and v.size is not None]
    pairs = [
        (a, b)
        for a, b in itertools.permutations(ordered, 2)
        if (a[0].head, a[0].type, a[1].unit) == (b[0].head, b[0].type, b[1].unit)
        and (a[1].size or 0) > (b[1].size or 0)
    ]
    if not pairs:
        return None
    (one, high), (two, low) = rng.choice(pairs)
    more_word = "bigger" if one.type == "size" else "higher"
    source = talk.pick(ASK["bigger"]).replace("MORE", more_word)
    names = {"w1": one.what, "w2": two.what, "v1": high.said, "v2": low.said}
    first, second = (one, two) if rng.random() < 0.5 else (two, one)
    if source.startswith("is "):
        right = first is one
        reply = talk.pick(TELL["bigger_yes" if right else "bigger_no"])
        needed: tuple[str, ...] = ("yes" if right else "no",)
    else:
        reply, needed = talk.pick(TELL["bigger"]), (one.what.removeprefix("the "), high.said)
    reply = fill(reply.replace("MORE", more_word), **names)
    return Asked(fill(source, W1=first.what, W2=second.what), reply, needed)


def _absent(talk: Talk, shown: Shown, more: bool) -> Asked | None:
    """A question for a field that the result lacks, or that is empty in it."""
    rng = talk.rng
    empty = [field for field, value in shown.pairs if value is None]
    known = [field for field, _ in shown.pairs]
    field = draw_field(rng, shown.tool.group, talk.split, known) if not empty else rng.choice(empty)
    if field is None or field.type == "list":
        return None
    asks = ASK["more" if more else "any"]
    source = talk.pick(asks if field.named and rng.random() < 0.6 else field.form.ask)
    forms, what = TELL["unknown"], field.what
    if field.spec == "bool":
        forms = TELL["unknown_flag"]
        what = field.worded("it's W" if field.type == "flag" else "it has AN W")
    return Asked(field.worded(source), fill(talk.pick(forms), what=what), (LACKING,))


def _extra(talk: Talk, shown: Shown, more: bool) -> Asked | None:
    """A question for one of the extras, which are rarely asked for."""
    name = next((name for name in WORDS["asked_extras"] if name in shown.extras), "")
    if not name or shown.prose:
        return None
    field, said = code_field(name), str(shown.extras[name])
    source = field.worded(talk.pick(ASK["more" if more else "any"]))
    return Asked(source, sentences(field, Value(said, said), talk.rng), (said,))


_QUESTIONS: dict[Callable[[Talk, Shown, bool], Asked | None], tuple[int, int]] = {
    _one: (44, 52),
    _two: (14, 8),
    _all: (24, 0),
    _limit: (5, 10),
    _is_it: (5, 9),
    _higher: (8, 8),
    _absent: (7, 12),
    _extra: (1, 3),
}
"""Questions, with their weights at the beginning of a dialogue and later in it."""


def _read(source: str, rng: Random) -> str:
    """A reading of a phrasing with options, with its slots kept."""
    return "".join(f"{{{p.slot}}}" if p.slot else p.text for p in template(source).expand(rng))


# Results


def _extras(rng: Random, fields: Sequence[Field]) -> Row:
    """Extra content of a result, with keys unlike the names of its fields."""
    names = rng.sample(WORDS["extras"], rng.choice((0, 0, 1, 1, 2, 3, 4)))
    words = {word for field in fields for word in field.words.split()}
    left = [name for name in names if name.split("_")[0] not in words]
    return {name: _EXTRAS.get(name, _EXTRAS["hash"])(rng) for name in left}


def _url(rng: Random) -> str:
    return f"https://{any_noun(rng).replace(' ', '')}.example/{rng.randint(1, 999)}"


def _stamp(rng: Random) -> str | int:
    day = f"2026-0{rng.randint(1, 9)}-{rng.randint(10, 28)}T0{rng.randint(0, 9)}:15:00Z"
    return rng.choice((day, 1764000000 + rng.randrange(9999999)))


_EXTRAS: dict[str, Callable[[Random], Any]] = {
    "id": lambda rng: rng.choice((rng.randint(100, 99999), f"T{rng.randint(10, 9999)}")),
    "url": _url,
    "link": _url,
    "version": lambda rng: rng.choice((rng.randint(1, 30), round(rng.uniform(0, 9), 1))),
    "created_ts": _stamp,
    "updated_ts": _stamp,
    "cached": lambda rng: rng.random() < 0.5,
    "source": lambda rng: rng.choice(("api", "cache", "db", "import", "sync", "live", "mirror")),
    "locale": lambda rng: rng.choice(("en", "en-US", "en-GB")),
    "ttl": lambda rng: 60 * rng.randint(1, 60),
    "hash": lambda rng: f"{rng.getrandbits(32):x}",
}


def _written(talk: Talk, shown: Shown) -> str:
    """The text of a result."""
    rng, told = Random(shown.layout), shown.told
    if shown.layout < 0:
        raw = told[0][1].raw
        return plain_text(raw) if talk.rng.random() < 0.8 else as_json({"value": raw}, talk.rng)
    if shown.prose:
        text = " ".join(whole([pair], rng) for pair in rng.sample(told, len(told)))
        text = re.sub(r"\bIT\b", shown.named, text, count=1)
        return spoken(text.replace(" of IT", "").replace("IT", "it"))
    roll, case, (joint, sign) = rng.random(), rng.choice(_CASES), rng.choice(_TEXTS)
    nested, at = rng.random() < 0.35, rng.choice((0, -1))
    keys = [key_words(made, rng) for made, _ in shown.pairs]
    if len(set(map(tuple, keys))) < len(keys):
        keys = [made.words.split() for made, _ in shown.pairs]
    rng, pairs = talk.rng, [([name], "", raw) for name, raw in (shown.extras | shown.lead).items()]
    for words, (_, value) in zip(keys, shown.pairs, strict=True):
        if value is not None:
            pairs.append((words, value.suffix, value.raw))
        elif rng.random() < 0.7:
            pairs.append((words, "", rng.choice((None, None, "", "n/a", "unknown"))))
    rng.shuffle(pairs)
    flat = {written_key("_".join(words), suffix, case): raw for words, suffix, raw in pairs}
    if roll < 0.1 and not any(isinstance(raw, dict) for raw in flat.values()):
        lines = {k: ", ".join(v) if isinstance(v, list) else plain_text(v) for k, v in flat.items()}
        return joint.join(f"{key}{sign}{text}" for key, text in lines.items())
    return as_json(wrapped(_nested(pairs, case, at) if nested else flat, rng), rng)


def _nested(pairs: Sequence[tuple[list[str], str, Any]], case: str, at: int) -> Row:
    """Fields nested under the words before their last one, or (``at`` not 0) under the last."""
    single = {words[0] for words, _, _ in pairs if len(words) == 1}
    found: Row = {}
    for words, suffix, raw in pairs:
        outer, inner = (words[:-1], words[-1:]) if at == 0 else (words[-1:], words[:-1])
        if words[1:] and single.isdisjoint(outer) and _JOINTS.isdisjoint(words):
            found.setdefault(written_key("_".join(outer), "", case), {})[
                written_key("_".join(inner), suffix, case)
            ] = raw
        else:
            found[written_key("_".join(words), suffix, case)] = raw
    return found


_JOINTS = frozenset(
    ("by", "on", "at", "from", "to", "until", "of", "in", "num", "number", "is", "error")
)
"""Words that prevent nesting, since they mean nothing apart from the rest of a key."""

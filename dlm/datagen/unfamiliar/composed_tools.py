"""Composes random tools from things, actions and parameters, as examples of unseen tools.

A tool is composed anew for each dialogue, with its name, description, parameters, requests for it,
results and replies. Things whose hash marks them as unseen occur only in the held-out split, along
with tools that training makes as well. The tables are ``data/composed_tools.toml`` and
``data/nouns.toml``; the latter has so many things that they cannot be learned by heart, and all of
it is for training, except what is kept unseen.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from random import Random

from dlm.datagen.holdout import held_out, unseen
from dlm.datagen.language.phrases import Piece, fill, polite, template
from dlm.datagen.language.spoken_values import WEEKDAYS
from dlm.datagen.language.tables import read
from dlm.datagen.tools.catalog import Spec
from dlm.datagen.tools.descriptions import described
from dlm.datagen.tools.renaming import styled
from dlm.datagen.tools.world import Arguments, Result, capital, drawn_clock, failure
from dlm.datagen.values.made_up import pseudo_word, salad
from dlm.datagen.values.slots import Values


@dataclass(frozen=True, slots=True)
class Action:
    """What can be done with the things of a group.

    Attributes:
        verbs: First words of tool names.
        say: Requests; results and replies share fields.
        kinds: Kinds of parameters that may come on top of those in the requests.
    """

    group: str
    name: str
    verbs: tuple[str, ...]
    say: tuple[str, ...]
    results: tuple[str, ...]
    replies: tuple[str, ...]
    kinds: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of parameter.

    Attributes:
        value: The kind of its values.
        said: Phrasings of a value.
        names: Names that a parameter of this kind may have.
        type: "integer" or "boolean" if values need not be strings.
        about: What descriptions say; ``{noun}`` is the tool's thing.
    """

    value: str
    said: tuple[str, ...]
    names: tuple[str, ...]
    type: str = ""
    about: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class _Reference:
    say: tuple[str, ...]
    names: tuple[str, ...]
    about: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Table:
    reference: dict[str, _Reference]
    no_reference: tuple[str, ...]
    descriptions: tuple[str, ...]
    needs: tuple[str, ...]
    no_verbs: tuple[str, ...]
    spoken_verbs: dict[str, str]
    plurals: tuple[str, ...]
    irregular: dict[str, str]
    things: dict[str, tuple[str, ...]]
    action: tuple[Action, ...]
    kinds: dict[str, Kind]
    states: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Nouns:
    modifiers: tuple[str, ...]
    verbs: tuple[str, ...]
    say: tuple[str, ...]
    results: tuple[str, ...]
    replies: tuple[str, ...]
    kinds: tuple[str, ...]
    heads: dict[str, tuple[str, ...]]


_TABLE = read("composed_tools", _Table)
_NOUNS = read("nouns", _Nouns)
ACTIONS = _TABLE.action
KINDS = _TABLE.kinds
THINGS = {
    group: tuple(tuple(names.split()) for names in things)
    for group, things in _TABLE.things.items()
}
"""Group → the names of each of its things."""
_SEEN_GROUPS = [group for group in THINGS if group != "offer"]
"""Groups that keep some of their things for the held-out split."""
_SHORT = 0.3
"""Share of compounds that also go by their last word."""
_OTHER = 0.4
"""Share of things that get another thing's name as a synonym, which must be read to be known."""

ANY = "any"
"""The group of plain actions, which apply to things of all kinds."""
_PLAIN_ACTIONS = 0.3
"""Share of plain actions among tools that are not kin to another, in training."""
_TIMES = {"when", "day"}
"""A request has only one of these: "tomorrow at five" and "on monday" contradict each other."""
_BY_GROUP = {g: tuple(a for a in ACTIONS if a.group == g) for g in THINGS}


@dataclass(frozen=True, slots=True)
class ComposedTool:
    """A composed tool.

    Attributes:
        spec: The tool as it is declared.
        action: What it does.
        thing: All names of the thing that it is about.
        noun: The name that users say.
        kinds: Parameter name → its kind, or "ref"; in schema order.
        ref: Kind of the value that identifies one of the things; empty if nothing does.
        ability: Completes "I can't ...".
    """

    spec: Spec
    action: Action
    thing: tuple[str, ...]
    noun: str
    kinds: dict[str, str]
    ref: str
    ability: str

    @property
    def name(self) -> str:
        """The tool's name."""
        return str(self.spec["name"])


def compose(
    rng: Random, split: str, like: ComposedTool | None = None, style: str = "snake"
) -> ComposedTool:
    """A random tool.

    Args:
        split: "train", or "heldout" for things that training never shows.
        like: A tool that this one should be easily confused with: they share the thing, the action
            or the thing's last word.
        style: Style of its name, for `dlm.datagen.tools.renaming.styled`.
    """
    action, thing, said = _kin(rng, like, split) if like else _fresh(rng, split)
    shown = rng.choice(thing)
    ref = rng.choice(list(_TABLE.reference)) if any("REF" in s for s in action.say) else ""
    kinds = _parameters(rng, action, ref, shown)
    several = action.name == "list" and rng.random() < 0.7
    words = _name(rng, action, plural(shown) if several else shown, split)
    name = styled(words, style)
    # The word that users say must be in the name or the description, or it could only be guessed.
    told = said if shown.replace("_", " ") != said else rng.choice(thing)
    description = _description(rng, rng.choice(action.verbs), told, list(kinds))
    spec = {"name": name, "description": description, "parameters": _schema(rng, action, kinds)}
    spec = described(spec, _about(kinds, ref, told.replace("_", " ")))
    ability = f"{_able(rng, action)} {plural(said)}".replace("_", " ")
    return ComposedTool(spec, action, thing, said, kinds, ref, ability)


def _able(rng: Random, action: Action) -> str:
    """A verb of the action that follows "I can't"."""
    verb = rng.choice([v for v in action.verbs if v not in _TABLE.no_verbs] or ["do that with"])
    return _TABLE.spoken_verbs.get(verb, verb)


def _fresh(rng: Random, split: str) -> tuple[Action, tuple[str, ...], str]:
    """An action, a thing for it, and the name of the thing that users say."""
    if split == "train" and rng.random() < _PLAIN_ACTIONS:
        action = rng.choice(plain_actions())
    else:
        groups = list(THINGS) if split == "train" else _SEEN_GROUPS
        action = rng.choice(_BY_GROUP[rng.choice(groups)])
    thing = draw_thing(rng, action.group, split)
    return action, thing, rng.choice(thing).replace("_", " ")


def _kin(rng: Random, like: ComposedTool, split: str) -> tuple[Action, tuple[str, ...], str]:
    """The same for a tool similar to another; in the held-out split it is about the same thing."""
    group, roll = like.action.group, rng.random()
    if split == "train" and roll < 0.3:
        thing = draw_thing(rng, group, split)
        return like.action, thing, rng.choice(thing).replace("_", " ")
    if group == ANY:
        action = rng.choice(plain_actions())
    else:
        action = rng.choice([a for a in _BY_GROUP[group] if a != like.action])
    if split == "train" and roll < 0.45:
        thing = related_thing(rng, like.noun.replace(" ", "_"))
        return rng.choice((action, like.action)), thing, thing[0].replace("_", " ")
    return action, like.thing, like.noun


def _name(rng: Random, action: Action, noun: str, split: str) -> list[str]:
    """The words of a name; in training never a name that is held out."""
    while True:
        words = [rng.choice(action.verbs), noun]
        if rng.random() < 0.12:
            words.reverse()
        if rng.random() < 0.06:
            words.insert(0, rng.choice(("my", "app", "v2", "api", "do", "user", "home")))
        words = "_".join(words).split("_")
        if split == "heldout" or not held_out("_".join(words)):
            return words
        noun = noun if len(action.verbs) > 1 else f"the_{noun}"


def _parameters(rng: Random, action: Action, ref: str, noun: str) -> dict[str, str]:
    """Parameter name → kind: those that requests have, and some additional ones."""
    said = {slot for s in action.say for slot in template(s).slots}
    kinds = [slot.rstrip("*") for slot in sorted(said)]
    found: dict[str, str] = {}
    if ref:
        name = rng.choice(_TABLE.reference[ref].names).format(noun=noun.split("_")[-1])
        found[name] = "ref"
    extra = [k for k in action.kinds if k not in kinds]
    size = rng.choice((0, 1, 1, 2, 2, 3, 4)) if extra else 0
    for kind in [*kinds, *rng.sample(extra, min(size, len(extra)))]:
        options = [n for n in KINDS[kind].names if n not in found]
        found[rng.choice(options or [f"{kind}_2"])] = kind
    order = list(found)
    if rng.random() < 0.4:
        rng.shuffle(order)
    return {name: found[name] for name in order}


def _schema(rng: Random, action: Action, kinds: dict[str, str]) -> Spec:
    always = {slot.rstrip("*") for s in action.say for slot in template(s).slots}
    properties: dict[str, Spec] = {}
    for name, kind in kinds.items():
        value, typed = KINDS[kind].value, KINDS[kind].type
        if typed == "boolean" or (typed and rng.random() < 0.5):
            properties[name] = {"type": typed}
            continue
        listed = {"enum": value.split("|")} if "|" in value and rng.random() < 0.7 else {}
        properties[name] = {"type": "string", **listed}
    required = [n for n, kind in kinds.items() if kind in always]
    return {"type": "object", "properties": properties, "required": required}


def _about(kinds: dict[str, str], ref: str, noun: str) -> dict[str, list[str]]:
    """Parameter → what descriptions say about it."""
    found = {
        name: _TABLE.reference[ref].about if kind == "ref" else KINDS[kind].about
        for name, kind in kinds.items()
    }
    return {name: [text.format(noun=noun) for text in told] for name, told in found.items()}


def _description(rng: Random, verb: str, noun: str, keys: list[str]) -> str:
    verb, noun = verb.replace("_", " "), noun.replace("_", " ")
    form, many = rng.choice(_TABLE.descriptions), plural(noun)
    if noun[0] in "aeio":
        form = form.replace(" a {noun}", " an {noun}")
    for mark, several in (("{noun}s", many), ("{Noun}s", capital(many))):
        form = form.replace(mark, several)
    told = form.format(verb=verb, noun=noun, Verb=capital(verb), Noun=capital(noun))
    if not keys or rng.random() > 0.1:
        return told
    named = " and ".join(key.replace("_", " ") for key in keys[:3])
    return told.rstrip(".") + "." + rng.choice(_TABLE.needs).format(keys=named)


def request(tool: ComposedTool, rng: Random, values: Values, digits: bool) -> list[Piece]:
    """What a user says for a tool, cut into pieces whose slots are parameters."""
    source = rng.choice(tool.action.say)
    by_kind = {kind: name for name, kind in tool.kinds.items()}
    if tool.ref:
        known = "ref" in by_kind and rng.random() < 0.8
        forms = _TABLE.reference[tool.ref].say if known else _TABLE.no_reference
        source = source.replace("REF", rng.choice(forms))
    source = _named(source, tool)
    pieces = [Piece(p.text, p.slot.rstrip("*")) for p in template(source.lstrip("!")).expand(rng)]
    if source.startswith("!"):
        pieces = polite(rng, pieces)
    used = {p.slot for p in pieces if p.slot}
    extra = [k for k in tool.kinds.values() if k not in used and k not in ("ref", "value")]
    for kind in rng.sample(extra, rng.choice((0, 1, 1, 2, 2, 3)) if len(extra) > 2 else len(extra)):
        if rng.random() < 0.25 or (kind in _TIMES and used & _TIMES):
            continue
        used.add(kind)
        phrase = template(rng.choice(KINDS[kind].said).replace("{}", f"{{{kind}}}"))
        added = [Piece(" "), *phrase.expand(rng)]
        front = kind in ("when", "day") and rng.random() < 0.15 and not source.endswith("?")
        pieces = [*added, Piece(" "), *pieces] if front else [*pieces, *added]
    for at, (_, kind) in enumerate(pieces):
        if kind:
            key = by_kind[kind]
            pieces[at] = Piece(given(tool, key, rng, values, digits), key)
    return pieces


def given(tool: ComposedTool, parameter: str, rng: Random, values: Values, digits: bool) -> str:
    """A value of a parameter."""
    kind = tool.kinds[parameter]
    if kind == "ref":
        return values.draw(tool.ref, rng, digits)
    drawn = KINDS[kind].value
    return values.draw("noun" if drawn == "salad" else drawn, rng, digits)


def answer(tool: ComposedTool, arguments: Arguments, rng: Random) -> Result:
    """What a tool returns; the result's fields are what replies may say."""
    if rng.random() < 0.06:
        return failure(f"The {tool.noun} was not found.")
    said = {k: str(arguments[n]) for n, k in tool.kinds.items() if n in arguments}
    fields = _fields(rng) | said
    fitting = [r for r in tool.action.results if _slots(r) <= fields.keys()]
    shown = rng.choice(fitting)
    text = capital(fill(_named(shown, tool), rng, fields))
    slots = _slots(shown)
    if slots and rng.random() < 0.15:
        text = json.dumps({"status": "ok"} | {k: fields[k] for k in sorted(slots)})
    own = {k: v for k, v in fields.items() if k in slots or k in said}
    return Result(text, "done", own | {"": shown})


def reply(tool: ComposedTool, result: Result, rng: Random) -> str:
    """What the agent says about a result, if possible everything that it tells."""
    shown = result.fields[""]
    if shown.startswith("No"):
        return capital(fill(_named(tool.action.replies[-1], tool), rng, {}))
    wanted = _slots(shown)
    options = [r for r in tool.action.replies if _slots(r) <= result.fields.keys()]
    exact = [r for r in options if _slots(r) & wanted == wanted and "found no" not in r]
    chosen = rng.choice([r for r in exact or options if "nothing" not in r] or [shown])
    return capital(fill(_named(chosen, tool), rng, result.fields))


def _named(source: str, tool: ComposedTool) -> str:
    text = source.replace("NOUNs", plural(tool.noun)).replace("NOUN", tool.noun)
    return text.replace(f" a {tool.noun}", f" an {tool.noun}") if tool.noun[0] in "aeio" else text


def _slots(source: str) -> frozenset[str]:
    return template(source).slots


def _fields(rng: Random) -> Arguments:
    words = [salad(rng) for _ in range(3)]
    return {
        "id": str(rng.choice((rng.randint(2, 60), rng.randint(100, 9999)))),
        "price": str(rng.randint(3, 900)) if rng.random() < 0.6 else f"{rng.uniform(3, 90):.2f}",
        "x": words[0], "y": words[1], "z": words[2], "state": rng.choice(_TABLE.states),
        "weekday": rng.choice(WEEKDAYS).title(),
        "clock": drawn_clock(rng),
    }  # fmt: skip


@cache
def heads(group: str) -> tuple[str, ...]:
    """Things of a group, in the notation of tool names; `ANY` has the things of all groups."""
    groups = list(_NOUNS.heads) if group == ANY else [group]
    found = dict.fromkeys(head for name in groups for head in _NOUNS.heads[name])
    return tuple(head for head in found if not kept(head))


@cache
def modifiers() -> tuple[str, ...]:
    """Words that may stand before a thing."""
    return tuple(m for m in _NOUNS.modifiers if not kept(m))


@cache
def plain_actions() -> tuple[Action, ...]:
    """Actions that combine any verb with any thing, so that only the words tell what is meant.

    Users say the verb of the tool's name, so that the model learns to match words.
    """
    found = []
    for verb in _NOUNS.verbs:
        if not kept(verb):
            say = tuple(form.replace("VERB", verb.replace("_", " ")) for form in _NOUNS.say)
            shown = _NOUNS.results, _NOUNS.replies, _NOUNS.kinds
            found.append(Action(ANY, verb, (verb,), say, *shown))
    return tuple(found)


def draw_thing(rng: Random, group: str, split: str) -> tuple[str, ...]:
    """All names of a random thing: one of the tables or the noun lists, a compound or a new word.

    In the held-out split it is one that the tables keep unseen. In training many things have a
    second name that no table has: only the tool's name and description show that both are the same,
    and that the "bedtime" of a bedtime story is not part of its title.
    """
    roll = rng.random()
    if split == "heldout" or (group != ANY and roll < 0.3):
        return rng.choice(_tables(group, split))
    head = rng.choice(heads(group))
    names = [head if roll < 0.5 else f"{rng.choice(modifiers())}_{head}"]
    if roll > 0.9:
        names = [pseudo_word(rng) if roll > 0.95 else f"{pseudo_word(rng)}_{head}"]
    second = rng.random()
    if second < _SHORT and names[0].endswith(f"_{head}"):
        names.append(head)
    elif second > 1 - _OTHER:
        names.append(rng.choice(heads(group)))
    return tuple(dict.fromkeys(names))


@cache
def _tables(group: str, split: str) -> tuple[tuple[str, ...], ...]:
    return tuple(t for t in THINGS[group] if unseen(t[0]) == (split == "heldout"))


def related_thing(rng: Random, name: str) -> tuple[str, ...]:
    """A thing whose name shares its last word with another: "garden chair" for "office chair"."""
    head = name.split("_")[-1]
    while (found := f"{rng.choice(modifiers())}_{head}") == name:
        pass
    return (found,)


def plural(noun: str) -> str:
    """The plural of a noun."""
    for one, several in _TABLE.irregular.items():
        if noun.endswith(one):
            return noun.removesuffix(one) + several
    if noun.endswith("y") and noun[-2:-1] not in tuple("aeiou"):
        return f"{noun[:-1]}ies"
    if noun.endswith(_TABLE.plurals):
        return noun
    return f"{noun}es" if noun.endswith(("s", "x", "ch", "sh", "tz")) else f"{noun}s"


def kept(name: str) -> bool:
    """Whether a thing, in the notation of tool names, is kept unseen or contains a word that is."""
    return name in _unseen() or any(word in _unseen() for word in name.split("_"))


@cache
def _unseen() -> frozenset[str]:
    """All names of things that the tables keep unseen, except words that other things share."""
    tables = [names for group in _SEEN_GROUPS for names in THINGS[group]]
    shown = {name for names in tables if not unseen(names[0]) for name in names}
    words = {word for name in shown for word in name.split("_")}
    hidden = {name for names in tables if unseen(names[0]) for name in names}
    return frozenset(hidden - shown - words)

"""How people may ask for a tool of which only the declaration is known, and perhaps some examples.

A request is a phrasing in the notation of `dlm.datagen.language.phrases`, whose slots are
parameters. Its words come from the tool's name, the first sentence of its description, the names
and types of its parameters, and ``dlm/datagen/data/declared_tools.toml``. Examples become phrasings
too, with a slot in place of each value.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from random import Random
from typing import Any

from dlm.datagen.language.phrases import is_order
from dlm.datagen.language.tables import read
from dlm.datagen.unfamiliar.composed_tools import KINDS, THINGS, plural
from dlm.language.identifiers import words
from dlm.language.schema import is_number, options
from dlm.language.spoken_numbers import figures, words_of
from dlm.teach.listed import Listed


@dataclass(frozen=True, slots=True)
class _Action:
    verbs: tuple[str, ...]
    say: tuple[str, ...]
    kind: str = ""


@dataclass(frozen=True, slots=True)
class _Named:
    names: tuple[str, ...]
    say: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Parameter:
    names: tuple[str, ...]
    say: tuple[str, ...]
    values: tuple[str, ...]
    changed: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class _Theme:
    verbs: tuple[str, ...]
    parameter: str
    say: tuple[str, ...]
    other: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Asked:
    names: tuple[str, ...]
    it: tuple[str, ...]
    of: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Key:
    number: tuple[str, ...]
    name: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Said:
    number: tuple[str, ...]
    set: tuple[str, ...]
    words: tuple[str, ...]
    list: tuple[str, ...]
    yes: tuple[str, ...]
    no: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Table:
    """``data/declared_tools.toml``."""

    anything: tuple[str, ...]
    option: tuple[str, ...]
    option_seen: tuple[str, ...]
    option_chosen: tuple[str, ...]
    same: dict[str, tuple[str, ...]]
    nothing: tuple[str, ...]
    nothing_answers: tuple[str, ...]
    before: tuple[str, ...]
    behind: tuple[str, ...]
    foreign: tuple[str, ...]
    foreign_answers: tuple[str, ...]
    aspect: tuple[str, ...]
    changed: tuple[str, ...]
    taken: tuple[str, ...]
    ends: tuple[str, ...]
    no_nouns: tuple[str, ...]
    whose: tuple[str, ...]
    keys: tuple[str, ...]
    units: tuple[str, ...]
    switches: tuple[str, ...]
    articles: tuple[str, ...]
    small: tuple[str, ...]
    theme: tuple[_Theme, ...]
    key: _Key
    said: _Said
    pair: tuple[_Named, ...]
    action: tuple[_Action, ...]
    asked: dict[str, _Asked]
    counted: dict[str, _Named]
    parameter: dict[str, _Parameter]


TABLE = read("declared_tools", Table)
_VERBS = {verb for action in TABLE.action for verb in action.verbs}


def _verbs_of(*kinds: str) -> frozenset[str]:
    return frozenset(v for action in TABLE.action if action.kind in kinds for v in action.verbs)


SEEING = _verbs_of("see")
"""Verbs of tools that report something and change nothing."""
_SETTING, _TAKING, _COUNTING = _verbs_of("set"), _verbs_of("take"), _verbs_of("count")
_MAKING = _verbs_of("make", "take")
_CHOOSING = SEEING | _MAKING | _SETTING | _verbs_of("switch")
"""Verbs of tools that people may ask for by an option's value: "turn it on", "show sold ones"."""
_CUT = re.compile(
    r"\s(?:by|with|using|based|from|given|for|in|via|to|where|when|which|that|and|or|if|so|as|at|on"
    r"|within|between|into|matching|including|along)\s|[,;:.(]"
)
_UNIT = re.compile(r"\b(?:in|number of) (?:the )?(?:unit of )?([a-z]{3,})\b")
_PART = re.compile(r"\b(first|last|top|next|latest) (?:n|x|number of) ([a-z]+)")
"""A number that counts a part: "the last N lines"."""


@dataclass(frozen=True, slots=True)
class Asking:
    """A tool with the words that people ask for it in.

    Attributes:
        verb: What is done, in the imperative: "fill".
        nouns: Names for the thing it is done to, the likeliest first; they are interchangeable.
        own: Phrasings made from examples.
        values: Parameter → its texts in examples.
        attached: Parameter → phrasings that add its value to the end of a request.
    """

    listed: Listed
    verb: str
    nouns: tuple[str, ...]
    own: tuple[str, ...] = ()
    values: Mapping[str, Sequence[str]] = field(default_factory=dict)
    attached: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    @classmethod
    def of(
        cls,
        listed: Listed,
        examples: Sequence[str] = (),
        values: Mapping[str, Sequence[str]] | None = None,
    ) -> Asking:
        """Make one from a tool, phrasings from its examples, and the values taken from those."""
        verb, named = _verb_and_noun(listed)
        found = dict.fromkeys([*named, *(s for n in named for s in _synonyms(n))])
        made = cls(listed, verb, tuple(found) or ("it",), tuple(examples), values or {})
        said = {name: tuple(made._said(name)) for name in listed.properties}
        return replace(made, attached=said)

    def heads(self) -> tuple[str, ...]:
        """Requests without the parameters that are added at their end."""
        found: dict[str, None] = {}
        option = self._option()
        if option and (self.verb in _CHOOSING or not sayings_of(self.verb)):
            making = TABLE.option_chosen if self.verb in _MAKING else TABLE.option
            forms = TABLE.option_seen if self.verb in SEEING else making
            found |= dict.fromkeys(form.replace("{}", f"{{{option}}}") for form in forms)
        if not found or option not in self.listed.required:
            found |= dict.fromkeys(sayings_of(self.verb) or TABLE.anything)
            found |= dict.fromkeys(self._questions())
        return tuple(found)

    def _questions(self) -> Iterator[str]:
        """Questions about what the tool reports, in the words usual for such a thing."""
        if self.verb not in SEEING and self.verb not in _COUNTING:
            return
        for noun in self.nouns:
            yield from (say for one in _asked(noun) for say in one.it)
        told = _ASPECTS.search(self.listed.about)
        for aspect in re.split(r", (?:and )?| and ", told[1]) if told else ():
            if 0 < len(aspect.split()) <= _LONGEST_ASPECT:
                yield from (say.replace("ASPECT", aspect) for say in TABLE.aspect)
                yield from (say for one in _asked(aspect) for say in one.of)

    def phrasing(self, rng: Random) -> str:
        """A random request that has all required parameters."""
        if self.own and rng.random() < OWN:
            return rng.choice(self.own)
        if (told := self._theme()) and rng.random() < _THEMES:
            return self._acting(rng, *told)
        head = rng.choice(self.heads())
        special = self._changing(rng) if self.verb in _SETTING else self._taking(rng)
        if special and rng.random() < _SPECIAL:
            head = special
        roll = rng.random() + (head == special)
        if roll < _PLAIN and self._option() is None:
            head = self._described() if roll < _DESCRIBED else "!VERB OBJECT"
        noun = rng.choice(self.nouns) if rng.random() < 0.4 else self.nouns[0]
        text, said = self._object(rng, head, noun)
        text = text.replace("NOUNs", several(noun)).replace("NOUN", noun).replace("VERB", self.verb)
        said |= set(re.findall(r"\{([^}]+)\}", text))
        if self.place and rng.random() < _PLACED and self.place not in text:
            text = _joined(text, self.place)
        more = self._more(rng, said)
        first = more.pop(0) if more and _FRONT.match(more[0]) and rng.random() < _FRONTED else ""
        for one in more:
            text = _joined(text, one)
        return f"{'!' if is_order(text) else ''}{first} {text.lstrip('!')}" if first else text

    def _changing(self, rng: Random) -> str:
        """A request to change one property of an object, "mark pet 5 as sold"; "" if none fits."""
        found = [p for p in self.listed.properties if p not in self.listed.required]
        if self.key is None or {*self.listed.required} != {self.key} or not found:
            return ""
        name = rng.choice(found)
        kind = parameter_kind(name, self.listed.notes.get(name, ""))
        own = kind.changed if kind and not is_number(self.listed.properties[name]) else ()
        form = rng.choice((*TABLE.changed, *own * 2))
        return form.replace("NAME", self._name(name)).replace("{}", f"{{{name}}}")

    def _taking(self, rng: Random) -> str:
        """A request for some of a numbered thing, "order two of pet 5"; "" if none fits."""
        numbers = [p for p, one in self.listed.properties.items() if is_number(one)]
        things = [p for p in numbers if words(p).split()[-1] in _IDS and len(words(p).split()) > 1]
        counts = [p for p in numbers if words(p).split()[-1] in TABLE.counted["quantity"].names]
        if self.verb not in _TAKING or len(things) != 1:
            return ""
        of = f"{{{counts[0]}}} of " if counts and rng.random() < 0.5 else ""
        return rng.choice(TABLE.taken).replace("THING", of + rng.choice(self.attached[things[0]]))

    def named(self, rng: Random) -> str:
        """A plain order of the tool's verb and noun."""
        text, _ = self._object(rng, "!VERB OBJECT", self.nouns[0])
        return text.replace("NOUN", self.nouns[0]).replace("VERB", self.verb)

    def _theme(self) -> tuple[_Theme, str, str] | None:
        """The verb's theme, the required text that it acts on, and the other required parameter.

        None unless exactly two parameters are required and a theme fits them.
        """
        needed = self.listed.required
        for theme in TABLE.theme:
            named = TABLE.parameter.get(theme.parameter)
            found = [
                p
                for p in needed
                if (parameter_kind(p) is named if named else _pair(needed) and p == needed[0])
            ]
            if self.verb in theme.verbs and len(needed) == 2 and len(found) == 1:
                return theme, found[0], next(p for p in needed if p != found[0])
        return None

    def _acting(self, rng: Random, theme: _Theme, name: str, other: str) -> str:
        """A request in which a verb of the theme acts on one value, followed by the other value."""
        alike = [one for one in theme.verbs[:3] if sayings_of(one) == sayings_of(self.verb)]
        verb = rng.choice([self.verb, self.verb, *alike])
        acted = rng.choice(theme.say).replace("NOUNs", several(self.nouns[0]))
        behind = rng.choice(theme.other).replace("{}", f"{{{other}}}")
        noun = rng.choice(self.nouns)
        return f"!{verb} {acted.replace('NOUN', noun).replace('{}', f'{{{name}}}')} {behind}"

    def _object(self, rng: Random, head: str, noun: str) -> tuple[str, set[str]]:
        """A head with the thing filled in, identified by the tool's key if it has one.

        Returns:
            The text, and the parameters that it has.
        """
        key = self.key
        bare = rng.choice((f"the {noun}", f"the {noun}", f"my {noun}", noun))
        if key is None or "OBJECT" not in head:
            return head.replace("OBJECT", bare), set()
        number = is_number(self.listed.properties[key])
        thing = re.sub(_ABOUT, "", noun)
        forms = TABLE.key.number if number else TABLE.key.name
        if not number and rng.random() < _BARE:
            forms = ("{}",)
        told = rng.choice(forms).replace("{}", f"{{{key}}}").replace("NAME", self._name(key))
        told = told.replace("NOUN", noun if rng.random() < 0.3 else thing)
        return head.replace("OBJECT", told), {key}

    def _more(self, rng: Random, said: set[str]) -> list[str]:
        """Phrasings for the parameters not said yet: all that are required and some others."""
        required = [p for p in self.listed.required if p not in said]
        other = [
            p for p in self.listed.properties if p not in said and p not in self.listed.required
        ]
        most = 2 if required or said else max(1, len(self.listed.properties))
        some = rng.sample(other, min(len(other), rng.choice((0, 0, 1, 1, most))))
        if not self.listed.required and not said and not some and other and rng.random() < 0.7:
            some = [other[0]]
        # A request to change something needs a value to change it to.
        if self.verb in _SETTING and other and not some and {self.key} >= {*self.listed.required}:
            some = [rng.choice(other)]
        wanted = [p for p in self.listed.properties if p in required or p in some]
        found = []
        pair = _pair(wanted)
        if pair:
            first, second, forms = pair
            text = rng.choice(forms).replace("{first}", f"{{{first}}}")
            found.append(text.replace("{second}", f"{{{second}}}"))
            wanted = [p for p in wanted if p not in (first, second)]
        if rng.random() < 0.3:
            rng.shuffle(wanted)
        return found + [rng.choice(self.attached[p]) for p in wanted]

    @property
    def place(self) -> str:
        """Where the tool puts or takes something, "to (the|my) watchlist"; "" if nowhere."""
        told = (words(self.listed.name), self.listed.description.lower().strip(" ."))
        found = next((one for text in told if (one := _PLACE.search(text))), None)
        if not found or found[2] in self.listed.properties:
            return ""
        return f"{found[1]} (the|my) {found[2]}"

    @property
    def key(self) -> str | None:
        """The parameter that identifies the thing that the tool acts on."""
        for name in self.listed.required or list(self.listed.properties):
            schema = self.listed.properties[name]
            if options(schema) or schema.get("type") == "boolean" or _pair(self.listed.required):
                continue
            asked = words(name).split()
            first = name in self.listed.required and len(self.listed.required) == 1
            if is_number(schema):
                if asked[-1] in _IDS and _is_of(asked[:-1], self.nouns):
                    return name
            elif (
                first
                or asked[-1] in TABLE.parameter["name"].names
                or asked[-1] in set(TABLE.keys) & set(" ".join(self.nouns).split())
            ):
                return name
        return None

    def _option(self) -> str | None:
        """The parameter, a list of options or a switch, whose value says what is wanted."""
        found = [p for p, s in self.listed.properties.items() if options(s) or is_switch(p, s)]
        required = [p for p in found if p in self.listed.required]
        if required:
            return required[0]
        return found[0] if found and len(self.listed.properties) == 1 else None

    def _described(self) -> str:
        """The tool's description as an order."""
        first = re.split(r"(?<=[.!?])\s|\n", self.listed.description)[0].strip(" .").lower()
        first = re.sub(r"\([^)]*\)|[^\w\s'-]", "", first)
        _, _, rest = first.partition(" ")
        rest = re.split(
            r"\s(?:by|with|using|based|given|via|where|including|matching|in|from|or|and|as)\s",
            rest,
        )[0]
        if not 0 < len(rest.split()) <= _LONGEST_DESCRIBED:
            return "!VERB OBJECT"
        return f"!{self.verb} {rest}"

    def _name(self, name: str) -> str:
        asked = words(name).split()
        own = [w for w in asked if all(w not in noun.split() for noun in self.nouns)]
        return " ".join(own or asked)

    def _said(self, name: str) -> Iterator[str]:
        """Phrasings that add a parameter's value to the end of a request."""
        schema = self.listed.properties[name]
        slot = f"{{{name}}}"
        if schema.get("type") == "boolean":
            yield f"{{{name}}}"
            return
        forms: tuple[str, ...]
        part = _PART.search(self.listed.notes.get(name, "").lower())
        if options(schema):
            forms = TABLE.said.list
        elif is_number(schema) and part:
            forms = tuple(f"{lead}{part[1]} {{}} {part[2]}" for lead in ("the ", "", "just the "))
        elif is_number(schema):
            forms = _counted(words(name).split())
        else:
            known = parameter_kind(name, self.listed.notes.get(name, ""))
            forms = known.say if known else TABLE.said.words
        unit = self._unit(name)
        # Where there are several numbers, a bare one could be any of them.
        several_numbers = sum(map(is_number, self.listed.properties.values())) > 1
        is_bare = is_number(schema) and several_numbers and not unit
        if is_number(schema) and self.verb in _SETTING and self.listed.required == (name,):
            forms = (*TABLE.said.set * 3, *forms)
        for form in forms:
            if "UNIT" in form and not unit:
                form = form.replace(" UNIT", "")
            if is_bare and form == "{}":
                continue
            yield form.replace("NAME", self._name(name)).replace("UNIT", unit).replace("{}", slot)

    def _unit(self, name: str) -> str:
        """What a number counts, as its description says: "in gallons"."""
        found = _UNIT.search(self.listed.notes.get(name, "").lower())
        unit = found[1] if found else words(name).split()[-1]
        if not found and unit not in TABLE.units:
            return ""
        return unit if unit.endswith("s") or unit in ("celsius", "percent") else several(unit)


def sayings_of(verb: str) -> tuple[str, ...]:
    """Requests for an action with this verb; none if the verb is not known."""
    return next((action.say for action in TABLE.action if verb in action.verbs), ())


def _asked(noun: str) -> list[_Asked]:
    return [one for one in TABLE.asked.values() if set(noun.split()) & set(one.names)]


OWN = 0.5
"""Share of requests in a user's own phrasings, if there are any."""
_SPECIAL = 0.5
"""Share of requests made by `_changing` or `_taking`, if these fit the tool."""
_PLACED = 0.6
_FRONTED = 0.15
_FRONT = re.compile(r"(?:in|for|from|on|at|with|under) ")
"""Share of requests with a value at the front, and how such values begin: "in my photos"."""
_ABOUT = re.compile(r" (?:infos?|information|details?|status|data|metadata)$")
_PLACE = re.compile(
    r"^(?:add|remove|put|append|insert|save|move|take|delete)\b.* (to|from|into)"
    r" (?:the |an? |your )?(\w+)$"
)
_IDS = ("id", "number", "no", "ref")
_THEMES = 0.5
_BARE = 0.3
"""Share of names that are said by themselves: "add milk"."""
_PLAIN, _DESCRIBED = 0.3, 0.1
"""Share of requests in the tool's own words, and the part of it that uses its description's."""
_LONGEST_DESCRIBED = 6
_LONGEST_ASPECT = 3
_ASPECTS = re.compile(r"\b(?:including|such as) ([^.()]+)", re.IGNORECASE)
"""What a tool reports, as its description lists it: "including size, creation time, and type"."""


def _counted(name: list[str]) -> tuple[str, ...]:
    """How the number of a parameter with these words is said: "pet number 5" for "pet id"."""
    if name[-1] in _IDS and name[:-1]:
        thing = " ".join(name[:-1])
        return tuple(form.replace("NOUN", thing) for form in (*TABLE.key.number, "for NOUN {}"))
    counted = next((c for c in TABLE.counted.values() if name[-1] in c.names), None)
    return counted.say if counted else TABLE.said.number


def _is_of(of: Sequence[str], nouns: Sequence[str]) -> bool:
    return not of or any(set(of) & set(noun.split()) for noun in nouns)


@cache
def _all_things() -> tuple[tuple[str, ...], ...]:
    return tuple(
        tuple(name.replace("_", " ") for name in names)
        for group in THINGS.values()
        for names in group
    )


def _synonyms(noun: str) -> list[str]:
    return [other for names in _all_things() if noun in names for other in names if other != noun]


def _verb_and_noun(listed: Listed) -> tuple[str, list[str]]:
    """A tool's verb and the names of its thing, from its own name and its description."""
    named = words(listed.name).split()
    text = re.sub(r"\([^)]*\)", "", listed.description.strip().lower())
    told = [_order(w) if at == 0 else w for at, w in enumerate(re.findall(r"[\w'-]+", text))]
    likely = (named[0], *told[:1], *named)
    verb = next((w for w in likely if w in _VERBS), (told or named)[0])
    nouns = []
    rest = [w for w in named if w != verb]
    while rest and (rest[-1] in TABLE.no_nouns or (rest[-1] in _VERBS and rest[-1] not in told)):
        rest.pop()
    rest = _before(rest, ("by", "with", "from", "based", "for", "on", "in", "at"))
    place = _PLACE.search(words(listed.name))
    dropped = {*TABLE.whose, *TABLE.articles, *(place[2].split() if place else ())}
    rest = [w for w in rest if w not in dropped]
    if rest:
        nouns.append(" ".join(rest))
    behind = _CUT.split(f" {text.partition(' ')[2]} ")[0].strip()
    behind = re.sub(r"^(?:(?:the|an?) )?(?:\w+ )?(?:details|list|listing) of (?:all )?", "", behind)
    behind = re.sub(r"\s(?:of|the)\s.*$", "", behind)
    behind = " ".join(w for w in behind.split() if w not in (*TABLE.whose, *TABLE.articles))
    if behind and len(behind.split()) <= 3 and re.fullmatch(r"[\w' -]+", behind):
        nouns.append(behind)
    nouns += [noun.split()[-1] for noun in nouns if " " in noun]
    return verb, [n for n in dict.fromkeys(nouns) if n and n != verb and n not in TABLE.no_nouns]


def _before(named: list[str], joints: Sequence[str]) -> list[str]:
    at = next((i for i, w in enumerate(named) if w in joints and i), len(named))
    return named[:at]


def _order(verb: str) -> str:
    """A verb in the imperative: "fill" for "fills", "return" for "returns"."""
    if verb in _VERBS or not verb.endswith("s") or verb.endswith("ss"):
        return verb
    for end, instead in (("ies", "y"), ("ches", "ch"), ("shes", "sh"), ("sses", "ss"), ("s", "")):
        if verb.endswith(end):
            return verb[: -len(end)] + instead
    return verb


def several(noun: str) -> str:
    """The plural of a noun; nouns from tool names often are plural already."""
    return noun if noun.endswith("s") and not noun.endswith("ss") else plural(noun)


def parameter_kind(name: str, note: str = "") -> _Parameter | None:
    """The kind of a parameter, by the words of its name, else by those of its description.

    In a name the last word counts most, in a description the first.
    """
    for word in reversed(words(name).split()):
        if kind := _kind_of(word):
            return kind
    for known in KINDS.values():
        if name in known.names and not known.type and known.value != "ref":
            return _Parameter(known.names, known.said, (known.value,))
    return next((kind for word in words(note).split() if (kind := _kind_of(word))), None)


def _kind_of(word: str) -> _Parameter | None:
    kinds = TABLE.parameter.values()
    return next((k for k in kinds if word in k.names or word.removesuffix("s") in k.names), None)


def _pair(names: Sequence[str]) -> tuple[str, str, tuple[str, ...]] | None:
    """Two parameters that belong together, and how they are said; None if there are none."""
    for first in names:
        for second in names:
            if first == second:
                continue
            a, b = words(first).split(), words(second).split()
            for pair in TABLE.pair:
                for named in pair.names:
                    one, two = named.split()
                    if _differ(a, b, one, two):
                        return first, second, pair.say
    return None


def _differ(a: list[str], b: list[str], one: str, two: str) -> bool:
    """Whether two names differ only in that one has the word ``one`` and the other ``two``."""
    return one in a and two in b and [w for w in a if w != one] == [w for w in b if w != two]


def is_switch(name: str, schema: Mapping[str, Any]) -> bool:
    """Whether a parameter switches the thing itself on or off."""
    named = set(words(name).split())
    return schema.get("type") == "boolean" and not named.isdisjoint(TABLE.switches)


def skeleton(phrasing: str, listed: Listed) -> str:
    """A phrasing without values and small words: the part by which a tool can be recognised."""

    def kind(found: re.Match[str]) -> str:
        schema = listed.properties[found[1]]
        return "+".join(map(str, options(schema))) or ("#" if is_number(schema) else "*")

    plain = re.sub(r"\{([^}]+)\}", kind, re.sub(r"[()\[\]!?|]", " ", phrasing))
    return " ".join(w for w in plain.lower().split() if w not in TABLE.small)


def _joined(text: str, more: str) -> str:
    """A request with more words at its end, before the mark of a question."""
    return f"{text[:-1]} {more}?" if text.endswith("?") else f"{text} {more}"


def phrasing_of(said: str, arguments: Mapping[str, Any]) -> str | None:
    """An example as a phrasing with slots for its values; None if a value is not found in it."""
    text = re.sub(r"[()\[\]{}|]", " ", said.strip())
    for name, value in arguments.items():
        spoken = [str(value)]
        if isinstance(value, (int, float)) and not isinstance(value, bool):
            spoken = [figures(value), *([words_of(int(value))] if value == int(value) else [])]
        # A value is not looked for in the slots of those before it.
        looked_for = (rf"(?<![\w{{]){re.escape(s)}(?![\w}}])" for s in spoken)
        found = next((m for one in looked_for if (m := re.search(one, text, re.I))), None)
        if found is None:
            return None
        text = f"{text[: found.start()]}{{{name}}}{text[found.end() :]}"
    return text

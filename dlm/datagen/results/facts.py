"""Dialogues in which results of unfamiliar tools are told in short true sentences.

A result is an object of fields under changing names, a list, a failure, a success without data, or
prose. The user asks for all of it, for one field or for a comparison, and then asks more, which the
same result answers without another call. What is not in it is said not to be known, and a failure
is never told as a success. The tools are in ``data/results_*.toml``; a tenth of them is kept for
the held-out split. Values are drawn by `dlm.datagen.values.result_values`; tools that do something
are in `dlm.datagen.results.deeds`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from random import Random

from dlm.datagen.language.noise import Style, draw_style
from dlm.datagen.language.phrases import fill, template
from dlm.datagen.results.deeds import carry_out
from dlm.datagen.results.talk import STYLES, Teller
from dlm.datagen.results.tools import Fact, Several, Tool
from dlm.datagen.tools.catalog import Written
from dlm.datagen.tools.world import capital, listing
from dlm.datagen.values.result_values import (
    FAILURES,
    WORDING,
    Row,
    Value,
    as_json,
    as_object,
    asked_hour,
    asked_limit,
    draw,
    drawn_alike,
    failure_text,
    lowered,
    plain_text,
    wrapped,
    written_key,
)
from dlm.datagen.values.slots import Values

_ROUNDS = {"train": (1, 1, 2, 2, 3), "heldout": (1,)}
_MORE = (0, 1, 1, 2, 2, 3)
"""Numbers of questions and remarks after a result, to draw from."""
_FAILS, _MISSING = 0.12, 0.12
"""Shares of calls that fail, and of fields that are empty or missing."""
_NTH = ("first", "second", "third", "fourth", "fifth", "sixth")
_STATED = ("IT is {}.", "It's {}.")
"""Answers that give a state, so that a question can be whether it is that."""


def write(
    rng: Random, values: Values, split: str, style: Style | None = None, ease: bool = False
) -> Written:
    """A dialogue.

    Args:
        split: "train", or "heldout" for tools that training never shows.
        style: How the user is transcribed; None draws a style.
        ease: Whether the user speaks spontaneously (`dlm.datagen.language.spontaneous`).
    """
    teller = ResultWriter(rng, values, split, style or draw_style(rng), ease)
    left = list(teller.tools)
    for _ in range(rng.choice(_ROUNDS[split])):
        if not left:
            break
        tool = rng.choice(left)
        if not tool.parameters:
            # A second request for it could be answered from the first result.
            left.remove(tool)
        if isinstance(tool.matter, Fact):
            teller.fact(tool, tool.matter)
        elif isinstance(tool.matter, Several):
            teller.several(tool, tool.matter)
        else:
            carry_out(teller, tool, tool.matter)
    return [tool.spec for tool in teller.tools], teller.messages


class ResultWriter(Teller):
    """A dialogue about facts and lists."""

    # Facts

    def fact(self, tool: Tool, fact: Fact) -> None:
        """The user asks about one thing, and then more about it."""
        rng = self.rng
        shown = _Shown(fact, {k: draw(f[1], rng, self.values) for k, f in fact.fields.items()})
        for key in fact.fields:
            if rng.random() < _MISSING and fact.fields[key][1] != "bool":
                shown.values[key] = None
        question = self._question(shown) if rng.random() < 0.6 else None
        if question is None:
            self.heard = self.ask(self.pick(fact.say), fact)
        else:
            self.heard = self.ask(question.ask, fact, **question.told)
        if rng.random() < _FAILS:
            self._failure(tool, fact)
            return
        self.call(tool, self.heard, self._written(shown))
        if question is None:
            self._tell_all(shown)
        else:
            self.tell(question.answer, fact.named, **question.fields)
        for _ in range(rng.choice(_MORE)):
            if not self._more(tool, fact, shown):
                break

    def _more(self, tool: Tool, fact: Fact, shown: _Shown) -> bool:
        """Another question about a result; False if the user is done with it."""
        rng, roll = self.rng, self.rng.random()
        again = fact.pronoun or fact.named
        if roll < 0.13:
            self.thank()
        elif roll < 0.22:
            what = self.pick(WORDING["elsewhere"])
            self.ask(self.pick(WORDING["ask_more"]), fact, again, what=what)
            self.tell(self.pick(WORDING["unknown"]), again, what=what)
        elif roll < 0.34 and tool.parameters and self.messages[-2]["role"] == "tool":
            shown.values = {k: draw(f[1], rng, self.values) for k, f in fact.fields.items()}
            shown.asked = set()
            self.heard = self.ask(self.pick(WORDING["same"]), fact)
            self.call(tool, self.heard, self._written(shown))
            self._tell_all(shown)
        elif question := self._question(shown, again):
            # Slots in the thing's name keep their values.
            source = template(again).slots
            told = question.told | {slot: self.heard[slot] for slot in source}
            self.ask(question.ask, fact, again, **told)
            self.tell(question.answer, again, **question.fields)
        return roll >= 0.13

    def _question(self, shown: _Shown, again: str = "") -> _Question | None:
        """A question about one field, with its answer; None if a draw does not fit.

        Args:
            again: What the thing is called if it was spoken of before.
        """
        rng, fact = self.rng, shown.fact
        left = [key for key in shown.values if key not in shown.asked]
        if not left:
            return None
        key = rng.choice(left)
        _, spec, what, *forms = fact.fields[key]
        ask, answer = (*forms, "", "")[:2]
        answer = answer or "{What} is {}."
        value, roll = shown.values[key], rng.random()
        bare = "IT" not in ask and not again and bool(fact.needs)
        if value is None or (spec != "bool" and (not ask or bare or roll < 0.25)):
            ask = self.pick(WORDING["ask_more" if again else "ask_what"])
            ask = ask if fact.pronoun else ask.replace("of IT", "for IT")
        if not ask or (bare and "IT" not in ask):
            return None
        shown.asked.add(key)
        if spec != "bool" and value is not None:
            measured = value.unit or spec == "clock" or what.startswith("the number of")
            if measured and roll > 0.65:
                return self._comparison(shown, key, answer)
            if "/" in spec and answer in _STATED and roll > 0.5:
                return self._is_it(shown, key)
        if value is None:
            return _Question(ask, self.pick(WORDING["unknown"]), {"what": what}, {"what": what})
        if spec == "bool":
            return _Question(ask, answer.split(" / ")[0 if value.size else 1], {}, {})
        told = {"v": value.said, "what": what}
        return _Question(ask, answer.replace("{}", "{v}"), {"what": what}, told)

    def _comparison(self, shown: _Shown, key: str, answer: str) -> _Question:
        rng, value = self.rng, shown.values[key]
        assert value is not None and value.size is not None
        timed = shown.fact.fields[key][1] == "clock"
        ask = asked_hour if timed else asked_limit
        limit, size = ask(value, rng, self.style.digits)
        more = rng.random() < 0.5
        forms = ("before", "after") if timed else ("below", "above")
        right = value.size > size if more else value.size < size
        what = shown.fact.fields[key][2]
        form = self.pick(WORDING[forms[more]])
        form = form if shown.fact.pronoun else form.replace("of IT", "for IT")
        told = lowered(answer).replace("{}", "{v}").replace("{What}", "{what}")
        source = f"{'Yes' if right else 'No'}, {told}"
        fields = {"v": value.said, "what": what}
        return _Question(form, source, {"what": what, "limit": limit}, fields)

    def _is_it(self, shown: _Shown, key: str) -> _Question:
        rng, value = self.rng, shown.values[key]
        assert value is not None
        other = rng.choice([*shown.fact.fields[key][1].split("/"), value.said])
        answers = WORDING["yes_state" if other == value.said else "no_state"]
        told = {"state": value.said, "other": other}
        return _Question(self.pick(WORDING["is_it"]), self.pick(answers), {"other": other}, told)

    def _tell_all(self, shown: _Shown) -> None:
        fact, rng = shown.fact, self.rng
        told = {k: v.said for k, v in shown.values.items() if v is not None}
        plain = [k for k, f in fact.fields.items() if f[1] != "bool"][:2]
        source = rng.choice(fact.reply) if fact.reply else ""
        slots = sorted(template(source).slots) if source else plain
        wanted = [k for k in slots if k in fact.fields]
        lacking = [k for k in fact.fields if k in wanted and shown.values[k] is None]
        shown.asked.update(k for k in wanted if rng.random() < 0.7)
        final = [k for k, said in told.items() if said in WORDING["final"]]
        if final:
            # Tell nothing else about what is cancelled: it will not arrive.
            wanted, lacking, source = final[:1], [], ""
        if source and not lacking:
            self.tell(source, fact.named, **told)
            return
        parts = [_sentence(fact, k).replace("{}", f"{{{k}}}") for k in wanted if k not in lacking]
        named = " ".join(parts)
        named = named.replace("IT", "\0", 1).replace("IT", fact.pronoun or fact.named)
        named = re.sub("\0", "IT", named)
        if lacking and (not parts or rng.random() < 0.6):
            told["what"] = fact.fields[lacking[0]][2]
            named = f"{named} {self.pick(WORDING['unknown'])}"
        self.tell(named, fact.named, **told)

    def _failure(self, tool: Tool, matter: Fact | Several) -> None:
        rng = self.rng
        error = rng.choice(list(FAILURES))
        why = FAILURES[error]
        self.call(tool, self.heard, failure_text(error, rng))
        reasoned = rng.random() < 0.85
        self.tell(self.pick(WORDING["failed" if reasoned else "sorry"]), matter.named, why=why)
        roll = rng.random()
        if roll < 0.3:
            source = self.pick(WORDING["again"])
            self.ask(source, matter, "it")
            self.tell("No, {why}." if source.startswith("did") else "{Why}.", why=why)
        elif roll < 0.4:
            self.thank()

    def _written(self, shown: _Shown) -> str:
        """The text of a result."""
        fact, rng = shown.fact, self.rng
        if rng.random() < 0.13 and any(shown.values.values()):
            return self._prose(shown)
        case = rng.choice((*STYLES[:3], "words"))
        found = as_object(fact.fields, shown.values, case, rng)
        if rng.random() < 0.1 and not any(isinstance(v, dict) for v in found.values()):
            joint, sign = rng.choice((("; ", ": "), (", ", "="), ("\n", ": "), (" | ", ": ")))
            return joint.join(f"{k}{sign}{plain_text(v)}" for k, v in found.items())
        return as_json(wrapped(found, rng), rng)

    def _prose(self, shown: _Shown) -> str:
        fact = shown.fact
        parts = []
        for key, value in shown.values.items():
            if value is not None:
                whole = _sentence(fact, key)
                if "bool" in fact.fields[key]:
                    whole = whole.split(" / ")[0 if value.size else 1]
                whole = re.sub(r"^(Yes|No), ", "", whole).replace("{}", value.said)
                parts.append(capital(re.sub(r"\bIT\b", fact.named, whole)))
        self.rng.shuffle(parts)
        return fill(" ".join(parts), self.rng, self.heard)

    # Lists

    def several(self, tool: Tool, matter: Several) -> None:
        """The user looks for things, of which none, one or several are found."""
        rng = self.rng
        self.heard = self.ask(self.pick(matter.say), matter)
        if rng.random() < _FAILS:
            self._failure(tool, matter)
            return
        count = rng.choice((0, 0, 1, 1, 2, 2, 3, 3, 4, 5, 6))
        specs = [form[1] for form in matter.fields.values()]
        rows = drawn_alike(specs, count, rng, self.values)
        items = [dict(zip(matter.fields, row, strict=True)) for row in rows]
        self.call(tool, self.heard, self._list_text(matter, items))
        told = [_item(matter, item) for item in items]
        names = {"one": matter.one, "many": matter.many, "count": str(count)}
        if told:
            some = listing(told[: 2 + count // 5])
            names |= {"first": told[0], "all": listing(told), "some": some}
        options = "empty", "single", "few", "few"
        self.tell(self.pick(WORDING[options[count] if count < 4 else "several"]), **names)
        for _ in range(rng.choice(_MORE)):
            if not self._more_of_list(matter, items, names):
                break

    def _list_text(self, matter: Several, items: Sequence[dict[str, Value]]) -> str:
        rng = self.rng
        case, key = rng.choice((*STYLES[:2], "words")), rng.choice(matter.keys)
        keys = {k: rng.choice(f[0].split(", ")) for k, f in matter.fields.items()}
        listed = [
            {written_key(keys[k], v.suffix, case): v.raw for k, v in item.items()} for item in items
        ]
        if rng.random() < 0.12:
            return as_json(listed, rng)
        found: Row = {key: listed}
        if rng.random() < 0.3:
            name = rng.choice(("count", "total", "num_results"))
            first = rng.random() < 0.5
            found = {name: len(items), **found} if first else {**found, name: len(items)}
        if rng.random() < 0.15:
            found = {"ok": True, **found}
        return as_json(found, rng)

    def _more_of_list(
        self, matter: Several, items: Sequence[dict[str, Value]], names: Mapping[str, str]
    ) -> bool:
        """Another question about a list; False if the user is done with it."""
        rng, roll, count = self.rng, self.rng.random(), len(items)
        if roll < 0.15:
            self.thank()
        elif roll < 0.35:
            self.ask(self.pick(WORDING["how_many"]), matter)
            options = "counted_none", "counted_one"
            self.tell(self.pick(WORDING[options[count] if count < 2 else "counted"]), **names)
        elif roll < 0.6:
            at = rng.randrange(min(6, count + 1))
            self.ask(self.pick(WORDING["which"]), matter, nth=_NTH[at])
            item = _item(matter, items[at]) if at < count else ""
            self.tell(self.pick(WORDING["nth" if item else "no_nth"]), nth=_NTH[at], item=item)
        elif roll < 0.85 and count:
            at = rng.randrange(count)
            key = rng.choice(list(matter.fields))
            _, _, what, *forms = matter.fields[key]
            self.ask(self.pick(WORDING["about_nth"]), matter, nth=_NTH[at], what=what)
            answer = (forms[1] if forms else "{What} is {}.").replace("{}", "{v}")
            self.tell(answer, what=what, v=items[at][key].said)
        elif count > 1 and matter.most:
            word, key, best = rng.choice(matter.most).rsplit(" ", 2)
            sizes = [item[key].size or 0.0 for item in items]
            found = (max if best == "max" else min)(sizes)
            units = {unit.many if (unit := item[key].unit) else "" for item in items}
            if sizes.count(found) == 1 and len(units) == 1:
                self.ask(self.pick(WORDING["most"]), matter, most=word)
                item = _item(matter, items[sizes.index(found)])
                self.tell(self.pick(WORDING["most_told"]), most=word, item=item)
        return roll >= 0.15


@dataclass(slots=True)
class _Shown:
    """A thing with the values of its result; None for one that is empty or missing."""

    fact: Fact
    values: dict[str, Value | None]
    asked: set[str] = field(default_factory=set)


@dataclass(frozen=True, slots=True)
class _Question:
    """A question and its answer, with what fills the slots of each."""

    ask: str
    answer: str
    told: dict[str, str]
    fields: dict[str, str]


def _sentence(fact: Fact, key: str) -> str:
    """How a field is told, with ``{}`` for its value."""
    _, _, what, *forms = fact.fields[key]
    return forms[1] if len(forms) > 1 else f"{capital(what)} is {{}}."


def _item(matter: Several, item: Mapping[str, Value]) -> str:
    return matter.item.format_map({key: value.said for key, value in item.items()})

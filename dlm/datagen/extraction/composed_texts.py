"""Composed texts: some facts about a thing, told in sentences or in one of several layouts.

For each text some facts of a topic are drawn, and others whose names are composed; a value may
replace another ("no longer Monday but Friday"). Schemas are not known here.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, timedelta
from random import Random

from dlm.datagen.extraction.composed_facts import (
    SHARED,
    TOPICS,
    Fact,
    Topic,
    choice_of,
    composed_fact,
    fact_of,
    named,
    topics,
)
from dlm.datagen.extraction.composed_values import Told, ToldDraw, in_order
from dlm.datagen.language.phrases import Piece, template, tidy
from dlm.datagen.tools.world import capital

LAYOUTS = {"prose": 62, "lines": 14, "bullets": 8, "terse": 7, "log": 5}
"""Layouts of a text, with weights."""
_BRACKETS = str.maketrans("<>", "()")
_NO_ON = ("tomorrow", "today", "next ", "yesterday")
"""Beginnings of days that take no "on"."""
_SMALL = frozenset([
    "The", "There", "She", "He", "They", "We", "My", "Our", "In", "Please", "His", "Her",
])  # fmt: skip
"""First words of sentences that may be joined to the previous one."""
_CHANGED = frozenset([
    "money", "date", "due", "time", "int", "count", "person", "town", "firm", "office",
])  # fmt: skip
"""Kinds of values that a text may correct or change."""
_AGED = re.compile("old|new|previous|former|original|last|next|current")
"""Labels that already tell an old value from a new one."""


@dataclass(frozen=True, slots=True)
class Composed:
    """A text and what it tells.

    Attributes:
        facts: The facts of its topic, and all others that are told.
        told: Fact → its value; facts without names cannot be asked for.
        dated: Whether the text gives the day on which it was written.
    """

    topic: Topic
    text: str
    facts: Mapping[str, Fact]
    told: Mapping[str, Told]
    dated: bool


def compose(rng: Random, split: str) -> Composed:
    """A text on one of a split's topics."""
    return _Writing(rng, split).written()


class _Writing:
    """One text while it is written."""

    def __init__(self, rng: Random, split: str) -> None:
        self.rng, self.split = rng, split
        self.topic = topic = TOPICS[rng.choice(topics(split))]
        self.facts = {name: fact_of(source) for name, source in topic.facts.items()}
        self.facts |= {name: choice_of(name) for name in topic.also}
        pronoun, its, *kind = rng.choice(topic.it).split("/")
        if kind:
            self.facts["thing"] = self.facts["thing"]._replace(kind=kind[0])
        self.words = {"it": pronoun, "its": its}
        self.layout = rng.choices(list(LAYOUTS), list(LAYOUTS.values()))[0]
        self.lower = self.layout == "prose" and rng.random() < 0.12
        dated = rng.random() < 0.25 and self.layout != "log"
        today = date(2021, 1, 1) + timedelta(days=rng.randrange(3000)) if dated else None
        self.draw = ToldDraw(rng, today, SHARED.units, self.layout in ("lines", "log", "terse"))
        self.told: dict[str, Told] = {}
        # Fact → its own sentence, used instead of the topic's.
        self.said: dict[str, list[Piece]] = {}

    def written(self) -> Composed:
        opening = self.expanded(self.rng.choice(self.topic.open))
        opened = [piece.slot for piece in opening]
        names = self.chosen([slot for slot in opened if slot in self.facts])
        self.tell(names)
        for slot in opened:
            self.by_the_way(slot)
        left = [name for name in names if name not in opened]
        self.change(left)
        text = self.log(names) if self.layout == "log" else self.laid_out(opening, left)
        text = self.dated(text)
        self.as_written(text)
        dated = self.draw.today is not None
        return Composed(self.topic, text, self.facts, self.told, dated)

    def expanded(
        self, source: str, slots: Mapping[str, str] | None = None, **words: str
    ) -> list[Piece]:
        """A reading of a template with ``words`` filled in and slots renamed by ``slots``."""
        words |= self.words
        slots = slots or {}
        return [
            Piece(words[p.slot]) if p.slot in words else Piece(p.text, slots.get(p.slot, p.slot))
            for p in template(source).expand(self.rng)
        ]

    def chosen(self, opened: list[str]) -> list[str]:
        """Choose the facts to tell: those of the opening, others, and composed ones."""
        rng, names = self.rng, list(dict.fromkeys(opened))
        others = [name for name in self.facts if name not in names]
        rng.shuffle(others)
        count = rng.choice((2, 3, 4, 5, 5, 6, 6, 7, 8, 9))
        more = rng.sample(self.topic.more, min(rng.choice((0, 1, 2, 3)), len(self.topic.more)))
        for name in others[: max(1, count - len(more))]:
            if not self.topic.contradicts(name, names):
                names.append(name)
        for family in more:
            fact = composed_fact(rng, self.split, family)
            if fact.label not in self.facts:
                self.facts[fact.label] = fact
                names.append(fact.label)
        return names

    def tell(self, names: Iterable[str]) -> None:
        """Draw the values of some facts."""
        for name in names:
            fact = self.facts[name]
            self.told[name] = self.option(fact) if fact.options else self.draw.told(fact.kind)
            if fact.said:
                self.said[name] = self.expanded(fact.said, {"value": name})
        for group in self.topic.order:
            found = {name: self.told[name] for name in group.split() if name in self.told}
            self.told |= in_order(found)

    def option(self, fact: Fact) -> Told:
        option = self.rng.choice(list(fact.options))
        pieces = self.expanded(self.rng.choice(fact.options[option]))
        value = option == "true" if fact.is_flag else option
        return Told("".join(piece.text for piece in pieces), value)

    def by_the_way(self, slot: str) -> None:
        """Draw a value for a slot that is not a fact, and so is not asked for."""
        if slot and slot not in self.told:
            kind = slot.rstrip("0123456789")
            self.facts[slot] = Fact("int 4 40" if kind == "int" else kind, ())
            self.told[slot] = self.draw.told(self.facts[slot].kind)

    def change(self, names: Iterable[str]) -> None:
        """Perhaps let the text change a value ("no longer …") or correct a wrong one."""
        rng = self.rng
        pairs = {"thing", *(name for group in self.topic.order for name in group.split())}
        fitting = [
            name
            for name in names
            if (fact := self.facts[name]).head in _CHANGED
            and (fact.is_named or fact.said)
            and not (name in pairs or _AGED.search(fact.label))
        ]
        if not fitting or rng.random() < 0.65 or self.layout in ("log", "terse"):
            return
        name = rng.choice(fitting)
        fact = self.facts[name]
        changed = fact.is_plural or (rng.random() < 0.6 and not self.topic.fixed)
        forms = SHARED.changes if changed else SHARED.mistakes
        source = rng.choice(SHARED.recounts if fact.is_plural else forms)
        self.said[name] = self.expanded(source, {"new": name}, label=fact.label)
        # "$40" and "40 dollars" are the same value.
        while (old := self.draw.told(fact.kind)).value == self.told[name].value:
            pass
        self.told["old"] = old
        names = named(SHARED.old_names, fact.names[0]) if changed else ()
        self.facts["old"] = Fact(fact.kind, names)
        if changed:
            new = named(SHARED.new_names, fact.names[0])
            self.facts[name] = fact._replace(names=(*fact.names, *new))

    def laid_out(self, opening: Iterable[Piece], left: Sequence[str]) -> str:
        """The opening and the other facts, in any layout except a log."""
        rng, layout, begun = self.rng, self.layout, self.sentence(opening)
        if layout == "terse":
            joint = rng.choice((": ", " - ", "\n"))
            return begun + joint + "; ".join(map(self.line, left))
        if layout == "lines":
            return self.framed("\n".join([begun, *(capital(self.line(name)) for name in left)]))
        parts = list(map(self.sentence, self.sentences(left)))
        if layout == "bullets":
            mark = rng.choice(("- ", "* ", "• "))
            return self.framed("\n".join([begun, *(mark + part for part in parts)]))
        return self.framed(self.joined([begun, *parts]))

    def log(self, names: Iterable[str]) -> str:
        """Facts as keys and values, as programs log them."""
        pairs = [self.filled(SHARED.log_heads).strip()]
        for name in names:
            fact, told = self.facts[name], self.told[name]
            text = told.text
            if fact.options:
                text = told.value if isinstance(told.value, str) else str(told.value).lower()
            pairs.append(f'{fact.names[0]}="{text}"' if " " in text else f"{fact.names[0]}={text}")
        return " ".join(pairs).strip()

    def sentences(self, left: Sequence[str]) -> list[list[Piece]]:
        """Sentences that tell each of some facts once, and perhaps other facts again."""
        rng = self.rng
        found = [self.said[name] for name in left if name in self.said]
        found += [[Piece("", name)] for name in left if self.facts[name].options]
        wanted = {n for n in left if n not in self.said and not self.facts[n].options}
        # What the opening tells may be told again together with something else.
        known = {name for name in self.told if name not in left}
        for source in rng.sample(self.topic.say, len(self.topic.say)):
            if wanted & template(source).slots:
                pieces = self.expanded(source)
                slots = [piece.slot for piece in pieces if piece.slot]
                once = len(set(slots)) == len(slots) and not wanted.isdisjoint(slots)
                if once and (known | wanted).issuperset(slots):
                    found.append(pieces)
                    wanted -= set(slots)
        for name in [name for name in left if name in wanted]:
            if rng.random() < 0.5:
                found.append(self.plain(name))
            else:
                del self.told[name]
        if self.layout == "prose":
            for source in rng.sample(SHARED.distractions, rng.choice((0, 0, 0, 1, 2))):
                found.append(self.expanded(source.rstrip(".")))
                for piece in found[-1]:
                    self.by_the_way(piece.slot)
        rng.shuffle(found)
        return found

    def plain(self, name: str) -> list[Piece]:
        fact = self.facts[name]
        noun = fact.is_named and fact.head not in ("nth", "many")
        whole = noun and not self.told[name].text[0].islower()
        source = self.rng.choice(SHARED.plain if whole else SHARED.plain_line)
        return self.expanded(source, {"new": name}, label=fact.label)

    def sentence(self, pieces: Iterable[Piece]) -> str:
        """The text of some pieces, beginning with a capital unless the text is lower case."""
        text = ""
        for piece in pieces:
            words = self.told[piece.slot].text if piece.slot else piece.text.translate(_BRACKETS)
            if piece.slot and words.startswith(_NO_ON):
                text = re.sub(r"\b[Oo]n $", "", text)
            if piece.slot and text.endswith((" a ", "A ")) and words[0].lower() in "aeiou":
                text = f"{text[:-1]}n "
            text += words if text else capital(words)
        text = tidy(text)
        return text.lower() if self.lower else text

    def joined(self, sentences: Sequence[str]) -> str:
        """Sentences one after the other, some of them joined."""
        rng, text = self.rng, ""
        for number, sentence in enumerate(sentences):
            end = "" if text.endswith(("?", "!", ":")) else "."
            if number > 1 and end and sentence.split(" ")[0] in _SMALL and rng.random() < 0.15:
                text += rng.choice((", and ", "; ")) + sentence[0].lower() + sentence[1:]
            else:
                text += f"{end} {sentence}" if text else sentence
        end = "" if text.endswith(("?", "!", ":")) or (self.lower and rng.random() < 0.5) else "."
        return text + end

    def line(self, name: str) -> str:
        """A fact as a line of a list."""
        fact, told = self.facts[name], self.told[name]
        if any(piece.slot == "old" for piece in self.said.get(name, ())):
            return self.sentence(self.said[name])
        if fact.is_flag and self.rng.random() < 0.7:
            return f"{fact.label}: {'yes' if told.value else 'no'}"
        if fact.options:
            return capital(told.text)
        joint = " " if self.layout == "terse" and self.rng.random() < 0.5 else ": "
        return f"{fact.label}{joint}{told.text}"

    def framed(self, text: str) -> str:
        """A text as the body of a message, perhaps with names and greetings around it."""
        if self.rng.random() < 0.6:
            return text
        text += "" if text[-1] in ".!?" or self.layout != "prose" else "."
        # Layouts other than prose keep their lines.
        frames = [f if self.layout == "prose" else f.replace("} {", "}\n{") for f in SHARED.frames]
        what = self.rng.choice((self.topic.what, capital(self.topic.what)))
        bye, aside = self.rng.choice(SHARED.byes), self.rng.choice(SHARED.asides)
        frame = self.filled(frames, text="\0", what=what, bye=bye, aside=aside)
        return (frame.lower() if self.lower else frame).replace("\0", text)

    def filled(self, forms: Sequence[str], **words: str) -> str:
        """One of some forms, filled in; values of its other slots are not asked for."""
        pieces = self.expanded(self.rng.choice(forms) or " ", None, **words)
        for piece in pieces:
            self.by_the_way(piece.slot)
        return "".join(self.told[p.slot].text if p.slot else p.text for p in pieces)

    def dated(self, text: str) -> str:
        """A text with the day on which it was written, if it has one."""
        if self.draw.today is None:
            return text
        day = self.draw.day_text(self.draw.today)
        self.told["today"] = Told(day, day, "date", self.draw.today.isoformat())
        self.facts["today"] = Fact("date", SHARED.today_names)
        head = self.rng.choice(SHARED.today).format(today=day)
        return f"{head.lower() if self.lower else head}\n{text}"

    def as_written(self, text: str) -> None:
        """Change values to how the text writes them, in lower case or with a capital."""
        change = str.lower if self.lower else capital
        for name, told in self.told.items():
            if self.facts[name].options or told.text in text:
                continue
            value, iso = told.value, told.iso
            if isinstance(value, str):
                value = change(value)
            elif isinstance(value, list) and isinstance(value[0], str):
                first, *rest = value
                value = [change(first), *(map(str.lower, rest) if self.lower else rest)]
            iso = change(iso) if told.format in ("email", "uri") else iso
            self.told[name] = replace(told, text=change(told.text), value=value, iso=iso)

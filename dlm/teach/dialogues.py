"""Dialogues that teach the tools of a list: requests, and messages that call for no tool.

`dlm.teach.requests` words a request, its values are drawn by type and name, and the noise is the
generator's. All tools of the list are declared in every dialogue, so that the model learns to tell
similar ones apart.
"""

from __future__ import annotations

import math
import re
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from random import Random
from typing import Any

from dlm.datagen.dialogues import anyones_instructions
from dlm.datagen.holdout import held_out
from dlm.datagen.language.mentions import is_mentionable, mentioned
from dlm.datagen.language.noise import Style, draw_style, utter
from dlm.datagen.language.phrases import Piece, fill, is_order, polite, template
from dlm.datagen.language.wording import WORDING
from dlm.datagen.language.words import WORDS
from dlm.datagen.tools.world import capital
from dlm.datagen.unfamiliar import composed_tools
from dlm.datagen.values.made_up import blend, pseudo_word, salad
from dlm.datagen.values.slots import Values
from dlm.language.identifiers import words
from dlm.language.schema import is_number, options
from dlm.language.spoken_numbers import figures, words_of
from dlm.teach.requests import (
    SEEING,
    TABLE,
    Asking,
    is_switch,
    parameter_kind,
    sayings_of,
    several,
    skeleton,
)

Row = dict[str, Any]
Arguments = dict[str, Any]

KINDS: dict[str, int] = {
    "request": 60, "missing": 8, "mention": 9, "nothing": 6, "absent": 3, "foreign": 5,
    "together": 9,
}  # fmt: skip
"""Kinds of a dialogue's parts, each the method that writes it, with their weights."""
_PARTS = (1, 1, 1, 1, 2, 3)
"""Numbers of parts of a dialogue to draw from."""
_ALIKE = 25
"""Dialogues in a row with the same instructions and declarations, which a batch stores once."""
_OTHER_INSTRUCTIONS = 0.3
_ROUND, _FRACTIONS = 0.4, 0.07
"""Chance to round a number to hundreds, and else to tens; and to add a fraction, where allowed."""
_BEFORE, _BEHIND = 0.12, 0.08
"""Shares of requests with a remark before them and after them."""
_OF_EXAMPLES = 0.5
"""Share of texts taken from a user's examples, if these have any for the parameter."""
_OTHER_WORDS = 0.25
"""Share of options that are said in other words, if there are any."""
_TRIES = 40
_GIVES_UP = 100
_DRAWS = 600
_ANYTHING = ("salad", "noun", "item", "name", "place", "blend", "topic")
_COMPOSED: dict[str, Callable[[Random], str]] = {"blend": blend, "salad": salad}
_PLAIN = re.compile(r"[\w' ]+")
_RANGE = re.compile(r"(?:from|between) (\d+) (?:to|and) (\d+)")


@dataclass(frozen=True, slots=True)
class Writer:
    """Writes the dialogues of a list.

    Attributes:
        askings: One for each tool.
        instructions: Instructions of the agent that will have the tools.
        split: ``train``, or ``heldout`` for phrasings that training never shows.
        known: Name of a tool → skeletons of the requests for it.
    """

    askings: tuple[Asking, ...]
    instructions: str
    split: str
    values: Values
    known: Mapping[str, frozenset[str]]

    @classmethod
    def of(cls, askings: Sequence[Asking], instructions: str, split: str, values: Values) -> Writer:
        """A writer that avoids phrasings that could be meant for more than one tool."""
        known = {a.listed.name: skeletons(a) for a in askings}
        return cls(tuple(askings), instructions, split, values, known)

    @property
    def holds_out(self) -> bool:
        """Whether only phrasings are written that training never shows."""
        return self.split == "heldout"

    def tells(self, asking: Asking, phrasing: str) -> bool:
        """Whether a phrasing can only be meant for this tool; those from examples always pass."""
        told = skeleton(phrasing, asking.listed)
        others = (s for name, s in self.known.items() if name != asking.listed.name)
        return phrasing in asking.own or not any(told in some for some in others)

    def dialogues(self, seed: int) -> Iterator[Row]:
        """Dialogues determined by a seed; endless, unless no tool has a phrasing in the split."""
        rng = Random(f"{seed}/{self.split}")
        # Tools take turns; one for which nothing can be written is dropped.
        askings = deque(self.askings)
        made = 0
        while askings:
            if made % _ALIKE == 0:
                beginning = self._beginning(rng)
            dialogue = _Dialogue(self, rng, draw_style(rng))
            for _ in range(1 if self.holds_out else rng.choice(_PARTS)):
                while askings and not any(
                    dialogue.add("request" if self.holds_out else _kind(rng), askings[0])
                    for _ in range(_GIVES_UP)
                ):
                    askings.popleft()
                askings.rotate(-1)
            if dialogue.messages:
                made += 1
                yield {**beginning, "messages": dialogue.learned()}

    def plain(self, asking: Asking, rng: Random, style: Style) -> list[Row]:
        """The messages of one request with nothing around it; empty if no draw fits."""
        dialogue = _Dialogue(self, rng, style)
        pieces, meant = dialogue.pieces(asking)
        made = bool(pieces) and dialogue.call([(asking, dialogue.speak(pieces, meant))])
        return dialogue.messages if made else []

    def _beginning(self, rng: Random) -> Row:
        """Instructions, for training sometimes another agent's, and all tools in random order."""
        specs = [asking.listed.spec for asking in self.askings]
        system = self.instructions
        if not self.holds_out:
            rng.shuffle(specs)
            if rng.random() < _OTHER_INSTRUCTIONS:
                system = anyones_instructions(rng)
        return {"system": system, "tools": specs}


@dataclass(slots=True)
class _Dialogue:
    writer: Writer
    rng: Random
    style: Style
    messages: list[Row] = field(default_factory=list)

    def learned(self) -> list[Row]:
        """The messages, without what follows the last call if no user message does.

        The model already knows how to report a result.
        """
        calls = [at for at, message in enumerate(self.messages) if message.get("tool_calls")]
        is_last = bool(calls) and all(m["role"] != "user" for m in self.messages[calls[-1] :])
        return self.messages[: calls[-1] + 1] if is_last else self.messages

    def add(self, kind: str, asking: Asking) -> bool:
        """Add a part of a kind, and return whether a draw fitted; if not, nothing is added."""
        before = len(self.messages)
        written: bool = getattr(self, kind)(asking)
        if not written:
            del self.messages[before:]
        return written

    def request(self, asking: Asking) -> bool:
        """The user asks for a tool; it is called and returns a result."""
        pieces, meant = self.pieces(asking)
        if not pieces:
            return False
        why, rng = self.rng.random(), self.rng
        if why < _BEFORE:
            pieces = [
                Piece(rng.choice(TABLE.before) + rng.choice((", ", ", so ", " and "))),
                *pieces,
            ]
        elif why < _BEFORE + _BEHIND and "?" not in pieces[-1].text:
            pieces = [*pieces, Piece(f", {rng.choice(TABLE.behind)}")]
        return self.call([(asking, self.speak(pieces, meant))])

    def together(self, asking: Asking) -> bool:
        """Two requests in one breath."""
        other = self.other(asking)
        if other is asking:
            return False
        first, meant = self.pieces(asking, "1")
        second, also = self.pieces(other, "2")
        if not first or not second or "?" in "".join(p.text for p in (*first, *second)):
            return False
        joint = Piece(self.rng.choice((" and ", " and then ", " and also ", " then ")))
        heard = self.speak([*first, joint, *second], meant | also)
        parts = [{k[:-1]: v for k, v in heard.items() if k.endswith(n)} for n in "12"]
        return self.call([(asking, parts[0]), (other, parts[1])])

    def missing(self, asking: Asking) -> bool:
        """The user leaves out the one required value; the agent asks for it and gets it."""
        needed = asking.listed.required
        if len(needed) != 1:
            return False
        (key,) = needed
        noun = self.rng.choice(asking.nouns)
        head = self.rng.choice(
            (
                "!VERB (a|the|my) NOUN",
                "i want to VERB (a|the) NOUN",
                "!VERB something",
            )
        )
        source = (
            head.replace("VERB", asking.verb).replace("NOUNs", several(noun)).replace("NOUN", noun)
        )
        self.speak(self._expanded(source), {})
        name = words(key)
        self.say(
            self.rng.choice(
                (
                    f"Which {name}?",
                    f"What is the {name}?",
                    f"Sure, what {name}?",
                    f"Okay, and the {name}?",
                )
            )
        )
        value, meant = self.value(asking, key)
        lead = self.rng.choice(("", "", "it's ", "the ", f"{name} "))
        return self.call([(asking, self.speak([Piece(lead), Piece(value, key)], {key: meant}))])

    def mention(self, asking: Asking) -> bool:
        """A request in words that may mean no request at all: "don't", "how do I"."""
        for _ in range(_TRIES):
            pieces, meant = self.pieces(asking)
            if is_mentionable(pieces):
                said, answer, _ = mentioned(self.rng, pieces, "train")
                heard = self.speak(said, meant)
                return self.call([(asking, heard)]) if answer is None else self.say(answer)
        return False

    def nothing(self, asking: Asking) -> bool:
        """The user speaks of the tool's thing and asks for nothing."""
        noun = self.rng.choice(asking.nouns)
        source = (
            self.rng.choice(TABLE.nothing).replace("NOUNs", several(noun)).replace("NOUN", noun)
        )
        self.speak(self._expanded(source), {})
        return self.say(self.rng.choice(TABLE.nothing_answers))

    def absent(self, asking: Asking) -> bool:
        """The user asks for something with a thing that no tool of the list is about."""
        tool = composed_tools.compose(self.rng, "train")
        named = {word for one in self.writer.askings for noun in one.nouns for word in noun.split()}
        if named & set(tool.noun.split()):
            return False
        pieces = composed_tools.request(tool, self.rng, self.writer.values, self.style.digits)
        self.speak([Piece(p.text) for p in pieces], {})
        return self.say(
            capital(fill(self.rng.choice(WORDING.declines), self.rng, {"what": tool.ability}))
        )

    def foreign(self, asking: Asking) -> bool:
        """The user asks for an action on a thing of the list that none of its tools does."""
        verb = self.rng.choice(TABLE.foreign)
        if any(verb == one.verb or verb in one.listed.about.lower() for one in self.writer.askings):
            return False
        heads = (head for one in self.writer.askings for head in one.heads())
        alike = sayings_of(verb)
        if any(verb in re.findall(r"\w+", head) for head in heads) or (
            alike and any(sayings_of(one.verb) == alike for one in self.writer.askings)
        ):
            return False
        found = replace(asking, verb=verb, own=()).named(self.rng)
        noun = asking.nouns[0]
        pieces = [
            Piece(self.value(asking, piece.slot)[0]) if piece.slot else piece
            for piece in self._expanded(found)
        ]
        self.speak(pieces, {})
        answer = self.rng.choice(TABLE.foreign_answers)
        return self.say(answer.replace("VERB", verb).replace("NOUNs", several(noun)))

    def other(self, asking: Asking) -> Asking:
        """Another tool; half of the time a similar one, if there is one."""
        rest = [one for one in self.writer.askings if one is not asking] or [asking]
        like = [
            one for one in rest if set(one.nouns) & set(asking.nouns) or one.verb == asking.verb
        ]
        return self.rng.choice(like if like and self.rng.random() < 0.5 else rest)

    def pieces(self, asking: Asking, mark: str = "") -> tuple[list[Piece], Arguments]:
        """A request with its values, and what these mean; empty if no draw fits.

        ``mark`` is appended to the names of slots, so that those of two requests differ.
        """
        for _ in range(_TRIES):
            source = asking.phrasing(self.rng)
            known = source in asking.own
            if not known and held_out(re.sub(r"\W+", " ", source)) is not self.writer.holds_out:
                continue
            if not self.writer.tells(asking, source):
                continue
            found: list[Piece] = []
            meant: Arguments = {}
            for piece in self._expanded(source):
                if not piece.slot:
                    found.append(piece)
                    continue
                value, meaning = self.value(asking, piece.slot)
                meant[piece.slot + mark] = meaning
                found.append(Piece(value, piece.slot + mark))
            return found, meant
        return [], {}

    def _expanded(self, source: str) -> list[Piece]:
        pieces = template(source.lstrip("!")).expand(self.rng)
        return polite(self.rng, pieces) if is_order(source) else pieces

    def value(self, asking: Asking, name: str) -> tuple[str, Any]:
        """A value of a parameter as it is said, and what it means; None if it means its words."""
        schema, rng = asking.listed.properties[name], self.rng
        if listed := options(schema):
            option = rng.choice(list(listed))
            said = [s for s in TABLE.same.get(words(str(option)), ()) if s not in map(str, listed)]
            if said and rng.random() < _OTHER_WORDS:
                return rng.choice(said), option
            return _spoken(option, self.style.digits), option
        if schema.get("type") == "boolean":
            yes = rng.random() < 0.6
            if is_switch(name, schema):
                return ("on" if yes else "off"), yes
            form = rng.choice(TABLE.said.yes if yes else TABLE.said.no)
            return fill(form, rng, {}).replace("NAME", words(name)), yes
        if is_number(schema):
            return self._number(schema, asking.listed.notes.get(name, ""), words(name))
        # Spoken text has no punctuation, so only plain values can occur in it.
        told = [v for v in asking.values.get(name, ()) if self.style.cased or _PLAIN.fullmatch(v)]
        if told and rng.random() < _OF_EXAMPLES:
            return rng.choice(told), None
        kind = parameter_kind(name, asking.listed.notes.get(name, ""))
        if kind is None or rng.random() < 0.15:
            return self._text(rng.choice(_ANYTHING)), None
        return self._text(rng.choice(kind.values)), None

    def _number(self, schema: Mapping[str, Any], note: str, name: str) -> tuple[str, Any]:
        rng = self.rng
        between = _RANGE.search(note)
        # Nobody says negative numbers, and the engine takes numbers from what was said.
        low = max(0, math.ceil(schema.get("minimum", int(between[1]) if between else 1)))
        high = schema.get("maximum", int(between[2]) if between else None)
        if high is None:
            high = (
                rng.choice((10, 30, 100, 1000, 9999))
                if name.split()[-1] in ("id", "number")
                else rng.choice((10, 50, 100, 300))
            )
        value: float = rng.randint(int(low), max(int(low), int(high)))
        # People mostly say round numbers.
        step = next((s for s in (100, 10) if value > s and rng.random() < _ROUND), 1)
        value = max(low, value // step * step)
        if schema.get("type") == "number" and rng.random() < _FRACTIONS:
            value = value + rng.choice((0.5, 0.5, 0.2, 0.75))
            return _figure(value, self.style.digits), value
        return _figure(int(value), self.style.digits), int(value)

    def _text(self, kind: str) -> str:
        if kind == "file":
            return _file(self.rng, self.style)
        if kind in _COMPOSED:
            return _COMPOSED[kind](self.rng)
        return self.writer.values.draw(kind, self.rng, self.style.digits)

    def speak(self, pieces: list[Piece], meant: Arguments) -> Arguments:
        """Add a message of the user, and return the arguments as the message words them."""
        question = any("?" in piece.text for piece in pieces if not piece.slot)
        heard = utter(self.rng, pieces, self.style, question)
        self.messages.append({"role": "user", "content": heard.text})
        return {
            k: v if meant.get(k) is None else meant[k]
            for k, v in heard.values.items()
            if k in meant
        }

    def say(self, text: str) -> bool:
        """Add a message of the agent."""
        self.messages.append({"role": "assistant", "content": text})
        return True

    def call(self, calls: Sequence[tuple[Asking, Arguments]]) -> bool:
        """Add calls, with arguments in declaration order, their results, and the agent's report.

        Nothing is added, and the result is False, if a required argument is missing.
        """
        ordered = [
            (a, {k: given[k] for k in a.listed.properties if k in given}) for a, given in calls
        ]
        if any(
            missing for a, given in ordered if (missing := set(a.listed.required) - given.keys())
        ):
            return False
        made = [{"name": a.listed.name, "arguments": given} for a, given in ordered]
        self.messages.append({"role": "assistant", "content": None, "tool_calls": made})
        results = [self._result(a) for a, _ in ordered]
        for (asking, _), result in zip(ordered, results, strict=True):
            self.messages.append({"role": "tool", "name": asking.listed.name, "content": result})
        return self.say(" ".join(results))

    def _result(self, asking: Asking) -> str:
        noun = asking.nouns[0]
        if asking.verb in SEEING:
            told = f"{self.rng.choice(WORDS['adjective'])} {self.rng.choice(WORDS['noun'])}"
            return capital(
                self.rng.choice(
                    (
                        f"The {noun}: {told}.",
                        f"{noun}: {self.rng.randint(2, 90)}.",
                        f"It is {told}.",
                    )
                )
            )
        return self.rng.choice(("Done.", "Okay.", f"Done, the {noun}.", "That worked."))


def _kind(rng: Random) -> str:
    return rng.choices(list(KINDS), list(KINDS.values()))[0]


def skeletons(asking: Asking) -> frozenset[str]:
    """The skeletons of many random requests for a tool."""
    rng = Random(asking.listed.name)
    return frozenset(skeleton(asking.phrasing(rng), asking.listed) for _ in range(_DRAWS))


def _spoken(option: Any, digits: bool) -> str:
    """An option as people say it."""
    if isinstance(option, (int, float)) and not isinstance(option, bool):
        return _figure(option, digits)
    return words(str(option)) or str(option)


def _figure(value: float, digits: bool) -> str:
    """A number as people say it, or in figures."""
    if digits:
        return figures(value)
    whole, _, part = figures(abs(value)).partition(".")
    said = " ".join(["minus"] * (value < 0) + [words_of(int(whole))])
    return f"{said} point {' '.join(words_of(int(d)) for d in part)}" if part else said


def _file(rng: Random, style: Style) -> str:
    """A file's or a folder's name, as it is written or said."""
    name = rng.choice(WORDS["noun"]) if rng.random() < 0.6 else pseudo_word(rng)
    if rng.random() < 0.35:
        name = (
            f"{rng.choice(WORDS['adjective'])} {name}"
            if not style.cased
            else f"{rng.choice(WORDS['adjective'])}_{name}"
        )
    if rng.random() < 0.5:
        name += f".{rng.choice(TABLE.ends)}" if style.cased else f" dot {rng.choice(TABLE.ends)}"
    return name

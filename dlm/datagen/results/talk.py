"""One dialogue about results while it is written: its tools, questions, calls and answers."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from random import Random

from dlm.datagen.holdout import unseen
from dlm.datagen.language.noise import Style, utter
from dlm.datagen.language.phrases import Piece, fill, is_order, polite, template
from dlm.datagen.language.spontaneous import Speaker, at_ease
from dlm.datagen.results.tools import MATTERS, Deed, Matter, Tool, offered
from dlm.datagen.tools.world import capital
from dlm.datagen.values.result_values import WORDING, Row
from dlm.datagen.values.slots import Values
from dlm.language.spoken_numbers import words_of

STYLES = ("snake", "snake", "camel", "pascal")
"""Styles of names, to draw from."""
_OTHERS = {"train": (0, 1, 1, 2, 3, 4), "heldout": (0, 1, 2, 3, 4)}
"""Numbers of tools that are declared besides the first, to draw from."""
_GOODS = (
    ("milk", "bread", "coffee", "rice", "honey", "soap", "paper", "pasta", "butter", "soup"),
    ("cheese", "tea", "flour", "salt", "juice", "candles", "sugar", "garlic", "jam", "ham"),
)
"""Goods for the first and the second slot of a request."""
_DAYS = (
    "tomorrow", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday",
    "next monday", "next friday", "this saturday", "today",
)  # fmt: skip


class ResultTalk:
    """A dialogue about results of any tools.

    Args:
        style: How the user is transcribed.
        ease: Whether the user speaks spontaneously (`dlm.datagen.language.spontaneous`).
    """

    def __init__(self, rng: Random, values: Values, split: str, style: Style, ease: bool) -> None:
        self.rng, self.values, self.split = rng, values, split
        self.style, self.ease = style, ease
        self.messages: list[Row] = []

    def speak(
        self, pieces: list[Piece], order: bool, again: bool, question: bool
    ) -> dict[str, str]:
        """The user says filled pieces; returns what fills their slots as it was heard.

        Args:
            order: Whether they begin with a verb.
            again: Whether they follow an answer, and so have no words around them.
        """
        if self.ease and not again:
            rng, values = self.rng, self.values
            speaker = Speaker(rng, self.split, lambda s: values.text(s, rng), lambda *_: "")
            pieces = at_ease(speaker, pieces, order)
        heard = utter(self.rng, pieces, self.style, question)
        self.messages.append({"role": "user", "content": heard.text})
        return {slot: text for slot, text in heard.values.items() if slot.isalpha()}

    def make_call(self, name: str, arguments: dict[str, str], result: str) -> None:
        """The agent calls a tool, which answers."""
        calls = [{"name": name, "arguments": arguments}]
        self.messages += [
            {"role": "assistant", "content": None, "tool_calls": calls},
            {"role": "tool", "name": name, "content": result},
        ]

    def thank(self) -> None:
        """The user says thanks and asks nothing more."""
        heard = utter(self.rng, [Piece(self.rng.choice(WORDING["thanks"]))], self.style)
        self.messages.append({"role": "user", "content": heard.text})
        self.messages.append({"role": "assistant", "content": self.rng.choice(WORDING["welcome"])})


class Teller(ResultTalk):
    """A dialogue with tools of the tables."""

    def __init__(self, rng: Random, values: Values, split: str, style: Style, ease: bool) -> None:
        super().__init__(rng, values, split, style, ease)
        self.heard: dict[str, str] = {}
        names = [name for name in MATTERS if unseen(name) == (split == "heldout")]
        chosen = rng.sample(names, 1 + rng.choice(_OTHERS[split]))
        naming = rng.choice(STYLES)
        tools = (offered(name, naming, split, rng) for name in chosen)
        self.tools = list({tool.spec["name"]: tool for tool in tools}.values())

    def ask(self, source: str, matter: Matter, it: str = "", **told: str) -> dict[str, str]:
        """The user says a phrasing; returns what fills its slots as it was heard.

        Args:
            it: What ``IT`` stands for; by default the thing's name.
            told: Words for slots that are not arguments.
        """
        rng = self.rng
        thing = "" if isinstance(matter, Deed) else matter.thing
        whole = re.sub(r"\bIT\b", it or thing, source.lstrip("!"))
        pieces = template(whole).expand(rng)
        for at, (_, slot) in enumerate(pieces):
            if slot:
                pieces[at] = Piece(told[slot]) if slot in told else self._drawn(slot, matter)
        order = is_order(source) and " me " not in source
        if order and not it:
            pieces = polite(rng, pieces)
        return self.speak(pieces, order, bool(it), "?" in source)

    def _drawn(self, slot: str, matter: Matter) -> Piece:
        rng, kind = self.rng, slot
        if isinstance(matter, Deed):
            kind = matter.slots[slot][0]
        if kind == "target":
            number = rng.randint(15, 26)
            return Piece(str(number) if self.style.digits else words_of(number), slot)
        if kind == "good":
            return Piece(rng.choice(_GOODS[slot != "item"]), slot)
        if kind in ("room", "name"):
            names = self.values.known(kind)
            half = len(names) // 2
            # From different halves, so that two of a kind in one request are never the same.
            return Piece(rng.choice(names[half:] if slot == "other" else names[:half]), slot)
        if kind == "day":
            return Piece(rng.choice(_DAYS), slot)
        return Piece(self.values.draw(kind, rng, self.style.digits), slot)

    def call(self, tool: Tool, heard: Mapping[str, str], result: str) -> None:
        """The agent calls a tool with what was heard, and the tool answers."""
        given = {key: heard[slot] for slot, key in tool.parameters.items()}
        self.make_call(tool.spec["name"], given, result)

    def tell(self, source: str, it: str = "it", **told: str) -> None:
        """The agent says a phrasing."""
        source = re.sub(r"\bIT\b", it, source)
        fields = self.heard | told | {capital(k): capital(v) for k, v in told.items()}
        text = fill(source, self.rng, fields)
        text = re.sub(r"(^|[.!?] )([a-z])", lambda m: m[1] + m[2].upper(), text)
        kind = {"kind": "told"} if self.messages[-1]["role"] == "user" else {}
        self.messages.append({"role": "assistant", "content": text, **kind})

    def pick(self, options: Sequence[str]) -> str:
        """One of some phrasings."""
        return self.rng.choice(options)

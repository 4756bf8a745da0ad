"""One dialogue with composed tools while it is written: its tools, its turns, its failures.

The names of tools and things are decided here; what is asked and told is in
`dlm.datagen.results.composed_results` and `dlm.datagen.results.composed_lists`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Any

from dlm.datagen.holdout import held_out, members
from dlm.datagen.language.noise import Style
from dlm.datagen.language.phrases import Piece, is_order, polite
from dlm.datagen.results.composed_fields import (
    GROUPS,
    TABLE,
    an,
    any_noun,
    composed,
    draw_noun,
    drawn,
    many,
)
from dlm.datagen.results.talk import ResultTalk
from dlm.datagen.tools.catalog import Spec
from dlm.datagen.tools.descriptions import described
from dlm.datagen.tools.renaming import styled
from dlm.datagen.tools.world import capital
from dlm.datagen.values.result_values import WORDING, Row, as_json, failure_text
from dlm.datagen.values.slots import Values

TELL, WORDS = TABLE.tell, TABLE.wording

LACKING = "n't|not|no|nothing|missing"
"""Alternatives of which an answer has one if something is missing or did not work."""


@dataclass(frozen=True, slots=True)
class Asked:
    """A question with its answer.

    Attributes:
        ask: A phrasing, with ``IT`` for the thing.
        reply: The answer, likewise.
        values: What the reply must contain.
        slots: What fills the slots of the question.
        about: Words of the field that it is about, "all", or empty.
    """

    ask: str
    reply: str
    values: tuple[str, ...]
    slots: Mapping[str, str] = field(default_factory=dict)
    about: str = ""


@dataclass(frozen=True, slots=True)
class Tool:
    """A composed tool, with what it is about.

    Attributes:
        say: How the user refers to the thing, perhaps with ``{x}``.
        named: How the agent refers to it.
        kind: Kind of values for ``{x}``; empty if there is none.
        key: The parameter that takes ``{x}``.
    """

    spec: Spec
    noun: str
    group: str
    say: str
    named: str
    kind: str
    key: str


class Talk(ResultTalk):
    """A dialogue with composed tools."""

    def __init__(self, rng: Random, values: Values, split: str, style: Style, ease: bool) -> None:
        super().__init__(rng, values, split, style, ease)
        self.specs: list[Spec] = []
        self._nouns: set[str] = set()

    # Tools

    def tool(self, kind: str, words: Sequence[str] = (), about: str = "", group: str = "") -> Tool:
        """Compose a tool and declare it from here on.

        Args:
            kind: "tool", "list" or "deed".
            words: Words of its name, if it does or tells one thing.
            about: Its description, in that case.
            group: Group of its thing; empty for any.
        """
        rng, group = self.rng, group or self.rng.choice(GROUPS)
        noun = draw_noun(rng, group, self.split)
        while self._nouns & set(noun.split()):
            noun = draw_noun(rng, group, self.split)
        self._nouns |= set(noun.split())
        forms = TABLE.lists["for"] if kind == "list" else WORDS["subjects"]
        say, *others = rng.choice(forms).split("|")
        named, slot, keys = (say, *others) if kind == "list" else others
        key = rng.choice(keys.split(", ")) if slot else ""
        properties: Spec = {key: {"type": "string"}} if key else {}
        if rng.random() < 0.12:
            properties[rng.choice(("lang", "verbose", "format", "fields"))] = {"type": "string"}
        about = about or self.pick(WORDS["about_list" if kind == "list" else "about"])
        schema = {"type": "object", "properties": properties, "required": [key] if key else []}
        spec = {
            "name": self._name(kind, words, many(noun) if kind == "list" else noun),
            "description": capital(_about_noun(about, noun)),
            "parameters": schema,
        }
        if key and kind == "list":
            told = (f"only the {many(noun)} of this {slot}", f"{slot} to look for {many(noun)}")
        else:
            told = (f"which {noun} is meant", f"{slot} of the {noun}")
        spec = described(spec, {key: told} if key else {})
        self.specs.append(spec)
        return Tool(spec, noun, group, _about_noun(say, noun), _about_noun(named, noun), slot, key)

    def _name(self, kind: str, words: Sequence[str], noun: str) -> str:
        """A name that is in the split, and that no other tool has."""
        rng, style = self.rng, self.rng.choice(("snake", "snake", "camel", "pascal"))
        taken = {spec["name"] for spec in self.specs}
        while True:
            verb = [rng.choice(WORDS["list_verbs" if kind == "list" else "tool_verbs"])]
            parts = (
                [*words, noun] if kind == "deed" else [*verb, *words] if words else [*verb, noun]
            )
            roll = rng.random()
            if roll < (0.2 if self.split == "train" else 0.6):
                parts.append(rng.choice(WORDS["tails"]))
            if roll < (0.05 if self.split == "train" else 0.8):
                parts.insert(0, rng.choice(WORDING["prefixes"]))
            if words and kind != "deed" and roll > 0.85:
                parts = [*verb, noun, *words]
            parts = "_".join(parts).replace(" ", "_").replace("-", "_").split("_")
            name = styled(parts, style)
            if name not in taken and held_out("_".join(parts)) == (self.split == "heldout"):
                return name

    # Turns

    def pick(self, options: Sequence[str]) -> str:
        """One of some phrasings, from the split if that has any."""
        return self.rng.choice(members(tuple(options), self.split) or options)

    def ask(self, source: str, slots: Mapping[str, str], again: bool = False) -> dict[str, str]:
        """The user says a phrasing; returns what fills its slots as it was heard.

        Args:
            again: Whether it follows an answer, and so has no words around it.
        """
        rng, order = self.rng, is_order(source) and " me " not in source
        parts = re.split(r"\{(\w+)\}", source.lstrip("!"))
        pieces = [Piece(slots[p], p) if at % 2 else Piece(p) for at, p in enumerate(parts) if p]
        if order:
            count = len(pieces)
            pieces = polite(rng, pieces)
            order = len(pieces) == count
        return self.speak(pieces, order, again, "?" in source)

    def call(self, tool: Tool, heard: Mapping[str, str], result: str) -> None:
        """The agent calls a tool, which answers."""
        given = {tool.key: heard["x"]} if tool.key else {}
        self.make_call(tool.spec["name"], given, result)

    def tell(self, text: str, values: Sequence[str]) -> None:
        """The agent answers.

        Args:
            values: What the answer must contain: of each, one of the alternatives divided by "|".
        """
        kind = {"kind": "told"} if self.messages[-1]["role"] == "user" else {}
        told = {"role": "assistant", "content": spoken(text), **kind}
        self.messages.append({**told, "values": list(values)} if values else told)

    def slot(self, tool: Tool) -> str:
        """A value for the ``{x}`` in a thing's name, as it is said."""
        while set((said := self._drawn(tool.kind)).split()) & set(tool.noun.split()):
            pass
        return said

    def _drawn(self, kind: str) -> str:
        rng = self.rng
        if kind == "modifier":
            return self.values.draw("adjective", rng) if rng.random() < 0.3 else any_noun(rng)
        if kind in ("title", "names"):
            return drawn(kind, rng, self.values).said
        if kind == "nouns":
            return many(any_noun(rng))
        return self.values.draw(kind, rng, self.style.digits)

    def fail(self, tool: Tool, heard: Mapping[str, str], forms: Sequence[str]) -> None:
        """The call fails, and the agent says so, with the reason if there is one."""
        rng = self.rng
        why, raw = self._reason()
        if rng.random() < 0.1:
            self.call(tool, heard, failure_text("", rng))
            self.tell(self.pick(TELL["bare_failed"]), (LACKING,))
            return
        self.call(tool, heard, raw)
        self.tell(self.pick(forms).replace("{why}", why), (why,))
        if rng.random() < 0.35:
            source = rng.choice(WORDING["again"])
            self.ask(source, {}, True)
            self.tell(f"No, {why}." if source.startswith("did") else f"{capital(why)}.", (why,))

    def _reason(self) -> tuple[str, str]:
        """Why a call failed, in words and as the tool writes it."""
        rng = self.rng
        key = rng.choice(WORDS["error_keys"])
        noun = any_noun(rng)
        coded, _, said = rng.choice(WORDS["coded"]).partition("|")
        coded, said = (coded.replace("NOUN", noun.upper()), said.replace("{a}", noun))
        coded = coded.replace(" ", "_")
        if rng.random() < 0.5:
            code, roll = coded if rng.random() < 0.5 else coded.lower(), rng.random()
            both = {"code": code, key: capital(said) + "."}
            found: Any = {"error": both} if roll < 0.3 else {"error": code} if roll < 0.7 else both
            return said, f"Error: {code}" if roll > 0.9 else as_json(found, rng)
        said = composed(rng.choice(WORDS["reasons"]), rng, self.values)
        raw = said if rng.random() < 0.4 else f"{capital(said)}."
        if rng.random() < 0.15:
            return said, f"Error: {raw}"
        extras: tuple[Row, ...] = (
            {}, {"ok": False}, {"success": False}, {"status": "error"}, {"code": 403},
        )  # fmt: skip
        return said, as_json(rng.choice(extras) | {key: raw}, rng)


def _about_noun(source: str, noun: str) -> str:
    return source.replace("a NOUN", an(noun)).replace("NOUNs", many(noun)).replace("NOUN", noun)


def fill(source: str, **fields: str) -> str:
    """A phrasing with its slots and its capitalised placeholders filled."""
    for name, text in fields.items():
        source = source.replace(f"{{{name}}}", text)
        source = source.replace(f"{{{capital(name)}}}", capital(text))
        if name[0] == "W":
            source = re.sub(rf"\b{name}\b", text, source)
    return source


def spoken(text: str) -> str:
    """A text with its sentences capitalised, and without double stops."""
    text = re.sub(r"(^|[.!?] )([a-z])", lambda m: m[1] + m[2].upper(), text)
    return re.sub(r"(?<=[.!?])\.", "", text)

"""One dialogue while it is written: the user's turns, the agent's calls and replies."""

from __future__ import annotations

from random import Random
from typing import Any

from dlm.datagen.corpora import Corpora
from dlm.datagen.grammar import Piece, fill, is_order, template
from dlm.datagen.holdout import pick
from dlm.datagen.inventions import INVENTIONS, reply, twin
from dlm.datagen.noise import Style, draw_style, utter
from dlm.datagen.polite import polite
from dlm.datagen.replies import ERRORS, FIXED, REPLIES
from dlm.datagen.slots import Drawing, base, fill_slots
from dlm.datagen.twins import TWINS
from dlm.datagen.values import Values
from dlm.datagen.world import Arguments, Result, World, capital

Call = tuple[str, Arguments]

_INHERITED = frozenset(("state", "list", "day"))
_COFFEE = frozenset(("order_drink", "remove_drink", "read_order"))


class Script:
    """A dialogue in the making.

    Args:
        rng: Source of chance; everything in the dialogue follows from it.
        values: Slot values.
        split: "train" or "heldout"; user phrasings come from this split alone.
        corpora: Rows that may word the user's turns; of the same split.
        unasked: Share of turns that name a deed without asking for it.
    """

    def __init__(
        self,
        rng: Random,
        values: Values,
        split: str,
        corpora: Corpora | None = None,
        unasked: float = 0.0,
    ) -> None:
        self.rng, self.split, self.values, self.corpora = rng, split, values, corpora
        self.unasked = unasked
        self.world = World(rng, TWINS)
        self.style: Style = draw_style(rng)
        self.drawing = Drawing(values, rng, self.world, self.style.digits)
        self.messages: list[dict[str, Any]] = []
        self.used: set[str] = set()
        self.forbidden: set[str] = set()
        self.last: tuple[str, Arguments, Result] | None = None
        self.last_reply = ""
        self.repertoire: tuple[str, ...] = ()
        self.ended = False

    def restyle(self, style: Style) -> None:
        """Have the user transcribed otherwise from here on."""
        self.style = style
        self.drawing.digits = style.digits

    def say(self, text: str, kind: str = "") -> None:
        """The agent says something; ``kind`` tells evaluations what: "ask" or "decline"."""
        message = {"role": "assistant", "content": text}
        self.messages.append({**message, "kind": kind} if kind else message)
        self.last_reply = text

    def hear(self, text: str) -> None:
        """The user says something, as it stands."""
        self.messages.append({"role": "user", "content": text})

    def ask(self, tool: str, options: tuple[str, ...], known: Arguments | None = None) -> Arguments:
        """The user says one of ``options``; returns the slots' values as they stand in the text.

        Raises:
            NothingHeldOutError: no option is in the split.
        """
        source = pick(self.rng, options, self.split)
        pieces = self.worded(tool, source, known)
        if is_order(source):
            pieces = polite(self.rng, pieces)
        return self.speak(pieces, source.endswith("?"))

    def worded(self, tool: str, source: str, known: Arguments | None = None) -> list[Piece]:
        """A reading of a phrasing with its slots filled, nothing said yet."""
        pieces = template(source.lstrip("!")).expand(self.rng)
        return fill_slots(tool, pieces, self.drawing, known)

    def speak(self, pieces: list[Piece], question: bool = False) -> Arguments:
        """The user says filled pieces; returns the slots' values as they stand in the text."""
        heard = utter(self.rng, pieces, self.style, question)
        self.hear(heard.text)
        return heard.values

    def call(self, calls: list[Call]) -> list[Result]:
        """The agent calls tools, the world answers; both are written down."""
        results = []
        made = [{"name": name, "arguments": arguments} for name, arguments in calls]
        self.messages.append({"role": "assistant", "content": None, "tool_calls": made})
        for name, arguments in calls:
            self.drawing.seed(name, arguments)
            result = self._result(name, arguments)
            results.append(result)
            self.used.add(name)
            self.messages.append({"role": "tool", "name": name, "content": result.text})
            self.last = (name, arguments, result)
        return results

    def _result(self, tool: str, arguments: Arguments) -> Result:
        if tool in INVENTIONS:
            return twin(INVENTIONS[tool], arguments, self.values, self.rng)
        return self.world.call(tool, arguments)

    def answer(self, calls: list[Call]) -> None:
        """Call tools and tell what they answered."""
        results = self.call(calls)
        if len(results) == 1:
            self.say(self.reply(calls[0][0], results[0]))
        else:
            self.say(self._both([c[0] for c in calls], results))
            self.last = None

    def reply(self, tool: str, result: Result) -> str:
        """What the agent says about one result."""
        if result.error:
            text = result.fields["error"]
            low = text if text.startswith("I ") else text[:1].lower() + text[1:]
            return fill(self.rng.choice(ERRORS), self.rng, {"error": text, "low": low})
        if tool in INVENTIONS:
            return reply(INVENTIONS[tool], result, self.rng)
        fields = result.fields | {capital(k): capital(v) for k, v in result.fields.items() if v}
        options = REPLIES[tool][result.case]
        return capital(fill(self.rng.choice(options), self.rng, result.fields | _caps(fields)))

    def _both(self, tools: list[str], results: list[Result]) -> str:
        texts = [r.fields["error"] if r.error else r.text for r in results]
        if self.rng.random() < 0.5:
            texts = [self.reply(t, r) for t, r in zip(tools, results, strict=True)]
            texts = [t.split("? ")[0].split(". ")[0].rstrip(".") + "." for t in texts]
        tail = " Anything else?" if set(tools) & _COFFEE else ""
        return " ".join(texts) + tail

    def changed(self, result: Result) -> str:
        """What the agent says about a drink that replaced another."""
        return capital(fill(self.rng.choice(FIXED), self.rng, result.fields))


def _caps(fields: dict[str, str]) -> dict[str, str]:
    return {k: v for k, v in fields.items() if k[:1].isupper()}


def calls_of(tool: str, values: Arguments, order: list[str]) -> list[Call]:
    """The calls that a turn's slots make, one for each numbering, parameters in schema order.

    Args:
        tool: The tool called.
        values: Slots as heard; "item2" belongs to the second call.
        order: The tool's parameters in schema order.
    """
    groups: dict[str, Arguments] = {}
    for slot, value in values.items():
        name, suffix = base(slot)
        groups.setdefault(suffix, {})[name] = value
    first = groups.setdefault("", {})
    calls = []
    for suffix in sorted(groups):
        own = groups[suffix]
        if suffix:
            own = {k: v for k, v in first.items() if k in _INHERITED} | own
        calls.append((tool, ordered(own, order)))
    return calls


def ordered(arguments: Arguments, order: list[str]) -> Arguments:
    """Arguments in schema order."""
    return {name: arguments[name] for name in order if name in arguments}

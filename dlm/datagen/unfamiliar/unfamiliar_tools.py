"""Dialogues about tools that no agent ships: composed ones, and intents of the corpora.

They teach the model to read declarations: which of the tools is meant, and which words belong to
which of its parameters.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from random import Random
from typing import Any

from dlm.datagen.corpora import intent_tools
from dlm.datagen.corpora.intent_tools import IntentTool, Purpose
from dlm.datagen.language.mentions import is_mentionable, mentioned
from dlm.datagen.language.noise import draw_style, utter
from dlm.datagen.language.phrases import Piece, fill
from dlm.datagen.language.spontaneous import (
    SPEECH,
    Speaker,
    abandoned,
    at_ease,
    change,
    contrasted,
    enumerated,
    is_gappable,
    parted,
    remark,
    shortened,
    taken_back,
    together,
    varied,
)
from dlm.datagen.language.tables import read
from dlm.datagen.language.wording import WORDING
from dlm.datagen.tools.catalog import Spec, Written
from dlm.datagen.tools.world import Arguments, capital
from dlm.datagen.unfamiliar import composed_tools
from dlm.datagen.unfamiliar.composed_tools import KINDS, ComposedTool
from dlm.datagen.values.slots import Values
from dlm.language.spoken_numbers import number

Tool = ComposedTool | IntentTool

_STYLES = ("snake", "snake", "camel", "pascal", "word")
_SIZES = {"train": (2, 3, 4, 5, 6, 8, 10), "heldout": (1, 2, 3, 4, 5, 6, 8)}
"""Numbers of tools that are declared, to draw from."""
_INTENTS = {"train": 0.5, "heldout": 0.4}
"""Share of tools that are made from intents of the corpora."""
_MARKED = 0.5
"""Share of those, in training, that must come from an intent with arguments, as few have any."""
_TRIES = 6


@dataclass(frozen=True, slots=True)
class _Table:
    choosing: tuple[str, ...]
    no_nouns: tuple[str, ...]
    ask: tuple[str, ...]
    ask_plainly: dict[str, tuple[str, ...]]
    give: tuple[str, ...]
    fix: tuple[str, ...]
    refine: tuple[str, ...]
    refine_choice: tuple[str, ...]


_TABLE = read("unfamiliar_tools", _Table)


class Scene:
    """One dialogue with unfamiliar tools while it is written.

    Args:
        at_ease: Whether the user speaks spontaneously (`dlm.datagen.language.spontaneous`).
    """

    def __init__(
        self,
        rng: Random,
        values: Values,
        split: str,
        purposes: Mapping[str, Purpose],
        at_ease: bool = False,
    ) -> None:
        self.at_ease = at_ease
        self.rng, self.values, self.split, self.purposes = rng, values, split, purposes
        self.style = draw_style(rng)
        self.naming = rng.choice(_STYLES)
        self.messages: list[dict[str, Any]] = []
        self.tools: list[Tool] = []
        self.absent: list[Tool] = []
        self.meant: dict[str, str] = {}
        self.rows: dict[str, tuple[str, Any]] = {}

    def offer(self) -> None:
        """Choose the tools: some that are easily confused, and others that are not."""
        rng = self.rng
        for _ in range(rng.choice(_SIZES[self.split])):
            self.add()
        rng.shuffle(self.tools)
        if rng.random() < 0.5:
            self._withdraw()

    def add(self) -> None:
        """Declare another tool, unless it is too similar to those that are declared."""
        rng = self.rng
        if self.purposes and rng.random() < _INTENTS[self.split]:
            self._add(self._intent_tool())
            return
        known = [t for t in self.tools if isinstance(t, ComposedTool)]
        like = rng.choice(known) if known and rng.random() < 0.5 else None
        self._add(composed_tools.compose(rng, self.split, like, self.naming))

    def _intent_tool(self) -> IntentTool:
        rng = self.rng
        names = list(self.purposes)
        if self.split == "train" and rng.random() < _MARKED:
            names = [name for name in names if self.purposes[name].marked] or names
        purpose = self.purposes[rng.choice(names)]
        text, slots = rng.choice(purpose.rows)
        tool = intent_tools.offer(purpose, rng, self.naming, slots)
        self.rows.setdefault(tool.name, (text, slots))
        return tool

    def _add(self, tool: Tool) -> None:
        known = {t.name.lower() for t in self.tools}
        same = isinstance(tool, IntentTool) and any(
            isinstance(t, IntentTool) and t.topic & tool.topic for t in self.tools
        )
        doubled = isinstance(tool, ComposedTool) and any(
            isinstance(t, ComposedTool) and (t.noun, t.action) == (tool.noun, tool.action)
            for t in self.tools
        )
        if tool.name.lower() not in known and not same and not doubled:
            self.tools.append(tool)

    def _withdraw(self) -> None:
        """Set a tool aside to be asked for in vain, unless another one could stand in for it."""
        if len(self.tools) < 2:
            return
        tool = self.tools[-1]
        if not isinstance(tool, ComposedTool):
            return
        last = tool.noun.split()[-1]
        rest = [t for t in self.tools[:-1] if isinstance(t, ComposedTool)]
        if not any(t.noun.split()[-1] == last for t in rest):
            self.absent.append(self.tools.pop())

    def request(self, tool: Tool) -> bool:
        """The user asks for a tool, the agent calls it and reports the result."""
        pieces = self._pieces(tool)
        if pieces:
            self._call([(tool, self._speak(self._eased(tool, pieces)))])
        return bool(pieces)

    def speaker(self, tool: Tool) -> Speaker:
        """The user as a spontaneous speaker about a tool."""
        return Speaker(
            self.rng,
            self.split,
            lambda symbol: self.values.text(symbol, self.rng),
            lambda slot, value: varied(self.rng, value) or self._other(tool, slot),
        )

    def _other(self, tool: Tool, slot: str) -> str:
        """Another value for a parameter; for an intent, one from another of its sentences."""
        if isinstance(tool, ComposedTool):
            if slot not in tool.kinds:
                return ""
            return self._given(tool, slot)
        pieces = intent_tools.asked(tool, *self.rng.choice(tool.purpose.rows)) or ()
        return next((piece.text for piece in pieces if piece.slot == slot), "")

    def _given(self, tool: ComposedTool, key: str) -> str:
        return composed_tools.given(tool, key, self.rng, self.values, self.style.digits)

    def _eased(self, tool: Tool, pieces: list[Piece]) -> list[Piece]:
        if not self.at_ease or (self.style.cased and isinstance(tool, IntentTool)):
            return pieces
        order = isinstance(tool, ComposedTool) and is_mentionable(pieces)
        return at_ease(self.speaker(tool), pieces, order)

    def _pieces(self, tool: Tool) -> list[Piece]:
        if isinstance(tool, ComposedTool):
            return composed_tools.request(tool, self.rng, self.values, self.style.digits)
        row = self.rows.pop(tool.name, None) or self.rng.choice(tool.purpose.rows)
        pieces = intent_tools.asked(tool, *row)
        held = {p.slot for p in pieces or ()}
        if pieces is None or not set(tool.spec["parameters"]["required"]) <= held:
            return []
        return pieces

    def _speak(self, pieces: list[Piece], asks: bool = False) -> Arguments:
        first = pieces[0].text.strip().split(" ")[0].lower() if pieces else ""
        question = asks or first in _QUESTIONS
        heard = utter(self.rng, pieces, self.style, question)
        self.messages.append({"role": "user", "content": heard.text})
        for piece in pieces:
            if piece.slot in heard.values:
                self.meant[heard.values[piece.slot].lower()] = piece.text.lower()
        return heard.values

    def _call(self, calls: list[tuple[Tool, Mapping[str, Any]]]) -> None:
        given = [(tool, self._ordered(tool, arguments)) for tool, arguments in calls]
        made = [{"name": tool.name, "arguments": arguments} for tool, arguments in given]
        self.messages.append({"role": "assistant", "content": None, "tool_calls": made})
        said = []
        for tool, arguments in given:
            text, reply = self._result(tool, {k: str(v) for k, v in arguments.items()})
            self.messages.append({"role": "tool", "name": tool.name, "content": text})
            said.append(reply)
        self.messages.append({"role": "assistant", "content": " ".join(said)})

    def _ordered(self, tool: Tool, arguments: Mapping[str, Any]) -> dict[str, Any]:
        order = tool.spec["parameters"]["properties"]
        given = {k: arguments[k] for k in order if k in arguments}
        for key, value in given.items():
            if isinstance(value, str) and ("enum" in order[key] or order[key]["type"] != "string"):
                # An option may have been misheard; the call has the one that was meant.
                meant = self.meant.get(value.lower(), value.lower())
                given[key] = _typed(meant, order[key]["type"])
        return given

    def _result(self, tool: Tool, arguments: Arguments) -> tuple[str, str]:
        if isinstance(tool, IntentTool):
            return intent_tools.answered(tool, arguments, self.rng)
        result = composed_tools.answer(tool, arguments, self.rng)
        if result.error:
            error = result.fields["error"]
            return result.text, self.rng.choice((f"Sorry, {error[0].lower()}{error[1:]}", error))
        return result.text, composed_tools.reply(tool, result, self.rng)

    def bare(self, tool: ComposedTool) -> bool:
        """The user leaves out a required value; the agent asks for it, and the user gives it."""
        needed = tool.spec["parameters"]["required"]
        if len(needed) != 1 or tool.kinds[needed[0]] in ("rating", "value"):
            return False
        key = needed[0]
        kind = tool.kinds[key]
        whole = composed_tools.request(tool, self.rng, self.values, self.style.digits)
        at = next((i for i, p in enumerate(whole) if p.slot == key), None)
        if at is None or at == 0 or whole[at - 1].slot:
            return False
        head = whole[at - 1].text.rsplit(None, 1)
        if len(head) != 2 or head[1] not in ("to", "with", "for", "at"):
            return False
        pieces = [*whole[: at - 1], Piece(head[0]), *whole[at + 1 :]]
        known = self._speak(pieces)
        words = key.replace("_", " ") if self.rng.random() < 0.6 else kind.split("_")[-1]
        plainly = words.replace(" ", "_") in _TABLE.no_nouns
        forms = _TABLE.ask_plainly.get(kind, ()) if plainly else _TABLE.ask
        text = self.rng.choice(forms or ("What should it be?",)).format(key=words)
        self.messages.append({"role": "assistant", "content": text, "kind": "ask"})
        value = self._given(tool, key)
        told = self._speak([Piece(self.rng.choice(_TABLE.give)), Piece(value, key)])
        self._call([(tool, known | told)])
        return True

    def _last_call(self, tool: ComposedTool) -> dict[str, Any] | None:
        """The arguments of the last call; None unless it was one of this tool alone."""
        last = next((m for m in reversed(self.messages) if m.get("tool_calls")), None)
        if last is None or [c["name"] for c in last["tool_calls"]] != [tool.name]:
            return None
        arguments: dict[str, Any] = last["tool_calls"][0]["arguments"]
        return arguments

    def correct(self, tool: ComposedTool) -> bool:
        """The user corrects one argument of the last call, which is made again."""
        before = self._last_call(tool)
        if not before:
            return False
        key = self.rng.choice(list(before))
        value = self._given(tool, key)
        if _said_already(before, key, value):
            return False
        refusal = self.rng.choice(WORDING.refusals)
        if self.at_ease and isinstance(before[key], str):
            old = before[key].lower()
            short = "enum" in tool.spec["parameters"]["properties"][key]
            new = value if short else shortened(self.rng, value, old)
            said = change(self.speaker(tool), SPEECH["fix"], [Piece(new, key)], old, refusal)
        else:
            said = [Piece(self.rng.choice(_TABLE.fix).replace("{no}", refusal)), Piece(value, key)]
        self._call([(tool, before | self._speak(said))])
        return True

    def refine(self, tool: ComposedTool) -> bool:
        """The user asks for the same with one value changed or added."""
        known = self._last_call(tool)
        if known is None:
            return False
        keys = [k for k, kind in tool.kinds.items() if kind not in ("ref", "value", "title")]
        if not keys:
            return False
        key = self.rng.choice(keys)
        phrase = self.rng.choice(KINDS[tool.kinds[key]].said)
        before, _, after = phrase.partition("{}")
        value = self._given(tool, key)
        if _said_already(known, key, value):
            return False
        if self.at_ease and self.rng.random() < 0.6:
            new = [Piece(before), Piece(value, key), Piece(after)]
            said = change(self.speaker(tool), SPEECH["more"], new, "", "no")
            self._call([(tool, known | self._speak(said))])
            return True
        choice = _TABLE.refine_choice if tool.action.name in _TABLE.choosing else ()
        lead, _, tail = self.rng.choice(_TABLE.refine + choice).partition(" ... ")
        said = [Piece(f"{lead} {before}"), Piece(value, key), Piece(f"{after} {tail}")]
        self._call([(tool, known | self._speak(said))])
        return True

    def decline(self, tool: Tool) -> None:
        """The user asks for a tool that is not declared."""
        self._speak(self._pieces(tool) or [Piece(tool.ability)])
        what = {"what": tool.ability}
        text = capital(fill(self.rng.choice(WORDING.declines), self.rng, what))
        self.messages.append({"role": "assistant", "content": text, "kind": "decline"})

    def mention(self, tool: Tool) -> bool:
        """The user names what a tool does without asking for it, or only seems not to ask."""
        # Half of the wordings are not plain orders, so draw several.
        drawn = (self._pieces(tool) for _ in range(_TRIES))
        pieces = next((some for some in drawn if is_mentionable(some)), None)
        if pieces is None:
            return False
        said, answer, question = mentioned(self.rng, pieces, self.split)
        values = self._speak(said, question)
        if answer is None:
            self._call([(tool, values)])
        else:
            self.messages.append({"role": "assistant", "content": answer})
        return True

    def together(self, tools: Sequence[Tool]) -> bool:
        """Requests for different tools in one breath."""
        parts = [self._pieces(tool) for tool in tools]
        if not all(parts) or not all(map(_plain_order, parts)):
            return False
        pieces = together(self.rng, parts, self.split, self.at_ease)
        halves = parted(self._speak(self._eased(tools[0], pieces)), len(tools))
        self._call(list(zip(tools, halves, strict=True)))
        return True

    def several(self, tool: Tool) -> bool:
        """The user asks for the same kind of thing several times, with the verb said once."""
        whole = self._pieces(tool)
        if not is_gappable(whole) or not isinstance(tool, ComposedTool):
            return False
        parts = [whole, *(self._like(tool, whole) for _ in range(self.rng.choice((1, 1, 1, 2))))]
        pieces = self._eased(tool, enumerated(self.rng, parts))
        halves = parted(self._speak(pieces), len(parts))
        self._call([(tool, half) for half in halves])
        return True

    def _like(self, tool: Tool, pieces: list[Piece]) -> list[Piece]:
        """The same words with other values."""
        return [Piece(self._other(tool, p.slot) or p.text, p.slot) if p.slot else p for p in pieces]

    def instead(self, first: Tool, tool: Tool) -> bool:
        """The user breaks off or rejects one request for another."""
        begun, pieces = self._pieces(first), self._pieces(tool)
        if not begun or not pieces:
            return False
        meant = contrasted if is_mentionable(begun) and self.rng.random() < 0.4 else abandoned
        self._call([(tool, self._speak(meant(self.speaker(tool), begun, pieces)))])
        return True

    def withdraw(self, tool: Tool) -> bool:
        """The user takes a request back in the same breath."""
        pieces = self._pieces(tool)
        if not pieces:
            return False
        self._speak(taken_back(self.speaker(tool), pieces))
        answer = self.rng.choice(SPEECH["withdrawn"])
        self.messages.append({"role": "assistant", "content": answer})
        return True

    def tell(self) -> bool:
        """The user says something that sounds like a request but is not."""
        pieces, answer = remark(self.speaker(self.tools[0]))
        self._speak(pieces)
        self.messages.append({"role": "assistant", "content": answer})
        return True


_QUESTIONS = frozenset((
    "what", "what's", "how", "who", "when", "where", "why", "which", "is", "are", "do", "does",
    "did", "can", "could", "will", "would", "should", "any", "was", "were", "has",
))  # fmt: skip


def _typed(text: str, kind: str) -> Any:
    """A value of a parameter's type, from the words that say it."""
    if kind == "boolean":
        return not text.startswith(("without ", "no ", "not "))
    if kind == "integer":
        told = number(text)
        if told is None:
            raise AssertionError(f"expected a number, got {text!r}")
        return int(told)
    return text


def _said_already(known: Mapping[str, Any], key: str, value: str) -> bool:
    """Whether the last call had that value already, so that nobody would ask for it again."""
    said = value.lower()
    held = known.get(key)
    if isinstance(held, str):
        return held.lower() == said
    return key in known and held == _typed(said, "boolean" if isinstance(held, bool) else "integer")


def _plain_order(pieces: list[Piece]) -> bool:
    text = "".join(p.text for p in pieces).strip()
    return "?" not in text and text.split(" ")[0].lower() not in _QUESTIONS and len(text) < 70


_TURNS = {"train": (1, 2, 3, 4, 6, 8), "heldout": (1,)}


def write(scene: Scene, unasked: float = 0.0) -> Written | None:
    """A dialogue; None if a draw does not fit.

    Args:
        unasked: Share of turns that mention an order without giving it.
    """
    scene.offer()
    for _ in range(scene.rng.choice(_TURNS[scene.split])):
        _turn(scene, unasked)
    return _written(scene) if scene.messages else None


def single(scene: Scene) -> tuple[Spec, list[dict[str, Any]]] | None:
    """One tool, a request that it serves, and its call; None if a draw does not fit."""
    scene.add()
    if not scene.request(scene.tools[0]):
        return None
    return scene.tools[0].spec, scene.messages[:2]


def mention(scene: Scene) -> Written | None:
    """A dialogue of one turn that mentions what a tool does; None if a draw does not fit."""
    scene.offer()
    return _written(scene) if scene.mention(scene.rng.choice(scene.tools)) else None


def _written(scene: Scene) -> Written:
    return [t.spec for t in scene.tools], scene.messages


def _turn(scene: Scene, unasked: float) -> None:
    rng = scene.rng
    tool, other = rng.choice(scene.tools), rng.choice(scene.tools)
    if unasked and rng.random() < unasked and scene.mention(tool):
        return
    if scene.at_ease and rng.random() < 0.4 and _spontaneous(scene, tool, other):
        return
    roll = rng.random()
    if scene.absent and roll < 0.3:
        scene.decline(scene.absent[0])
        return
    if roll < 0.45 and isinstance(tool, ComposedTool) and scene.bare(tool):
        return
    if roll > 0.93 and tool is not other and scene.together((tool, other)):
        return
    if not scene.request(tool) or not isinstance(tool, ComposedTool):
        return
    roll, changed = rng.random(), 2.0 if scene.at_ease else 1.0
    if roll < 0.13 * changed:
        scene.correct(tool)
    elif roll < 0.28 * changed and scene.split == "train":
        scene.refine(tool)


def _spontaneous(scene: Scene, tool: Tool, other: Tool) -> bool:
    """Write a turn of a user at ease; False if a draw does not fit."""
    roll = scene.rng.random()
    if roll < 0.3:
        tools = list({t.name: t for t in (tool, other, *scene.tools)}.values())
        return len(tools) > 1 and scene.together(tools[: scene.rng.choice((2, 2, 3, 4))])
    if roll < 0.5:
        return scene.several(tool)
    if roll < 0.58 and tool is not other:
        return scene.instead(other, tool)
    return scene.withdraw(tool) if roll < 0.76 else roll < 0.95 and scene.tell()

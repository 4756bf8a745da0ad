"""Training dialogues without end: the front door of `dlm.datagen`.

``python -m dlm.datagen.dialogues --count 20 --seed 1`` prints some as JSON lines.

A dialogue is made in five steps. `stream` draws a kind from `SHARES`. That kind's writer writes
turns into a `dlm.datagen.script.Script` (an agent's own tools; what can happen in a turn is
`dlm.datagen.turns`), a `dlm.datagen.unfamiliar_tools.Scene` (tools that no agent ships) or a
`dlm.datagen.results.Teller` or `dlm.datagen.composed_talk.Talk` (what such tools answer, and what
is asked about it), or the row is written as a whole (`dlm.datagen.written_tools`: functions called
for in writing). A turn picks a phrasing of the split (`dlm.datagen.holdout`), fills its slots
(`dlm.datagen.values`), and has it transcribed (`dlm.datagen.noise`). Simulated tools answer the
calls, and replies are worded from their results. At last the tools to declare are chosen and, for
some kinds, renamed (`dlm.datagen.renaming`). Texts with structured answers are made apart
(`dlm.datagen.extraction`,
`dlm.datagen.composed_extraction`).

A new kind of dialogue is a writer in `_WRITERS` or `_OTHERS` and a share in `SHARES`; a new kind of
turn is a function in `dlm.datagen.turns`; new words are entries in ``data/``.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from random import Random
from typing import Any

from dlm.datagen import (
    catalog,
    composed_extraction,
    composed_results,
    examples,
    extraction,
    results,
    turns,
    turns_at_counter,
    turns_at_ease,
    turns_at_length,
    turns_everyday,
    turns_in_brief,
    unfamiliar_tools,
    written_tools,
)
from dlm.datagen.catalog import AGENT_TOOLS, INSTRUCTIONS, INVENTED
from dlm.datagen.corpora import Corpora, as_heard, load
from dlm.datagen.holdout import NothingHeldOutError
from dlm.datagen.noise import Style
from dlm.datagen.phrases import fill
from dlm.datagen.renaming import rename
from dlm.datagen.script import Script
from dlm.datagen.unfamiliar_tools import Scene
from dlm.datagen.values import Values
from dlm.datagen.wording import WORDING
from dlm.datagen.words import WORDS

SHARES: dict[str, float] = {
    "assistant": 0.115,
    "coffee": 0.045,
    "errands": 0.07,
    "drinks": 0.07,
    "assistant_renamed": 0.065,
    "coffee_renamed": 0.02,
    "invented": 0.025,
    "errands_renamed": 0.015,
    "drinks_renamed": 0.015,
    "corpus": 0.025,
    "stranger": 0.15,
    "written": 0.12,
    "extraction": 0.08,
    "results": 0.1,
    "talk": 0.085,
}
"""Share of each kind of dialogue; without corpora "corpus" falls away."""

WEIGHTS: dict[str, int] = {
    "set_timer": 10, "get_weather": 10, "set_device": 10, "add_to_list": 8, "set_alarm": 7,
    "set_reminder": 8, "calculate": 7, "get_time": 5, "get_date": 5, "convert_units": 6,
    "convert_currency": 5, "get_stock_price": 5, "get_device": 5, "search_documents": 6,
    "read_list": 4, "remove_from_list": 4, "cancel_timer": 5, "list_timers": 4, "list_reminders": 4,
    "list_alarms": 5, "change_alarm": 7, "cancel_alarm": 8, "change_reminder": 6,
    "cancel_reminder": 7, "change_timer": 7, "move_item": 5, "clear_list": 5, "days_until": 5,
    "forget_me": 4,
}  # fmt: skip
"""How often each of the assistant's tools is asked for."""

FEW_TOOLS = 0.75
"""Share of rows that offer some of the agent's tools only: declarations bring no loss, and cost."""

UNASKED = 0.24
"""Share of turns that mention an order without giving it, in training."""

COMPOSED = 0.75
"""Share of texts with structured answers that are composed of facts (`composed_extraction`)."""

AT_EASE = 0.6
"""Share of dialogues in training whose users speak as if nobody had written it for them."""

COMPOSED_RESULTS = 0.75
"""Share of dialogues about results whose tools and results are composed."""

TEXTING = 0.15
"""Share of the coffee shop's customers in training who type, and in haste."""

SPONTANEOUS = 0.5
"""Share of their turns that are none of the written kinds."""

_TALK = {
    "who": 4, "hello": 3, "thanks": 5, "garbled": 5, "how": 2, "no": 2, "facts": 5, "there": 2,
    "made": 2, "joke": 2, "stop": 2, "yes": 2, "wait": 1, "louder": 1, "wrong": 2,
}  # fmt: skip
_ALIKE = frozenset([
    "take_note", "read_calendar", "schedule_meeting", "find_recipe", "set_volume", "start_car",
    "define_word", "vacuum_room", "check_stock_item", "get_bus", "spell_word",
])  # fmt: skip
"""Invented tools too near to the agents' own to be declined while those are offered."""


@dataclass(frozen=True, slots=True)
class Source:
    """Where the words of a stream of dialogues come from: one split's values and rows.

    Attributes:
        style: How users are transcribed; None draws it for each dialogue.
        unasked: Share of turns that mention an order without giving it (`dlm.datagen.mentions`).
        at_ease: Share of dialogues whose users speak as if nobody had written it for them
            (`dlm.datagen.spontaneous`).
    """

    values: Values
    corpora: Corpora | None
    split: str
    style: Style | None = None
    unasked: float = 0.0
    at_ease: float = 0.0

    @classmethod
    def load(cls, corpora: Path | None, split: str, share_alike: bool = False) -> Source:
        """Read the corpora, if there are any; arguments and errors as those of `generate`."""
        if split not in ("train", "heldout"):
            raise ValueError(f"split must be train or heldout, got {split!r}")
        rows = load(corpora, split, share_alike) if corpora is not None else None
        if split == "heldout":
            return cls(Values(corpora, share_alike), rows, split)
        values = Values(corpora, share_alike, free=True)
        return cls(values, rows, split, unasked=UNASKED, at_ease=AT_EASE)


def generate(
    seed: int,
    corpora: Path | None = None,
    split: str = "train",
    share_alike: bool = False,
    unasked: float | None = None,
) -> Iterator[dict[str, Any]]:
    """Dialogues in the project's chat format, without end and the same for the same arguments.

    Args:
        corpora: Directory of the text corpora; None for the grammars alone.
        split: "train", or "heldout" for phrasings, rows and tool names that training never shows.
        share_alike: Whether lists under a share-alike licence may be used.
        unasked: As in `Source`; None for what is usual.

    Raises:
        ValueError: the split is neither.
        FileNotFoundError: a corpus is missing.
    """
    source = Source.load(corpora, split, share_alike)
    if unasked is not None:
        source = replace(source, unasked=unasked)
    yield from stream(Random(f"{seed}/{split}"), source, SHARES)


def stream(rng: Random, source: Source, shares: Mapping[str, float]) -> Iterator[dict[str, Any]]:
    """Dialogues of some kinds, without end.

    Args:
        shares: Share of each kind, of those in `SHARES`; without corpora that of "corpus" falls
            away.
    """
    kinds = [kind for kind in shares if source.corpora is not None or kind != "corpus"]
    weights = [shares[kind] for kind in kinds]
    while True:
        row = _attempt(rng, source, rng.choices(kinds, weights)[0])
        if row is not None:
            yield row


def _attempt(rng: Random, source: Source, kind: str) -> dict[str, Any] | None:
    if kind in _OTHERS:
        return _OTHERS[kind](rng, source)
    agent = kind.removesuffix("_renamed")
    ease = agent in _AT_LENGTH or (bool(source.at_ease) and rng.random() < source.at_ease)
    script = Script(rng, source.values, source.split, source.corpora, source.unasked, ease)
    if source.style is not None:
        script.restyle(source.style)
    try:
        _WRITERS[agent](script)
    except NothingHeldOutError:
        if source.split == "train":
            raise
        return None
    if not script.messages or script.messages[-1]["role"] != "assistant":
        return None
    if all(m["role"] != "user" for m in script.messages):
        return None
    if agent == "talk":
        agent = rng.choice(("assistant", "invented"))
    agent = _AT_LENGTH.get(agent, agent)
    return _row(script, agent, kind.endswith("_renamed") or agent == "invented")


def _row(script: Script, agent: str, renamed: bool) -> dict[str, Any]:
    rng = script.rng
    own = AGENT_TOOLS.get(agent, ())
    names = [n for n in own if n not in script.forbidden]
    if agent == "invented" or rng.random() < FEW_TOOLS:
        names = _subset(script, names or _any_tools(script))
    tools = [catalog.SPECS[n] for n in names]
    row = {"system": _instructions(rng, agent), "tools": tools, "messages": script.messages}
    if not renamed:
        return row
    spare = 20 - len(tools)
    if agent != "invented" and spare > 0 and rng.random() < 0.5:
        others = [n for n in INVENTED if n not in script.forbidden and n not in _ALIKE]
        row["tools"] = tools + [
            catalog.SPECS[n] for n in rng.sample(others, rng.randint(1, min(4, spare)))
        ]
    return rename(row, rng, script.split)


def _any_tools(script: Script) -> list[str]:
    """Tools of any kind, those that the dialogue used among them."""
    names = [n for n in catalog.SPECS if n not in script.forbidden and n not in script.used]
    script.rng.shuffle(names)
    return [*sorted(script.used), *names]


def _subset(script: Script, names: list[str]) -> list[str]:
    rng = script.rng
    others = [n for n in names if n not in script.used]
    rng.shuffle(others)
    most = min(7, len(others), 20 - len(script.used))
    keep = script.used | set(others[: rng.randint(0 if script.used else 1, max(1, most))])
    return [n for n in names if n in keep]


def _instructions(rng: Random, agent: str) -> str:
    if agent in INSTRUCTIONS and rng.random() < 0.85:
        return INSTRUCTIONS[agent]
    if agent not in INSTRUCTIONS and rng.random() < 0.4:
        return INSTRUCTIONS["assistant"]
    fields = {"name": "Quicksilver", "company": rng.choice(WORDS["company"])}
    return fill(rng.choice(WORDING.instructions), rng, fields)


def _corpus_row(rng: Random, source: Source) -> dict[str, Any] | None:
    if source.corpora is None or not source.corpora.dialogues:
        return None
    found = as_heard(rng.choice(source.corpora.dialogues), rng)
    return None if found is None else {"system": _instructions(rng, ""), **found}


def _unfamiliar(rng: Random, source: Source) -> dict[str, Any] | None:
    purposes = source.corpora.purposes if source.corpora else {}
    ease = bool(source.at_ease) and rng.random() < source.at_ease
    scene = Scene(rng, source.values, source.split, purposes, ease)
    written = unfamiliar_tools.write(scene, source.unasked)
    if written is None:
        return None
    tools, messages = written
    return {"system": _instructions(rng, ""), "tools": tools, "messages": messages}


def _results(rng: Random, source: Source) -> dict[str, Any]:
    ease = bool(source.at_ease) and rng.random() < source.at_ease
    writer = composed_results if rng.random() < COMPOSED_RESULTS else results
    tools, messages = writer.write(rng, source.values, source.split, source.style, ease)
    return {"system": _instructions(rng, ""), "tools": tools, "messages": messages}


def _greet(script: Script, agent: str) -> None:
    if script.rng.random() < 0.4:
        script.say(fill(script.rng.choice(WORDING.greetings[agent]), script.rng, {}))


def _turns(script: Script) -> int:
    counts = (2, 3, 3, 4, 5) if script.at_ease else (1, 2, 2, 3, 3, 4)
    return script.rng.choice(counts) if script.split == "train" else 1


def _assistant(script: Script) -> None:
    script.offer(AGENT_TOOLS["assistant"])
    _greet(script, "assistant")
    for _ in range(_turns(script)):
        if not script.ended:
            _turn(script, _wanted)
    if script.rng.random() < 0.12 and script.split == "train" and not script.ended:
        turns.goodbye(script)


def _invented(script: Script) -> None:
    _greet(script, "assistant")
    names = script.rng.sample(list(INVENTED), script.rng.randint(1, 3))
    script.offer(names)
    for _ in range(_turns(script)):
        _turn(
            script,
            lambda s: s.rng.choice([n for n in names if n not in s.forbidden] or ["get_time"]),
        )


def _talk(script: Script) -> None:
    """Nothing but talk, and perhaps a request in the end."""
    script.offer(AGENT_TOOLS["assistant"])
    _greet(script, "assistant")
    for _ in range(_turns(script)):
        roll = script.rng.random()
        if roll < 0.25 and turns.chat(script):
            continue
        if roll > 0.95 and turns.abilities(script, script.repertoire):
            continue
        if roll > 0.75:
            _talk_of_any(script)
        else:
            turns.small_talk(script)
    if script.split == "train" and script.rng.random() < 0.3:
        turns.request(script, _wanted(script))


def _turn(script: Script, wanted: Callable[[Script], str]) -> None:
    """One turn of the assistant or of an agent with invented tools."""
    rng = script.rng
    if turns.choose(script):
        return
    if script.unasked and rng.random() < script.unasked and turns.mention(script, wanted(script)):
        return
    if script.at_ease and rng.random() < SPONTANEOUS and _spontaneous(script, wanted):
        return
    roll = rng.random()
    if roll < 0.22 and turns.follow_up(script):
        return
    if 0.22 <= roll < 0.34 and turns.correction(script):
        return
    if 0.34 <= roll < 0.38 and turns.repeat(script):
        return
    if 0.38 <= roll < 0.61 and _without_tool(script):
        return
    tool = wanted(script)
    other = wanted(script)
    if roll > 0.89 and tool != other and _compound(script, tool, other):
        return
    if 0.61 <= roll < 0.67 and tool in catalog.LACKING:
        turns.bare_request(script, tool)
    else:
        turns.request(script, tool)


_Moves = tuple[tuple[Callable[[Script], bool], int], ...]
"""Turns that a dialogue may take, and how often each."""


def _one_of(script: Script, moves: _Moves) -> bool:
    functions, weights = zip(*moves, strict=True)
    return bool(script.rng.choices(functions, weights)[0](script))


def _talk_of_any(script: Script) -> bool:
    return turns.talk(script, script.rng.choices(list(_TALK), list(_TALK.values()))[0])


_AFTER: _Moves = (
    (turns.correction, 22), (turns.follow_up, 18), (turns_at_ease.ask_back, 16),
    (turns_at_ease.take_back, 8), (turns_at_ease.drop, 8), (turns_at_ease.tell, 16),
    (turns_at_ease.wonder, 7),
)  # fmt: skip
"""What may follow a call, and how often."""


_EVERYDAY: _Moves = (
    (turns_everyday.unasked, 26), (turns_everyday.together, 22), (turns_everyday.move, 12),
    (turns_everyday.by_place, 12), (turns_everyday.hint, 9), (turns_everyday.amend, 9),
    (lambda script: turns_everyday.story(script, _wanted(script)), 16),
    (lambda script: turns_everyday.scrap(script, _wanted(script)), 9),
)  # fmt: skip
"""What training alone has in everyday messages, and how often."""


def _everyday(script: Script, share: float) -> bool:
    """One of those turns, in some share of cases."""
    known = script.split == "train" and "set_timer" in script.repertoire
    return known and script.rng.random() < share and _one_of(script, _EVERYDAY)


def _spontaneous(script: Script, wanted: Callable[[Script], str]) -> bool:
    """One turn of a user at ease; False where it does not fit what was said before."""
    rng = script.rng
    if _everyday(script, 0.4):
        return True
    if script.last is not None and rng.random() < 0.7:
        return _one_of(script, _AFTER)
    tools = list(dict.fromkeys(wanted(script) for _ in range(rng.choice((2, 2, 2, 3, 3, 4)))))
    roll = rng.random()
    if roll < 0.3 and len(tools) > 1:
        return turns.compound(script, *tools)
    if roll < 0.48:
        return turns_at_ease.several(script, tools[0])
    if roll < 0.6 and len(tools) > 1:
        change = turns_at_ease.abandon if roll < 0.53 else turns_at_ease.contrast
        return change(script, tools[0], tools[1])
    if roll < 0.7:
        stop = turns_at_ease.withdraw if roll < 0.65 else turns_at_ease.trail_off
        return stop(script, tools[0])
    return turns_at_ease.tell(script) if roll < 0.92 else turns_at_ease.wonder(script)


def _compound(script: Script, tool: str, other: str) -> bool:
    last = script.split == "train" and "end_conversation" in script.repertoire
    if last and script.rng.random() < 0.06:
        if turns.compound(script, tool, "end_conversation"):
            script.end()
        return script.ended
    return turns.compound(script, tool, other)


def _without_tool(script: Script) -> bool:
    rng = script.rng
    roll = rng.random()
    if roll < 0.04:
        return turns.acquaintance(script)
    if roll < 0.08:
        return turns.abilities(script, script.repertoire)
    if roll < 0.29:
        return _talk_of_any(script)
    if roll < 0.48:
        return turns.chat(script)
    if roll < 0.76:
        return turns.unfit(script)
    if roll < 0.84:
        absent = rng.choice([n for n in INVENTED if n not in _ALIKE])
        return turns.decline(script, absent)
    return turns.decline(script, _wanted(script))


def _wanted(script: Script) -> str:
    while True:
        tool = script.rng.choices(list(WEIGHTS), list(WEIGHTS.values()))[0]
        if tool not in script.forbidden:
            return tool


def _open_shop(script: Script) -> None:
    script.offer(AGENT_TOOLS["coffee"])
    script.texting = script.split == "train" and script.rng.random() < TEXTING
    _greet(script, "coffee")


_AT_COUNTER: _Moves = (
    (turns_at_counter.ask, 6), (turns_at_counter.undecided, 3), (turns_at_counter.chatter, 6),
    (turns_at_counter.off_menu, 2), (turns.shop_talk, 5),
)  # fmt: skip
"""What a customer may say at any time, and how often."""
_OF_ORDER: _Moves = (
    *_AT_COUNTER, (turns_at_counter.amount, 4), (turns_at_counter.swap_detail, 5),
    (turns_at_counter.insist, 4), (turns_at_counter.other_drink, 5), (turns_at_counter.place, 3),
    (turns_at_counter.remove_two, 2), (turns_at_counter.keep_one, 2), (turns.clear_order, 2),
    (turns.same_drink, 3),
)  # fmt: skip
"""The same of a customer who has ordered."""


def _coffee(script: Script) -> None:
    _open_shop(script)
    counts = (2, 3, 4, 5) if script.at_ease else (1, 2, 2, 3, 4)
    for _ in range(script.rng.choice(counts) if script.split == "train" else 1):
        if not script.ended:
            _coffee_turn(script)


def _coffee_turn(script: Script) -> None:
    rng = script.rng
    ordered = bool(script.world.order)
    if script.unasked and rng.random() < script.unasked:
        # After an order "no latte" takes it off again.
        tool = rng.choice(("read_order", "confirm_order") if ordered else ("order_drink",))
        if turns.mention(script, tool):
            return
    if rng.random() < 0.3 and _one_of(script, _OF_ORDER if ordered else _AT_COUNTER):
        return
    if script.at_ease and rng.random() < SPONTANEOUS and _spontaneous_coffee(script):
        return
    roll = rng.random()
    if ordered and roll < 0.46 and _CHANGES[int(roll / 0.46 * len(_CHANGES))](script):
        return
    if ordered and roll < 0.7:
        changes = (
            *("change_drink", "change_drink", "change_drink", "remove_drink", "read_order"),
            *("confirm_order", "confirm_order"),
        )
        turns.request(script, rng.choice(changes))
    elif roll > 0.97:
        turns.goodbye(script)
    elif roll > 0.93:
        turns.request(script, "transfer_call")
        script.end()
    elif roll > 0.91:
        turns.request(script, rng.choice(("remove_drink", "read_order", "confirm_order")))
    elif (roll > 0.88 and _without_tool(script)) or (roll > 0.84 and turns.shop_talk(script)):
        return
    elif roll > 0.76:
        turns.bare_request(script, "order_drink")
    else:
        turns.request(script, "order_drink")


def _spontaneous_coffee(script: Script) -> bool:
    """The same of a customer."""
    rng = script.rng
    if script.last is not None and rng.random() < 0.65:
        return _one_of(script, (*_AFTER, (turns.same_drink, 14), (turns.leave_out, 8)))
    roll = rng.random()
    if roll < 0.42:
        return turns_at_ease.several(script, "order_drink")
    if roll < 0.74:
        return turns_at_ease.tell(script) if roll < 0.58 else turns_at_ease.wonder(script)
    if roll < 0.86:
        stop = turns_at_ease.withdraw if roll < 0.81 else turns_at_ease.trail_off
        return stop(script, "order_drink")
    if roll < 0.91:
        return turns_at_ease.abandon(script, "order_drink", "order_drink")
    if roll < 0.95:
        other = rng.choice(("confirm_order", "transfer_call", "order_drink"))
        return turns_at_ease.contrast(script, other, "order_drink")
    last = rng.choice(("confirm_order", "read_order", "order_drink"))
    return turns.compound(script, "order_drink", last)


_CHANGES: tuple[Callable[[Script], bool], ...] = (
    *(turns.follow_up, turns.follow_up, turns.follow_up, turns.correction, turns.correction),
    *(turns.swap_drink, turns.leave_out, turns.same_drink, turns.clear_order),
)


_ERRANDS: _Moves = (
    (turns_in_brief.cancel_both, 6), (turns_in_brief.swap_items, 4), (turns_in_brief.add_it, 4),
    (turns_in_brief.clear_it, 4), (turns_in_brief.all_off, 2), (turns_in_brief.no_reminder, 3),
    (turns_in_brief.remind_at_last, 4), (turns_in_brief.cannot, 4), (turns_at_ease.drop, 4),
    (turns.correction, 5), (turns_at_ease.ask_back, 2),
)  # fmt: skip
_SETTING = ("set_timer", "set_alarm", "set_reminder", "add_to_list", "set_reminder", "read_list")


def _errands(script: Script) -> None:
    """Several errands at once, and short words about them."""
    rng = script.rng
    script.offer(AGENT_TOOLS["assistant"])
    _greet(script, "assistant")
    for _ in range(rng.choice((1, 2, 3, 4)) if script.split == "train" else 1):
        if _everyday(script, 0.35):
            continue
        if rng.random() < 0.42:
            count = rng.choice((2, 3, 3, 4, 4, 5))
            tools = dict.fromkeys(_wanted(script) for _ in range(count))
            turns.compound(script, *tools)
        elif rng.random() < 0.3:
            turns.request(script, rng.choice(_SETTING))
        else:
            _one_of(script, _ERRANDS)


_OF_ONE: _Moves = (
    (turns_at_length.describe, 10), (turns_at_length.keep, 3), (turns.same_drink, 4),
    (turns.swap_drink, 1), (turns.leave_out, 1), (turns.correction, 2), (turns_at_ease.wonder, 1),
    (turns_at_length.drinks, 1), (turns_at_counter.amount, 3), (turns_at_counter.swap_detail, 4),
    (turns_at_counter.insist, 3), (turns_at_counter.other_drink, 3), (turns_at_counter.ask, 3),
    (turns.shop_talk, 2), (turns.clear_order, 1),
)  # fmt: skip
"""What may follow the order of one drink, and how often."""
_OF_SEVERAL: _Moves = (
    (turns_at_length.adjust, 8), (turns_at_length.remove_described, 3), (turns_at_length.keep, 3),
    (turns_at_ease.wonder, 1), (turns_at_length.drinks, 1), (turns_at_counter.place, 4),
    (turns_at_counter.remove_two, 2), (turns_at_counter.keep_one, 2), (turns_at_counter.ask, 2),
    (turns.shop_talk, 2), (turns.clear_order, 1),
)  # fmt: skip
"""The same of several."""


def _drinks(script: Script) -> None:
    """One drink or several at once, and short words about them."""
    rng = script.rng
    _open_shop(script)
    for _ in range(rng.choice((1, 1, 2)) if script.split == "train" else 1):
        one = rng.random() < 0.35
        if rng.random() < 0.3:
            _one_of(script, _AT_COUNTER)
        else:
            (turns_at_length.drink if one else turns_at_length.drinks)(script)
        for _ in range(rng.choice((0, 1, 1, 2))):
            _one_of(script, _OF_ONE if one else _OF_SEVERAL)
    if rng.random() < 0.12 and script.world.order:
        turns.request(script, "confirm_order")


_AT_LENGTH = {"errands": "assistant", "drinks": "coffee"}
"""The agents of dialogues whose users ask for several things at once."""

_WRITERS: dict[str, Callable[[Script], None]] = {
    "assistant": _assistant,
    "coffee": _coffee,
    "invented": _invented,
    "talk": _talk,
    "errands": _errands,
    "drinks": _drinks,
}


def _extraction(rng: Random, split: str) -> dict[str, Any]:
    write = composed_extraction.write if rng.random() < COMPOSED else extraction.write
    return write(rng, split)


_OTHERS: dict[str, Callable[[Random, Source], dict[str, Any] | None]] = {
    "corpus": _corpus_row,
    "stranger": _unfamiliar,
    "results": _results,
    "written": lambda rng, source: written_tools.write(rng, source.split),
    "extraction": lambda rng, source: _extraction(rng, source.split),
}
"""Writers of rows that need no `Script`."""


def main(arguments: list[str] | None = None) -> None:
    """Print dialogues as JSON lines."""
    parser = argparse.ArgumentParser(prog="dlm.datagen.dialogues", description=__doc__)
    parser.add_argument("--count", type=int, default=20, help="how many")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--corpora", type=Path, help="directory of the text corpora")
    parser.add_argument("--split", choices=("train", "heldout"), default="train")
    parser.add_argument("--share-alike", action="store_true", help="read those corpora as well")
    told = "share of turns that mention an order without giving it"
    parser.add_argument("--unasked", type=float, metavar="SHARE", help=told)
    parser.add_argument("--chat", action="store_true", help="as lines to fine-tune on")
    options = parser.parse_args(arguments)
    place = options.corpora, options.split, options.share_alike
    rows = generate(options.seed, *place, options.unasked)
    for _ in range(options.count):
        row = next(rows)
        row = examples.line_of(row) if options.chat else row
        sys.stdout.write(json.dumps(row, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    main()

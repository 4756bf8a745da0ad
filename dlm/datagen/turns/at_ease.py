"""What else can happen in a turn of a user at ease: lists of things, second thoughts, remarks.

Like those of `dlm.datagen.turns.basic`, each function writes one turn into a script, and returns
False if it does not fit what was said before.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from dlm.datagen.holdout import pick
from dlm.datagen.language.mentions import is_mentionable
from dlm.datagen.language.phrases import Piece, is_order
from dlm.datagen.language.spontaneous import (
    SPEECH,
    abandoned,
    contrasted,
    enumerated,
    is_gappable,
    parted,
    remark,
    side,
    speech,
    taken_back,
)
from dlm.datagen.language.tables import read
from dlm.datagen.language.wording import TALK
from dlm.datagen.own_tools.script import Call, Script, call_of, calls_of, fitted
from dlm.datagen.tools import catalog
from dlm.datagen.turns.at_length import drinks
from dlm.datagen.turns.basic import answer_all, complete, eased, is_question, joinable

_NOT_AGAIN = re.compile(
    r"\d\}|\{(?:whole|entire|every|order|items|adding|longer|dose)|\?|remind me$"
)
_ONCE = frozenset(("change_timer", "change_drink", "confirm_order", "transfer_call"))


def several(script: Script, tool: str) -> bool:
    """The user asks for the same kind of thing several times, with the verb said once."""
    if tool == "order_drink":
        return drinks(script)
    if tool in _ONCE:
        return False
    fewest = 2 if tool in ("add_to_list", "remove_from_list") else 1
    options = tuple(
        source
        for source in catalog.SAY[tool]
        if not _NOT_AGAIN.search(source) and source.count("{") >= fewest
    )
    if not options:
        return False
    source = pick(script.rng, options, script.split)
    parts = [script.worded(tool, source) for _ in range(script.rng.choice((2, 2, 2, 3)))]
    if not is_gappable(parts[0]):
        return False
    pieces = enumerated(script.rng, parts)
    halves = parted(script.speak(eased(script, tool, pieces, is_order(source))), len(parts))
    return answer_all(script, [(tool, half) for half in halves])


def abandon(script: Script, first: str, tool: str) -> bool:
    """The user begins to ask for something and asks for something else instead."""
    pieces = [
        script.worded(t, pick(script.rng, joinable(script, t), script.split)) for t in (first, tool)
    ]
    said = abandoned(script.speaker(tool), *pieces)
    script.used.add(first)
    script.answer(calls_of(tool, script.speak(said)))
    return True


def withdraw(script: Script, tool: str) -> bool:
    """The user asks for something and takes it back in the same breath."""
    if tool == "end_conversation":
        return False
    pieces = script.worded(tool, pick(script.rng, joinable(script, tool), script.split))
    script.speak(taken_back(script.speaker(tool), pieces))
    script.used.add(tool)
    script.settle(script.rng.choice(SPEECH["withdrawn"]))
    return True


def contrast(script: Script, first: str, tool: str) -> bool:
    """The user says what they do not want, and what they want."""
    orders = tuple(o for o in catalog.SAY[first] if is_order(o))
    if not orders or "end_conversation" in (first, tool):
        return False
    pieces = [
        script.worded(t, pick(script.rng, options, script.split))
        for t, options in ((first, orders), (tool, joinable(script, tool)))
    ]
    if not is_mentionable(pieces[0]):
        return False
    values = script.speak(contrasted(script.speaker(tool), *pieces))
    script.used.add(first)
    script.answer(calls_of(tool, values))
    return True


def trail_off(script: Script, tool: str) -> bool:
    """The user stops before a value that the tool needs; the agent asks, and may get it."""
    rng = script.rng
    if tool not in catalog.LACKING:
        return False
    missing = rng.choice(list(catalog.LACKING[tool]))
    options = tuple(o for o in catalog.SAY[tool] if f"{{{missing}}}" in o and "2}" not in o)
    if not options:
        return False
    pieces = script.worded(tool, pick(rng, options, script.split))
    at = next((i for i, piece in enumerate(pieces) if piece.slot == missing), 0)
    begun = pieces[:at]
    needed = set(catalog.SPECS[tool]["parameters"]["required"]) - {missing}
    if not begun or begun[0].slot or not needed <= {piece.slot for piece in begun}:
        return False
    known = script.speak([*begun, side(script.speaker(tool).words(SPEECH["stuck"]))])
    if rng.random() < 0.6:
        return complete(script, tool, missing, known)
    script.say(rng.choice(catalog.question(tool, missing)), "ask")
    script.used.add(tool)
    script.last = None
    return True


def tell(script: Script) -> bool:
    """The user says something that sounds like a request but is not."""
    shop = "order_drink" in script.repertoire
    pieces, answer = remark(script.speaker("talk"), "shop_remark" if shop else "remark")
    script.speak(pieces)
    script.settle(answer)
    return True


def wonder(script: Script) -> bool:
    """The user asks what no tool can answer: what there is, what it costs, how things work."""
    symbol, answers = "tool_question", _UNKNOWN
    if "order_drink" in script.repertoire:
        symbol = script.rng.choice(("shop_question", "shop_question", "shop_food"))
        answers = TALK.shop_talk["food" if symbol == "shop_food" else "asked"].answers
    pieces, _ = remark(script.speaker("talk"), symbol)
    script.speak(pieces, is_question(pieces))
    script.say(script.rng.choice(answers))
    return True


_UNKNOWN: tuple[str, ...] = ("I'm not sure, sorry.", "I don't know, sorry.", "I can't say, sorry.")


@dataclass(frozen=True, slots=True)
class _AskingBack:
    any: tuple[str, ...]
    of: dict[str, str]
    about: dict[str, tuple[str, ...]]


_ASKING_BACK = read("asking_back", _AskingBack)


def ask_back(script: Script) -> bool:
    """The user asks about the state of what they asked for."""
    if script.last is None:
        return False
    tool, before, _ = script.last
    reader = _ASKING_BACK.of.get(tool, "")
    if reader not in catalog.SPECS or reader in script.forbidden:
        return False
    general = script.rng.random() < 0.35
    options = _ASKING_BACK.any if general else _ASKING_BACK.about[reader]
    pieces = script.worded(reader, pick(script.rng, options, script.split))
    if script.rng.random() < 0.3:
        pieces = [side(script.speaker(reader).words(SPEECH["openers"])), *pieces]
    if script.rng.random() < 0.1:
        pieces = [*pieces, side(script.speaker(reader).words(SPEECH["closers"]))]
    script.speak(pieces, is_question(pieces))
    kept = {"list": before["to"]} if tool == "move_item" else before
    script.answer([call_of(reader, kept)])
    return True


UNDOING = {
    "set_timer": ("cancel_timer", "name"), "set_alarm": ("cancel_alarm", "when"),
    "set_reminder": ("cancel_reminder", "text"), "order_drink": ("remove_drink", "drink"),
    "add_to_list": ("remove_from_list", "item"),
}  # fmt: skip
"""Tool → the tool that undoes its call, and the latter's parameter that names the thing."""


def undoing(script: Script) -> Call | None:
    """The call that undoes the last one; None if there is none."""
    if script.last is None or script.last[2].error:
        return None
    tool, before, _ = script.last
    if tool == "add_to_list":
        call = ("remove_from_list", dict(before))
    elif tool in UNDOING:
        undo, key = UNDOING[tool]
        several = tool == "set_timer" and len(script.world.timers) > 1
        named = {"name": before["duration"]} if several else {}
        call = (undo, {key: before[key]} if key in before else named)
    else:
        return None
    return None if call[0] in script.forbidden else call


def take_back(script: Script) -> bool:
    """The user wants the last call undone."""
    call = undoing(script)
    if call is None:
        return False
    script.speak([side(script.speaker(call[0]).words(speech("undo", script.split)))])
    script.answer([call])
    return True


_DROPPED: dict[str, tuple[str, str, tuple[str, ...]]] = {
    "timer": ("cancel_timer", "name", ("the {} one", "the {} timer", "the {}")),
    "alarm": ("cancel_alarm", "when", ("the {} one", "the {} alarm", "the {}")),
    "reminder": ("cancel_reminder", "text", ("the {} one", "the {} reminder", "the {} thing")),
}
"""Last word of a tool's name → the tool that deletes one of its things, the parameter that names
it, and how people refer to it."""


def drop(script: Script) -> bool:
    """The user names a thing of the last call's kind and wants it deleted."""
    if script.last is None:
        return False
    thing = script.last[0].rpartition("_")[2].removesuffix("s")
    undo, key, forms = _DROPPED.get(thing, ("", "", ()))
    name = script.drawing.name_of(key) if undo and undo not in script.forbidden else ""
    if not name:
        return False
    first, _, last = script.rng.choice(forms).partition("{}")
    # For a reminder one word is enough: "the rabbit one".
    if key == "text":
        name = name.split()[-1]
    before, _, after = script.speaker(undo).words(SPEECH["drops"], it="\0").partition("\0")
    pieces = [side(before), Piece(first), Piece(name, key), Piece(last), side(after)]
    given = script.speak(fitted([p for p in pieces if p.text.strip()]))
    script.answer([call_of(undo, given)])
    return True

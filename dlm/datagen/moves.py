"""What can happen in a turn: requests, follow-ups, corrections, questions back, mere talk."""

from __future__ import annotations

from dlm.datagen import catalog, orders
from dlm.datagen import unasked as frames
from dlm.datagen.grammar import Piece, fill, is_order
from dlm.datagen.holdout import pick
from dlm.datagen.inventions import INVENTIONS
from dlm.datagen.phrasings import REFUSALS
from dlm.datagen.replies import DECLINES
from dlm.datagen.script import Call, Script, calls_of, ordered
from dlm.datagen.slots import base
from dlm.datagen.small_talk import SMALL_TALK
from dlm.datagen.talk import (
    ABILITY,
    ABLE,
    KNOWN,
    MET,
    NAMED,
    REPEAT,
    SHOP_TALK,
    TALK,
    UNKNOWN,
    WHO_AM_I,
)
from dlm.datagen.world import Arguments, capital

CORPUS_SHARE = 0.35
"""How often a request is worded by a corpus row, where there is one."""

COMPOSED_ORDERS = 0.65
"""How often an order is put together part by part."""

_KEPT: dict[str, tuple[str, ...]] = {
    "add_to_list": ("list",),
    "remove_from_list": ("list",),
    "convert_units": ("amount", "from_unit", "to_unit"),
    "convert_currency": ("amount", "from_currency", "to_currency"),
    "get_weather": ("place", "day"),
}
"""Arguments that a follow-up takes over from the call before."""

_SECOND = "'"

_QUESTION_WORDS = frozenset([
    "what", "what's", "whats", "how", "how's", "who", "when", "where", "why", "which", "is", "are",
    "am", "do", "does", "did", "can", "could", "will", "would", "should", "any",
])  # fmt: skip

_ROOMS = {"set_device": ("device", "state"), "get_device": ("device",)}


def request(script: Script, tool: str) -> bool:
    """The user asks for a tool with everything it needs."""
    row = None
    if script.corpora is not None and script.rng.random() < CORPUS_SHARE:
        row = script.corpora.request(tool, script.rng)
    if row:
        values = script.speak(row, row_question(row))
    elif tool == "order_drink" and script.rng.random() < COMPOSED_ORDERS:
        source = orders.compose(script.rng, script.split)
        values = script.speak(
            script.worded(tool, source), source.startswith(("can", "could", "may"))
        )
    else:
        values = script.ask(tool, catalog.SAY[tool])
    script.answer(calls_of(tool, values, catalog.PARAMETERS[tool]))
    return True


def row_question(row: list[Piece]) -> bool:
    """Whether a corpus sentence is a question, by its first word."""
    return row[0].text.split()[0].lower() in _QUESTION_WORDS


def compound(script: Script, first: str, second: str) -> bool:
    """The user asks for two different things in one breath."""
    orders = [tuple(o for o in catalog.SAY[t] if is_order(o)) for t in (first, second)]
    if not all(orders) or first == "end_conversation":
        return False
    sources = [pick(script.rng, options, script.split) for options in orders]
    one, two = (script.worded(t, s) for t, s in zip((first, second), sources, strict=True))
    marked = [Piece(p.text, p.slot and f"{p.slot}{_SECOND}") for p in two]
    joint = script.rng.choice((" and ", " and then ", " and also ", " then "))
    values = script.speak([*one, Piece(joint), *marked])
    halves = (
        {k: v for k, v in values.items() if not k.endswith(_SECOND)},
        {k.removesuffix(_SECOND): v for k, v in values.items() if k.endswith(_SECOND)},
    )
    calls: list[Call] = []
    for tool, half in zip((first, second), halves, strict=True):
        calls += calls_of(tool, half, catalog.PARAMETERS[tool])
    if len(calls) > 3:
        script.messages.pop()
        return False
    script.answer(calls)
    return True


def bare_request(script: Script, tool: str) -> bool:
    """The user asks without a required parameter; the agent asks back; the user gives it."""
    missing = script.rng.choice(list(catalog.BARE[tool]))
    known = script.ask(tool, catalog.BARE[tool][missing])
    script.say(script.rng.choice(catalog.question(tool, missing)), "ask")
    given = script.ask(tool, catalog.answers(tool, missing), known)
    values = {k: v for k, v in (known | given).items() if not base(k)[1]}
    call = (tool, ordered(values, catalog.PARAMETERS[tool]))
    if any(name not in call[1] for name in catalog.SPECS[tool]["parameters"]["required"]):
        raise AssertionError(f"{tool} lacks a parameter in {call[1]}")
    script.answer([call])
    return True


def follow_up(script: Script) -> bool:
    """The user asks for more of the same, leaving out what stays."""
    if script.last is None or script.last[0] not in catalog.MORE or script.last[2].error:
        return False
    tool, before, _ = script.last
    given = script.ask(tool, catalog.MORE[tool], before)
    kept = _KEPT.get(tool, ())
    if tool in INVENTIONS:
        kept = tuple(catalog.SPECS[tool]["parameters"]["required"])
    if tool in _ROOMS:
        kept = _ROOMS[tool] if "device" not in given else ("state",)
    arguments = {k: before[k] for k in kept if k in before} | given
    script.answer([(tool, ordered(arguments, catalog.PARAMETERS[tool]))])
    return True


def correction(script: Script) -> bool:
    """The user corrects the call before: undo and do again, or just do again."""
    if script.last is None or script.last[0] not in catalog.FIX or script.last[2].error:
        return False
    tool, before, _ = script.last
    options = tuple(
        o.replace("{no}", script.rng.choice(REFUSALS))
        for o in (pick(script.rng, catalog.FIX[tool], script.split),)
    )
    if "shots" in before:
        options = tuple(o.replace("add {shots} to that", "make it {shots}") for o in options)
    given = _asked(script, tool, options, before)
    after = ordered(before | given, catalog.PARAMETERS[tool])
    if tool == "get_device" and "device" in given and "room" not in given:
        after.pop("room", None)
    undo = _undo(script, tool, before)
    if undo and undo[0] in script.forbidden:
        return False
    results = script.call([*([undo] if undo else []), (tool, after)])
    if tool == "order_drink" and not results[-1].error:
        script.say(script.changed(results[-1]))
    else:
        script.say(script.reply(tool, results[-1]))
    return True


def _asked(script: Script, tool: str, options: tuple[str, ...], before: Arguments) -> Arguments:
    split, script.split = script.split, "train"
    try:
        return script.ask(tool, options, before)
    finally:
        script.split = split


def _undo(script: Script, tool: str, before: Arguments) -> Call | None:
    if tool == "set_timer":
        if "name" in before:
            return "cancel_timer", {"name": before["name"]}
        # With several timers running only its length tells which one is meant.
        several = len(script.world.timers) > 1
        return "cancel_timer", {"name": before["duration"]} if several else {}
    if tool == "add_to_list":
        return "remove_from_list", dict(before)
    if tool == "order_drink":
        return "remove_drink", {"drink": before["drink"]}
    return None


def repeat(script: Script) -> bool:
    """The user asks to hear the last reply again."""
    if not script.last_reply:
        return False
    _talk_turn(script, "repeat", REPEAT)
    script.say(script.last_reply)
    return True


def talk(script: Script, topic: str) -> bool:
    """Talk that needs no tool."""
    said, answers = TALK[topic]
    _talk_turn(script, topic, said)
    script.say(fill(script.rng.choice(answers), script.rng, {}))
    return True


def _talk_turn(script: Script, topic: str, said: tuple[str, ...]) -> None:
    rows = script.corpora.talk.get(topic) if script.corpora is not None else None
    if rows and script.rng.random() < 0.5:
        text = script.rng.choice(rows)
        script.speak([Piece(text)], row_question([Piece(text)]))
    else:
        script.ask("talk", said)


def small_talk(script: Script) -> bool:
    """The user tells how they are, what they do, or what they think of the agent."""
    topics = list(SMALL_TALK)
    # Topics with more to say come up more often.
    topic = script.rng.choices(topics, [len(SMALL_TALK[t][0]) for t in topics])[0]
    said, answers = SMALL_TALK[topic]
    script.ask("talk", said)
    script.say(script.rng.choice(answers))
    return True


def chat(script: Script) -> bool:
    """Small talk from the corpora."""
    if script.corpora is None or not script.corpora.chat:
        return False
    question, answer = script.rng.choice(script.corpora.chat)
    script.speak([Piece(question)], question.endswith("?"))
    script.say(answer)
    return True


def goodbye(script: Script) -> bool:
    """The user ends the conversation; a plain goodbye where no tool does that."""
    _talk_turn(script, "bye", catalog.SAY["end_conversation"])
    script.answer([("end_conversation", {})])
    script.ended = True
    return True


def decline(script: Script, tool: str) -> bool:
    """The user asks for something whose tool is not offered."""
    if tool in script.used or tool not in catalog.CAN:
        return False
    script.ask(tool, catalog.SAY[tool])
    script.forbidden.add(tool)
    what = {"what": catalog.CAN[tool]}
    script.say(capital(fill(script.rng.choice(DECLINES), script.rng, what)), "decline")
    script.last = None
    return True


def unfit(script: Script) -> bool:
    """A corpus sentence that asks for what no tool does."""
    if script.corpora is None or not script.corpora.unfit:
        return False
    text = script.rng.choice(script.corpora.unfit)
    script.speak([Piece(text)], row_question([Piece(text)]))
    plain = [d for d in DECLINES if "{what}" not in d]
    script.say(capital(fill(script.rng.choice(plain), script.rng, {})), "decline")
    script.last = None
    return True


def unasked(script: Script, tool: str) -> bool:
    """The user names what a tool does without asking for it, or only seemingly so."""
    rng, row = script.rng, None
    orders = tuple(o for o in catalog.SAY[tool] if is_order(o))
    if not orders or tool == "end_conversation":
        return False
    if script.corpora is not None and rng.random() < CORPUS_SHARE:
        row = script.corpora.request(tool, rng)
    pieces = row or script.worded(tool, pick(rng, orders, script.split))
    if not frames.order(pieces):
        return False
    said, answer, question = frames.framed(rng, pieces, script.split)
    values = script.speak(said, question)
    if answer is None:
        script.answer(calls_of(tool, values, catalog.PARAMETERS[tool]))
        return True
    script.used.add(tool)
    script.say(answer)
    script.last = None
    return True


def abilities(script: Script, tools: tuple[str, ...]) -> bool:
    """The user asks what the agent can do; the tools it names are then offered."""
    known = [t for t in tools if t in catalog.CAN and t not in script.forbidden]
    if len(known) < 3:
        return False
    _talk_turn(script, "able", ABLE)
    # In the order of the tools: at random, what comes next could not be told from what was said.
    chosen = sorted(script.rng.sample(known, 3), key=known.index)
    fields = {n: catalog.CAN[t] for n, t in zip(("first", "second", "third"), chosen, strict=True)}
    script.used.update(chosen)
    script.say(fill(script.rng.choice(ABILITY), script.rng, fields))
    return True


def acquaintance(script: Script) -> bool:
    """The user tells their name, and may ask for it again."""
    if script.rng.random() < 0.2:
        script.ask("talk", WHO_AM_I)
        script.say(script.rng.choice(UNKNOWN))
        return True
    person = {"person": script.ask("talk", NAMED)["person"].title()}
    script.say(fill(script.rng.choice(MET), script.rng, person))
    if script.rng.random() < 0.4 and script.split == "train":
        script.ask("talk", WHO_AM_I)
        script.say(fill(script.rng.choice(KNOWN), script.rng, person))
    return True


def shop_talk(script: Script) -> bool:
    """What customers ask a coffee shop that its tools do not answer."""
    said, answers = SHOP_TALK[script.rng.choice(list(SHOP_TALK))]
    script.ask("order_drink", said)
    script.say(script.rng.choice(answers))
    return True

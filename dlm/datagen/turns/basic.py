"""What can happen in a turn: requests, follow-ups, corrections, clarifying questions, talk.

Each function writes one turn of the user and what the agent does into a script, and returns False
if it does not fit what was said before.
"""

from __future__ import annotations

import re

from dlm.datagen.corpora.orders import ORDERS, compose_order
from dlm.datagen.holdout import pick
from dlm.datagen.language.mentions import is_mentionable, mentioned
from dlm.datagen.language.phrases import Piece, fill, is_order, template
from dlm.datagen.language.spontaneous import SPEECH, at_ease, change, parted, shortened, together
from dlm.datagen.language.wording import SMALL_TALK, TALK, WORDING
from dlm.datagen.own_tools.script import Call, Script, call_of, calls_of, fitted
from dlm.datagen.tools import catalog
from dlm.datagen.tools.catalog import INVENTED
from dlm.datagen.tools.world import Arguments, capital

CORPUS_SHARE = 0.35
"""How often a request is a sentence of the corpora, if these have one for the tool."""

COMPOSED_ORDERS = 0.65
"""How often an order is composed part by part."""

_KEPT: dict[str, tuple[str, ...]] = {
    "add_to_list": ("list",),
    "remove_from_list": ("list",),
    "convert_units": ("amount", "from_unit", "to_unit"),
    "convert_currency": ("amount", "from_currency", "to_currency"),
    "get_weather": ("place", "day"),
}
"""Arguments that a follow-up keeps from the previous call."""

_QUESTION_WORDS = frozenset([
    "what", "what's", "whats", "how", "how's", "who", "when", "where", "why", "which", "is", "are",
    "am", "do", "does", "did", "can", "could", "will", "would", "should", "any",
])  # fmt: skip

_LEFT_OUT = ("milk", "sweetener", "extras", "shots", "roast")
_ROOMS = {"set_device": ("device", "state"), "get_device": ("device",)}


def request(script: Script, tool: str) -> bool:
    """The user asks for a tool with everything it needs."""
    row = None
    if script.corpora is not None and script.rng.random() < CORPUS_SHARE:
        row = script.corpora.request(tool, script.rng)
    if row:
        values = script.speak(row, is_question(row))
    elif tool == "order_drink" and script.rng.random() < COMPOSED_ORDERS:
        source = compose_order(script.rng, script.split)
        order = source.startswith(("can", "could", "may"))
        values = script.speak(eased(script, tool, script.worded(tool, source)), order)
    elif script.at_ease:
        source = pick(script.rng, catalog.SAY[tool], script.split)
        pieces = eased(script, tool, script.worded(tool, source), is_order(source))
        values = script.speak(pieces, source.endswith("?"))
    else:
        values = script.ask(tool, catalog.SAY[tool])
    script.answer(calls_of(tool, values))
    return True


def eased(script: Script, tool: str, pieces: list[Piece], order: bool = False) -> list[Piece]:
    """A request as this user says it, spontaneously if at ease; ``order`` as in `at_ease`."""
    return at_ease(script.speaker(tool), pieces, order) if script.at_ease else pieces


def said(script: Script, tool: str, source: str, **filled: str) -> Arguments:
    """The user says a tool's phrasing, with its words in capitals replaced; returns the slots."""
    source = re.sub(r"\b[A-Z]+\b", lambda found: filled[found[0]], source)
    return script.speak(eased(script, tool, script.worded(tool, source)))


def is_question(row: list[Piece]) -> bool:
    """Whether a corpus sentence is a question, by its first word."""
    return row[0].text.split()[0].lower() in _QUESTION_WORDS


def compound(script: Script, *tools: str) -> bool:
    """The user asks for different things in one breath."""
    wordings = [joinable(script, tool) for tool in tools]
    if not all(wordings) or "end_conversation" in tools[:-1]:
        return False
    sources = [pick(script.rng, options, script.split) for options in wordings]
    parts = [script.worded(t, s) for t, s in zip(tools, sources, strict=True)]
    said = together(script.rng, parts, script.split, script.at_ease)
    said = eased(script, tools[0], said, is_order(sources[0]))
    halves = parted(script.speak(said), len(tools))
    return answer_all(script, list(zip(tools, halves, strict=True)))


_MOST_CALLS = {False: 3, True: 5}
"""Most calls in one message, by whether the user is at ease."""


def joinable(script: Script, tool: str) -> tuple[str, ...]:
    """Phrasings that can be joined to others: orders, or if at ease all that are not questions."""
    if script.at_ease:
        return tuple(o for o in catalog.SAY[tool] if "?" not in o and o != "{drink}")
    return tuple(o for o in catalog.SAY[tool] if is_order(o))


def answer_all(script: Script, asked: list[tuple[str, Arguments]]) -> bool:
    """Make the calls that a message asks for; if they are too many, take the message back."""
    calls: list[Call] = []
    for tool, values in asked:
        calls += calls_of(tool, values)
    if len(calls) > _MOST_CALLS[script.at_ease]:
        script.messages.pop()
        return False
    script.answer(calls)
    return True


def bare_request(script: Script, tool: str) -> bool:
    """The user leaves out a required parameter; the agent asks for it; the user gives it."""
    missing = script.rng.choice(list(catalog.LACKING[tool]))
    known = script.ask(tool, catalog.LACKING[tool][missing])
    return complete(script, tool, missing, known)


def complete(script: Script, tool: str, missing: str, known: Arguments) -> bool:
    """The agent asks for a parameter that a request lacks, gets it and makes the call."""
    script.say(script.rng.choice(catalog.question(tool, missing)), "ask")
    given = script.ask(tool, catalog.answers(tool, missing), known)
    calls = calls_of(tool, known | given)
    if any(name not in calls[0][1] for name in catalog.SPECS[tool]["parameters"]["required"]):
        raise AssertionError(f"{tool} lacks a parameter in {calls[0][1]}")
    script.answer(calls)
    return True


def follow_up(script: Script) -> bool:
    """The user asks for more of the same and leaves out what stays the same."""
    if script.last is None or script.last[0] not in catalog.MORE or script.last[2].error:
        return False
    tool, before, _ = script.last
    if script.at_ease and script.rng.random() < 0.6:
        given = _briefly(script, tool, before, SPEECH["more"], catalog.MORE[tool])
    else:
        given = script.ask(tool, catalog.MORE[tool], before)
    if not given:
        return False
    kept = _KEPT.get(tool, ())
    if tool in INVENTED:
        kept = tuple(catalog.SPECS[tool]["parameters"]["required"])
    if tool in _ROOMS:
        kept = _ROOMS[tool] if "device" not in given else ("state",)
    arguments = {k: before[k] for k in kept if k in before} | given
    if any(k not in arguments for k in catalog.SPECS[tool]["parameters"]["required"]):
        arguments = before | given
    script.answer(calls_of(tool, arguments))
    return True


def correction(script: Script) -> bool:
    """The user corrects the previous call: what it did is changed, or undone and done again."""
    if script.last is None or script.last[0] not in catalog.FIX or script.last[2].error:
        return False
    tool, before, _ = script.last
    if script.forbidden & _CORRECTING.get(tool, frozenset()):
        return False
    if script.at_ease and script.rng.random() < 0.6:
        given = _briefly(script, tool, before, SPEECH["fix"], catalog.FIX[tool])
    else:
        source = pick(script.rng, catalog.FIX[tool], script.split)
        source = source.replace("{no}", script.rng.choice(WORDING.refusals))
        if "shots" in before:
            source = source.replace("add {shots} to that", "make it {shots}")
        given = script.ask(tool, (source,), before, "train")
    if not given:
        return False
    calls = _corrected(script, tool, before, given)
    results = script.call(calls)
    if tool == "order_drink" and not results[-1].error:
        script.say(script.changed(results[-1]))
    else:
        script.say(script.reply(calls[-1][0], results[-1]))
    return True


_LEADS: dict[str, tuple[str, ...]] = {
    "when": ("", "at ", "for "), "to": ("", "to ", "at "), "duration": ("", "for "),
    "place": ("", "in ", "for "), "room": ("the ", "in the ", "the "), "device": ("the ",),
    "list": ("the ", "on the "), "date": ("", "until "), "to_unit": ("", "in ", "to "),
    "to_currency": ("", "in ", "to "), "state": ("", "to "), "drink": ("a ", "the "),
    "milk": ("", "with "), "sweetener": ("", "with "), "extras": ("", "with "),
    "item": ("", "", "the "), "name": ("the ",), "text": ("to ",),
}  # fmt: skip
"""Words that may come before a value that is said on its own."""


def _briefly(
    script: Script, tool: str, before: Arguments, frames: tuple[str, ...], known: tuple[str, ...]
) -> Arguments:
    """The user gives another value for one parameter of the previous call, and says little else.

    Args:
        frames: Phrasings that the value is put into.
        known: Full phrasings for the same; their slots are the parameters that can be changed.

    Returns:
        The parameter's new value; empty if no other value can be drawn.
    """
    rng, speaker = script.rng, script.speaker(tool)
    slots = {slot for source in known for slot in template(source.lstrip("!")).slots}
    if frames is SPEECH["more"] and tool == "order_drink":
        # "And oat milk" changes the drink that was ordered.
        slots = {"drink"}
    keys = [key for key in before if key in slots]
    if not keys:
        return {}
    key = rng.choice(keys)
    old, new = before[key].lower(), script.drawing.other(tool, key, before[key], before)
    if not new or new.lower() == old:
        return {}
    value = [Piece(rng.choice(_LEADS.get(key, ("",)))), Piece(shortened(rng, new, old), key)]
    refusal = rng.choice(WORDING.refusals)
    pieces = change(speaker, frames, value, old, refusal)
    if rng.random() < 0.4:
        pieces = eased(script, tool, pieces)
    said = script.speak(fitted(pieces))
    return call_of(tool, said)[1]


_CORRECTING: dict[str, frozenset[str]] = {
    "set_timer": frozenset(["change_timer"]),
    "set_alarm": frozenset(["change_alarm"]),
    "set_reminder": frozenset(["change_reminder", "cancel_reminder"]),
    "add_to_list": frozenset(["remove_from_list"]),
    "order_drink": frozenset(["change_drink", "remove_drink"]),
}
"""The tools that correct what a tool did, if that is not the tool itself."""


def _corrected(script: Script, tool: str, before: Arguments, given: Arguments) -> list[Call]:
    """The calls that turn the previous call into what the user says it should have been."""
    after = call_of(tool, before | given)[1]
    if tool == "set_timer":
        # With several timers running, only its name or length tells which one is meant.
        several = {"name": before["duration"]} if len(script.world.timers) > 1 else {}
        named = {"name": before["name"]} if "name" in before else several
        return [("change_timer", {"duration": after["duration"]} | named)]
    if tool in ("set_alarm", "change_alarm"):
        key = "when" if tool == "set_alarm" else "to"
        several = {"when": before[key]} if len(script.world.alarms) > 1 else {}
        return [("change_alarm", {"to": after[key]} | several)]
    if tool == "set_reminder" and "when" in given:
        return [("change_reminder", {"text": before["text"], "when": given["when"]})]
    if tool == "set_reminder":
        return [("cancel_reminder", {"text": before["text"]}), (tool, after)]
    if tool == "add_to_list":
        return [("remove_from_list", dict(before)), (tool, after)]
    if tool == "order_drink" and "drink" in given:
        return [("remove_drink", {"drink": before["drink"]}), (tool, after)]
    if tool == "order_drink":
        return [_change(before, given)]
    if tool == "get_device" and "device" in given and "room" not in given:
        after.pop("room", None)
    return [(tool, after)]


def _change(before: Arguments, changes: Arguments) -> Call:
    return call_of("change_drink", {"drink": before["drink"]} | changes)


_CHOSEN = {
    "cancel_timer": "name", "change_timer": "name", "cancel_alarm": "when", "change_alarm": "when",
    "cancel_reminder": "text",
}  # fmt: skip
"""Tools that ask which of several things is meant, and the parameter that names it."""
_WHICH = ("the {} one", "the {} one", "{}", "{} please", "the {}", "i mean the {} one")


def choose(script: Script) -> bool:
    """The agent has asked which of several things is meant, and the user says which one."""
    if script.last is None or script.last[0] not in _CHOSEN:
        return False
    tool, before, result = script.last
    if not result.error or "Which one" not in result.text:
        return False
    key = _CHOSEN[tool]
    name = script.drawing.name_of(key)
    if not name:
        return False
    first, last = script.rng.choice(_WHICH).split("{}")
    given = script.speak([Piece(first), Piece(name, key), Piece(last)])
    script.answer([call_of(tool, before | given)])
    return True


def repeat(script: Script) -> bool:
    """The user asks to hear the last reply again."""
    if not script.last_reply:
        return False
    _talk_turn(script, "repeat", TALK.repeat)
    script.say(script.last_reply)
    return True


def talk(script: Script, topic: str) -> bool:
    """Talk that needs no tool."""
    found = TALK.topics[topic]
    _talk_turn(script, topic, found.say)
    script.say(fill(script.rng.choice(found.answers), script.rng, {}))
    return True


def _talk_turn(script: Script, topic: str, said: tuple[str, ...]) -> None:
    rows = script.corpora.talk.get(topic) if script.corpora is not None else None
    if rows and script.rng.random() < 0.5:
        text = script.rng.choice(rows)
        script.speak([Piece(text)], is_question([Piece(text)]))
    else:
        script.ask("talk", said)


def small_talk(script: Script) -> bool:
    """The user says how they are, what they do, or what they think of the agent."""
    topics = list(SMALL_TALK)
    # Topics with more to say come up more often.
    topic = script.rng.choices(topics, [len(SMALL_TALK[t].say) for t in topics])[0]
    script.ask("talk", SMALL_TALK[topic].say)
    script.say(script.rng.choice(SMALL_TALK[topic].answers))
    return True


def chat(script: Script) -> bool:
    """Small talk from the corpora."""
    if script.corpora is None or not script.corpora.chat:
        return False
    question, answer = script.rng.choice(script.corpora.chat)
    script.speak([Piece(question)], question.endswith("?"))
    script.say(answer)
    return True


_COMPLETE = re.compile(r"\b(?:all|it|done|everything|nothing)\b")


def goodbye(script: Script) -> bool:
    """The user ends the conversation, which calls ``end_conversation``."""
    options = catalog.SAY["end_conversation"]
    if script.world.order:
        # "That's all" would place an open order.
        script.ask("talk", tuple(o for o in options if not _COMPLETE.search(o)))
    else:
        _talk_turn(script, "bye", options)
    script.answer([("end_conversation", {})])
    script.ended = True
    return True


def decline(script: Script, tool: str) -> bool:
    """The user asks for something whose tool is not declared."""
    if tool in script.used or tool not in catalog.CAN:
        return False
    script.ask(tool, catalog.SAY[tool])
    script.forbidden.add(tool)
    alike = [name for name in _relatives(tool) if name not in script.forbidden]
    if alike:
        # Declare a tool that does something else with the same thing: it is no substitute.
        script.used.add(script.rng.choice(alike))
    what = {"what": catalog.CAN[tool]}
    script.settle(capital(fill(script.rng.choice(WORDING.declines), script.rng, what)), "decline")
    return True


def _relatives(tool: str) -> list[str]:
    """The other tools for the same kind of thing, such as alarms."""
    thing = tool.rpartition("_")[2].removesuffix("s")
    own = catalog.AGENT_TOOLS["assistant"]
    return [t for t in own if t != tool and tool in own and t.rpartition("_")[2].startswith(thing)]


def unfit(script: Script) -> bool:
    """The user says a corpus sentence that asks for what no tool does."""
    if script.corpora is None or not script.corpora.unfit:
        return False
    text = script.rng.choice(script.corpora.unfit)
    script.speak([Piece(text)], is_question([Piece(text)]))
    plain = [d for d in WORDING.declines if "{what}" not in d]
    script.settle(capital(fill(script.rng.choice(plain), script.rng, {})), "decline")
    return True


def mention(script: Script, tool: str) -> bool:
    """The user names what a tool does without asking for it, or only seems not to ask for it."""
    rng, row = script.rng, None
    orders = tuple(o for o in catalog.SAY[tool] if is_order(o))
    if not orders or tool == "end_conversation":
        return False
    if script.corpora is not None and rng.random() < CORPUS_SHARE:
        row = script.corpora.request(tool, rng)
    pieces = row or script.worded(tool, pick(rng, orders, script.split))
    if not is_mentionable(pieces):
        return False
    said, answer, question = mentioned(rng, pieces, script.split)
    values = script.speak(said, question)
    if answer is None:
        script.answer(calls_of(tool, values))
        return True
    script.used.add(tool)
    script.settle(answer)
    return True


def abilities(script: Script, tools: tuple[str, ...]) -> bool:
    """The user asks what the agent can do; the tools that it names will be declared."""
    known = [t for t in tools if t in catalog.CAN and t not in script.forbidden]
    if len(known) < 3:
        return False
    _talk_turn(script, "able", TALK.abilities.say)
    # In the order of the tools: a random order could not be predicted from the prompt.
    chosen = sorted(script.rng.sample(known, 3), key=known.index)
    fields = {n: catalog.CAN[t] for n, t in zip(("first", "second", "third"), chosen, strict=True)}
    script.used.update(chosen)
    script.say(fill(script.rng.choice(TALK.abilities.answers), script.rng, fields))
    return True


def acquaintance(script: Script) -> bool:
    """The user says their name and may ask for it again; or asks for a name they never gave."""
    if script.rng.random() < 0.2:
        script.ask("talk", TALK.own_name.say)
        script.say(script.rng.choice(TALK.own_name.unknown))
        return True
    person = {"person": script.ask("talk", TALK.introduction.say)["person"].title()}
    script.say(fill(script.rng.choice(TALK.introduction.answers), script.rng, person))
    if script.rng.random() < 0.4 and script.split == "train":
        script.ask("talk", TALK.own_name.say)
        script.say(fill(script.rng.choice(TALK.own_name.known), script.rng, person))
    return True


def shop_talk(script: Script) -> bool:
    """The customer asks something about the shop that its tools do not answer."""
    topic = TALK.shop_talk[script.rng.choice(list(TALK.shop_talk))]
    script.ask("order_drink", topic.say)
    script.say(script.rng.choice(topic.answers))
    return True


def last_order(script: Script) -> Arguments | None:
    """The arguments of the last call if it ordered a drink, else None."""
    if script.last is None or script.last[0] != "order_drink" or script.last[2].error:
        return None
    return script.last[1]


def swap_drink(script: Script) -> bool:
    """The customer wants another drink instead of the last one."""
    before = last_order(script)
    if before is None or "quantity" in before:
        return False
    given = script.ask("order_drink", ORDERS["swap"], before)
    script.call([("remove_drink", {"drink": before["drink"]}), call_of("order_drink", given)])
    tell_changed(script)
    return True


def leave_out(script: Script) -> bool:
    """The customer wants something left out of the last drink."""
    before = last_order(script)
    present = [k for k in _LEFT_OUT if before is not None and k in before]
    if before is None or not present:
        return False
    key = script.rng.choice(present)
    source = script.rng.choice(ORDERS["without"]).replace("{what}", _plain(before[key]))
    first, said, last = re.split("[<>]", source)
    pieces = eased(script, "change_drink", [Piece(first), Piece(said, key), Piece(last)])
    given = script.speak(pieces, source.endswith("?"))
    script.call([_change(before, given)])
    tell_changed(script)
    return True


def same_drink(script: Script) -> bool:
    """The customer wants the last drink once more, or several of it."""
    before = last_order(script)
    if before is None or "quantity" in before:
        return False
    given = script.ask("order_drink", ORDERS["again"])
    script.answer([call_of("order_drink", before | given)])
    return True


def clear_order(script: Script) -> bool:
    """The customer cancels the whole order."""
    drinks = [a["drink"] for a in script.world.order]
    if not drinks or len(drinks) > 3:
        return False
    script.ask("order_drink", ORDERS["clear"])
    script.call([("remove_drink", {"drink": drink}) for drink in drinks])
    script.settle(script.rng.choice(ORDERS["cleared"]))
    return True


def _plain(value: str) -> str:
    words = value.lower().split()
    return " ".join(words[1:]) if words[0] in ("a", "an") and len(words) > 1 else " ".join(words)


def tell_changed(script: Script) -> None:
    """The agent reports the result of the last call, which changed a drink."""
    assert script.last is not None
    tool, _, result = script.last
    script.say(script.reply(tool, result) if result.error else script.changed(result))

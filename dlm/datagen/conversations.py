"""Writes whole dialogues with the agents' own tools and with invented ones, turn by turn.

What happens in a turn is in `dlm.datagen.turns.basic` and its like; how often it happens and what
may follow is decided here. Which tools are declared in the end, and under which names, is not.
"""

from __future__ import annotations

from collections.abc import Callable

from dlm.datagen.language.phrases import fill
from dlm.datagen.language.wording import WORDING
from dlm.datagen.own_tools.script import Script
from dlm.datagen.tools import catalog
from dlm.datagen.tools.catalog import AGENT_TOOLS, INVENTED
from dlm.datagen.turns import at_counter, at_ease, at_length, basic, everyday, in_brief

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

TEXTING = 0.15
"""Share of the coffee shop's customers in training who type, and in haste."""

SPONTANEOUS = 0.5
"""Share of spontaneous turns of users at ease."""

_TALK = {
    "who": 4, "hello": 3, "thanks": 5, "garbled": 5, "how": 2, "no": 2, "facts": 5, "there": 2,
    "made": 2, "joke": 2, "stop": 2, "yes": 2, "wait": 1, "louder": 1, "wrong": 2,
}  # fmt: skip
ALIKE = frozenset([
    "take_note", "read_calendar", "schedule_meeting", "find_recipe", "set_volume", "start_car",
    "define_word", "vacuum_room", "check_stock_item", "get_bus", "spell_word",
])  # fmt: skip
"""Invented tools too similar to the agents' own to be declined while these are declared."""


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
        basic.goodbye(script)


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
    """Nothing but talk, and perhaps a request at the end."""
    script.offer(AGENT_TOOLS["assistant"])
    _greet(script, "assistant")
    for _ in range(_turns(script)):
        roll = script.rng.random()
        if roll < 0.25 and basic.chat(script):
            continue
        if roll > 0.95 and basic.abilities(script, script.repertoire):
            continue
        if roll > 0.75:
            _talk_of_any(script)
        else:
            basic.small_talk(script)
    if script.split == "train" and script.rng.random() < 0.3:
        basic.request(script, _wanted(script))


def _turn(script: Script, wanted: Callable[[Script], str]) -> None:
    """One turn of the assistant or of an agent with invented tools."""
    rng = script.rng
    if basic.choose(script):
        return
    if script.unasked and rng.random() < script.unasked and basic.mention(script, wanted(script)):
        return
    if script.at_ease and rng.random() < SPONTANEOUS and _spontaneous(script, wanted):
        return
    roll = rng.random()
    if roll < 0.22 and basic.follow_up(script):
        return
    if 0.22 <= roll < 0.34 and basic.correction(script):
        return
    if 0.34 <= roll < 0.38 and basic.repeat(script):
        return
    if 0.38 <= roll < 0.61 and _without_tool(script):
        return
    tool = wanted(script)
    other = wanted(script)
    if roll > 0.89 and tool != other and _compound(script, tool, other):
        return
    if 0.61 <= roll < 0.67 and tool in catalog.LACKING:
        basic.bare_request(script, tool)
    else:
        basic.request(script, tool)


_Moves = tuple[tuple[Callable[[Script], bool], int], ...]
"""Possible turns of a dialogue, with their weights."""


def _one_of(script: Script, moves: _Moves) -> bool:
    functions, weights = zip(*moves, strict=True)
    return bool(script.rng.choices(functions, weights)[0](script))


def _talk_of_any(script: Script) -> bool:
    return basic.talk(script, script.rng.choices(list(_TALK), list(_TALK.values()))[0])


_AFTER: _Moves = (
    (basic.correction, 22), (basic.follow_up, 18), (at_ease.ask_back, 16),
    (at_ease.take_back, 8), (at_ease.drop, 8), (at_ease.tell, 16),
    (at_ease.wonder, 7),
)  # fmt: skip
"""What may follow a call, with weights."""


_EVERYDAY: _Moves = (
    (everyday.unasked, 26), (everyday.together, 22), (everyday.move, 12),
    (everyday.by_place, 12), (everyday.hint, 9), (everyday.amend, 9),
    (lambda script: everyday.story(script, _wanted(script)), 16),
    (lambda script: everyday.scrap(script, _wanted(script)), 9),
)  # fmt: skip
"""Everyday messages, which only training has, with weights."""


def _everyday(script: Script, share: float) -> bool:
    """Write an everyday turn in this share of cases, in training."""
    known = script.split == "train" and "set_timer" in script.repertoire
    return known and script.rng.random() < share and _one_of(script, _EVERYDAY)


def _spontaneous(script: Script, wanted: Callable[[Script], str]) -> bool:
    """Write a turn of a user at ease; False if it does not fit what was said before."""
    rng = script.rng
    if _everyday(script, 0.4):
        return True
    if script.last is not None and rng.random() < 0.7:
        return _one_of(script, _AFTER)
    tools = list(dict.fromkeys(wanted(script) for _ in range(rng.choice((2, 2, 2, 3, 3, 4)))))
    roll = rng.random()
    if roll < 0.3 and len(tools) > 1:
        return basic.compound(script, *tools)
    if roll < 0.48:
        return at_ease.several(script, tools[0])
    if roll < 0.6 and len(tools) > 1:
        change = at_ease.abandon if roll < 0.53 else at_ease.contrast
        return change(script, tools[0], tools[1])
    if roll < 0.7:
        stop = at_ease.withdraw if roll < 0.65 else at_ease.trail_off
        return stop(script, tools[0])
    return at_ease.tell(script) if roll < 0.92 else at_ease.wonder(script)


def _compound(script: Script, tool: str, other: str) -> bool:
    last = script.split == "train" and "end_conversation" in script.repertoire
    if last and script.rng.random() < 0.06:
        if basic.compound(script, tool, "end_conversation"):
            script.ended = True
        return script.ended
    return basic.compound(script, tool, other)


def _without_tool(script: Script) -> bool:
    rng = script.rng
    roll = rng.random()
    if roll < 0.04:
        return basic.acquaintance(script)
    if roll < 0.08:
        return basic.abilities(script, script.repertoire)
    if roll < 0.29:
        return _talk_of_any(script)
    if roll < 0.48:
        return basic.chat(script)
    if roll < 0.76:
        return basic.unfit(script)
    if roll < 0.84:
        absent = rng.choice([n for n in INVENTED if n not in ALIKE])
        return basic.decline(script, absent)
    return basic.decline(script, _wanted(script))


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
    (at_counter.ask, 6), (at_counter.undecided, 3), (at_counter.chatter, 6),
    (at_counter.off_menu, 2), (basic.shop_talk, 5),
)  # fmt: skip
"""What a customer may say at any time, with weights."""
_OF_ORDER: _Moves = (
    *_AT_COUNTER, (at_counter.amount, 4), (at_counter.swap_detail, 5),
    (at_counter.insist, 4), (at_counter.other_drink, 5), (at_counter.place, 3),
    (at_counter.remove_two, 2), (at_counter.keep_one, 2), (basic.clear_order, 2),
    (basic.same_drink, 3),
)  # fmt: skip
"""What a customer who has ordered may say, with weights."""


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
        # After an order, "no latte" would take it off again.
        tool = rng.choice(("read_order", "confirm_order") if ordered else ("order_drink",))
        if basic.mention(script, tool):
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
        basic.request(script, rng.choice(changes))
    elif roll > 0.97:
        basic.goodbye(script)
    elif roll > 0.93:
        basic.request(script, "transfer_call")
        script.ended = True
    elif roll > 0.91:
        basic.request(script, rng.choice(("remove_drink", "read_order", "confirm_order")))
    elif (roll > 0.88 and _without_tool(script)) or (roll > 0.84 and basic.shop_talk(script)):
        return
    elif roll > 0.76:
        basic.bare_request(script, "order_drink")
    else:
        basic.request(script, "order_drink")


def _spontaneous_coffee(script: Script) -> bool:
    """Write a turn of a customer at ease; False if it does not fit what was said before."""
    rng = script.rng
    if script.last is not None and rng.random() < 0.65:
        return _one_of(script, (*_AFTER, (basic.same_drink, 14), (basic.leave_out, 8)))
    roll = rng.random()
    if roll < 0.42:
        return at_ease.several(script, "order_drink")
    if roll < 0.74:
        return at_ease.tell(script) if roll < 0.58 else at_ease.wonder(script)
    if roll < 0.86:
        stop = at_ease.withdraw if roll < 0.81 else at_ease.trail_off
        return stop(script, "order_drink")
    if roll < 0.91:
        return at_ease.abandon(script, "order_drink", "order_drink")
    if roll < 0.95:
        other = rng.choice(("confirm_order", "transfer_call", "order_drink"))
        return at_ease.contrast(script, other, "order_drink")
    last = rng.choice(("confirm_order", "read_order", "order_drink"))
    return basic.compound(script, "order_drink", last)


_CHANGES: tuple[Callable[[Script], bool], ...] = (
    *(basic.follow_up, basic.follow_up, basic.follow_up, basic.correction, basic.correction),
    *(basic.swap_drink, basic.leave_out, basic.same_drink, basic.clear_order),
)


_ERRANDS: _Moves = (
    (in_brief.cancel_both, 6), (in_brief.swap_items, 4), (in_brief.add_it, 4),
    (in_brief.clear_it, 4), (in_brief.all_off, 2), (in_brief.no_reminder, 3),
    (in_brief.remind_at_last, 4), (in_brief.cannot, 4), (at_ease.drop, 4),
    (basic.correction, 5), (at_ease.ask_back, 2),
)  # fmt: skip
_SETTING = ("set_timer", "set_alarm", "set_reminder", "add_to_list", "set_reminder", "read_list")


def _errands(script: Script) -> None:
    """Several errands at once, and short remarks about them."""
    rng = script.rng
    script.offer(AGENT_TOOLS["assistant"])
    _greet(script, "assistant")
    for _ in range(rng.choice((1, 2, 3, 4)) if script.split == "train" else 1):
        if _everyday(script, 0.35):
            continue
        if rng.random() < 0.42:
            count = rng.choice((2, 3, 3, 4, 4, 5))
            tools = dict.fromkeys(_wanted(script) for _ in range(count))
            basic.compound(script, *tools)
        elif rng.random() < 0.3:
            basic.request(script, rng.choice(_SETTING))
        else:
            _one_of(script, _ERRANDS)


_OF_ONE: _Moves = (
    (at_length.describe, 10), (at_length.keep, 3), (basic.same_drink, 4),
    (basic.swap_drink, 1), (basic.leave_out, 1), (basic.correction, 2), (at_ease.wonder, 1),
    (at_length.drinks, 1), (at_counter.amount, 3), (at_counter.swap_detail, 4),
    (at_counter.insist, 3), (at_counter.other_drink, 3), (at_counter.ask, 3),
    (basic.shop_talk, 2), (basic.clear_order, 1),
)  # fmt: skip
"""What may follow the order of one drink, with weights."""
_OF_SEVERAL: _Moves = (
    (at_length.adjust, 8), (at_length.remove_described, 3), (at_length.keep, 3),
    (at_ease.wonder, 1), (at_length.drinks, 1), (at_counter.place, 4),
    (at_counter.remove_two, 2), (at_counter.keep_one, 2), (at_counter.ask, 2),
    (basic.shop_talk, 2), (basic.clear_order, 1),
)  # fmt: skip
"""What may follow the order of several drinks, with weights."""


def _drinks(script: Script) -> None:
    """One drink or several at once, and short remarks about them."""
    rng = script.rng
    _open_shop(script)
    for _ in range(rng.choice((1, 1, 2)) if script.split == "train" else 1):
        one = rng.random() < 0.35
        if rng.random() < 0.3:
            _one_of(script, _AT_COUNTER)
        else:
            (at_length.drink if one else at_length.drinks)(script)
        for _ in range(rng.choice((0, 1, 1, 2))):
            _one_of(script, _OF_ONE if one else _OF_SEVERAL)
    if rng.random() < 0.12 and script.world.order:
        basic.request(script, "confirm_order")


AT_LENGTH = {"errands": "assistant", "drinks": "coffee"}
"""Kinds of dialogues whose users ask for several things at once → the agent in them."""

WRITERS: dict[str, Callable[[Script], None]] = {
    "assistant": _assistant,
    "coffee": _coffee,
    "invented": _invented,
    "talk": _talk,
    "errands": _errands,
    "drinks": _drinks,
}

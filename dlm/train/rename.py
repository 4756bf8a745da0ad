"""Renaming the tools of a finished dialogue, so that names are read from the prompt, not remembered."""

from __future__ import annotations

from random import Random
from typing import Any

from dlm.train.holdout import held_out
from dlm.train.inventions import INVENTIONS
from dlm.train.words import WORDS

_NAMES: dict[str, tuple[str, str]] = {
    "get_time": ("get fetch tell read show current what", "time clock local_time hour now"),
    "get_date": ("get fetch tell read look_up which", "date calendar_day day calendar weekday"),
    "set_timer": (
        "start create begin make add launch new",
        "timer countdown stopwatch kitchen_timer egg_timer",
    ),
    "list_timers": ("show get list read query all", "timers countdowns active_timers timer_status"),
    "cancel_timer": ("stop delete end kill clear drop", "timer countdown running_timer stopwatch"),
    "set_alarm": (
        "create add schedule make new", "alarm wake_up wakeup_call alarm_clock morning_alarm",
    ),
    "set_reminder": ("create add save make new store", "reminder memo task note_to_self todo_alert"),
    "list_reminders": ("show get read query all", "reminders memos tasks pending_reminders"),
    "add_to_list": (
        "append put insert save push", "list_item item_to_list entry shopping_item to_list",
    ),
    "remove_from_list": ("delete take drop strike erase", "list_item item_from_list entry from_list"),
    "read_list": ("get show fetch open view", "list list_items entries shopping_list whole_list"),
    "calculate": ("compute evaluate solve work_out do", "math sum expression arithmetic formula"),
    "convert_units": ("unit change transform measure to", "converter units measure conversion units_of"),
    "convert_currency": ("exchange currency change money forex", "converter money exchange rate amount_to"),
    "get_weather": (
        "fetch check look_up query tell", "weather forecast conditions weather_report climate",
    ),
    "get_stock_price": ("fetch quote check look_up query", "stock share_price ticker quote market_price"),
    "set_device": ("control switch adjust change turn", "device appliance home smart_home equipment"),
    "get_device": (
        "query check read inspect state_of", "device appliance device_state home_state equipment",
    ),
    "search_documents": ("find query look_in grep search", "documents notes files library knowledge_base"),
    "end_conversation": (
        "stop finish close hang leave quit", "call conversation session chat dialogue talk",
    ),
    "order_drink": ("add put make take new", "drink beverage coffee order_item drink_item to_order"),
    "remove_drink": ("delete drop take_off cancel void", "drink beverage order_item item coffee"),
    "read_order": ("show get list repeat review", "order cart basket order_summary current_order"),
    "confirm_order": ("place submit finish complete send", "order cart purchase checkout basket"),
    "transfer_call": ("hand_over forward connect route pass", "call caller human agent line"),
}  # fmt: skip

_PARAMETERS: dict[str, str] = {
    "place": "place city location where town region area", "day": "day date when which_day on",
    "duration": "duration length time how_long period span", "name": "name label title called tag",
    "when": "when time at moment start due date_time",
    "text": "text message what note content task about",
    "item": "item thing entry product what article", "list": "list list_name target which_list to",
    "expression": "expression formula sum input query problem",
    "amount": "amount quantity value number how_much",
    "from_unit": "from_unit source unit from in_unit",
    "to_unit": "to_unit target unit_to into out_unit",
    "from_currency": "from_currency source from base have",
    "to_currency": "to_currency target to into want",
    "company": "company stock firm business symbol who",
    "device": "device appliance name target entity thing",
    "room": "room area location where zone place", "state": "state value setting status to action",
    "query": "query text search keywords topic about terms",
    "drink": "drink item beverage product kind what", "size": "size cup volume how_big",
    "roast": "roast bean roast_level strength", "milk": "milk dairy cream milk_type",
    "shots": "shots espresso shot_count strength", "sweetener": "sweetener sugar sweet sweetness",
    "extras": "extras toppings additions addons notes",
    "quantity": "quantity count how_many number amount",
    "to": "to target whom person department who",
}  # fmt: skip

_DESCRIPTIONS: dict[str, tuple[str, ...]] = {
    "get_time": (
        "What time it is.", "Returns the current local time, optionally for a city.", "Clock.",
    ),
    "get_date": (
        "What date a day is.", "Returns the calendar date.", "Look up a day in the calendar.",
    ),
    "set_timer": (
        "Begin counting down.", "Starts a timer that rings when over.",
        "Countdown for cooking and so on.",
    ),
    "list_timers": (
        "All timers and the time left.", "Returns the active timers.", "How long timers still run.",
    ),
    "cancel_timer": ("Ends a countdown.", "Removes a timer before it rings.", "Timer off."),
    "set_alarm": (
        "Wake the user.", "Creates an alarm for a time of day.", "Rings at the given time.",
    ),
    "set_reminder": (
        "Keep a note and bring it up later.", "Creates a reminder.", "Reminds the user of a task.",
    ),
    "list_reminders": ("What the user wanted to remember.", "Returns all reminders.", "Open reminders."),
    "add_to_list": (
        "Adds an entry to a shopping or other list.", "Writes something on a list.", "List: add.",
    ),
    "remove_from_list": ("Deletes an entry of a list.", "Takes something off a list.", "List: remove."),
    "read_list": ("What is on a list.", "Returns the entries of a list.", "List: read."),
    "calculate": ("Does arithmetic.", "Evaluates a mathematical expression.", "Calculator."),
    "convert_units": (
        "Changes one unit into another.", "Unit converter for lengths, weights and so on.",
    ),
    "convert_currency": (
        "Exchanges money at today's rate.", "Currency converter.", "What money is worth elsewhere.",
    ),
    "get_weather": (
        "Weather forecast for a place and day.", "Rain, sun and temperature.",
        "How the weather will be.",
    ),
    "get_stock_price": (
        "Current price of a share.", "Looks up a company at the stock exchange.", "Stock quotes.",
    ),
    "set_device": (
        "Controls lights, locks, blinds and so on.", "Changes a device at home.",
        "Smart home control.",
    ),
    "get_device": (
        "Whether a device is on, off, open or locked.", "Reads a device at home.",
        "Smart home status.",
    ),
    "search_documents": (
        "Full text search over notes.", "Finds a passage in the user's files.", "Look into notes.",
    ),
    "end_conversation": ("Say goodbye and hang up.", "Finishes the talk.", "Use when the user is done."),
    "order_drink": (
        "Puts a beverage into the cart.", "New drink for the customer.", "Order a coffee or tea.",
    ),
    "remove_drink": (
        "Takes a beverage out of the cart.", "Cancel one drink.", "The customer does not want it.",
    ),
    "read_order": ("What was ordered so far.", "Summary of the cart.", "Repeat the order."),
    "confirm_order": (
        "Submit the order.", "The customer is done; send the order.", "Finish and place it.",
    ),
    "transfer_call": (
        "Connect the caller to staff.", "Forward the call.", "When the caller wants a human.",
    ),
}  # fmt: skip


_CLOSED: dict[str, list[str]] = {
    "size": WORDS["size"],
    "roast": WORDS["roast"],
    "milk": WORDS["milk"],
    "list": WORDS["list"],
    "room": WORDS["room"],
    "state": [
        "on",
        "off",
        "open",
        "closed",
        "locked",
        "unlocked",
        "red",
        "green",
        "blue",
        "white",
        "low",
        "high",
    ],
    "day": [
        "today",
        "tomorrow",
        "tonight",
        "monday",
        "tuesday",
        "wednesday",
        "thursday",
        "friday",
        "saturday",
        "sunday",
    ],
    "drink": WORDS["drink"],
    "priority": ["low", "medium", "high", "urgent"],
    "by": ["car", "bike", "bus", "train", "foot", "tram", "subway"],
    "to_unit": [
        "kilometers",
        "miles",
        "meters",
        "feet",
        "inches",
        "grams",
        "kilograms",
        "pounds",
        "ounces",
        "liters",
        "cups",
    ],
}
"""Parameters that another agent might give as a closed set."""


def rename(row: dict[str, Any], rng: Random, split: str) -> dict[str, Any]:
    """A copy of a dialogue with other tool names, parameter names, descriptions and order.

    Args:
        row: A dialogue in the chat format with the agents' own tools.
        rng: Source of chance.
        split: Names that `held_out` marks appear in "heldout" alone, and only they there.
    """
    style = rng.choice(("snake", "snake", "camel", "pascal", "word"))
    names: dict[str, str] = {}
    keys: dict[str, dict[str, str]] = {}
    tools = []
    for tool in row["tools"]:
        old = tool["name"]
        names[old] = _name(old, rng, style, split, set(names.values()))
        properties = tool["parameters"]["properties"]
        keys[old] = _keys(old, list(properties), rng)
        tools.append(_respecified(tool, names[old], keys[old], rng, _given(row, old)))
    rng.shuffle(tools)
    orders = {t["name"]: list(t["parameters"]["properties"]) for t in tools}
    messages = [_message(m, names, keys, orders) for m in row["messages"]]
    return {"system": row["system"], "tools": tools, "messages": messages}


def _name(old: str, rng: Random, style: str, split: str, taken: set[str]) -> str:
    verbs, nouns = _halves(old)
    while True:
        words = f"{rng.choice(verbs)}_{rng.choice(nouns)}".split("_")
        if rng.random() < 0.1:
            words = [*words[1:], words[0]]
        if rng.random() < 0.1:
            words = [
                rng.choice(("home", "my", "app", "v2", "the", "do", "qs", "hass", "x")),
                *words,
            ]
        name = styled(words, style)
        if name not in taken and held_out("_".join(words)) == (split == "heldout"):
            return name


def _halves(old: str) -> tuple[list[str], list[str]]:
    if old in INVENTIONS:
        return INVENTIONS[old].verbs, INVENTIONS[old].nouns
    verbs, nouns = _NAMES[old]
    return verbs.split(), nouns.split()


def styled(words: list[str], style: str) -> str:
    """Words as an identifier: snake_case, camelCase, PascalCase or the same as snake for "word"."""
    if style == "camel":
        return words[0] + "".join(w.title() for w in words[1:])
    if style == "pascal":
        return "".join(w.title() for w in words)
    return "_".join(words)


def _keys(tool: str, old: list[str], rng: Random) -> dict[str, str]:
    new: dict[str, str] = {}
    invented = INVENTIONS[tool].others if tool in INVENTIONS else {}
    for key in old:
        known = invented.get(key) or _PARAMETERS.get(key, key).split()
        options = [o for o in known if o not in new.values()]
        new[key] = rng.choice(options) if options else key
    return new


def _given(row: dict[str, Any], name: str) -> dict[str, set[str]]:
    """The values that a dialogue's calls give to each parameter of a tool."""
    found: dict[str, set[str]] = {}
    for message in row["messages"]:
        for call in message.get("tool_calls", ()):
            if call["name"] == name:
                for key, value in call["arguments"].items():
                    found.setdefault(key, set()).add(value)
    return found


def _respecified(
    tool: dict[str, Any], name: str, keys: dict[str, str], rng: Random, given: dict[str, set[str]]
) -> dict[str, Any]:
    old = tool["parameters"]
    order = list(old["properties"])
    if rng.random() < 0.4:
        rng.shuffle(order)
    kept = [k for k in order if k in given or k in old["required"] or rng.random() < 0.8]
    description = tool["description"]
    if rng.random() < 0.7:
        invented = INVENTIONS.get(tool["name"])
        description = rng.choice(invented.descriptions if invented else _DESCRIPTIONS[tool["name"]])
    return {
        "name": name,
        "description": description,
        "parameters": {
            "type": "object",
            "properties": {keys[k]: _property(k, given.get(k, set()), rng) for k in kept},
            "required": [keys[k] for k in kept if k in old["required"]],
        },
    }


def _property(key: str, given: set[str], rng: Random) -> dict[str, Any]:
    """A string, or now and then a closed set that holds every value given."""
    closed = _CLOSED.get(key)
    if closed is None or not given <= set(closed) or rng.random() > 0.2:
        return {"type": "string"}
    options = set(rng.sample(closed, min(len(closed), rng.randint(2, 6)))) | given
    return {"type": "string", "enum": [c for c in closed if c in options]}


def _message(
    message: dict[str, Any],
    names: dict[str, str],
    keys: dict[str, dict[str, str]],
    orders: dict[str, list[str]],
) -> dict[str, Any]:
    if message["role"] == "tool":
        return {**message, "name": names[message["name"]]}
    if not message.get("tool_calls"):
        return message
    calls = []
    for call in message["tool_calls"]:
        new = names[call["name"]]
        given = {keys[call["name"]][k]: v for k, v in call["arguments"].items()}
        calls.append({"name": new, "arguments": {k: given[k] for k in orders[new] if k in given}})
    return {**message, "tool_calls": calls}
